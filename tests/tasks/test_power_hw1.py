"""How often would a wrong answer to homework 1 slip through? Computed exactly, at the probes of many grading seeds."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.special import ndtr

from dpcourse.audit import draws_needed_for_scale_error, ks_fit
from dpcourse.audit.binomial import lower_tail, upper_tail
from dpcourse.audit.distribution_fit import ks_critical
from dpcourse.audit.epsilon import certified
from dpcourse.solve import first_integer
from dpcourse.tasks import LEVEL, Student, tasks_of
from dpcourse.tasks.declare import laplace_task
from dpcourse.tasks.hw1_pure_dp import choices as pure_dp_choices
from dpcourse.tasks.hw1_pure_dp.choices import _probabilities, _shares
from dpcourse.tasks.hw1_pure_dp.median import (
    EXACT_DRAWS,
    FEW_EXACT,
    HARD,
    HARD_LOOKS,
    JUMP,
    ORDINARY,
    PAIR_DRAWS,
    RANGE,
    SCORED,
    TESTS,
    _is_harmless,
    _mostly_below,
    exponential_median,
    rank_error,
)
from dpcourse.tasks.judges.choices import DOUBTFUL
from dpcourse.tasks.judges.diagnosis import same_values
from dpcourse.tasks.judges.noise import DRAWS
from dpcourse.tasks.judges.noise import TESTS as TESTS_OF_A_LOOK
from dpcourse.tasks.judges.noise_law import LAPLACE as LAPLACE_LAW
from dpcourse.tasks.judges.scale_tests import LAPLACE_SIZES, NORMAL_SIZES, largest_fit, width_fit
from dpcourse.tasks.mistake import arguments_of, mistake
from dpcourse.tasks.probes import Edge
from testing.submissions.hw1 import RIGHT
from tests.tasks.test_power import MISS, missed, probes

LAPLACE = LAPLACE_LAW.cdf
CHOICE_LEVEL = LEVEL / 4  # two probes, a look at each, at many draws, and at more: see shares_of
NOISE_LEVEL = LEVEL / 4 / TESTS_OF_A_LOOK  # three probes at most, four looks: see noise_of


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_a_laplace_scale_that_is_off_by_a_tenth_is_seen(factor):
    sample = np.random.default_rng(0).laplace(size=DRAWS)
    found = width_fit(sample, LAPLACE_SIZES, level=NOISE_LEVEL, power=1 - MISS)
    assert 0.9 < found.limits[0] < 1 < found.limits[1] < 1.1
    assert found.passed
    assert not width_fit(factor * sample, LAPLACE_SIZES, level=NOISE_LEVEL).passed
    assert draws_needed_for_scale_error(factor, LAPLACE, level=NOISE_LEVEL, power=1 - MISS) > DRAWS  # one event: more


@pytest.mark.parametrize(("sizes", "draw"), [(LAPLACE_SIZES, "laplace"), (NORMAL_SIZES, "normal")])
def test_the_sum_of_sizes_has_its_law(sizes, draw):
    """2,000 p-values of samples of 50 are uniform: fails right code once in 1e6 times, sees a distance of 0.12."""
    rng = np.random.default_rng(1)
    found = [width_fit(getattr(rng, draw)(size=50), sizes, level=1e-3).p_value for _ in range(2_000)]
    assert ks_fit(found, lambda p: np.clip(p, 0, 1), level=1e-6)


@pytest.mark.parametrize(("sizes", "draw"), [(LAPLACE_SIZES, "laplace"), (NORMAL_SIZES, "normal")])
def test_the_limits_of_the_sum_of_sizes_are_where_they_are_said_to_be(sizes, draw):
    """At a limit with power 0.9, of 2,000 samples 1,800 +- 68 are caught (five deviations: 6e-7)."""
    rng = np.random.default_rng(2)
    for side in (0, 1):
        factor = width_fit(np.ones(200), sizes, level=0.01, power=0.9).limits[side]
        samples = factor * getattr(rng, draw)(size=(2_000, 200))
        caught = sum(not width_fit(one, sizes, level=0.01).passed for one in samples)
        assert abs(caught - 1_800) <= 68


@pytest.mark.parametrize(
    "other",
    [
        lambda z: ndtr(z / math.sqrt(2)),  # a Gaussian with the variance of the Laplace
        lambda z: np.clip((z + 3) / 6, 0, 1),  # uniform
        lambda z: np.where(z < 0, 0, 1 - np.exp(-np.abs(z))),  # one-sided
        lambda z: LAPLACE(z - 0.2),  # shifted
    ],
)
def test_noise_of_another_shape_is_seen(other):
    """Where the two cdfs are farthest apart, the sample's cdf is a binomial share: Kolmogorov-Smirnov sees it there."""
    z = np.linspace(-12, 12, 4001)
    right, wrong = LAPLACE(z), other(z)
    i = int(np.argmax(np.abs(right - wrong)))
    critical = ks_critical(DRAWS, NOISE_LEVEL)
    slips = lower_tail(math.floor(DRAWS * (right[i] + critical)), DRAWS, wrong[i]) - lower_tail(
        math.ceil(DRAWS * (right[i] - critical)) - 1, DRAWS, wrong[i]
    )
    assert slips <= MISS


