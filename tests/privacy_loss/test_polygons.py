"""The heart of the certificate: the two grid losses enclose the true delta curve at every epsilon, even negative."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcourse.privacy_loss import DiscreteLoss, EitherDirection, GaussianLoss, LaplaceLoss, PrivacyLoss
from dpcourse.privacy_loss.numerics.lattice import Lattice, dominated, dominating
from tests.privacy_loss import oracles

Curve = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Case:
    """A loss, its true delta at any real epsilon, and the interval that its grid covers."""

    loss: PrivacyLoss
    truth: Curve
    low: float
    high: float


def sampled(base: PrivacyLoss, q: float, *, added: bool) -> PrivacyLoss:
    both = base.subsample(q)
    assert isinstance(both, EitherDirection)
    return both.added if added else both.removed


def gaussian_case(mu: float, q: float, *, added: bool, tail: float = 7.0) -> Case:
    """The grid reaches to where about e^(-tail^2/2) of the mass is left out on each side."""
    if q == 1:
        return Case(GaussianLoss(mu), lambda e: oracles.gaussian_hockey_stick(mu, e), *_reach(mu, tail))
    low, high = (math.log1p(q * math.expm1(x)) for x in _reach(mu, tail))
    low, high = (-high, -low) if added else (low, high)
    return Case(
        sampled(GaussianLoss(mu), q, added=added),
        lambda e: oracles.sampled_gaussian_hockey_stick(mu, q, e, added=added),
        low,
        high,
    )


def _reach(mu: float, tail: float) -> tuple[float, float]:
    return mu * (-mu / 2 - tail), mu * (mu / 2 + tail)


def laplace_case(shift: float, q: float, *, added: bool) -> Case:
    if q == 1:
        return Case(LaplaceLoss(shift), lambda e: oracles.laplace_hockey_stick(shift, e), -shift, shift)
    loss = sampled(LaplaceLoss(shift), q, added=added)
    return Case(
        loss,
        lambda e: oracles.sampled_laplace_hockey_stick(shift, q, e, added=added),
        -loss.reverse().max_loss,
        loss.max_loss,
    )


def discrete_case(p: list[float], q: list[float]) -> Case:
    loss = DiscreteLoss.from_probabilities(p, q)
    high, low = float(loss.losses[-1]), float(loss.losses[0])
    return Case(
        loss,
        lambda e: oracles.discrete_hockey_stick(loss.losses, loss.masses, loss.only_p, loss.only_q, e),
        min(low, -1e-6),
        max(high, 1e-6),
    )


CASES = {
    "gaussian": gaussian_case(1.0, 1, added=False),
    "narrow gaussian": gaussian_case(1e-3, 1, added=False),
    "wide gaussian": gaussian_case(6.0, 1, added=False),
    "very wide gaussian": gaussian_case(10.0, 1, added=False),
    "laplace": laplace_case(0.7, 1, added=False),
    "wide laplace": laplace_case(8.0, 1, added=False),
    "two atoms": discrete_case([0.75, 0.25], [0.25, 0.75]),
    "off-grid atoms": discrete_case([0.5, 0.3, 0.2], [0.25, 0.35, 0.4]),
    "lopsided atoms": discrete_case([0.97, 0.02, 0.01], [0.5, 0.499, 0.001]),
    "leaks to p": discrete_case([0.1, 0.6, 0.3], [0.0, 0.3, 0.7]),
    "leaks to q": discrete_case([0.0, 0.6, 0.4], [0.05, 0.35, 0.6]),
    "leaks both ways": discrete_case([0.1, 0.5, 0.4, 0.0], [0.0, 0.3, 0.5, 0.2]),
    "only leaks": discrete_case([0.1, 0.9], [0.0, 1.0]),
}
for direction in (False, True):
    word = "added" if direction else "removed"
    for mu, q in ((1.0, 0.1), (1.0, 0.9), (0.2, 0.01), (3.0, 1e-3), (0.05, 1e-4)):
        CASES[f"gaussian {mu} sampled {q}, {word}"] = gaussian_case(mu, q, added=direction)
    CASES[f"gaussian cut early, {word}"] = gaussian_case(1.0, 0.3, added=direction, tail=2.5)
    for shift, q in ((1.0, 0.1), (4.0, 0.01), (0.3, 0.7)):
        CASES[f"laplace {shift} sampled {q}, {word}"] = laplace_case(shift, q, added=direction)

STEPS = {"fine": 1 / 3000, "odd": 1 / 171.3, "coarse": 1 / 11.7, "coarser than the bulk": 1.37, "one cell": 3.0}


def curve_of(lattice: Lattice, epsilons: np.ndarray) -> np.ndarray:
    """The delta curve of a grid loss at any real epsilon: sum of m (1 - e^(eps - l))+, and the infinite mass."""
    order = np.searchsorted(lattice.losses, epsilons, side="right")
    q_masses = lattice.masses * np.exp(-lattice.losses)
    p_above = np.append(np.cumsum(lattice.masses[::-1])[::-1], 0.0)
    q_above = np.append(np.cumsum(q_masses[::-1])[::-1], 0.0)
    return p_above[order] + lattice.infinite - np.exp(epsilons) * q_above[order]


def rounding(lattice: Lattice, epsilons: np.ndarray) -> np.ndarray:
    """1e-13 of the tail from the cell of each epsilon on, times its exponent: masses are differences of such tails."""
    order = np.searchsorted(lattice.losses, epsilons, side="right")
    p_above = np.append(np.cumsum(lattice.masses[::-1])[::-1], 0.0)
    tail = p_above[np.maximum(order - 1, 0)] + lattice.infinite
    return 1e-13 * (1 + np.abs(epsilons)) * tail + 1e-300


def many_epsilons(case: Case, step: float) -> np.ndarray:
    span = case.high - case.low
    inside = np.linspace(case.low - 0.05 * span - 2 * step, case.high + 0.05 * span + 2 * step, 4001)
    around_zero = np.geomspace(1e-9, 1.0, 200) * span
    rng = np.random.default_rng(5)
    return np.concatenate((inside, around_zero, -around_zero, rng.uniform(case.low, case.high, 500), [0.0, -30.0]))


@pytest.mark.parametrize("share", STEPS.values(), ids=STEPS.keys())
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_the_true_curve_lies_between_the_two_polygons(case: Case, share: float) -> None:
    step = min(share * (case.high - case.low) / 2, 4.0)  # of wider cells the far end is lost in rounding
    epsilons = many_epsilons(case, step)
    truth = case.truth(epsilons)
    above, below = (side(case.loss, step, case.low, case.high) for side in (dominating, dominated))
    for lattice in (above, below):
        assert (lattice.masses >= 0).all(), "a negative probability"
        assert lattice.masses.sum() + lattice.infinite <= 1 + 1e-12
        assert lattice.infinite >= 0
    slack = rounding(above, epsilons) + 1e-13 * truth
    worst = np.argmin(curve_of(above, epsilons) - truth + slack)
    assert (curve_of(above, epsilons) >= truth - slack).all(), (epsilons[worst], truth[worst])
    worst = np.argmin(truth - curve_of(below, epsilons) + slack)
    assert (curve_of(below, epsilons) <= truth + slack).all(), (epsilons[worst], truth[worst])


SMOOTH = ["gaussian", "laplace", "gaussian 1.0 sampled 0.1, removed", "gaussian 1.0 sampled 0.1, added"]


@pytest.mark.parametrize("name", SMOOTH)
def test_both_polygons_converge_quadratically(name: str) -> None:
    """Halving the step divides the gap at epsilon = 0 by about four; a bound that never tightens would also 'hold'."""
    case = CASES[name]
    gaps = []
    for cells in (200, 400, 800):
        step = (case.high - case.low) / cells
        above, below = (side(case.loss, step, case.low, case.high) for side in (dominating, dominated))
        at = np.array([0.0])
        truth = case.truth(at)[0]
        gaps.append((curve_of(above, at)[0] / truth - 1, 1 - curve_of(below, at)[0] / truth))
    for side in (0, 1):
        errors = [gap[side] for gap in gaps]
        assert errors[0] < 5e-2
        assert errors[2] <= errors[0] / 6 + 1e-9


@pytest.mark.parametrize("name", ["two atoms", "leaks to p", "leaks both ways", "only leaks"])
def test_atoms_on_the_grid_are_represented_exactly(name: str) -> None:
    case = CASES[name]
    step = case.loss.natural_step
    if step is None:
        pytest.skip("these atoms have no common step")
    epsilons = many_epsilons(case, step)
    for side in (dominating, dominated):
        lattice = side(case.loss, step, case.low, case.high)
        assert curve_of(lattice, epsilons[epsilons > case.low]) == pytest.approx(
            case.truth(epsilons[epsilons > case.low]), abs=1e-13
        )


@given(
    mu=st.floats(0.02, 6),
    q=st.floats(1e-4, 0.999),
    added=st.booleans(),
    share=st.floats(1e-3, 3),
    tail=st.floats(1, 8),
)
@settings(max_examples=80)
def test_random_sampled_gaussians_are_enclosed(mu: float, q: float, added: bool, share: float, tail: float) -> None:
    test_the_true_curve_lies_between_the_two_polygons(gaussian_case(mu, q, added=added, tail=tail), share)


@given(
    weights=st.lists(st.tuples(st.floats(1e-4, 1), st.floats(1e-4, 1)), min_size=2, max_size=6),
    share=st.floats(1e-3, 3),
    leak=st.sampled_from([0.0, 1e-3, 0.2]),
)
@settings(max_examples=80)
def test_random_discrete_losses_are_enclosed(weights: list, share: float, leak: float) -> None:
    p, q = (np.array(side) / sum(side) * (1 - leak) for side in zip(*weights, strict=True))
    case = discrete_case([leak, *p, 0.0], [0.0, *q, leak])
    if case.high - case.low > 1e-5:
        test_the_true_curve_lies_between_the_two_polygons(case, share)


@given(shift=st.floats(0.01, 10), q=st.floats(1e-4, 1), added=st.booleans(), share=st.floats(1e-3, 3))
@settings(max_examples=80)
def test_random_laplaces_are_enclosed(shift: float, q: float, added: bool, share: float) -> None:
    test_the_true_curve_lies_between_the_two_polygons(laplace_case(shift, q, added=added), share)
