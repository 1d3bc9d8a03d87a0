"""DP-SGD accounting against dp-accounting, the papers' numbers, and itself the other way round."""

from __future__ import annotations

import math

import mpmath
import pytest
from dp_accounting import dp_event
from dp_accounting.rdp import RdpAccountant

from dpcourse import Gaussian
from dpcourse.accounting import (
    MOMENTS,
    ORDERS,
    dp_sgd_accounts,
    dp_sgd_epsilon,
    dp_sgd_loss,
    renyi_gaussian,
    renyi_laplace,
    renyi_sampled_gaussian,
    sigma_for,
    steps_within,
)

MNIST = (1.1, 256 / 60_000, 14_062, 1e-5)
ABADI = (4.0, 0.01, 10_000, 1e-5)


def test_the_known_points() -> None:
    assert dp_sgd_epsilon(*MNIST) == pytest.approx(2.3816, abs=1e-4)
    assert dp_sgd_epsilon(*ABADI) == pytest.approx(0.9469, abs=1e-4)


def test_five_accountants_from_useless_to_exact() -> None:
    basic, advanced, moments, renyi, exact = dp_sgd_accounts(*MNIST)
    assert basic.epsilon > advanced.epsilon > 1_000  # the slides' tools alone: thousands
    assert advanced.epsilon > moments.epsilon > renyi.epsilon > exact.epsilon
    assert all(spent.delta == pytest.approx(1e-5) and spent.label == "upper bound" for spent in dp_sgd_accounts(*MNIST))
    assert dp_sgd_accounts(*ABADI)[2].epsilon == pytest.approx(1.26, abs=5e-3)


def test_mcmahans_table_as_published_and_exact() -> None:
    """User-level language models: z = 1, 5000 rounds, delta = 1e-9 (the slide leaves delta out)."""
    for users, published, exact in ((5_000, 4.634, 3.90), (1_667, 2.314, 1.26), (1_250, 2.038, 0.949)):
        accounts = dp_sgd_accounts(1.0, users / 763_430, 5_000, 1e-9)
        assert accounts[-1].epsilon == pytest.approx(exact, rel=4e-3)
        # The paper's own accountant: integer moments only, which is a little above our Renyi curve.
        assert accounts[2].epsilon == pytest.approx(published, rel=2e-3)


@pytest.mark.parametrize(("sigma", "q", "steps"), [(1.1, 256 / 60_000, 14_062), (4, 0.01, 10_000), (0.7, 0.2, 30)])
def test_renyi_curve_and_its_conversion_agree_with_dp_accounting(sigma: float, q: float, steps: int) -> None:
    accountant = RdpAccountant(orders=list(ORDERS))
    event = dp_event.PoissonSampledDpEvent(q, dp_event.GaussianDpEvent(sigma))
    accountant.compose(dp_event.SelfComposedDpEvent(event, steps))
    ours = renyi_sampled_gaussian(sigma, q).compose(steps)
    for order, mine, theirs in zip(ours.orders, ours.divergences, accountant._rdp, strict=True):
        if order == int(order):
            assert mine == pytest.approx(theirs, rel=1e-6), order
        elif math.isfinite(theirs):  # at fractional orders theirs is a loose upper bound, where it converges at all
            assert mine <= theirs * (1 + 1e-6), order
    assert ours.epsilon(1e-5) == pytest.approx(accountant.get_epsilon(1e-5), rel=1e-3)
    assert ours.epsilon(1e-5) <= accountant.get_epsilon(1e-5) * (1 + 1e-6)


@pytest.mark.parametrize(
    ("sigma", "q", "order"), [(0.7, 0.2, 1.8), (4, 0.01, 1.1), (1.1, 256 / 60_000, 1.3), (2, 0.5, 7.5)]
)
def test_fractional_orders_agree_with_high_precision_quadrature(sigma: float, q: float, order: float) -> None:
    with mpmath.workdps(30):
        s, rate, a = mpmath.mpf(sigma), mpmath.mpf(q), mpmath.mpf(order)

        def integrand(x: mpmath.mpf) -> mpmath.mpf:
            return mpmath.npdf(x, 0, s) * (1 - rate + rate * mpmath.exp((2 * x - 1) / (2 * s**2))) ** a

        edges = [-20 * s, -5 * s, 0, 1, 3, a + 5 * s, a + 20 * s]
        expected = float(mpmath.log(mpmath.quad(integrand, edges)) / (a - 1))
    assert renyi_sampled_gaussian(sigma, q, orders=[order]).divergences[0] == pytest.approx(expected, rel=1e-7)