@pytest.mark.parametrize(
    ("sizes", "draw", "cdf"), [(LAPLACE_SIZES, "laplace", LAPLACE), (NORMAL_SIZES, "normal", ndtr)]
)
def test_the_largest_size_has_its_law(sizes, draw, cdf):
    """2,000 p-values of samples of 50 are uniform: fails right code once in 1e6 times, sees a distance of 0.12."""
    rng = np.random.default_rng(3)
    found = [largest_fit(getattr(rng, draw)(size=50), cdf, level=1e-3).p_value for _ in range(2_000)]
    assert ks_fit(found, lambda p: np.clip(p, 0, 1), level=1e-6)


def test_noise_that_is_cut_at_six_scales_is_always_seen_and_one_huge_answer_too():
    cut = largest_fit(np.full(DRAWS, 6.0), LAPLACE, level=NOISE_LEVEL)  # none can be larger
    assert not cut.passed
    assert math.exp(-6) > cut.smallest_error > math.exp(-7)
    assert not largest_fit(np.array([*np.random.default_rng(0).laplace(size=DRAWS), 40.0]), LAPLACE, level=NOISE_LEVEL)


def wins_by_laplace_noise(scores, i):
    """The probability that candidate i is the best after Laplace noise of scale 1 on every score."""
    from scipy.integrate import quad

    others = np.delete(scores, i)
    return quad(
        lambda t: math.exp(-abs(t - scores[i])) / 2 * np.prod(LAPLACE(t - others)), -40, 40, points=scores.tolist()
    )[0]


def test_a_noisy_maximum_with_laplace_noise_is_seen_though_it_is_as_private():
    """Laplace noise of scale 2 sensitivity/epsilon on each score, then the best: epsilon-DP, and another mechanism.

    (With Gumbel noise it is the exponential mechanism itself.) The likeliest candidate convicts it: its share must
    first look doubtful, and then wrong. Each of the two steps may be missed.
    """
    for asked in probes("hw1_pure_dp", "exponential_choice", 50):
        probe = asked[-1]
        right = _probabilities(arguments_of(probe))
        best, scores = int(np.argmax(right)), probe["epsilon"] * probe["utilities"] / (2 * probe["sensitivity"])
        wrong = wins_by_laplace_noise(scores, best)
        not_doubted = missed(right[best], wrong, DOUBTFUL, pure_dp_choices.DRAWS)
        let_pass = missed(right[best], wrong, CHOICE_LEVEL / 2, pure_dp_choices.DRAWS + pure_dp_choices.MORE)
        assert not_doubted + let_pass <= MISS


@pytest.mark.parametrize("factor", [0.0, 0.5, 2.0, -1.0])
def test_a_wrong_factor_in_the_exponential_mechanism_is_seen(factor):
    """0: scores not looked at; 0.5: a 2 too many; 2: the 2 forgotten; -1: the sign turned."""
    for asked in probes("hw1_pure_dp", "exponential_choice"):
        probe = asked[-1]
        right = _probabilities(arguments_of(probe))
        wrong = _shares(factor * probe["epsilon"] * probe["utilities"] / (2 * probe["sensitivity"]))
        level = CHOICE_LEVEL / 2 / len(right)
        assert min(missed(p, q, level, pure_dp_choices.DRAWS) for p, q in zip(right, wrong, strict=True)) <= MISS


