"""The lectures' composition rules, against the exact privacy loss and the numbers of the errata."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcourse import DiscreteLoss, Gaussian, Laplace, RandomizedResponse
from dpcourse.accounting import (
    advanced_composition,
    amplify_by_sampling,
    basic_composition,
    best_composition,
    group_privacy,
)
from dpcourse.accounting.cost import Cost

EPSILONS, DELTAS = st.floats(0.01, 3), st.floats(1e-9, 1e-3)


def test_the_erratas_example_of_advanced_losing_to_basic() -> None:
    advanced = advanced_composition(1, 0, 10, 1e-5)
    assert advanced.epsilon == pytest.approx(32.4, abs=0.05)
    assert best_composition(1, 0, 10, 1e-5) == Cost(10, 0, "basic composition")
    small = best_composition(0.01, 0, 10_000, 1e-5)
    assert small.method == "advanced composition"
    assert small.epsilon < 100


@settings(max_examples=30, deadline=None)
@given(st.floats(0.02, 1.5), st.integers(2, 60), st.floats(1e-8, 1e-3))
def test_both_rules_lie_above_the_exact_composition(epsilon: float, k: int, slack: float) -> None:
    """Randomized response is the worst epsilon-DP mechanism, so this is as close as the rules can be tested."""
    loss = RandomizedResponse(epsilon=epsilon).plrv().compose(k)
    assert loss.epsilon(slack) <= advanced_composition(epsilon, 0, k, slack).epsilon * (1 + 1e-9)
    assert loss.epsilon(slack) <= basic_composition([(epsilon, 0)] * k).epsilon * (1 + 1e-9)


@settings(max_examples=30, deadline=None)
@given(EPSILONS, st.floats(0.01, 1))
def test_amplification_is_exact_for_the_worst_pure_mechanism(epsilon: float, q: float) -> None:
    theta = RandomizedResponse(epsilon=epsilon).theta  # as a pair of worlds, with and without the person
    sampled = DiscreteLoss.from_probabilities([theta, 1 - theta], [1 - theta, theta]).subsample(q)
    rule = amplify_by_sampling(epsilon, 0, q).epsilon
    # Of the two directions one attains the rule: removing a person.
    assert sampled.epsilon(0) == pytest.approx(rule, rel=1e-9)


@settings(max_examples=20, deadline=None)
@given(st.floats(0.3, 3), DELTAS, st.floats(0.01, 0.99))
def test_amplification_of_a_gaussian_covers_its_exact_loss(epsilon: float, delta: float, q: float) -> None:
    loss = Gaussian.analytic(epsilon=epsilon, delta=delta).plrv().subsample(q)
    rule = amplify_by_sampling(epsilon, delta, q)
    assert loss.delta(rule.epsilon) <= rule.delta * (1 + 1e-9)


@settings(max_examples=30, deadline=None)
@given(st.floats(0.05, 1), DELTAS, st.integers(1, 6))
def test_group_privacy_covers_k_people_and_the_slides_bound_is_looser(epsilon: float, delta: float, k: int) -> None:
    one = Gaussian.analytic(epsilon=epsilon, delta=delta)
    group = one.plrv(k * one.sensitivity, 0.0)
    sharp, slides = group_privacy(epsilon, delta, k), group_privacy(epsilon, delta, k, sharp=False)
    assert sharp.epsilon == slides.epsilon == k * epsilon
    assert group.delta(sharp.epsilon) <= sharp.delta * (1 + 1e-6)
    assert sharp.delta <= slides.delta * (1 + 1e-12)


def test_group_privacy_of_laplace_is_attained() -> None:
    mechanism = Laplace(epsilon=0.5, sensitivity=1)
    assert mechanism.plrv(4.0, 0.0).max_loss == group_privacy(0.5, 0, 4).epsilon == 2


def test_group_privacy_of_a_leak_adds_up() -> None:
    """(0, delta)-DP, as a table that leaks now and then: the geometric sum has k terms of 1."""
    for sharp in (True, False):
        group = group_privacy(0, 1e-6, k=4, sharp=sharp)
        assert group.epsilon == 0
        assert group.delta == pytest.approx(4e-6)
    assert group_privacy(0, 0, k=4).delta == 0
    assert group_privacy(1e-12, 1e-6, k=4).delta == pytest.approx(4e-6)


@pytest.mark.parametrize(
    ("call", "quoted"),
    [
        (lambda: basic_composition([]), "none"),
        (lambda: basic_composition([(-1, 0)]), "-1"),
        (lambda: advanced_composition(1, 0, 0, 1e-5), "0"),
        (lambda: advanced_composition(1, 0, 2, 0), "0"),
        (lambda: amplify_by_sampling(1, 0, 0), "0"),
        (lambda: amplify_by_sampling(1, 0, 1.5), r"1\.5"),
        (lambda: group_privacy(1, 1.0, 2), r"1\.0"),
        (lambda: group_privacy(math.nan, 0, 2), "nan"),
        (lambda: group_privacy(-0.5, 0, 2), r"-0\.5"),
    ],
)
def test_bad_input_is_quoted(call, quoted: str) -> None:
    with pytest.raises(ValueError, match=quoted):
        call()


def test_large_values_do_not_overflow() -> None:
    assert advanced_composition(800, 0, 2, 1e-5).epsilon == math.inf
    assert amplify_by_sampling(800, 0, 0.01).epsilon == pytest.approx(800 + math.log(0.01))
    assert group_privacy(10, 1e-6, 100).delta == 1
