"""One Gaussian or Laplace release: delta(eps) and eps(delta) to 1e-9 relative, however small delta is."""

import math
from collections.abc import Iterator

import mpmath as mp
import numpy as np
import pytest

from dpcourse.privacy_loss import GaussianLoss, LaplaceLoss
from tests.privacy_loss import oracles

MUS = [1e-6, 1e-4, 1e-3, 0.01, 0.05, 0.2, 0.4999, 0.5001, 1.0, 2.0, 4.0, 8.0, 12.0, 20.0, 35.0, 50.0]


def epsilons_for(mu: float) -> Iterator[float]:
    """Epsilons in [0, 1000] that put x = eps/mu - mu/2 on both sides of every branch and delta down to 1e-250."""
    yield from (0.0, 1e-9, 0.1, 1.0, 10.0, 100.0, 700.0, 710.0, 999.0)
    for x in (-24.0, -10.0, -5.0, -4.0001, -3.9999, -2.0, -0.5, 0.0, 0.5, 2.0, 5.0, 10.0, 20.0, 30.0, 33.5):
        yield mu * (x + mu / 2)


def gaussian_grid() -> list[tuple[float, float]]:
    grid = [(mu, eps) for mu in MUS for eps in epsilons_for(mu) if 0 <= eps <= 1000]
    return [(mu, eps) for mu, eps in grid if eps / mu - mu / 2 < 33.8]  # delta > 1e-250


@pytest.mark.parametrize("mu", MUS)
def test_gaussian_delta_has_nine_digits_from_one_down_to_1e_minus_250(mu: float) -> None:
    for epsilon in [eps for m, eps in gaussian_grid() if m == mu]:
        truth = oracles.gaussian_delta(mu, epsilon)
        assert GaussianLoss(mu).delta(epsilon) == pytest.approx(float(truth), rel=1e-9, abs=0), epsilon


@pytest.mark.parametrize("mu", MUS)
def test_gaussian_epsilon_is_the_inverse_to_nine_digits(mu: float) -> None:
    for epsilon in [eps for m, eps in gaussian_grid() if m == mu]:
        delta = float(oracles.gaussian_delta(mu, epsilon))
        if not 0 < delta < 1:
            continue
        # A delta with an error of 64 units in its last place determines epsilon up to that, divided by |d delta/d eps|.
        slope = float(mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu))
        known_to = 2**-47 * delta / slope
        assert GaussianLoss(mu).epsilon(delta) == pytest.approx(epsilon, rel=1e-9, abs=known_to), delta


@pytest.mark.parametrize("delta", [1e-5, 1e-9, 1e-12, 1e-100, 1e-300, 0.3])
def test_gaussian_epsilon_solves_the_equation_in_high_precision(delta: float) -> None:
    found = GaussianLoss(1.0).epsilon(delta)
    truth = float(oracles.gaussian_epsilon(1.0, delta, start=found))
    assert found == pytest.approx(truth, rel=1e-12)


def test_gaussian_epsilon_is_zero_where_the_total_variation_is_within_delta() -> None:
    total_variation = float(oracles.gaussian_delta(1.0, 0.0))
    assert GaussianLoss(1.0).epsilon(total_variation * (1 + 1e-9)) == 0
    assert GaussianLoss(1.0).epsilon(total_variation * (1 - 1e-6)) > 0
    assert GaussianLoss(1.0).epsilon(0.99) == 0


def test_gaussian_has_no_pure_guarantee() -> None:
    assert GaussianLoss(1.0).epsilon(0) == math.inf
    assert GaussianLoss(1.0).max_loss == math.inf


