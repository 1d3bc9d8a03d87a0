"""Sums of losses against exact sums: binomials, multinomials, quadrature of Laplace, the closed Gaussian."""

import math

import mpmath as mp
import numpy as np
import pytest

from dpcourse.privacy_loss import Bracket, DiscreteLoss, GaussianLoss, LaplaceLoss, PrivacyLoss
from tests.privacy_loss import contour, oracles


def response(theta: float) -> DiscreteLoss:
    """Randomized response: the truth with probability theta."""
    return DiscreteLoss.from_probabilities([theta, 1 - theta], [1 - theta, theta])


def holds(bracket: Bracket, truth: float, slack: float = 1e-11) -> bool:
    return bracket.lower <= truth * (1 + slack) and truth <= bracket.upper * (1 + slack)


def narrow_around(truth: float, bracket: Bracket, spread: float) -> bool:
    """The bracket holds the truth (to 1e-9) and is at most 1e-3 wide, relative to epsilon or a tenth of the spread."""
    slack = 1e-9 * (truth + spread)
    width = bracket.upper - bracket.lower
    return bracket.lower - slack <= truth <= bracket.upper + slack and width <= 1e-3 * max(truth, 0.1 * spread)


@pytest.mark.parametrize("theta", [0.50001, 0.51, 0.6, 0.75, 0.99])
@pytest.mark.parametrize("k", [1, 2, 3, 10, 100, 1000, 10_000])
def test_randomized_response_is_its_binomial_to_nine_digits(theta: float, k: int) -> None:
    exact, loss = oracles.BinomialSum(theta, k), response(theta).compose(k)
    for delta in (1e-12, 1e-5, 0.1):
        truth = float(exact.epsilon(delta))
        assert loss.epsilon(delta) == pytest.approx(truth, rel=1e-9, abs=1e-13), delta
        assert holds(loss.epsilon(delta, bracket=True), truth), delta
    largest = k * float(exact.step)
    for share in (0.0, 0.01, 0.3, 0.9):
        truth = float(exact.delta(share * largest))
        if truth > 1e-200:
            assert loss.delta(share * largest) == pytest.approx(truth, rel=1e-9), share
            assert holds(loss.delta(share * largest, bracket=True), truth), share


@pytest.mark.parametrize("delta", [0.3, 0.9, 0.999, 1 - 1e-5])
def test_randomized_response_at_large_delta(delta: float) -> None:
    """1 - delta is what decides here, and double precision knows it to 1e-16 absolute."""
    truth = float(oracles.BinomialSum(0.75, 100).epsilon(delta))
    bracket = response(0.75).compose(100).epsilon(delta, bracket=True)
    assert holds(bracket, truth)
    assert bracket.upper == pytest.approx(truth, rel=1e-10 / (1 - delta))


def test_randomized_response_at_the_ends_of_its_support() -> None:
    loss = response(0.75).compose(100)
    largest = 100 * math.log(3)
    assert loss.epsilon(0) == pytest.approx(largest, rel=1e-14)
    assert loss.delta(largest) <= 1e-20
    assert loss.delta(1.01 * largest) <= 1e-60  # truly 0
    near_the_top = oracles.BinomialSum(0.75, 100)
    for epsilon in (0.97 * largest, 0.995 * largest):
        assert loss.delta(epsilon) == pytest.approx(float(near_the_top.delta(epsilon)), rel=1e-8)


@pytest.mark.parametrize("k", [2, 5, 40, 150])
@pytest.mark.parametrize(("p", "q"), [([0.6, 0.2, 0.2], [0.2, 0.6, 0.2]), ([0.5, 0.3, 0.2], [0.2, 0.3, 0.5])])
def test_three_ary_response_is_its_multinomial(p: list[float], q: list[float], k: int) -> None:
    losses, masses = oracles.multinomial_atoms(np.log(p) - np.log(q), p, k)
    loss = DiscreteLoss.from_probabilities(p, q).compose(k)
    for epsilon in (0.0, 0.7, 0.3 * k):
        truth = float(oracles.discrete_hockey_stick(losses, masses, 0.0, 0.0, np.array([epsilon]))[0])
        if truth > 1e-200:
            assert loss.delta(epsilon) == pytest.approx(truth, rel=1e-9)
            assert holds(loss.delta(epsilon, bracket=True), truth)
            assert holds(loss.epsilon(truth, bracket=True), epsilon, slack=1e-9)


