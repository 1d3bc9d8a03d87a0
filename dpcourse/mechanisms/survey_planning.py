"""Planning a private survey of one bit: which coin, how large an error, how many people (lecture 5 of the slides).

All errors are standard deviations over the mechanism's coins, of the share of ones *among the people asked*; asking a
sample of a larger population adds the usual sampling error on top.
"""

from __future__ import annotations

import math

from dpcourse import checks, sensitivity
from dpcourse.guarantee import Neighbours
from dpcourse.mechanisms.laplace import Laplace
from dpcourse.mechanisms.randomized_response import RandomizedResponse


def odds_from_series(epsilon: float, degree: int) -> float:
    """1 + eps + eps^2/2! + ... + eps^degree/degree!, which for eps >= 0 never exceeds e^eps.

    As the odds theta/(1 - theta) of the truth it therefore gives epsilon-DP: degree 1 is the slides' first attempt,
    degree 2 the quadratic one, and the limit is the tight one.
    """
    epsilon, degree = checks.non_negative("epsilon", epsilon), checks.whole_number("degree", degree)
    total = term = 1.0
    for k in range(1, degree + 1):
        term *= epsilon / k
        total += term
        if term < 1e-18 * total and k > epsilon:  # nothing that follows can be seen
            break
    if not math.isfinite(total):
        raise ValueError(f"the odds are beyond the largest float for epsilon = {epsilon!r}, degree = {degree!r}")
    return min(total, math.exp(epsilon)) if epsilon < 700 else total  # the rounded sum may end a bit above


def epsilon_of(theta: float) -> float:
    """The smallest epsilon of reporting the truth with probability ``theta``: |ln(theta / (1 - theta))|.

    0 for a fair coin, which tells nothing; infinite for theta = 0 or 1, which tell everything.
    """
    theta = checks.probability("theta", theta)
    if theta in (0, 1):
        return math.inf
    return abs(math.log(theta) - math.log1p(-theta))


def local_error(response: RandomizedResponse, n: int) -> float:
    """Standard error of ``response.estimate`` for n people: sqrt(theta (1 - theta) / n) / (2 theta - 1).

    The same for every true share, because each report has the variance theta (1 - theta). For the tight theta it
    equals 1 / (2 sinh(eps/2) sqrt(n)) (Warner 1965, Section 2, over the coins alone).
    """
    if not isinstance(response, RandomizedResponse):
        raise TypeError(f"response must be a RandomizedResponse, got {response!r}")
    half = response.spent_epsilon / 2  # 1 / (2 sinh x) = e^-x / (1 - e^-2x), which does not overflow
    return math.exp(-half) / (-math.expm1(-2 * half)) / math.sqrt(checks.whole_number("n", n))


def central_error(epsilon: float, n: int) -> float:
    """Standard deviation of the share of ones that a trusted curator releases with Laplace noise: sqrt(2) / (n eps).

    One person who changes the answer moves the share by 1/n (replace-one neighbours; n is public).
    """
    neighbours = Neighbours.REPLACE
    moved = sensitivity.mean(0, 1, neighbours, n=n)
    return math.sqrt(2) * Laplace(epsilon=epsilon, sensitivity=moved, neighbours=neighbours).scale


def people_needed(response: RandomizedResponse, error: float) -> int:
    """The smallest number of people for whom :func:`local_error` is at most ``error``."""
    ratio = local_error(response, 1) / checks.positive("error", error)
    if ratio > 1e150:
        raise ValueError(f"no number of people that a float can hold has an error of {error!r}")
    wanted = ratio**2
    return max(1, math.ceil(wanted * (1 - 1e-12)))  # a whole number stays itself when it is rounded
