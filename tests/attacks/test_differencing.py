"""Differencing: exact without noise, wrong with it, for tables and for a model's update."""

import math

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from dpcourse import Laplace
from dpcourse.attacks import difference, input_from_updates, snapshot
from dpcourse.data import bank_debts, hospital
from dpcourse.data.examples import digits
from dpcourse.sgd.clipping.clipper import clipped_sum
from dpcourse.sgd.models import digit_mlp
from dpcourse.sgd.private_step import descend, noisy_average

DEBTS = bank_debts(50)["debt"].to_numpy(dtype=float)
ANSWERS = hospital(100)["illegal_drug_use"].to_numpy(dtype=float)


@pytest.mark.parametrize("query", ["sum", "mean"])
def test_two_exact_releases_give_the_value(query):
    for person in (0, 17, 49):
        assert difference(DEBTS, person, query=query).guess[0] == pytest.approx(DEBTS[person], abs=1e-6)


def test_a_count_gives_the_answer_of_everybody():
    assert [difference(ANSWERS, person, query="count").guess[0] for person in range(100)] == ANSWERS.tolist()


def test_noise_hides_the_answer():
    # Two releases at epsilon = 0.1 each: the difference of two Laplace(10) draws lies within 0.5 of the truth with
    # probability p below; 20,000 repetitions have a standard deviation of 0.0015, and 5 of them are allowed (6e-7).
    scale, half = 10.0, 0.5
    p = 1 - math.exp(-half / scale) * (1 + half / (2 * scale))
    noisy = difference(
        ANSWERS, 0, query="count", mechanism=Laplace(epsilon=0.1, sensitivity=1), repetitions=20_000, rng=0
    )
    assert noisy.right() == pytest.approx(p, abs=5 * math.sqrt(p * (1 - p) / 20_000))
    assert noisy.error == pytest.approx(1.5 * scale, rel=0.05)  # E|X - Y| = 3b/2, standard error 0.6 %: odds 1e-15
    exact = difference(ANSWERS, 0, query="count", repetitions=5)
    assert (exact.right(), exact.error) == (1, 0)


def test_the_two_releases_have_noise_of_their_own():
    noisy = difference(DEBTS, 3, mechanism=Laplace(epsilon=1, sensitivity=1000), repetitions=1000, rng=1)
    # Independent noise: the correlation of 1,000 pairs stays within 0.16 but for 4e-7 of all seeds.
    assert abs(np.corrcoef(noisy.with_person, noisy.without_person)[0, 1]) < 0.16


def updated(model, examples, sigma, seed):
    """The model after one step of DP-SGD on all examples (sigma = 0: clipping only)."""
    lot = clipped_sum(
        model, examples.inputs, examples.targets, lambda o, y: F.cross_entropy(o, y, reduction="none"), clip_norm=1.0
    )
    generator = torch.Generator().manual_seed(seed)
    descend(
        model, noisy_average(lot.total, clip_norm=1.0, noise_multiplier=sigma, lot_size=100, generator=generator), 0.5
    )
    return snapshot(model)


@pytest.mark.parametrize(("sigma", "seen"), [(0.0, True), (1.0, False)])
def test_a_models_update_shows_the_image_unless_there_is_noise(sigma, seen):
    train, _ = digits()
    few = train.at(torch.arange(100))
    person = few.inputs[42].flatten().double()
    with_person = updated(digit_mlp().double(), _double(few), sigma, seed=1)
    without_person = updated(digit_mlp().double(), _double(few.without(42)), sigma, seed=2)
    found = input_from_updates(with_person, without_person, "1")
    likeness = np.corrcoef(found.numpy(), person.numpy())[0, 1]
    if seen:
        assert torch.allclose(found, person, atol=1e-6)
    else:
        assert likeness < 0.6  # noise has correlation 0 with 64 pixels +- 0.13: odds 1e-6


def _double(examples):
    return type(examples)(examples.inputs.double(), examples.targets)


@pytest.mark.parametrize(
    ("wrong", "quoted"),
    [
        (lambda: difference([1, 0], 2), "2"),
        (lambda: difference([1], 0), "0"),
        (lambda: difference([1, 5], 0, query="count"), "5"),
        (lambda: difference([1, 5], 0, query="median"), "median"),
        (lambda: difference([1, 5], 0).right(0), "0"),
        (lambda: input_from_updates({}, {}, "1"), "1.weight"),
        (lambda: input_from_updates(snapshot(digit_mlp()), snapshot(digit_mlp()), "1"), "no trace"),
    ],
)
def test_bad_input_is_quoted(wrong, quoted):
    with pytest.raises(ValueError, match=quoted):
        wrong()