@pytest.mark.parametrize("k", [2, 7, 60])
def test_atoms_off_the_grid_are_bracketed(k: int) -> None:
    p, q = [0.5, 0.3, 0.2], [0.25, 0.35, 0.4]
    losses, masses = oracles.multinomial_atoms(np.log(p) - np.log(q), p, k)
    loss = DiscreteLoss.from_probabilities(p, q).compose(k)
    for epsilon in (0.0, 0.4, 0.13 * k):
        truth = float(oracles.discrete_hockey_stick(losses, masses, 0.0, 0.0, np.array([epsilon]))[0])
        bracket = loss.delta(epsilon, bracket=True)
        assert holds(bracket, truth)
        assert bracket.upper - bracket.lower <= 1e-3 * bracket.upper
        assert narrow_around(epsilon, loss.epsilon(truth, bracket=True), spread=0.6 * math.sqrt(k))


@pytest.mark.parametrize("k", [1, 3, 20])
def test_a_leak_composes_like_a_coin(k: int) -> None:
    """The infinite mass of k rounds is 1 - (1 - m)^k; the rest is an ordinary sum."""
    p, q = [0.02, 0.6, 0.38], [0.0, 0.4, 0.6]
    losses, masses = (
        oracles.convolved_atoms([(np.log([0.6 / 0.4, 0.38 / 0.6]), [0.6, 0.38], k)])
        if k < 20
        else (oracles.multinomial_atoms(np.log([0.6 / 0.4, 0.38 / 0.6, 1.0]), [0.6, 0.38, 1e-300], k))
    )
    leak = -math.expm1(k * math.log1p(-0.02))
    loss = DiscreteLoss.from_probabilities(p, q).compose(k)
    assert loss.infinite_mass == pytest.approx(leak, rel=1e-12)
    for epsilon in (0.0, 0.3, 1.0):
        truth = float(oracles.discrete_hockey_stick(losses, masses, leak, 0.0, np.array([epsilon]))[0])
        bracket = loss.delta(epsilon, bracket=True)
        assert holds(bracket, truth)
        assert bracket.upper - bracket.lower <= 1e-3 * bracket.upper
        if truth > leak * (1 + 1e-9):
            assert narrow_around(epsilon, loss.epsilon(truth, bracket=True), spread=0.5 * math.sqrt(k))
    assert loss.epsilon(leak * 0.999) == math.inf
    for above in (1e-2, 1e-4, 1e-6):  # just above the leak there is an answer, and it is finite
        assert loss.epsilon(leak * (1 + above)) <= k * math.log(1.5) * (1 + 1e-6)


def laplace_delta(shift: float, k: int, epsilon: float) -> float:
    """k - 1 nested Gauss-Legendre rules around the closed form, split where the integrand has its kinks."""
    if k == 1:
        return float(oracles.laplace_hockey_stick(shift, np.array([epsilon]))[0])
    corners = [epsilon - j * shift for j in range(-k, k + 1)]
    losses, masses = oracles.laplace_nodes(shift, corners, points=24)
    if k == 2:
        return float(masses @ oracles.laplace_hockey_stick(shift, epsilon - losses))
    return float(sum(m * laplace_delta(shift, k - 1, epsilon - x) for x, m in zip(losses, masses, strict=True)))


@pytest.mark.parametrize("shift", [0.01, 0.5, 3.0])
@pytest.mark.parametrize("k", [2, 3])
def test_two_and_three_laplace_releases_by_quadrature(shift: float, k: int) -> None:
    loss = LaplaceLoss(shift).compose(k)
    for share in (0.0, 0.2, 1.0, 1.7):
        truth = laplace_delta(shift, k, share * shift)
        bracket = loss.delta(share * shift, bracket=True)
        assert holds(bracket, truth)
        assert bracket.upper - bracket.lower <= 1e-3 * bracket.upper
        assert narrow_around(share * shift, loss.epsilon(truth, bracket=True), spread=shift)


