"""How often would a wrong sampler of homeworks 4 and 5 slip through? Computed, at the probes of 100 seeds.

Each bound is for the last and largest look alone, at the level that the judge gives it; earlier looks only lower it.
Chi-square and binomial bounds are exact; those by Kolmogorov-Smirnov use Hoeffding's inequality at one point.
"""

import math

import numpy as np
import pytest
from scipy import special

from dpcourse.adaptive_ldp import RestrictedResponse
from dpcourse.audit.binomial import lower_tail, rejection_region, upper_tail
from dpcourse.audit.distribution_fit import ks_critical
from dpcourse.mechanisms import KaryResponse
from dpcourse.sensitivity.rows import clipped, norms
from dpcourse.tasks import LEVEL
from dpcourse.tasks.hw4_dp_sgd.average import DRAWS
from dpcourse.tasks.hw4_dp_sgd.lots import LOTS
from dpcourse.tasks.hw4_dp_sgd.step import MEMBERS, per_example
from dpcourse.tasks.hw5_adaptive_ldp.learning import STEPS
from dpcourse.tasks.hw5_adaptive_ldp.reports import RRRR_DRAWS, SRR_DRAWS, WRONG
from dpcourse.tasks.judges import lots, noise
from dpcourse.tasks.mistake import arguments_of
from dpcourse.tasks.registry import tasks_of

MISS = 1e-6


def probes(homework, task, seeds=100):
    for seed in range(seeds):
        yield list(tasks_of(homework)[task].probes(np.random.default_rng(seed)))


def missed(right, wrong, draws, level):
    """An event of probability ``wrong`` passes for one of probability ``right``."""
    low, high = rejection_region(draws, float(right), level)
    return max(0.0, 1 - lower_tail(low, draws, float(wrong)) - upper_tail(high, draws, float(wrong)))


def missed_row(right, wrong, draws, looks):
    """Reports with the probabilities ``wrong`` pass, by the category that tells most.

    Half of a look's level goes to the likeliest one, as in the judge.
    """
    likeliest = int(np.argmax(right))
    levels = [LEVEL / looks / (2 if y == likeliest else 4 * (len(right) - 1)) for y in range(len(right))]
    return min(missed(a, min(max(b, 0.0), 1.0), draws, level) for a, b, level in zip(right, wrong, levels, strict=True))


def truth(epsilon, others):
    return math.exp(epsilon) / (math.exp(epsilon) + others)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda k, epsilon: truth(epsilon, 1),
        lambda k, epsilon: truth(epsilon, k),
        lambda k, epsilon: (1 + (k - 1) * truth(epsilon, k - 1)) / k,  # a lie may be the truth
        lambda k, epsilon: 1 / k,
        lambda k, epsilon: truth(1.15 * epsilon, k - 1),
        lambda k, epsilon: truth(0.85 * epsilon, k - 1),
    ],
)
def test_a_wrong_truth_of_srr_does_not_pass(wrong):
    for asked in probes("hw5_adaptive_ldp", "srr"):
        rates = []
        for probe in asked:
            k, epsilon = probe["k"], probe["epsilon"]
            right, other = KaryResponse(epsilon=epsilon, k=k).truth, wrong(k, epsilon)
            rows = [[share, *[(1 - share) / (k - 1)] * (k - 1)] for share in (right, other)]
            rates.append(missed_row(*rows, SRR_DRAWS, 2 * len(asked)))
        assert min(rates) <= MISS


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rrrr_does_not_pass(name):
    for asked in probes("hw5_adaptive_ldp", "rrrr", 40):
        rates = []
        for probe in asked:
            right = RestrictedResponse(probe["k"], probe["subset"], epsilon=probe["epsilon"], first=probe["first"])
            wrong = WRONG[name][1](arguments_of(probe))
            x = probe["x"]
            rates.append(missed_row(right.matrix[x], wrong[x], RRRR_DRAWS, 2 * len(asked)))
        assert min(rates) <= MISS, name


def level_of_a_look(asked):
    """What each test of noise may spend: a look at every probe, and one more at the last."""
    return LEVEL / (len(asked) + 1) / noise.TESTS


def missed_scale(factor, freedom, level):
    """Noise ``factor`` times as wide passes the two-sided chi-square test of the spread."""
    low, high = (special.chdtri(freedom, tail) for tail in (1 - level / 2, level / 2))
    return special.chdtr(freedom, high / factor**2) - special.chdtr(freedom, low / factor**2)


@pytest.mark.parametrize(
    ("homework", "task", "draws"),
    [("hw4_dp_sgd", "noisy_average", DRAWS), ("hw4_dp_sgd", "user_level_average", DRAWS),
     ("hw5_adaptive_ldp", "sgld_step", STEPS)],
)  # fmt: skip
def test_vectors_with_a_scale_ten_percent_off_do_not_pass(homework, task, draws):
    asked = next(probes(homework, task))
    wide, share = (6, 0.75) if task == "sgld_step" else (5, 1)
    for factor in (0.9, 1.1):
        assert missed_scale(factor, draws * wide, share * level_of_a_look(asked)) <= MISS


