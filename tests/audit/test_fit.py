"""Kolmogorov-Smirnov and chi-square: levels that hold, power as stated, and no mercy for degenerate samples."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from dpcourse.audit import Fit, chi_square_fit, ks_fit


def too_many(rate: float, trials: int) -> int:
    """The count that Bin(trials, rate) exceeds with probability at most 1e-9."""
    return int(stats.binom.isf(1e-9, trials, rate))


def too_few(rate: float, trials: int) -> int:
    """The count that Bin(trials, rate) stays below with probability at most 1e-9."""
    return int(stats.binom.ppf(1e-9, trials, rate))


def geometric_cdf(x: np.ndarray) -> np.ndarray:
    return stats.geom.cdf(x, 0.4)


def test_ks_is_scipys_for_a_continuous_reference() -> None:
    y = np.random.default_rng(0).laplace(size=500)
    fit, oracle = ks_fit(y, stats.laplace.cdf), stats.kstest(y, "laplace")
    assert fit.statistic == pytest.approx(oracle.statistic, rel=1e-12)
    assert fit.p_value == pytest.approx(oracle.pvalue, rel=1e-9)


def test_ks_never_exceeds_its_level_for_a_discrete_reference() -> None:
    # 1,500 right samplers at level 0.05: false fail < 1e-9, sees a true level of 0.12 or more. Comparing the foot of a
    # step with its top, as the textbook formula does, would reject all of them.
    rng = np.random.default_rng(1)
    alarms = sum(not ks_fit(rng.geometric(0.4, 200), geometric_cdf, level=0.05) for _ in range(1500))
    assert alarms <= too_many(0.05, 1500)
    assert stats.kstest(rng.geometric(0.4, 200), geometric_cdf).pvalue < 1e-6


def test_ks_level_is_attained_for_a_continuous_reference() -> None:
    # 2,000 samples at level 0.05: 100 alarms expected. False fail < 2e-9; sees a true level of 0.11 or of 0.01.
    rng = np.random.default_rng(2)
    alarms = sum(not ks_fit(rng.random(100), stats.uniform.cdf, level=0.05) for _ in range(2000))
    assert too_few(0.05, 2000) <= alarms <= too_many(0.05, 2000)


def test_ks_catches_its_smallest_error_with_the_stated_power() -> None:
    # The true cdf is off by exactly smallest_error, at one point, where the noise is largest (probability near 1/2).
    # 500 trials at power 0.9: false fail < 1e-9, sees a true power below 0.72.
    rng = np.random.default_rng(3)
    n, level, power = 400, 0.01, 0.9
    error = ks_fit(rng.random(n), stats.uniform.cdf, level=level, power=power).smallest_error
    share = 0.5  # true mass below 1/2 - error
    caught = 0
    for _ in range(500):
        below = rng.random(n) < share
        y = np.where(below, rng.uniform(0, share - error, n), rng.uniform(share - error, 1, n))
        caught += not ks_fit(y, stats.uniform.cdf, level=level, power=power)
    assert caught >= too_few(power, 500)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("scale 20% off", lambda y: 1.2 * y),
        ("shifted by 0.1", lambda y: y + 0.1),
        ("rounded", np.round),
        ("one-sided", np.abs),
        ("squashed", np.tanh),
    ],
)
def test_ks_sees_the_usual_faults(name: str, wrong: object) -> None:
    # 60,000 draws at level 1e-6: every fault here is at least 1.4 times as large as smallest_error (0.022).
    y = np.random.default_rng(4).laplace(size=60_000)
    assert ks_fit(y, stats.laplace.cdf).passed  # false fail 1e-6
    assert callable(wrong)
    assert not ks_fit(wrong(y), stats.laplace.cdf).passed, name


@pytest.mark.parametrize(
    ("samples", "reason"),
    [
        (np.zeros(1000), "no noise"),
        (np.full(1000, np.nan), "not finite"),
        (np.r_[np.random.default_rng(5).laplace(size=999), np.nan], "nan"),
        (np.r_[np.random.default_rng(5).laplace(size=999), np.inf], "inf"),
    ],
)
def test_degenerate_samples_fail_and_say_why(samples: np.ndarray, reason: str) -> None:
    fit = ks_fit(samples, stats.laplace.cdf)
    assert not fit.passed
    assert reason in fit.note
    assert "FAILED" in str(fit)


@pytest.mark.parametrize("samples", [[], [0.3], np.zeros(20), np.linspace(0, 1, 20)])
def test_too_few_draws_cannot_pass(samples: list[float]) -> None:
    with pytest.raises(ValueError, match=r"empty|catches no error"):
        ks_fit(samples, stats.laplace.cdf)


def test_bad_references_and_samples_are_refused() -> None:
    y = np.linspace(-1, 1, 100)
    with pytest.raises(ValueError, match=r"cdf must lie in \[0, 1\], got -1"):
        ks_fit(y, lambda x: x)
    with pytest.raises(ValueError, match="shape"):
        ks_fit(y, lambda x: 0.5)
    with pytest.raises(TypeError, match="0\\.5"):
        ks_fit(y, 0.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"\(50, 2\)"):
        ks_fit(y.reshape(50, 2), stats.laplace.cdf)
    with pytest.raises(TypeError, match="abc"):
        ks_fit("abc", stats.laplace.cdf)


def multinomial_outcomes(n: int, p: tuple[float, ...]) -> list[tuple[tuple[int, ...], float]]:
    outcomes = [(*head, n - sum(head)) for head in itertools.product(range(n + 1), repeat=len(p) - 1) if sum(head) <= n]
    return [(outcome, float(stats.multinomial.pmf(outcome, n, p))) for outcome in outcomes]


@pytest.mark.parametrize("p", [(0.5, 0.3, 0.2), (0.9, 0.07, 0.03), (0.01, 0.49, 0.5)])
@pytest.mark.parametrize("level", [0.2, 0.05, 1e-2, 1e-4])
def test_chi_square_never_exceeds_its_level_even_with_tiny_counts(p: tuple[float, ...], level: float) -> None:
    # Enumerates every possible table of 30 draws: exact, no false fails.
    alarm = 0.0
    for outcome, probability in multinomial_outcomes(30, p):
        alarm += probability * (chi_square_fit(outcome, p, level=level, power=0.5).p_value <= level)
    assert alarm <= level * (1 + 1e-9)


def test_pearsons_chi_square_would_exceed_it() -> None:
    # Why the exact partition is there: at level 1e-4 Pearson's own test raises 22 times as many alarms as it says.
    p = (0.9, 0.07, 0.03)
    outcomes = multinomial_outcomes(30, p)
    pearson = sum(mass for outcome, mass in outcomes if stats.chisquare(outcome, 30 * np.array(p)).pvalue <= 1e-4)
    assert pearson == pytest.approx(22e-4, rel=0.01)


def test_chi_square_is_pearsons_for_large_counts() -> None:
    p = np.array([0.1, 0.2, 0.3, 0.4])
    counts = np.array([10_300, 19_700, 30_300, 39_700])
    assert chi_square_fit(counts, p).statistic == pytest.approx(stats.chisquare(counts, 1e5 * p).statistic, rel=0.03)


def test_chi_square_catches_its_smallest_error_with_the_stated_power() -> None:
    # A total variation of smallest_error, spread as thinly as possible (equal cells: the hardest to see).
    # 400 trials at power 0.95: false fail < 1e-9, sees a true power below 0.78.
    rng = np.random.default_rng(6)
    n, cells = 2000, 8
    p = np.full(cells, 1 / cells)
    error = chi_square_fit(n * p, p, level=1e-3, power=0.95).smallest_error
    wrong = p + np.where(np.arange(cells) % 2, 1, -1) * 2 * error / cells
    counts = rng.multinomial(n, wrong, size=400)
    caught = sum(not chi_square_fit(row, p, level=1e-3) for row in counts)
    assert caught >= too_few(0.95, 400)


def test_chi_square_degenerate_counts() -> None:
    stuck = chi_square_fit([1000, 0, 0], [0.4, 0.3, 0.3])
    assert not stuck.passed
    assert "cell 0" in stuck.note
    impossible = chi_square_fit([500, 499, 1], [0.5, 0.5, 0.0])
    assert impossible.p_value == 0
    assert impossible.statistic == math.inf
    assert chi_square_fit([500, 500, 0], [0.5, 0.5, 0.0]).passed
    assert chi_square_fit([500, 0], [1.0, 0.0]).passed
    assert not chi_square_fit([500, 1], [1.0, 0.0]).passed


@pytest.mark.parametrize(
    ("counts", "p", "message"),
    [
        ([0, 0], [0.5, 0.5], "nothing drawn"),
        ([10], [1.0], "one cell"),
        ([3, 4], [0.5, 0.5], "catches no error"),
        ([-3, 400], [0.5, 0.5], "-3"),
        ([3.5, 400], [0.5, 0.5], "3.5"),
        ([100, 400], [0.5, 0.6], "1.1"),
        ([100, 400, 3], [0.5, 0.5], "one entry per probability"),
    ],
)
def test_chi_square_refuses(counts: list[float], p: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        chi_square_fit(counts, p)


def test_a_nan_p_value_never_passes() -> None:
    fit = Fit(name="t", statistic=0, p_value=math.nan, level=0.1, power=0.9, draws=1, smallest_error=1, unit="distance")
    assert not fit
