"""The exact delta of a composed, Poisson-sampled Gaussian, by whichever oracle reaches it (to about 1e-7 or better)."""

from __future__ import annotations

import math

import numpy as np

from tests.privacy_loss import contour, oracles, refined_grid


class OutOfReach(Exception):
    """No oracle resolves this setting to the accuracy that the tests need."""


def sampled_gaussian_delta(sigma: float, q: float, rounds: int, epsilon: float, *, added: bool) -> float:
    """delta(epsilon) of ``rounds`` sampled Gaussians, one direction."""
    mu = 1 / sigma
    if q == 1:
        return float(oracles.gaussian_hockey_stick(mu * math.sqrt(rounds), np.array([epsilon]))[0])
    if added and epsilon >= -rounds * math.log1p(-q):
        return 0.0  # no output of Q can have a loss above -ln(1 - q) per round
    if rounds == 1:
        return float(oracles.sampled_gaussian_hockey_stick(mu, q, np.array([epsilon]), added=added)[0])
    if rounds == 2:
        nodes = oracles.sampled_gaussian_nodes(mu, q, added=added, h=0.002)
        return oracles.one_more(lambda e: oracles.sampled_gaussian_hockey_stick(mu, q, e, added=added), *nodes)(epsilon)
    composition = contour.Composition((contour.sampled_gaussian(mu, q, added=added, most=4e6), rounds))
    try:
        return composition.delta(epsilon)
    except contour.TooSlow:
        theta = composition.saddle(epsilon=epsilon)[0]
    nodes = oracles.sampled_gaussian_nodes(mu, q, added=added, h=0.001)
    try:
        return refined_grid.delta(*nodes, rounds, epsilon, theta)
    except refined_grid.Unresolved as error:
        raise OutOfReach(str(error)) from error


def worse_direction_delta(sigma: float, q: float, rounds: int, epsilon: float) -> float:
    """The larger delta of a person removed and a person added."""
    return max(sampled_gaussian_delta(sigma, q, rounds, epsilon, added=added) for added in (False, True))
