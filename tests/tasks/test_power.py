"""How often would a wrong sampler of homeworks 2 and 3 slip through? Computed exactly, at the least favourable probes.

Each bound is for the last and largest look alone, at the level that the judge gives it; earlier looks only lower it.
"""

import math

import numpy as np
import pytest

from dpcourse.audit.binomial import lower_tail, rejection_region, upper_tail
from dpcourse.mechanisms import KaryResponse, theta
from dpcourse.privacy_loss import LaplaceLoss
from dpcourse.tasks import LEVEL, Student
from dpcourse.tasks.hw2_local_dp.own_noise import NARROW
from dpcourse.tasks.hw2_local_dp.reports import DRAWS as REPORTS
from dpcourse.tasks.hw3_approximate_dp import loss
from dpcourse.tasks.judges.noise import TESTS
from dpcourse.tasks.registry import tasks_of
from testing.submissions import hw2
from testing.submissions.hw2.local_noise import laplace_numpy

MISS = 1e-6


def missed(right: float, wrong: float, level: float, draws: int = REPORTS) -> float:
    """The probability that an event of probability ``wrong`` passes for one of probability ``right``."""
    low, high = rejection_region(draws, right, level)
    return max(0.0, 1 - lower_tail(low, draws, wrong) - upper_tail(high, draws, wrong))


def probes(homework: str, task: str, seeds: int = 200):
    """The probes, as grading draws them, for many seeds."""
    for seed in range(seeds):
        yield list(tasks_of(homework)[task].probes(np.random.default_rng(seed)))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda epsilon: 1.0,
        lambda epsilon: 1 - theta(epsilon),
        lambda epsilon: 0.5,
        lambda epsilon: 0.75,
        lambda epsilon: theta(epsilon, "first"),
        lambda epsilon: theta(epsilon, "quadratic"),
        lambda epsilon: (1 + theta(epsilon)) / 2,  # a second coin instead of the flip
        lambda epsilon: theta(epsilon / 2),
        lambda epsilon: theta(epsilon * 1.25),
    ],
)
def test_a_wrong_coin_does_not_pass(wrong):
    for asked in probes("hw2_local_dp", "randomized_response"):
        epsilon = asked[-1]["epsilon"]
        assert missed(theta(epsilon), wrong(epsilon), LEVEL / (len(asked) + 1) / 4) <= MISS


@pytest.mark.parametrize(
    "wrong",
    [
        lambda k, epsilon: theta(epsilon),
        lambda k, epsilon: KaryResponse(epsilon=epsilon, k=k + 1).truth,  # k for k - 1
        lambda k, epsilon: (1 + (k - 1) * KaryResponse(epsilon=epsilon, k=k).truth) / k,  # a lie may be the truth
        lambda k, epsilon: 1 / k,
        lambda k, epsilon: KaryResponse(epsilon=epsilon / 2, k=k).truth,
    ],
)
def test_a_wrong_truth_among_k_does_not_pass(wrong):
    for asked in probes("hw2_local_dp", "kary_response"):
        k, epsilon = asked[-1]["k"], asked[-1]["epsilon"]
        level = LEVEL / (len(asked) + 1) / 4
        assert missed(KaryResponse(epsilon=epsilon, k=k).truth, wrong(k, epsilon), level) <= MISS


def test_sixteen_for_fifteen_does_not_pass():
    """As the judge's own evidence says, of what a right answer was put to."""
    task = tasks_of("hw2_local_dp")["local_laplace"]
    found = task.examine(Student(laplace_numpy, task.answer), 3)
    below, above = max((fit for fit in found.evidence if fit.unit == "scale factor"), key=lambda fit: fit.draws).limits
    assert 14 / 15 <= below < above <= 16 / 15


def test_a_number_moved_by_one_does_not_pass():
    """Beyond both ends and inside: by the sign count of the few draws alone, where the noise is narrow."""
    for asked in probes("hw2_local_dp", "local_laplace"):
        narrow = [probe for probe in asked if probe["epsilon"] >= NARROW[0]]
        assert [probe["skipped"] > 15 for probe in narrow] == [True, False, False]
        assert [probe["skipped"] < 0 for probe in narrow] == [False, True, False]
        for probe in narrow:
            above = 1 - math.exp(-probe["epsilon"] / 15) / 2
            assert missed(0.5, above, LEVEL / (len(asked) + 1) / TESTS, draws=300) <= MISS


SCALE, LIES = "It looks like 16/epsilon", "There are k - 1 other categories"


@pytest.mark.parametrize(
    ("name", "style", "says", "never"),
    [
        ("local_laplace", "up to 14", "The ends are off by one", SCALE),
        ("local_laplace", "from 1", "The ends are off by one", SCALE),
        ("local_laplace", "one less", "lie above", "The ends are off by one"),
        ("local_laplace", "fourteen", "too little", SCALE),
        ("local_laplace", "thirteen and a half", "too little", SCALE),
        ("local_laplace", "root of 2", "wasteful", SCALE),
        ("kary_response", "swapped", "Keep and lie are swapped", LIES),
        ("kary_response", "rounded lies", "is right", LIES),
        ("kary_response", "truth of two", "k = 2", LIES),
        ("randomized_response", "probability", "which is none of 0, 1. That is a probability.", "fixed seed"),
    ],
)
def test_what_is_said_is_true(name, style, says, never):
    """Of the public probes and of three hidden draws (fixed seeds)."""
    task, function = tasks_of("hw2_local_dp")[name], hw2.WRONG[name][style][0]
    for seed, public in ((task.public_seed(), True), (1, False), (2, False), (3, False)):
        found = task.examine(Student(function, task.answer), seed, public=public)
        assert says in found.message
        assert never not in found.message


def test_a_loss_from_the_other_world_does_not_pass():
    """Half of the losses are at the bound; from the other world e^-bound / 2 of them are."""
    for asked in probes("hw3_approximate_dp", "laplace_loss_sample"):
        bound = abs(asked[-1]["data"] - asked[-1]["neighbour"]) / asked[-1]["b"]
        assert math.isclose(1 - float(LaplaceLoss(bound).below(bound)[0]), 0.5)
        assert missed(0.5, math.exp(-bound) / 2, LEVEL / (len(asked) + 1) / loss.TESTS, draws=loss.DRAWS) <= MISS