def test_renyi_curves_lie_above_the_exact_loss_and_add_up() -> None:
    curve = renyi_gaussian(2.0, orders=MOMENTS) + renyi_laplace(0.5, orders=MOMENTS).compose(3)
    from dpcourse import GaussianLoss, LaplaceLoss

    loss = GaussianLoss(0.5) + LaplaceLoss(0.5).compose(3)
    for delta in (1e-2, 1e-5, 1e-9):
        assert loss.epsilon(delta) < curve.epsilon(delta) <= curve.epsilon(delta, conversion="moments")
    with pytest.raises(ValueError, match="same orders"):
        renyi_gaussian(1) + renyi_gaussian(1, orders=MOMENTS)
    with pytest.raises(ValueError, match=r"1\.0|1, got|got 1"):
        renyi_gaussian(1, orders=[1])


def test_q_one_is_the_plain_gaussian() -> None:
    one_step = Gaussian(sigma=2, sensitivity=1).plrv()
    assert dp_sgd_epsilon(10, 1, 25, 1e-6) == pytest.approx(one_step.epsilon(1e-6), rel=1e-9)


@pytest.mark.parametrize(
    ("epsilon", "delta", "q", "steps"), [(3, 1e-5, 0.01, 1_000), (0.5, 1e-6, 0.2, 50), (8, 1e-5, 1, 1)]
)
def test_calibration_is_enough_and_not_more_than_enough(epsilon: float, delta: float, q: float, steps: int) -> None:
    sigma = sigma_for(epsilon, delta, q=q, steps=steps)
    assert dp_sgd_epsilon(sigma, q, steps, delta) <= epsilon
    assert dp_sgd_epsilon(sigma * (1 - 1e-4), q, steps, delta) > epsilon


def test_calibration_of_one_step_is_the_analytic_gaussian() -> None:
    assert sigma_for(1, 1e-5) == pytest.approx(3.730632, abs=1e-5)
    assert sigma_for(1, 1e-5) == pytest.approx(Gaussian.analytic(epsilon=1, delta=1e-5).sigma, rel=1e-6)


@pytest.mark.parametrize("epsilon", [1e4, 1e6, 1e9])
def test_a_budget_beyond_what_can_be_computed_still_gets_noise_that_is_certified(epsilon: float) -> None:
    """Where the accountant ends at infinity, the smallest noise with a finite epsilon is taken."""
    assert dp_sgd_epsilon(sigma_for(epsilon, 1e-5, q=0.2, steps=100), 0.2, 100, 1e-5) <= epsilon


def test_the_last_step_that_fits() -> None:
    steps = steps_within(2, 1e-5, sigma=1.1, q=0.01)
    assert dp_sgd_epsilon(1.1, 0.01, steps, 1e-5) <= 2 < dp_sgd_epsilon(1.1, 0.01, steps + 1, 1e-5)
    assert steps_within(0.01, 1e-9, sigma=0.5, q=0.5) == 0


def test_bad_input_is_quoted() -> None:
    for call in (
        lambda: dp_sgd_epsilon(0, 0.1, 10, 1e-5),
        lambda: dp_sgd_epsilon(1, 0, 10, 1e-5),
        lambda: dp_sgd_epsilon(1, 0.1, 0, 1e-5),
        lambda: dp_sgd_epsilon(1, 0.1, 10, 0),
        lambda: sigma_for(0, 1e-5),
    ):
        with pytest.raises(ValueError, match="got 0"):
            call()
    assert math.isinf(dp_sgd_loss(1, 0.1, 10).max_loss)
