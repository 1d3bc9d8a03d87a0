"""The noise in a training log: what the tests of ``train_private`` see, and that chance does not fail right noise."""

import numpy as np
import pytest
from scipy import special

from dpcourse.tasks.hw4_dp_sgd.training_noise import ENOUGH, MISSED, NARROW, independence_fit, repeats_fit
from dpcourse.tasks.interview import LEVEL
from dpcourse.tasks.judges.scale_tests import NORMAL_SIZES, width_fit


def turned(rng, size):
    return np.linalg.qr(rng.normal(size=(size, size)))[0]


@pytest.mark.parametrize("near", [1e-9, 1e-5])
@pytest.mark.parametrize("number", [60, 2_520, 21_000])
def test_fresh_numbers_hardly_come_again(near, number):
    """600 p-values of fresh numbers: the bound is never too small by more than chance allows."""
    rng = np.random.default_rng(1)
    p_values = np.array([repeats_fit(rng.random(number), near, 1).p_value for _ in range(600)])
    for level in (0.1, 0.02):
        assert (p_values <= level).mean() <= level + 5 * np.sqrt(level / 600)
    again = rng.random(number)
    again[: number // 4] = again[number // 4 : 2 * (number // 4)]
    assert repeats_fit(again, near, 1).p_value < 1e-12


@pytest.mark.parametrize("steps", [40, 120, 1_000])
def test_independent_columns_are_hardly_called_dependent(steps):
    rng = np.random.default_rng(2)
    p_values = np.array([independence_fit(0.9 * rng.normal(size=(steps, 21)), 1).p_value for _ in range(600)])
    for level in (0.1, 0.02):
        assert (p_values <= level).mean() <= level + 5 * np.sqrt(level / 600)
    z = rng.normal(size=(steps, 7))
    dependent = np.hstack([z, z @ turned(rng, 7), rng.normal(size=(steps, 7))])
    assert independence_fit(dependent, 1).p_value < 1e-12


def test_noise_that_is_8_percent_too_narrow_does_not_pass():
    """Two logs of sixty steps: looked at again but once in 100,000 times, and then seen by 9,000 fresh numbers."""
    numbers = 2 * 60 * 21
    assert special.chdtr(numbers, NARROW**2 * special.chdtri(numbers, MISSED)) < 0.05  # of right ones asked again
    fit = width_fit(np.random.default_rng(3).normal(size=ENOUGH), NORMAL_SIZES, level=0.05 * LEVEL)
    assert fit.limits[0] > NARROW
