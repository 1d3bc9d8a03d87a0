"""Poisson sampling: one round in closed form, both directions; many rounds at the points that others published."""

import math
from collections.abc import Callable

import mpmath as mp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcourse.privacy_loss import DiscreteLoss, EitherDirection, GaussianLoss, LaplaceLoss, PrivacyLoss
from tests.privacy_loss import contour, oracles, truth

REMOVED_AND_ADDED = pytest.mark.parametrize("added", [False, True], ids=["removed", "added"])


def direction(loss: PrivacyLoss, *, added: bool) -> PrivacyLoss:
    assert isinstance(loss, EitherDirection)
    return loss.added if added else loss.removed


def one_round(base_delta: Callable[[mp.mpf], mp.mpf], q: float, epsilon: float, *, added: bool) -> mp.mpf:
    """delta of the mixture pair from delta of a symmetric base pair, with 50 digits (the two identities of oracles)."""
    with mp.workdps(50):
        a, q = mp.exp(mp.mpf(epsilon)), mp.mpf(q)
        if not added:
            return q * base_delta(mp.log((a - 1 + q) / q))
        rest = 1 - a * (1 - q)
        if rest <= 0:
            return mp.mpf(0)
        inner = mp.log(a * q / rest)
        return rest * base_delta(inner) if inner >= 0 else rest * (1 - a * q / rest) + a * q * base_delta(-inner)


@REMOVED_AND_ADDED
@pytest.mark.parametrize("q", [1e-6, 1e-4, 0.01, 0.3, 0.9, 0.999999])
@pytest.mark.parametrize("mu", [0.05, 0.5, 1.0, 3.3])
def test_one_sampled_gaussian_has_its_closed_form(mu: float, q: float, added: bool) -> None:
    loss = direction(GaussianLoss(mu).subsample(q), added=added)
    limit = -math.log1p(-q)
    for share in (0.0, 1e-3, 0.2, 0.9, 0.999) if added else (0.0, 0.01, 0.5, 2.0, 8.0):
        epsilon = share * limit if added else share * math.log1p(q * math.expm1(mu))
        expected_delta = one_round(lambda e: oracles.gaussian_delta(mu, e), q, epsilon, added=added)
        # p - e^eps q of two tails: rounding of the tails themselves is the floor.
        tail = float(expected_delta) + float(loss.above(epsilon)[0])
        assert loss.delta(epsilon) == pytest.approx(float(expected_delta), rel=1e-9, abs=1e-15 * tail), share


@REMOVED_AND_ADDED
@pytest.mark.parametrize("q", [1e-4, 0.01, 0.3, 0.9])
@pytest.mark.parametrize("shift", [0.05, 1.0, 6.0])
def test_one_sampled_laplace_has_its_closed_form(shift: float, q: float, added: bool) -> None:
    loss = direction(LaplaceLoss(shift).subsample(q), added=added)
    for share in (0.0, 0.1, 0.5, 0.99, 1.2):
        epsilon = share * loss.max_loss
        expected_delta = one_round(
            lambda e: 1 - mp.exp((e - mp.mpf(shift)) / 2) if e < shift else mp.mpf(0), q, epsilon, added=added
        )
        assert loss.delta(epsilon) == pytest.approx(float(expected_delta), rel=1e-9, abs=1e-15)
    expected = math.log1p(q * math.expm1(shift)), -math.log1p(q * math.expm1(-shift))
    assert loss.max_loss == pytest.approx(expected[added], rel=1e-12)
    assert loss.epsilon(0.0) == pytest.approx(expected[added], rel=1e-12)


@REMOVED_AND_ADDED
@pytest.mark.parametrize(
    ("mu", "q", "delta"), [(1.0, 0.1, 1e-5), (0.3, 0.01, 1e-7), (3.0, 0.001, 1e-12), (1.0, 0.9, 0.2)]
)
def test_one_sampled_gaussian_epsilon_solves_its_equation(mu: float, q: float, delta: float, added: bool) -> None:
    loss = direction(GaussianLoss(mu).subsample(q), added=added)
    epsilon = loss.epsilon(delta)
    found = float(one_round(lambda e: oracles.gaussian_delta(mu, e), q, epsilon, added=added))
    blur = 1e-9 * epsilon * float(loss.above(epsilon)[0])  # nine digits of epsilon, seen in delta
    assert found == pytest.approx(delta, rel=1e-8, abs=blur) or (epsilon == 0 and found <= delta)