@pytest.mark.parametrize(("mu", "k"), [(0.1, 1), (0.1, 7), (0.003, 10**6), (2.5, 400)])
def test_k_gaussians_are_one_gaussian_with_mu_sqrt_k(mu: float, k: int) -> None:
    composed = GaussianLoss(mu).compose(k)
    for epsilon in (0.0, 0.5, 3.0):
        truth = float(oracles.gaussian_delta(mp.mpf(mu) * mp.sqrt(k), epsilon))
        assert composed.delta(epsilon) == pytest.approx(truth, rel=1e-9)
        assert composed.delta(epsilon, bracket=True).lower == pytest.approx(truth, rel=1e-9)
    assert composed.compose(3).epsilon(1e-6) == pytest.approx(GaussianLoss(mu).compose(3 * k).epsilon(1e-6), rel=1e-12)


def test_different_gaussians_add_their_squares() -> None:
    both = GaussianLoss(0.3) + GaussianLoss(0.4)
    assert both.epsilon(1e-7) == pytest.approx(GaussianLoss(0.5).epsilon(1e-7), rel=1e-12)


def test_the_sigma_of_the_analytic_gaussian_mechanism() -> None:
    # Balle & Wang: eps = 1, delta = 1e-5 needs sigma = 3.730632 at sensitivity 1.
    assert GaussianLoss(1 / 3.730632).delta(1.0) == pytest.approx(1e-5, rel=2e-6)


@pytest.mark.parametrize("shift", [1e-6, 1e-3, 0.1, 1.0, 5.0, 30.0])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999, 1.0, 1.5])
def test_laplace_delta_is_the_integral_of_the_densities(shift: float, share: float) -> None:
    epsilon = share * shift
    crossing = (shift - epsilon) / 2  # where e^-|t| = e^eps e^-|t - shift|
    truth = oracles.density_delta(
        lambda t: mp.exp(-abs(t)) / 2,
        lambda t: mp.exp(-abs(t - mp.mpf(shift))) / 2,
        epsilon,
        corners=sorted({-60.0, -10.0, 0.0, max(crossing, 0.0), shift, shift + 40.0}),
    )
    assert LaplaceLoss(shift).delta(epsilon) == pytest.approx(float(truth), rel=1e-9, abs=1e-17)


@pytest.mark.parametrize("shift", [1e-6, 1e-3, 0.1, 1.0, 5.0, 30.0, 1000.0])
@pytest.mark.parametrize("delta", [0.0, 1e-250, 1e-12, 1e-6, 0.01, 0.3, 0.9])
def test_laplace_epsilon_is_the_closed_form_inverse(shift: float, delta: float) -> None:
    truth = float(max(mp.mpf(shift) + 2 * mp.log(1 - mp.mpf(delta)), 0))
    assert LaplaceLoss(shift).epsilon(delta) == pytest.approx(truth, rel=1e-9, abs=1e-15 * shift)
    assert LaplaceLoss(shift).epsilon(delta, bracket=True).lower == LaplaceLoss(shift).epsilon(delta)


def test_laplace_epsilon_at_delta_zero_is_the_pure_guarantee() -> None:
    assert LaplaceLoss(0.7).epsilon(0) == LaplaceLoss(0.7).max_loss == 0.7


def test_both_atoms_of_laplace_have_their_masses() -> None:
    loss = LaplaceLoss(1.5)
    for end, mass_p, mass_q in ((1.5, 0.5, 0.5 * math.exp(-1.5)), (-1.5, 0.5 * math.exp(-1.5), 0.5)):
        above, below = loss.above(end), loss.below(end)
        assert 1 - above[0] - below[0] == pytest.approx(mass_p, rel=1e-14)
        assert 1 - above[1] - below[1] == pytest.approx(mass_q, rel=1e-14)
    assert loss.cdf(1.5) == 1
    assert loss.cdf(np.nextafter(1.5, 0)) == pytest.approx(0.5, rel=1e-14)
    assert loss.cdf(np.nextafter(-1.5, -2)) == 0


def test_arrays_go_through_delta_elementwise() -> None:
    epsilons = np.array([[0.0, 0.5], [1.0, 2.0]])
    for loss in (GaussianLoss(1.0), LaplaceLoss(1.0)):
        curve = loss.delta(epsilons)
        assert curve.shape == (2, 2)
        assert curve[1, 0] == loss.delta(1.0)
