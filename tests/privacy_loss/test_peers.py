"""Against the libraries that people use: dp-accounting's PLD (pessimistic, so never below us) and Opacus' PRV."""

import math

import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from opacus import accountants as prv

from dpcourse.privacy_loss import GaussianLoss, LaplaceLoss, PrivacyLoss

SETTINGS = [
    (1.1, 256 / 60_000, 14_062, 1e-5),
    (4.0, 0.01, 10_000, 1e-5),
    (1.0, 5000 / 763_430, 5000, 1e-9),
    (0.8, 0.02, 500, 1e-6),
    (10.0, 0.3, 1000, 1e-7),
    (2.0, 0.5, 30, 1e-12),
]


def gaussian(sigma: float, q: float, rounds: int) -> PrivacyLoss:
    return GaussianLoss(1 / sigma).subsample(q).compose(rounds)


def dp_accounting_epsilon(sigma: float, q: float, rounds: int, delta: float, interval: float) -> float:
    one = pld.from_gaussian_mechanism(sigma, sampling_prob=q, value_discretization_interval=interval)
    return float(one.self_compose(rounds).get_epsilon_for_delta(delta))


@pytest.mark.parametrize(("sigma", "q", "rounds", "delta"), SETTINGS)
def test_within_a_thousandth_of_dp_accounting(sigma: float, q: float, rounds: int, delta: float) -> None:
    theirs = dp_accounting_epsilon(sigma, q, rounds, delta, interval=1e-4)
    ours = gaussian(sigma, q, rounds).epsilon(delta, bracket=True)
    assert ours.upper == pytest.approx(theirs, rel=1e-3)
    assert ours.lower <= theirs * (1 + 1e-9)  # theirs is an upper bound too: the truth lies below it


@pytest.mark.slow
@pytest.mark.parametrize(("sigma", "q", "rounds", "delta"), SETTINGS)
def test_within_a_thousandth_of_dp_accounting_at_its_finest(sigma: float, q: float, rounds: int, delta: float) -> None:
    theirs = dp_accounting_epsilon(sigma, q, rounds, delta, interval=1e-5)
    ours = gaussian(sigma, q, rounds).epsilon(delta, bracket=True)
    assert ours.upper == pytest.approx(theirs, rel=1e-3)
    assert ours.lower <= theirs * (1 + 1e-9)


@pytest.mark.parametrize(("sigma", "q", "rounds"), [(1.0, 0.01, 1000), (3.0, 1.0, 20)])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_delta_agrees_with_dp_accounting(sigma: float, q: float, rounds: int, epsilon: float) -> None:
    one = pld.from_gaussian_mechanism(sigma, sampling_prob=q, value_discretization_interval=1e-4)
    theirs = float(one.self_compose(rounds).get_delta_for_epsilon(epsilon))
    assert gaussian(sigma, q, rounds).delta(epsilon) == pytest.approx(theirs, rel=1e-3)


@pytest.mark.parametrize(("shift", "q", "rounds"), [(0.1, 1.0, 200), (0.5, 1.0, 6), (1.0, 0.05, 400), (0.2, 0.5, 50)])
@pytest.mark.parametrize("delta", [1e-9, 1e-5])
def test_laplace_agrees_with_dp_accounting(shift: float, q: float, rounds: int, delta: float) -> None:
    one = pld.from_laplace_mechanism(1 / shift, sampling_prob=q, value_discretization_interval=1e-4)
    theirs = float(one.self_compose(rounds).get_epsilon_for_delta(delta))
    ours = LaplaceLoss(shift).subsample(q).compose(rounds).epsilon(delta, bracket=True)
    assert ours.upper == pytest.approx(theirs, rel=1e-3)
    assert ours.lower <= theirs * (1 + 1e-9)


def test_a_sum_of_different_mechanisms_agrees_with_dp_accounting() -> None:
    interval = 1e-4
    theirs = (
        pld.from_gaussian_mechanism(2.0, sampling_prob=0.1, value_discretization_interval=interval)
        .self_compose(50)
        .compose(pld.from_laplace_mechanism(5.0, value_discretization_interval=interval).self_compose(10))
        .compose(pld.from_randomized_response(0.2, 2, value_discretization_interval=interval))
    )
    from dpcourse.privacy_loss import DiscreteLoss

    ours = (
        GaussianLoss(0.5).subsample(0.1).compose(50)
        + LaplaceLoss(0.2).compose(10)
        + DiscreteLoss.from_probabilities([0.9, 0.1], [0.1, 0.9])
    )
    for delta in (1e-8, 1e-4):
        assert ours.epsilon(delta) == pytest.approx(theirs.get_epsilon_for_delta(delta), rel=1e-3)


@pytest.mark.parametrize(("sigma", "q", "rounds", "delta"), [SETTINGS[0], (1.0, 0.01, 2000, 1e-6)])
def test_inside_the_bounds_of_opacus(sigma: float, q: float, rounds: int, delta: float) -> None:
    """Opacus' PRV accountant brackets epsilon with an additive error of 0.01."""
    accountant = prv.PRVAccountant()
    accountant.history = [(sigma, q, rounds)]
    theirs = float(accountant.get_epsilon(delta, eps_error=0.01, delta_error=delta / 1000))
    ours = gaussian(sigma, q, rounds).epsilon(delta, bracket=True)
    assert ours.lower <= theirs
    assert theirs - 0.03 <= ours.upper
    assert math.isclose(theirs, ours.upper, rel_tol=0.02)
