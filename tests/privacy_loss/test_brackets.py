"""lower <= truth <= upper, and the two close together: known sums, forced through the FFT, and random settings."""

import math
import time

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from dpcourse.privacy_loss import Bracket, ComposedLoss, DiscreteLoss, GaussianLoss, LaplaceLoss
from tests.privacy_loss import contour, oracles, truth

ORACLE = 1e-7  # relative accuracy that the oracles of ``truth`` guarantee by agreeing among themselves
WIDEST = 1e-3  # relative width that a bracket may have
#: Below this a delta only has to be an upper bound: no one asks for the digits of 1e-15.
SMALLEST_DELTA = 1e-15


def width(bracket: Bracket) -> float:
    return (bracket.upper - bracket.lower) / bracket.upper if bracket.upper > 0 else 0.0


# ---- the closed Gaussian, sent through the FFT on purpose -------------------------------------------------------
def through_the_fft(mu: float, k: int) -> ComposedLoss:
    """k Gaussians, but not merged into one as ``compose`` would."""
    return ComposedLoss(((GaussianLoss(mu), k),))


@pytest.mark.parametrize(
    ("mu", "k"),
    [(1.0, 1), (1.0, 2), (0.3, 10), (0.05, 1000), (0.01, 100_000), (0.001, 10**6), (2.0, 5), (0.5, 300), (4.0, 3)],
)
@pytest.mark.parametrize("delta", [1e-12, 1e-9, 1e-5, 1e-2, 0.3])
def test_fft_epsilon_of_a_gaussian_brackets_the_closed_form(mu: float, k: int, delta: float) -> None:
    exact = GaussianLoss(mu * math.sqrt(k)).epsilon(delta)
    bracket = through_the_fft(mu, k).epsilon(delta, bracket=True)
    assert bracket.lower <= exact * (1 + 1e-12)
    assert exact <= bracket.upper * (1 + 1e-12)
    # An epsilon of 0 or just above it is resolved relative to the spread of the loss, not to itself.
    assert bracket.upper - bracket.lower <= WIDEST * max(exact, 0.1 * mu * math.sqrt(k))


@pytest.mark.parametrize(("mu", "k"), [(1.0, 1), (0.3, 10), (0.05, 1000), (0.01, 100_000), (2.0, 5), (1.0, 64)])
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0, 3.0, 6.0])
def test_fft_delta_of_a_gaussian_brackets_the_closed_form(mu: float, k: int, share: float) -> None:
    total = mu * math.sqrt(k)
    epsilon = total * (total / 2 + share) if share else 0.0
    exact = float(oracles.gaussian_delta(total, epsilon))
    bracket = through_the_fft(mu, k).delta(epsilon, bracket=True)
    assert bracket.lower <= exact * (1 + 1e-11)
    assert exact <= bracket.upper * (1 + 1e-11)
    assert width(bracket) <= WIDEST


@pytest.mark.parametrize(("mu", "k"), [(4.0, 16), (3.0, 1000), (0.5, 100_000)])
@pytest.mark.parametrize("epsilon", [0.0, 1.0, 20.0])
def test_a_delta_of_almost_one_is_still_bracketed_and_cheap(mu: float, k: int, epsilon: float) -> None:
    exact = GaussianLoss(mu * math.sqrt(k)).delta(epsilon)
    started = time.perf_counter()
    bracket = through_the_fft(mu, k).delta(epsilon, bracket=True)
    assert time.perf_counter() - started < 5
    assert bracket.lower <= exact <= bracket.upper <= 1
    assert width(bracket) <= WIDEST


# ---- wide losses: e^loss magnifies what rounding leaves ---------------------------------------------------------
@pytest.mark.parametrize("mu", [3.0, 6.0, 8.0, 12.0, 20.0])
def test_a_wide_gaussian_plus_a_laplace_by_quadrature(mu: float) -> None:
    total = GaussianLoss(mu) + LaplaceLoss(0.5)
    exact = oracles.one_more(lambda e: oracles.gaussian_hockey_stick(mu, e), *oracles.laplace_nodes(0.5, []))
    for shift in (-mu, -1.0, 0.0, 1.0, mu):
        epsilon = mu * mu / 2 + shift
        bracket = total.delta(epsilon, bracket=True)
        assert bracket.lower <= exact(epsilon) * (1 + 1e-10)
        assert exact(epsilon) <= bracket.upper * (1 + 1e-10)
        assert width(bracket) <= WIDEST


# ---- random sampled Gaussians -----------------------------------------------------------------------------------
sigmas = st.floats(math.log(0.3), math.log(20)).map(math.exp)
rates = st.one_of(st.floats(math.log(1e-4), 0).map(math.exp), st.just(1.0))
rounds_ = st.floats(0, math.log(1e5)).map(lambda x: round(math.exp(x)))
deltas = st.floats(math.log(1e-12), math.log(0.5)).map(math.exp)
epsilons = st.one_of(st.floats(0.2, 20), st.floats(1e-6, 0.2), st.just(0.0))


def check_epsilon(sigma: float, q: float, rounds: int, delta: float) -> None:
    bracket = GaussianLoss(1 / sigma).subsample(q).compose(rounds).epsilon(delta, bracket=True)
    assert 0 <= bracket.lower <= bracket.upper < math.inf
    try:
        if bracket.lower > 0:
            assert truth.worse_direction_delta(sigma, q, rounds, bracket.lower) >= delta * (1 - ORACLE)
        assert truth.worse_direction_delta(sigma, q, rounds, bracket.upper) <= delta * (1 + ORACLE)
        at_zero = truth.worse_direction_delta(sigma, q, rounds, 0.0)
    except truth.OutOfReach:
        assume(False)
    if at_zero > 1.05 * delta:  # otherwise epsilon is 0 or a crumb
        assert width(bracket) <= WIDEST