@pytest.mark.parametrize(("shift", "k"), [(0.1, 1000), (0.01, 10**6), (0.5, 400), (1.0, 10_000), (0.01, 10_000)])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.2])
def test_many_laplace_releases_by_contour_integration(shift: float, k: int, delta: float) -> None:
    composition = contour.Composition((contour.laplace(shift), k))
    truth = composition.epsilon(delta)
    bracket = LaplaceLoss(shift).compose(k).epsilon(delta, bracket=True)
    assert holds(bracket, truth, slack=1e-8)
    assert bracket.upper - bracket.lower <= 1e-3 * bracket.upper


def test_compositions_of_compositions_are_flat() -> None:
    loss = LaplaceLoss(0.3)
    assert loss.compose(2).compose(3).epsilon(1e-5) == loss.compose(6).epsilon(1e-5)
    assert (loss + loss).epsilon(1e-5) == loss.compose(2).epsilon(1e-5)
    assert loss.compose(1) == loss


@pytest.mark.parametrize(
    ("losses", "parts"),
    [
        ([(LaplaceLoss(0.1), 300), (GaussianLoss(0.5), 1)], [(contour.laplace(0.1), 300), (contour.gaussian(0.5), 1)]),
        (
            [(response(0.6), 50), (GaussianLoss(1.0), 2)],
            [(contour.atoms(np.log([1.5, 1 / 1.5]), [0.6, 0.4]), 50), (contour.gaussian(1.0), 2)],
        ),
        (
            [(response(0.52), 200), (LaplaceLoss(0.05), 100), (GaussianLoss(0.3), 3)],
            [
                (contour.atoms([math.log(0.52 / 0.48), -math.log(0.52 / 0.48)], [0.52, 0.48]), 200),
                (contour.laplace(0.05), 100),
                (contour.gaussian(0.3), 3),
            ],
        ),
    ],
    ids=["laplace+gaussian", "response+gaussian", "response+laplace+gaussian"],
)
def test_different_mechanisms_add_up(losses: list[tuple[PrivacyLoss, int]], parts: list) -> None:
    total = losses[0][0].compose(losses[0][1])
    for loss, times in losses[1:]:
        total = total + loss.compose(times)
    truth = contour.Composition(*parts)
    for delta in (1e-10, 1e-5, 0.05):
        bracket = total.epsilon(delta, bracket=True)
        assert holds(bracket, truth.epsilon(delta), slack=1e-9)
        assert bracket.upper - bracket.lower <= 1e-3 * bracket.upper
    assert holds(total.delta(1.5, bracket=True), truth.delta(1.5), slack=1e-9)


def binomial_delta(theta: float, k: int, epsilon: float) -> mp.mpf:
    """delta of k randomized responses for large k: both binomial tails from their first term, in mpmath."""
    with mp.workdps(40):
        theta, epsilon = mp.mpf(theta), mp.mpf(epsilon)
        trues = int(mp.floor((k + epsilon / mp.log(theta / (1 - theta))) / 2)) + 1  # the fewest with loss > epsilon
        tails = []
        for rate in (theta, 1 - theta):
            term = mp.exp(
                mp.loggamma(k + 1) - mp.loggamma(trues + 1) - mp.loggamma(k - trues + 1)
                + trues * mp.log(rate) + (k - trues) * mp.log(1 - rate)
            )  # fmt: skip
            tail, odds, j = term, rate / (1 - rate), trues
            while j < k and term > tail * mp.mpf(10) ** -25:
                term *= odds * (k - j) / (j + 1)
                tail, j = tail + term, j + 1
            tails.append(tail)
        return tails[0] - mp.exp(epsilon) * tails[1]


@pytest.mark.parametrize("theta", [0.501, 0.75])
@pytest.mark.parametrize("delta", [1e-12, 1e-5, 0.1])
def test_a_million_randomized_responses(theta: float, delta: float) -> None:
    found = response(theta).compose(10**6).epsilon(delta, bracket=True)
    assert binomial_delta(theta, 10**6, found.lower * (1 - 1e-11)) >= delta
    assert binomial_delta(theta, 10**6, found.upper * (1 + 1e-11)) <= delta
    assert found.upper - found.lower <= 1e-8 * found.upper
