"""Accounting for DP-SGD: T steps of Gaussian noise (sigma times the clipping norm) on Poisson lots of rate q."""

from __future__ import annotations

import math

from dpcourse import checks
from dpcourse.accounting.cost import Spent
from dpcourse.accounting.renyi import MOMENTS, renyi_sampled_gaussian
from dpcourse.accounting.rules import advanced_composition, amplify_by_sampling, basic_composition
from dpcourse.privacy_loss import GaussianLoss, PrivacyLoss


def dp_sgd_loss(sigma: float, q: float, steps: int) -> PrivacyLoss:
    """The privacy loss of the whole run under add/remove neighbours, both directions.

    ``sigma`` is the noise multiplier (noise standard deviation / clipping norm), ``q`` the sampling rate.
    """
    return GaussianLoss(1 / checks.positive("sigma", sigma)).subsample(q).compose(checks.whole_number("steps", steps))


def dp_sgd_epsilon(sigma: float, q: float, steps: int, delta: float) -> float:
    """A certified upper bound on epsilon, within about 3e-5 (relative) of the exact value for the usual settings."""
    return dp_sgd_loss(sigma, q, steps).epsilon(checks.small_delta("delta", delta, zero=False))


def dp_sgd_accounts(sigma: float, q: float, steps: int, delta: float) -> list[Cost]:
    """The same run as five accountants see it, from the slides' tools to the exact privacy loss.

    The first two calibrate each step as an (eps_0, delta_0)-DP Gaussian, amplify it by sampling and compose; delta is
    split evenly between steps (and, for the advanced rule, half of it is the rule's own slack).
    """
    steps, delta = checks.whole_number("steps", steps), checks.small_delta("delta", delta, zero=False)
    one_step = GaussianLoss(1 / checks.positive("sigma", sigma))
    q = checks.fraction_of_one("q", q)

    def amplified(delta_share: float) -> Cost:
        # delta_share is per step and after amplification, which multiplies by q; below 1 it must stay.
        before = min(delta_share / q, 0.999)
        return amplify_by_sampling(one_step.epsilon(before), before, q)

    plain, half = amplified(delta / steps), amplified(delta / (2 * steps))
    basic = basic_composition([(plain.epsilon, plain.delta)] * steps)
    advanced = advanced_composition(half.epsilon, half.delta, steps, delta / 2)
    moments = renyi_sampled_gaussian(sigma, q, orders=MOMENTS).compose(steps).epsilon(delta, conversion="moments")
    improved = renyi_sampled_gaussian(sigma, q).compose(steps).epsilon(delta)
    loss = dp_sgd_loss(sigma, q, steps)
    exact = Cost(loss.epsilon(delta), delta, "privacy loss distribution", label=loss.label)
    return [basic, advanced, moments, improved, exact]


def sigma_for(epsilon: float, delta: float, *, q: float = 1.0, steps: int = 1) -> float:
    """The smallest noise multiplier (to a relative 1e-6) for which the run is certified (epsilon, delta)-DP."""
    from scipy.optimize import brentq

    epsilon, delta = checks.positive("epsilon", epsilon), checks.small_delta("delta", delta, zero=False)
    q, steps = checks.fraction_of_one("q", q), checks.whole_number("steps", steps)

    def excess(log_sigma: float) -> float:
        # An epsilon of 0 or infinity would stop the root finder; any number of the right sign will do there.
        spent = min(max(dp_sgd_epsilon(math.exp(log_sigma), q, steps, delta), 1e-300), 1e300)
        return math.log(spent) - math.log(epsilon)

    high = 0.0
    while excess(high) > 0:
        high += 1.0
    low = high - 1.0
    while excess(low) < 0:
        high, low = low, low - 1.0
        if low < -6:
            raise ValueError(
                f"epsilon = {epsilon!r} at delta = {delta!r} is met by any noise: sigma below {math.exp(low)!r}"
            )
    log_sigma = brentq(excess, low, high, xtol=2e-7, rtol=1e-10)
    while excess(log_sigma) > 0:  # the root may lie a hair on the wrong side: step over, never under
        log_sigma += 4e-7
    return math.exp(log_sigma)


def steps_within(epsilon: float, delta: float, *, sigma: float, q: float) -> int:
    """The largest number of steps that is certified (epsilon, delta)-DP; 0 if not even one is."""
    epsilon, delta = checks.positive("epsilon", epsilon), checks.small_delta("delta", delta, zero=False)

    def fits(steps: int) -> bool:
        return dp_sgd_epsilon(sigma, q, steps, delta) <= epsilon

    if not fits(1):
        return 0
    high = 2
    while fits(high):
        high *= 2
        if high > 2**40:
            raise ValueError(
                f"more than {high // 2} steps fit into epsilon = {epsilon!r}: sigma = {sigma!r} is very large"
            )
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
