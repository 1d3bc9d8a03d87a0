"""Shuffled batches and Renyi curves against what they must be; more of the former in tests/explore/test_dp_sgd.py."""

import math

import pytest
from scipy import integrate

from dpcourse import Gaussian
from dpcourse.accounting import renyi_laplace
from dpcourse.accounting.shuffled import shuffled_epsilon_at_least


@pytest.mark.parametrize("sigma", [0.7, 2.0])
def test_one_batch_is_a_gaussian(sigma: float) -> None:
    exact = Gaussian(sigma=sigma, sensitivity=1).plrv().epsilon(1e-5)
    assert shuffled_epsilon_at_least(sigma, 1, 1e-5) == pytest.approx(exact, rel=1e-3)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.5])
@pytest.mark.parametrize("order", [1.5, 2.0, 8.0])
def test_the_renyi_divergence_of_laplace_noise_is_its_integral(epsilon: float, order: float) -> None:
    def integrand(x: float) -> float:
        return math.exp(-order * abs(x) * epsilon + (order - 1) * abs(x - 1) * epsilon) * epsilon / 2

    pieces = [
        integrate.quad(integrand, *ends, epsabs=0)[0] for ends in ((-200 / epsilon, 0), (0, 1), (1, 200 / epsilon))
    ]
    expected = math.log(sum(pieces)) / (order - 1)
    assert renyi_laplace(epsilon, orders=[order]).divergences[0] == pytest.approx(expected, rel=1e-7)