@given(st.floats(0.05, 5), st.floats(1e-4, 1), st.floats(0, 5))
def test_the_worse_direction_wins(mu: float, q: float, epsilon: float) -> None:
    both = GaussianLoss(mu).subsample(q)
    if q == 1:
        assert both == GaussianLoss(mu)
        return
    removed, added = (direction(both, added=a).delta(epsilon) for a in (False, True))
    assert both.delta(epsilon) == max(removed, added)
    if removed > 1e-12:
        assert removed >= added * (1 - 1e-9)  # for epsilon >= 0 removing is the worse one


@pytest.mark.parametrize("loss", [GaussianLoss(0.7), LaplaceLoss(0.7), LaplaceLoss(0.1).compose(9)])
def test_sampling_everyone_changes_nothing(loss: PrivacyLoss) -> None:
    assert loss.subsample(1).epsilon(1e-6) == loss.epsilon(1e-6)
    assert loss.subsample(1.0) is loss


@pytest.mark.parametrize("base", [GaussianLoss(1.0), LaplaceLoss(1.0)])
def test_delta_at_epsilon_zero_is_q_times_total_variation_both_ways(base: PrivacyLoss) -> None:
    for q in (1e-5, 0.01, 0.5):
        for added in (False, True):
            assert direction(base.subsample(q), added=added).delta(0) == pytest.approx(q * base.delta(0), rel=1e-9)


def test_sampling_a_sample_multiplies_the_rates() -> None:
    for base in (GaussianLoss(1.3), LaplaceLoss(0.8)):
        twice, once = base.subsample(0.5).subsample(0.2), base.subsample(0.1)
        for epsilon in (0.0, 0.05, 0.3):
            assert twice.delta(epsilon) == pytest.approx(once.delta(epsilon), rel=1e-9)


@pytest.mark.parametrize(
    ("sigma", "q", "rounds", "delta", "epsilon", "digits"),
    [
        (1.1, 256 / 60_000, 14_062, 1e-5, 2.3816, 5e-5),
        (4.0, 0.01, 10_000, 1e-5, 0.9469, 5e-5),
        (1.0, 5000 / 763_430, 5000, 1e-9, 3.90, 5e-3),
        (1.0, 1667 / 763_430, 5000, 1e-9, 1.26, 5e-3),
        (1.0, 1250 / 763_430, 5000, 1e-9, 0.949, 5e-4),
    ],
    ids=["MNIST tutorial", "Abadi et al.", "McMahan et al. 1", "McMahan et al. 2", "McMahan et al. 3"],
)
def test_published_settings(sigma: float, q: float, rounds: int, delta: float, epsilon: float, digits: float) -> None:
    loss = GaussianLoss(1 / sigma).subsample(q).compose(rounds)
    upper = loss.epsilon(delta)
    assert upper == pytest.approx(epsilon, abs=digits + 1e-4 * epsilon)
    bracket = loss.epsilon(delta, bracket=True)
    assert bracket.upper == upper
    assert bracket.upper - bracket.lower <= 2e-4 * upper
    assert truth.sampled_gaussian_delta(sigma, q, rounds, bracket.lower, added=False) >= delta * (1 - 1e-7)
    assert truth.sampled_gaussian_delta(sigma, q, rounds, bracket.upper, added=False) <= delta * (1 + 1e-7)


