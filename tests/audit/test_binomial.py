"""Exact binomial statements against enumeration, mpmath and scipy: no randomness, so no false fails."""

from __future__ import annotations

import math

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpcourse.audit import binomial_fit, draws_to_tell_apart
from dpcourse.audit.binomial import (
    detected_limits,
    lower_tail,
    probability_at_least,
    probability_at_most,
    rejection_region,
    upper_tail,
)

draws_and_probability = st.tuples(st.integers(1, 400), st.floats(1e-6, 1 - 1e-6))


@pytest.mark.parametrize(("k", "n", "p"), [(3, 10, 0.2), (40, 14_400, 0.01), (9_000, 10_000, 0.5), (0, 50, 0.3)])
def test_tails_agree_with_mpmath_far_out(k: int, n: int, p: float) -> None:
    with mpmath.workdps(40):
        exact = mpmath.fsum(
            mpmath.binomial(n, j) * mpmath.mpf(p) ** j * (1 - mpmath.mpf(p)) ** (n - j) for j in range(k + 1)
        )
        rest = mpmath.fsum(
            mpmath.binomial(n, j) * mpmath.mpf(p) ** j * (1 - mpmath.mpf(p)) ** (n - j) for j in range(k, n + 1)
        )
    assert lower_tail(k, n, p) == pytest.approx(float(exact), rel=1e-9)
    assert upper_tail(k, n, p) == pytest.approx(float(rest), rel=1e-9)


@given(draws_and_probability, st.data())
def test_clopper_pearson_is_scipys(case: tuple[int, float], data: st.DataObject) -> None:
    n, _ = case
    k = data.draw(st.integers(0, n))
    oracle = stats.binomtest(k, n).proportion_ci(confidence_level=0.98, method="exact")
    assert probability_at_least(k, n, 0.01) == pytest.approx(oracle.low, abs=1e-12)
    assert probability_at_most(k, n, 0.01) == pytest.approx(oracle.high, abs=1e-12)


@given(draws_and_probability, st.sampled_from([0.3, 0.05, 1e-3, 1e-6]))
def test_region_has_at_most_its_level_and_cannot_be_larger(case: tuple[int, float], level: float) -> None:
    n, p = case
    low, high = rejection_region(n, p, level)
    assert lower_tail(low, n, p) <= level / 2 < lower_tail(low + 1, n, p)
    assert upper_tail(high, n, p) <= level / 2 < upper_tail(high - 1, n, p)


@given(draws_and_probability, st.sampled_from([0.3, 0.05, 1e-3]))
def test_p_value_rejects_exactly_the_region(case: tuple[int, float], level: float) -> None:
    n, p = case
    low, high = rejection_region(n, p, level)
    if low < 0 and high > n:
        with pytest.raises(ValueError, match="catches no error"):
            binomial_fit(0, n, p, level=level)
        return
    for k in {0, max(low, 0), min(low + 1, n), max(high - 1, 0), min(high, n), n}:
        assert binomial_fit(k, n, p, level=level).passed == (low < k < high)


def test_limits_have_exactly_the_stated_power() -> None:
    n, p, level, power = 500, 0.3, 1e-3, 0.99
    below, above = detected_limits(n, p, level, power)
    low, high = rejection_region(n, p, level)
    assert below is not None
    assert above is not None
    assert below < p < above
    assert stats.binom.cdf(low, n, below) == pytest.approx(power, rel=1e-9)
    assert stats.binom.sf(high - 1, n, above) == pytest.approx(power, rel=1e-9)
    fit = binomial_fit(150, n, p, level=level, power=power)
    assert fit.limits == (below, above)
    assert fit.smallest_error == pytest.approx(max(p - below, above - p))


def test_a_side_that_cannot_fail_is_said_to_be_blind() -> None:
    fit = binomial_fit(0, 100, 0.001)
    assert fit.limits is not None
    assert fit.limits[0] is None
    assert fit.passed
    assert "<=" not in str(fit).split("any true probability")[1]


@pytest.mark.parametrize(("probability", "good", "bad"), [(0.0, 0, 1), (1.0, 1000, 999)])
def test_certain_events_may_not_waver(probability: float, good: int, bad: int) -> None:
    assert binomial_fit(good, 1000, probability).passed
    assert binomial_fit(bad, 1000, probability).p_value == 0


def test_draws_to_tell_apart_reaches_its_power_and_one_eighth_less_does_not() -> None:
    n = draws_to_tell_apart(0.2, 0.23, level=1e-6)
    _, high = rejection_region(n, 0.2, 1e-6)
    assert stats.binom.sf(high - 1, n, 0.23) >= 1 - 1e-6
    fewer = n - n // 8
    _, high = rejection_region(fewer, 0.2, 1e-6)
    assert stats.binom.sf(high - 1, fewer, 0.23) < 1 - 1e-6


@pytest.mark.parametrize(
    ("arguments", "quoted"),
    [((5, 3, 0.5), "5"), ((-1, 3, 0.5), "-1"), ((1, 0, 0.5), "0"), ((1, 30, 1.5), "1.5"), ((1, 30, math.nan), "nan")],
)
def test_bad_arguments_are_quoted(arguments: tuple[int, int, float], quoted: str) -> None:
    with pytest.raises(ValueError, match=quoted):
        binomial_fit(*arguments)
    with pytest.raises(ValueError, match=r"0\.0"):
        binomial_fit(1, 100, 0.5, level=0.0)


def test_fit_says_everything_in_one_sentence() -> None:
    text = str(binomial_fit(5_000, 10_000, np.float64(0.5)))
    for part in ("exact binomial", "passed", "10,000 draws", "1e-06", "0.999999", "5,000 events"):
        assert part in text


def test_all_of_the_draws_are_at_most_all_of_them() -> None:
    assert lower_tail(5, 5, 0.3) == 1.0
    assert lower_tail(4, 5, 0.5) == pytest.approx(1 - 2**-5, rel=1e-14)
