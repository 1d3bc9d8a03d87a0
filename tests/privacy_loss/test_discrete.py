"""Finitely many outputs: the definition of DP, event by event, against DiscreteLoss."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcourse.privacy_loss import DiscreteLoss, EitherDirection
from tests.privacy_loss import oracles


@st.composite
def pairs(draw: st.DrawFn, most: int = 7) -> tuple[np.ndarray, np.ndarray]:
    """Two probability vectors; zeros on either side, equal ratios and masses down to 1e-12 all occur."""
    size = draw(st.integers(2, most))
    weight = st.one_of(st.just(0.0), st.integers(1, 5).map(float), st.floats(1e-12, 1.0))
    p, q = (np.array(draw(st.lists(weight, min_size=size, max_size=size))) for _ in range(2))
    p[0] += 0.5
    q[draw(st.integers(0, 1))] += 0.5
    return p / p.sum(), q / q.sum()


@given(pairs(), st.floats(0, 10))
def test_delta_is_the_largest_excess_over_all_events(pair: tuple[np.ndarray, np.ndarray], epsilon: float) -> None:
    p, q = pair
    truth = oracles.subset_delta(p, q, epsilon)
    assert DiscreteLoss.from_probabilities(p, q).delta(epsilon) == pytest.approx(truth, rel=1e-9, abs=3e-14)


@given(pairs(), st.floats(0, 10))
def test_reverse_is_the_pair_the_other_way_round(pair: tuple[np.ndarray, np.ndarray], epsilon: float) -> None:
    p, q = pair
    reverse = DiscreteLoss.from_probabilities(p, q).reverse()
    assert reverse.delta(epsilon) == pytest.approx(oracles.subset_delta(q, p, epsilon), rel=1e-9, abs=3e-14)
    twice = reverse.reverse()
    again = DiscreteLoss.from_probabilities(p, q)
    assert twice.losses == pytest.approx(again.losses, abs=0)
    assert twice.masses == pytest.approx(again.masses, rel=1e-12)
    assert (twice.only_p, twice.only_q) == (again.only_p, again.only_q)


@given(pairs(), st.floats(1e-9, 0.99))
@settings(max_examples=300)
def test_epsilon_is_the_smallest_that_meets_delta(pair: tuple[np.ndarray, np.ndarray], delta: float) -> None:
    p, q = pair
    loss = DiscreteLoss.from_probabilities(p, q)
    epsilon = loss.epsilon(delta)
    if delta < loss.infinite_mass:
        assert epsilon == math.inf
        return
    assert oracles.subset_delta(p, q, epsilon) <= delta * (1 + 1e-9) + 1e-13
    if epsilon > 1e-3:
        assert oracles.subset_delta(p, q, epsilon * (1 - 1e-6)) > delta * (1 - 1e-9) - 1e-13
    bracket = loss.epsilon(delta, bracket=True)
    assert bracket.lower == bracket.upper == epsilon


@given(pairs())
def test_masses_add_up_under_both_distributions(pair: tuple[np.ndarray, np.ndarray]) -> None:
    p, q = pair
    loss = DiscreteLoss.from_probabilities(p, q)
    assert loss.masses.sum() + loss.only_p == pytest.approx(1, abs=1e-12)
    assert (loss.masses * np.exp(-loss.losses)).sum() + loss.only_q == pytest.approx(1, abs=1e-12)
    assert loss.only_p == pytest.approx(p[q == 0].sum(), abs=1e-15)
    assert loss.only_q == pytest.approx(q[p == 0].sum(), abs=1e-15)
    if loss.only_p == loss.only_q == 0:
        assert loss.masses @ np.exp(-loss.losses) == pytest.approx(1, abs=1e-12)  # E[e^-L] = 1


@given(pairs(most=5), st.floats(0, 5), st.floats(0.01, 1))
def test_sampling_mixes_the_probabilities(pair: tuple[np.ndarray, np.ndarray], epsilon: float, rate: float) -> None:
    """Poisson sampling by hand: the mixture against Q, both ways round."""
    p, q = pair
    mixture = (1 - rate) * q + rate * p
    sampled = DiscreteLoss.from_probabilities(p, q).subsample(rate)
    removed, added = oracles.subset_delta(mixture, q, epsilon), oracles.subset_delta(q, mixture, epsilon)
    if isinstance(sampled, EitherDirection):
        assert sampled.removed.delta(epsilon) == pytest.approx(removed, rel=1e-9, abs=3e-14)
        assert sampled.added.delta(epsilon) == pytest.approx(added, rel=1e-9, abs=3e-14)
        assert sampled.delta(epsilon) == pytest.approx(max(removed, added), rel=1e-9, abs=3e-14)
    else:
        assert rate == 1


@given(pairs(most=3), pairs(most=3), st.floats(0, 6))
@settings(max_examples=40)
def test_the_sum_of_two_losses_is_the_product_of_the_pairs(one: tuple, other: tuple, epsilon: float) -> None:
    p, q = (np.multiply.outer(a, b).ravel() for a, b in zip(one, other, strict=True))
    total = DiscreteLoss.from_probabilities(*one) + DiscreteLoss.from_probabilities(*other)
    truth = oracles.subset_delta(p, q, epsilon)
    bracket = total.delta(epsilon, bracket=True)
    assert bracket.lower <= truth * (1 + 1e-9) + 3e-14
    assert truth <= bracket.upper * (1 + 1e-9) + 3e-14
    assert bracket.upper - bracket.lower <= 1e-3 * bracket.upper + 1e-9


@pytest.mark.parametrize("tiny", [1e-3, 1e-6, 1e-9, 1e-12, 1e-15])
def test_nearly_equal_distributions_keep_their_small_delta(tiny: float) -> None:
    p, q = [0.5 + tiny, 0.5 - tiny], [0.5, 0.5]
    loss = DiscreteLoss.from_probabilities(p, q)
    truth = p[0] - 0.5
    assert loss.delta(0) == pytest.approx(truth, rel=1e-9, abs=2e-16)
    half = loss.epsilon(truth / 2)
    assert half == pytest.approx(math.log1p((p[0] - 0.5 - truth / 2) / 0.5), rel=1e-6, abs=4e-16)


def test_hundreds_of_close_atoms_are_inverted_where_tails_cancel() -> None:
    """A fine, narrow loss and a delta near rounding: the inverse must still be an epsilon inside the support."""
    losses = np.linspace(-1e-7, 1e-7, 401)
    masses = np.full(401, 1 / 401)
    loss = DiscreteLoss.from_atoms(losses, masses)
    for delta in (1e-8, 1e-10, 1e-13, 1e-16, 1e-18):
        epsilon = loss.epsilon(delta)
        assert 0 <= epsilon <= 1e-7
        assert loss.delta(epsilon) == pytest.approx(delta, rel=1e-6, abs=1e-16)


@pytest.mark.parametrize(("p", "q"), [([1.0, 0.0], [0.0, 1.0]), ([0.5, 0.5, 0.0], [0.0, 0.0, 1.0])])
def test_disjoint_supports_give_everything_away(p: list[float], q: list[float]) -> None:
    loss = DiscreteLoss.from_probabilities(p, q)
    for k in (1, 2, 100):
        many = loss.compose(k)
        assert many.delta(3.0) == pytest.approx(1, abs=1e-15)
        assert many.epsilon(1e-3) == math.inf
        assert many.infinite_mass == 1
    assert loss.subsample(0.25).delta(0.0) == pytest.approx(0.25, rel=1e-12)
    assert loss.subsample(0.25).epsilon(0.2) == math.inf


def test_equal_distributions_cost_nothing() -> None:
    loss = DiscreteLoss.from_probabilities([0.3, 0.7], [0.3, 0.7])
    for k in (1, 2, 1000, 10**6):
        many = loss.compose(k)
        assert many.epsilon(0.0) == 0
        assert many.epsilon(1e-9) == 0
        assert many.delta(0.0) <= 1e-9
        assert many.delta(0.5) <= 1e-9


def test_delta_equal_to_the_infinite_mass_covers_all_finite_losses() -> None:
    loss = DiscreteLoss.from_probabilities([0.1, 0.6, 0.3], [0.0, 0.3, 0.7])
    assert loss.epsilon(0.1) == pytest.approx(math.log(2), rel=1e-12)
    assert loss.epsilon(0.0999) == math.inf
    assert loss.compose(3).epsilon(loss.compose(3).infinite_mass) == pytest.approx(3 * math.log(2), rel=1e-12)


def test_each_direction_is_asked_about_its_own_infinite_mass() -> None:
    """One direction leaks with probability 0.1, the other never does: at delta = 0.1 each has its own epsilon."""
    leaks = DiscreteLoss.from_probabilities([0.1, 0.9], [0.0, 1.0])
    never = DiscreteLoss.from_probabilities([0.999, 0.001], [0.99999, 0.00001])
    both = EitherDirection(removed=leaks, added=never)
    assert both.epsilon(0.1) == 0
    assert both.epsilon(0.05) == math.inf


@pytest.mark.parametrize("epsilon", [10.0, 650.0, 730.0])
def test_losses_beyond_the_reach_of_exp_are_handled(epsilon: float) -> None:
    loss = DiscreteLoss.from_probabilities([0.5, 0.5], [5e-320, 1.0])
    largest = math.log(0.5) - math.log(5e-320)  # 733.8
    assert loss.delta(epsilon) == pytest.approx(-0.5 * math.expm1(epsilon - largest), rel=1e-9)
    assert loss.epsilon(0.1) == pytest.approx(largest + math.log(0.8), rel=1e-9)
    both = loss.compose(2).epsilon(0.1, bracket=True)  # P[both losses large] = 1/4: no smaller epsilon than twice ...
    assert both.lower <= 2 * largest + math.log(0.6) <= both.upper


def test_the_midpoint_rule_reproduces_the_gaussian_and_says_that_it_approximates() -> None:
    loss = DiscreteLoss.from_densities(lambda t: -(t**2) / 2, lambda t: -((t - 1) ** 2) / 2, -12, 13)
    assert loss.label == "approximation"
    assert loss.delta(1.0) == pytest.approx(float(oracles.gaussian_delta(1.0, 1.0)), rel=1e-6)
    assert loss.compose(4).label == loss.subsample(0.5).label == loss.reverse().label == "approximation"