def shares_below_the_step(pair, factor):
    """Of the exponential median that spends ``factor`` times its budget, in both tables of a hard pair."""
    pair_step = np.sort(pair[0]["data"])[len(pair[0]["data"]) // 2]
    for probe in pair:
        probability, _ = exponential_median(probe["data"], probe["low"], probe["high"], factor * probe["epsilon"])
        ends = np.concatenate([[probe["low"]], np.sort(probe["data"])])
        yield float(probability[ends < pair_step].sum())


@pytest.mark.parametrize(("factor", "look"), [(2.0, 1), (1.5, 1), (1.25, 2)])
def test_a_median_that_spends_more_than_its_budget_is_convicted(factor, look):
    """By one of the hard pairs: not let go before that look, and convicted then; each fails with probability < MISS."""
    for asked in probes("hw1_pure_dp", "private_median", 10):
        assert any(convicts(asked[2 * hard : 2 * hard + 2], factor, look) for hard in HARD)


def convicts(pair, factor, look):
    allowed = math.exp(pair[0]["epsilon"])
    p, q = shares_below_the_step(pair, factor)
    for draws in HARD_LOOKS[:look]:
        least = first_integer(lambda k: lower_tail(k, draws[0], p) > MISS / 10, draws[0])  # noqa: B023
        most = first_integer(lambda k: upper_tail(k + 1, draws[1], q) <= MISS / 10, draws[1])  # noqa: B023
        if _is_harmless((least, most), draws, allowed):
            return False
    draws = HARD_LOOKS[look]
    hits = first_integer(lambda k: lower_tail(k, draws[0], p) > 0.3 * MISS, draws[0])
    other = first_integer(lambda k: upper_tail(k + 1, draws[1], q) <= 0.3 * MISS, draws[1])
    return certified(hits, draws[0], other, draws[1], delta=0.0, level=LEVEL / TESTS) > pair[0]["epsilon"]


def test_the_right_median_is_mostly_let_go_at_the_first_look():
    for asked, hard in product(probes("hw1_pure_dp", "private_median", 10), HARD):
        pair, draws = asked[2 * hard : 2 * hard + 2], HARD_LOOKS[0]
        p, q = shares_below_the_step(pair, 1)
        below = tuple(int(n * share + 2.4 * math.sqrt(n * share)) for n, share in zip(draws, (p, q), strict=True))
        fewer = below[0], int(draws[1] * q - 3 * math.sqrt(draws[1] * q))
        assert _is_harmless(below, draws, math.exp(pair[0]["epsilon"]))
        assert _is_harmless(fewer, draws, math.exp(pair[0]["epsilon"]))


def test_the_exact_median_in_two_of_a_hundred_answers_is_convicted():
    assert lower_tail(FEW_EXACT - 1, PAIR_DRAWS, 0.02) < MISS / 10
    hits = first_integer(lambda k: lower_tail(k, EXACT_DRAWS, 0.02) > 0.4 * MISS, EXACT_DRAWS)
    other = first_integer(lambda k: upper_tail(k + 1, EXACT_DRAWS, 1e-7) <= 0.4 * MISS, EXACT_DRAWS)
    assert certified(hits, EXACT_DRAWS, other, EXACT_DRAWS, delta=0.0, level=LEVEL / TESTS) > 2.2


def test_a_row_or_a_gap_without_its_width_is_convicted_by_the_known_events():
    """Both land in the event with the probabilities of the ranks (the middle row; one gap beside it), the neighbour
    never or once in ten thousand times."""
    for asked in probes("hw1_pure_dp", "private_median", 20):
        n, epsilon = len(asked[0]["data"]), asked[0]["epsilon"]
        rows = np.exp(-epsilon / 2 * np.abs(np.arange(n) - (n - 1) / 2))
        gaps = np.exp(-epsilon / 2 * np.abs(np.arange(n + 1) - n / 2))
        for p in (rows.max() / rows.sum(), gaps.max() / gaps.sum()):
            hits = first_integer(lambda k, p=p: lower_tail(k, PAIR_DRAWS, p) > 0.45 * MISS, PAIR_DRAWS)
            other = first_integer(lambda k: upper_tail(k + 1, PAIR_DRAWS, 1e-4) <= 0.45 * MISS, PAIR_DRAWS)
            assert certified(hits, PAIR_DRAWS, other, PAIR_DRAWS, delta=0.0, level=LEVEL / TESTS) > epsilon


def density(probe):
    """Of the exponential median, at 501 places of the range."""
    probability, _ = exponential_median(**probe)
    ends = np.concatenate([[probe["low"]], np.sort(probe["data"]), [probe["high"]]])
    places = probe["low"] + (probe["high"] - probe["low"]) * np.linspace(0.001, 0.999, 501)
    gap = np.searchsorted(ends, places) - 1
    return probability[gap] / np.diff(ends)[gap]


def test_the_exponential_median_is_private_on_the_pairs_and_keeps_its_points():
    """The mean error stays below the limit but for LEVEL / TESTS: Chernoff's bound, compared with a simulation."""
    rng = np.random.default_rng(0)
    for asked in probes("hw1_pure_dp", "private_median", 5):
        assert len(asked) == 2 * len({JUMP, RANGE, *HARD, *ORDINARY})
        for pair in (JUMP, RANGE, *HARD, *ORDINARY):
            losses = np.log(density(asked[2 * pair]) / density(asked[2 * pair + 1]))
            assert np.abs(losses).max() <= asked[0]["epsilon"] + 1e-9
            assert np.abs(losses).max() > 0.4 * asked[0]["epsilon"] or pair not in HARD
        for probe in (asked[2 * pair] for pair in SCORED):
            probability, error = exponential_median(**probe)
            limit = _mostly_below(probability, error, PAIR_DRAWS, LEVEL / TESTS)
            means = rng.choice(error, (400, PAIR_DRAWS), p=probability).mean(axis=1)
            assert probability @ error < limit < 2 * probability @ error
            assert means.max() < limit  # 400 means: a bound too small by 4 deviations would show


def test_the_rank_error_counts_rows_from_the_middle():
    data = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    assert rank_error(data, [3.0, 2.5, 3.5, 0.0, 9.0, 1.0]).tolist() == [0.0, 0.5, 0.5, 2.5, 2.5, 1.5]


def test_the_narrow_pairs_convict_noise_that_is_far_too_small():
    """Separated worlds: with p = 1 and q = 0 the searched pairs can show more than any epsilon that is asked for."""
    tested = PAIR_DRAWS - int(0.4 * PAIR_DRAWS)
    assert certified(tested, tested, 0, tested, delta=0.0, level=LEVEL / TESTS) > 2.2
    # Noise of a mean: the search may stop short of one answer in twenty.
    assert certified(int(0.9 * tested), tested, 0, tested, delta=0.0, level=LEVEL / TESTS) > 2.2
    # Local sensitivity: above the lower end with probability 1/2 in one table, never in the other.
    hits = first_integer(lambda k: lower_tail(k, tested, 0.5) > MISS, tested)
    assert certified(hits, tested, 0, tested, delta=0.0, level=LEVEL / TESTS) > 2.2


@pytest.mark.parametrize(
    "name", ["likelihood_ratio", "ratio_range", "sensitivity_of", "exponential_probabilities", "meeting_probabilities"]
)
def test_no_seed_draws_probes_at_which_a_known_mistake_does_not_show(name):
    task, right = tasks_of("hw1_pure_dp")[name], next(iter(RIGHT[name].values()))
    for asked in probes("hw1_pure_dp", name, 150):
        asked = [probe for probe in asked if not isinstance(probe, Edge)]
        answers = [task.answer.read(right(**probe)) for probe in asked]
        for known in task.mistakes:
            wrong = [task.answer.read(known.wrong(**probe)) for probe in asked]
            same = [same_values(one, other) for one, other in zip(answers, wrong, strict=True)]
            assert not all(same), known.name


def test_an_answer_of_millions_is_not_called_rounded_but_whole_numbers_are():
    """Where half a cent is a billionth of the answer, a right one fails at no seed."""
    task = laplace_task(
        "total",
        see="",
        probes=fixed_probe,
        law=lambda p: (p.center, 1e5),
        mistakes=[mistake("none", "", lambda p: 0.0)],
    )

    def right(center, rng):
        return center + rng.laplace(0, 1e5)

    assert task.examine(Student(right, task.answer), 1).passed
    found = task.examine(Student(lambda center, rng: round(right(center, rng)), task.answer), 1)
    assert found.mistake == "rounded"


def fixed_probe(rng):
    return [{"center": 6_900_000.0}]
