"""One event against a whole curve: the scale test's level, power and price."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dpcourse.audit import draws_needed_for_scale_error, ks_fit, scale_fit
from dpcourse.audit.binomial import rejection_region
from dpcourse.audit.scale_fit import _outside

laplace = stats.laplace.cdf


def test_one_event_sees_a_tenth_with_a_third_of_the_draws() -> None:
    # Exact computations, no randomness: level and power 1e-6, Laplace noise 10% too wide or too narrow.
    wide = draws_needed_for_scale_error(1.1, laplace)
    narrow = draws_needed_for_scale_error(0.9, laplace)
    whole_curve = draws_needed_for_scale_error(1.1, laplace, test="ks")
    assert wide == pytest.approx(15_850, rel=0.01)
    assert narrow == pytest.approx(12_980, rel=0.01)
    assert whole_curve > 3 * wide


def test_limits_are_exact_for_laplace_noise() -> None:
    n, level = 14_400, 1e-6
    fit = scale_fit(np.random.default_rng(0).laplace(size=n), laplace)  # false fail 1e-6
    assert fit.passed
    assert fit.limits is not None
    t = float(fit.name.split("> ")[1])
    low, high = rejection_region(n, float(np.exp(-t)), level)
    narrow, wide = fit.limits
    assert narrow is not None
    assert wide is not None
    assert stats.binom.cdf(low, n, np.exp(-t / narrow)) == pytest.approx(1 - level, abs=1e-8)
    assert stats.binom.sf(high - 1, n, np.exp(-t / wide)) == pytest.approx(1 - level, abs=1e-8)
    assert 0.90 < narrow < 0.91 < 1.10 < wide < 1.11
    assert fit.smallest_error == pytest.approx(max(1 - narrow, wide - 1))


@pytest.mark.parametrize("factor", [0.9, 1.1])
@pytest.mark.parametrize(
    ("distribution", "center"),
    [(stats.laplace(scale=2.5), 0.0), (stats.norm(loc=50, scale=3), 50.0), (stats.cauchy(loc=-1), -1.0)],
)
def test_ten_percent_is_caught_at_the_computed_price(distribution: object, center: float, factor: float) -> None:
    # Right noise: false fail 1e-6. Wrong noise: missed with probability 1e-6, by the number of draws asked for.
    rng = np.random.default_rng(1)
    cdf = distribution.cdf  # type: ignore[attr-defined]
    n = int(1.03 * draws_needed_for_scale_error(factor, cdf, center=center))
    y = distribution.rvs(n, random_state=rng)  # type: ignore[attr-defined]
    assert scale_fit(y, cdf, center=center).passed
    assert not scale_fit(center + factor * (y - center), cdf, center=center).passed


def test_level_holds_over_many_right_samplers() -> None:
    # 1,200 right samplers at level 0.1. False fail < 1e-9; sees a true level of 0.2 or more.
    rng = np.random.default_rng(2)
    alarms = sum(not scale_fit(rng.laplace(size=300), laplace, level=0.1) for _ in range(1200))
    assert alarms <= stats.binom.isf(1e-9, 1200, 0.1)


def test_ks_price_is_enough() -> None:
    # 300 trials at level and power 5% / 95% for noise 30% too wide: false fail < 1e-9, sees a true power below 0.75.
    rng = np.random.default_rng(3)
    n = draws_needed_for_scale_error(1.3, laplace, level=0.05, power=0.95, test="ks")
    caught = sum(not ks_fit(1.3 * rng.laplace(size=n), laplace, level=0.05, power=0.95) for _ in range(300))
    assert caught >= stats.binom.ppf(1e-9, 300, 0.95)


def test_discrete_reference() -> None:
    # Two-sided geometric noise with epsilon 0.5: right passes (false fail 1e-6); epsilon 0.6 is far beyond the limits.
    rng = np.random.default_rng(4)

    def noise(epsilon: float) -> np.ndarray:
        p = 1 - np.exp(-epsilon)
        return rng.geometric(p, 30_000) - rng.geometric(p, 30_000)

    def cdf(x: np.ndarray) -> np.ndarray:
        k, a = np.floor(x), np.exp(-0.5)
        return np.where(k < 0, a ** -np.minimum(k, 0) / (1 + a), 1 - a ** (np.maximum(k, 0) + 1) / (1 + a))

    for t in (0, 1, 2, 2.5):  # strictly outside: the step at t itself does not count
        expected = 2 * np.exp(-0.5) ** (np.floor(t) + 1) / (1 + np.exp(-0.5))
        assert float(_outside(cdf, 0.0)(t)) == pytest.approx(expected, rel=1e-12)
    assert scale_fit(noise(0.5), cdf).passed
    assert not scale_fit(noise(0.6), cdf).passed
    assert not scale_fit(noise(0.4), cdf).passed


@pytest.mark.parametrize("value", [0.0, 1.67, 1e9, np.nan, np.inf])
def test_constant_or_broken_samples_fail(value: float) -> None:
    fit = scale_fit(np.full(1000, value), laplace)
    assert not fit.passed
    assert fit.note


def test_bad_arguments_are_quoted() -> None:
    for factor in (1, 0, -2):
        with pytest.raises(ValueError, match=str(factor)):
            draws_needed_for_scale_error(factor, laplace)
    with pytest.raises(ValueError, match="chi"):
        draws_needed_for_scale_error(1.1, laplace, test="chi")
    with pytest.raises(ValueError, match="0 draws"):
        scale_fit([], laplace)
    with pytest.raises(ValueError, match="changes nothing"):
        scale_fit(np.arange(100.0), lambda x: (x >= 0).astype(float))