def check_delta(sigma: float, q: float, rounds: int, epsilon: float) -> None:
    bracket = GaussianLoss(1 / sigma).subsample(q).compose(rounds).delta(epsilon, bracket=True)
    assert 0 <= bracket.lower <= bracket.upper <= 1
    try:
        exact = truth.worse_direction_delta(sigma, q, rounds, epsilon)
    except truth.OutOfReach:
        assume(False)
    if max(exact, bracket.lower) > 1e-250:
        assert bracket.lower <= exact * (1 + ORACLE)
        assert exact <= bracket.upper * (1 + ORACLE)
    if exact > SMALLEST_DELTA:
        assert width(bracket) <= WIDEST


@given(sigmas, rates, rounds_, deltas)
@settings(max_examples=12)
@example(0.66, 0.0037, 14, 0.253)  # epsilon = 0
@example(1.926, 1.0, 33_497, 0.487)  # epsilon in the thousands
@example(0.3157, 0.2562, 87_748, 2.1e-10)  # epsilon in the ten thousands
@example(3.8155664121840274, 0.005329857675713504, 55, 1.0101575784823668e-05)
@example(0.3, 1e-4, 1, 1e-12)
@example(20.0, 1e-4, 100_000, 1e-12)
@example(0.3, 0.999, 3, 1e-12)
def test_random_settings_epsilon(sigma: float, q: float, rounds: int, delta: float) -> None:
    check_epsilon(sigma, q, rounds, delta)


@given(sigmas, rates, rounds_, epsilons)
@settings(max_examples=12)
@example(0.6984, 0.8972, 6187, 0.762)  # delta = 1 but for 1e-400
@example(2.32, 0.6485, 7626, 18.35)
@example(1.16, 0.0022, 5, 13.36)  # delta = 1e-98
@example(2.3339, 0.0303, 331, 11.5)  # delta = 1e-146
@example(0.5616, 0.2063, 34_051, 0.0)
@example(3.368, 0.00022, 195, 11.21)
def test_random_settings_delta(sigma: float, q: float, rounds: int, epsilon: float) -> None:
    check_delta(sigma, q, rounds, epsilon)


@pytest.mark.slow
@given(sigmas, rates, rounds_, deltas)
@settings(max_examples=250)
def test_many_random_settings_epsilon(sigma: float, q: float, rounds: int, delta: float) -> None:
    check_epsilon(sigma, q, rounds, delta)


@pytest.mark.slow
@given(sigmas, rates, rounds_, epsilons)
@settings(max_examples=250)
def test_many_random_settings_delta(sigma: float, q: float, rounds: int, epsilon: float) -> None:
    check_delta(sigma, q, rounds, epsilon)


# ---- random sums of other things --------------------------------------------------------------------------------
@given(st.floats(0.02, 3), st.integers(60, 3000), deltas)
@settings(max_examples=25)
@example(1.68359375, 131, 0.0025)  # here step * (shift / step) < shift, by one bit
@example(1.517528487556776, 278, 0.3687372806118603)
def test_random_laplace_compositions(shift: float, k: int, delta: float) -> None:
    assume(k * math.log(2 / (1 + math.exp(-shift))) > 40)  # else the atoms keep the contour integral from converging
    bracket = LaplaceLoss(shift).compose(k).epsilon(delta, bracket=True)
    try:
        exact = contour.Composition((contour.laplace(shift), k)).epsilon(delta)
    except contour.TooSlow:
        assume(False)
    assert bracket.lower <= exact * (1 + ORACLE)
    assert exact <= bracket.upper * (1 + ORACLE)
    assert width(bracket) <= WIDEST or exact < 0.02 * shift * math.sqrt(k)


@given(
    st.lists(st.tuples(st.floats(0.01, 1), st.floats(0.01, 1)), min_size=2, max_size=3),
    st.integers(2, 40),
    st.floats(0, 1),
    st.sampled_from([0.0, 0.01]),
)
@settings(max_examples=40)
def test_random_discrete_compositions(weights: list, k: int, share: float, leak: float) -> None:
    """Every count vector of up to three outputs, enumerated; and a leak beside them."""
    p, q = (np.array(side) / sum(side) * (1 - leak) for side in zip(*weights, strict=True))
    if p.size == 2:
        losses, masses = oracles.multinomial_atoms([*np.log(p / q), 0.0], [*p, 1e-300], k)
    else:
        losses, masses = oracles.multinomial_atoms(np.log(p / q), p, k)
    leaked = -math.expm1(k * math.log1p(-leak))
    epsilon = max(0.0, share * k * float(np.log(p / q).max()) / 2)  # of equal sides the largest loss rounds below 0
    exact = float(oracles.discrete_hockey_stick(losses, masses, leaked, 0.0, np.array([epsilon]))[0])
    bracket = DiscreteLoss.from_probabilities([leak, *p, 0.0], [0.0, *q, leak]).compose(k).delta(epsilon, bracket=True)
    assert bracket.lower <= exact * (1 + 1e-9)
    assert exact <= bracket.upper * (1 + 1e-9)
    if exact > 1e-12:
        assert width(bracket) <= WIDEST