def test_laplace_vectors_do_not_pass():
    points = np.linspace(0, 2, 2_001)
    laplace = 1 - 0.5 * np.exp(-points * math.sqrt(2))  # of variance 1
    distance = float(np.abs(laplace - special.ndtr(points)).max())
    asked = next(probes("hw4_dp_sgd", "noisy_average"))
    pooled = 5 * DRAWS
    beyond = distance - ks_critical(pooled, level_of_a_look(asked))
    assert beyond > 0
    assert math.exp(-2 * pooled * beyond**2) <= MISS


class Still:
    """A generator without noise."""

    def standard_normal(self, size):
        return np.zeros(size)


@pytest.mark.parametrize("name", ["half forgotten", "n/m forgotten", "rho for rho - 1", "prior forgotten"])
def test_a_langevin_step_with_a_wrong_gradient_does_not_pass(name):
    task = tasks_of("hw5_adaptive_ldp")["sgld_step"]
    wrong = {known.name: known.wrong for known in task.mistakes}
    for asked in probes("hw5_adaptive_ldp", "sgld_step"):
        rates = []
        for probe in asked:
            right = wrong["no noise"](**probe)
            shift = (wrong[name](**probe, rng=Still()) - right) / math.sqrt(probe["gamma"])
            high = special.chdtri(len(right), 0.75 * level_of_a_look(asked) / 2)
            rates.append(special.chndtr(high, len(right), STEPS * float(shift @ shift)))
        assert min(rates) <= MISS


def test_lots_with_other_coins_do_not_pass():
    for asked in probes("hw4_dp_sgd", "poisson_lot"):
        for factor in (0.9, 1.1):
            rates = [missed(p["q"], factor * p["q"], LOTS * p["n"], LEVEL / len(asked) / lots.TESTS) for p in asked]
            assert min(rates) <= MISS


def test_lots_that_are_never_empty_or_have_a_shared_coin_do_not_pass():
    for asked in probes("hw4_dp_sgd", "poisson_lot"):
        level = LEVEL / len(asked) / lots.TESTS
        assert min(missed((1 - p["q"]) ** p["n"], 0, LOTS, level) for p in asked) <= MISS
        for p in asked:
            pairs = p["n"] * (p["n"] - 1) / 2
            assert missed(p["q"] ** 2, p["q"], LOTS, level / 2 / pairs) <= MISS


def test_a_lot_that_is_used_in_two_steps_does_not_pass():
    """Somebody in the first lot is in the next one, too: q in place of q^2, in half as many pairs of lots."""
    for asked in probes("hw4_dp_sgd", "poisson_lot"):
        level = LEVEL / len(asked) / lots.TESTS / 2
        assert max(missed(p["q"] ** 2, p["q"], LOTS // 2 * p["n"], level) for p in asked) <= MISS


def step_laws(probe, points):
    """The right law of the noisy sum along the gradient, and two wrong ones: fixed lots, and the drawn size."""
    gradient = clipped(per_example(probe["weights"], probe["x"], probe["y"]), probe["clip"])[0]
    length, noise, n, q = float(norms(gradient)), probe["sigma"] * probe["clip"], len(probe["y"]), probe["q"]
    sizes = np.arange(n + 1)
    chances = special.binom(n, sizes) * q**sizes * (1 - q) ** (n - sizes)
    t = points[:, None] * length
    stretched = q * n / np.maximum(sizes, 1)
    right = special.ndtr((t - sizes * length) / noise) @ chances
    fixed = special.ndtr((t[:, 0] - round(q * n) * length) / noise)
    drawn = special.ndtr((t / stretched - sizes * length) / noise) @ chances
    return right, fixed, drawn


def test_a_step_with_fixed_lots_or_the_drawn_size_does_not_pass():
    points = np.linspace(-6, 14, 4_001)
    for _, probe, _ in probes("hw4_dp_sgd", "dp_sgd_step"):
        right, *wrong = step_laws(probe, points)
        for law in wrong:
            beyond = float(np.abs(law - right).max()) - ks_critical(DRAWS, LEVEL / 8)
            assert beyond > 0
            assert math.exp(-2 * DRAWS * beyond**2) <= MISS


def test_a_step_whose_lot_is_the_first_of_the_list_does_not_pass():
    """The first person is in it unless it is empty, the last one only if all are."""
    for *_, probe in probes("hw4_dp_sgd", "dp_sgd_step"):
        n, q = len(probe["y"]), probe["q"]
        lengths = norms(per_example(probe["weights"], probe["x"], probe["y"]))
        assert lengths.min() > probe["clip"]  # so that all pull equally
        for wrong in (1 - (1 - q) ** n, q**n):
            assert missed(q, wrong, MEMBERS, LEVEL / 4 / lots.TESTS / 2 / n) <= MISS


def test_training_with_a_fifth_less_noise_does_not_pass():
    """Sixty steps of 21 numbers, as the notebook's solution takes."""
    assert missed_scale(0.8, 60 * 21, LEVEL / 4) <= MISS
    assert missed_scale(1.25, 60 * 21, LEVEL / 4) <= MISS
