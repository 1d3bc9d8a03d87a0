"""delta far out, where one rare loss makes all of it: it falls, and keeps below the Renyi bound."""

import math
from itertools import pairwise

import numpy as np
import pytest

from dpcourse.accounting import dp_sgd_loss, renyi_sampled_gaussian
from dpcourse.privacy_loss.numerics.direct import direct_delta
from dpcourse.privacy_loss.numerics.fft import moment_bound

RUNS = [(1, 1e-4, 1_000), (2, 1e-3, 100)]
UNDERFLOW = 1e-300


def renyi_bound(sigma, q, steps, epsilon):
    curve = renyi_sampled_gaussian(sigma, q).compose(steps)
    a, r = np.array(curve.orders), np.array(curve.divergences)
    return math.exp(min(((a - 1) * (r - epsilon + np.log1p(-1 / a)) - np.log(a)).min(), 0))


@pytest.mark.parametrize(("sigma", "q", "steps"), RUNS)
def test_delta_falls_and_keeps_below_the_renyi_bound(sigma, q, steps):
    """On the code before, two of these answers were 1.0."""
    loss, epsilons = dp_sgd_loss(sigma, q, steps), [0.8, 8.7, 31.5]
    deltas = [loss.delta(epsilon) for epsilon in epsilons]
    for smaller, larger in pairwise(deltas):
        assert larger <= smaller + UNDERFLOW
    for epsilon, delta in zip(epsilons, deltas, strict=True):
        assert delta <= renyi_bound(sigma, q, steps, epsilon) + UNDERFLOW


def test_a_curve_never_rises():
    """Each point is a bound at every larger epsilon, too, also where the points are not in order."""
    loss, epsilons = dp_sgd_loss(5, 1e-3, 100), np.geomspace(0.035, 0.1, 6)
    shuffled = np.random.default_rng(1).permutation(6)
    curve = loss.delta(epsilons[shuffled].reshape(3, 2))
    assert curve.shape == (3, 2)
    in_order = curve.ravel()[np.argsort(shuffled)]
    assert (np.diff(in_order) <= 0).all()
    assert in_order[0] > in_order[-1]


def test_a_direct_sum_bounds_what_one_rare_loss_makes():
    """Far out a single step's loss decides: delta is about that of one step, as often as there are steps."""
    for epsilon in (5.0, 12.0):
        one = dp_sgd_loss(1, 1e-4, 1).removed.delta(epsilon)
        many = dp_sgd_loss(1, 1e-4, 100).removed
        assert 100 * one * 0.99 <= direct_delta(many.parts, epsilon) <= 110 * one
        assert many.delta(epsilon) <= direct_delta(many.parts, epsilon)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
def test_both_bounds_are_never_below_the_exact_delta(epsilon):
    """Of a plain Gaussian, whose sums have a closed form."""
    loss = dp_sgd_loss(4, 1.0, 1)
    exact = loss.compose(9).delta(epsilon)
    parts = [(loss, 9)]
    assert exact <= direct_delta(parts, epsilon) <= 1.05 * exact
    assert exact <= moment_bound(parts, epsilon)