@REMOVED_AND_ADDED
@pytest.mark.parametrize(
    ("sigma", "q", "rounds"), [(1.1, 256 / 60_000, 10**6), (8.0, 0.001, 10**6), (20.0, 0.05, 10**6), (2.0, 1e-3, 10**6)]
)
@pytest.mark.parametrize("delta", [1e-12, 1e-5, 0.3])
def test_a_million_rounds(sigma: float, q: float, rounds: int, delta: float, added: bool) -> None:
    bracket = direction(GaussianLoss(1 / sigma).subsample(q).compose(rounds), added=added).epsilon(delta, bracket=True)
    if bracket.lower > 0:
        assert truth.sampled_gaussian_delta(sigma, q, rounds, bracket.lower, added=added) >= delta * (1 - 1e-7)
    assert truth.sampled_gaussian_delta(sigma, q, rounds, bracket.upper, added=added) <= delta * (1 + 1e-7)
    assert bracket.upper - bracket.lower <= 1e-3 * bracket.upper


@pytest.mark.parametrize("q", [0.01, 0.5])
def test_a_sampled_composition_is_certified_from_below_too(q: float) -> None:
    """Sampling a sum goes through its dominating grid: the bracket must not claim that the grid is the truth."""
    base = LaplaceLoss(0.1).compose(1000)
    sum_of_all = contour.Composition((contour.laplace(0.1), 1000))
    epsilon = 0.7
    inner = math.log1p(math.expm1(epsilon) / q)
    expected_delta = q * sum_of_all.delta(inner)
    bracket = direction(base.subsample(q), added=False).delta(epsilon, bracket=True)
    assert bracket.lower <= expected_delta * (1 + 1e-9)
    assert expected_delta <= bracket.upper * (1 + 1e-9)
    assert base.subsample(q).label != "exact"


@pytest.mark.parametrize("epsilon", [30.0, 32.0, 34.0, 36.0])
def test_a_sampled_composition_never_claims_too_much_in_the_far_tail(epsilon: float) -> None:
    base = LaplaceLoss(0.1).compose(1000)
    q = 0.5
    expected_delta = q * contour.Composition((contour.laplace(0.1), 1000)).delta(math.log1p(math.expm1(epsilon) / q))
    assert direction(base.subsample(q), added=False).delta(epsilon) >= expected_delta * (1 - 1e-9)


@REMOVED_AND_ADDED
def test_sampling_a_wide_sum_keeps_the_mass_of_q(added: bool) -> None:
    """L1 + L2 with mu = 5 and shift = 1 under sampling: Q lives where P has almost nothing, and that mass must stay.

    Truth: delta of the sum by one quadrature over the Laplace loss around the closed Gaussian delta.
    """
    losses, masses = oracles.laplace_nodes(1.0, [])
    total = oracles.one_more(lambda e: oracles.gaussian_hockey_stick(5.0, e), losses, masses)
    sampled = direction((GaussianLoss(5.0) + LaplaceLoss(1.0)).subsample(0.5), added=added)
    for epsilon in (0.0, 0.3, 0.6, 0.65):
        expected_delta = float(one_round(lambda e: mp.mpf(total(float(e))), 0.5, epsilon, added=added))
        bracket = sampled.delta(epsilon, bracket=True)
        assert bracket.lower <= expected_delta * (1 + 1e-9)
        assert expected_delta <= bracket.upper * (1 + 1e-9)
        assert bracket.upper == pytest.approx(expected_delta, rel=1e-3)


def test_sampling_a_sum_that_leaks_leaks_q_times_as_often() -> None:
    """P has outputs that Q never has (mass 0.2): after sampling q of them, and no epsilon covers those."""
    leaky = DiscreteLoss.from_probabilities([0.2, 0.5, 0.3], [0.0, 0.3, 0.7])
    sampled = (leaky + LaplaceLoss(0.1)).subsample(0.3)
    assert sampled.infinite_mass == pytest.approx(0.06, rel=1e-9)
    assert sampled.mean == math.inf
    assert sampled.epsilon(0.0599) == math.inf
    largest = math.log1p(0.3 * (0.5 / 0.3 * math.exp(0.1) - 1))
    bracket = sampled.epsilon(0.0600001, bracket=True)
    assert bracket.lower <= largest
    assert bracket.upper <= 1.001 * largest
    assert sampled.delta(5.0) == pytest.approx(0.06, rel=1e-6)
    assert sampled.compose(2).infinite_mass == pytest.approx(1 - 0.94**2, rel=1e-9)
