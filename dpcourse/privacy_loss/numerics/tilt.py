"""Where to look: the tilt at which the sum of many losses is centred on the answer (the saddle point of delta).

Nothing in this module enters a bound: a bad plan costs time, not truth. References as in ``fourier``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from dpcourse.privacy_loss.base import LARGEST_LOSS, PrivacyLoss
from dpcourse.privacy_loss.numerics.lattice import connect_dots, log_mass, total

Parts: TypeAlias = Sequence[tuple[PrivacyLoss, int]]
Coarse: TypeAlias = tuple[np.ndarray, np.ndarray, int]  # nodes, masses, how many times


@dataclass(frozen=True)
class Plan:
    """Where the answer is expected: the tilt, and epsilon, ln delta and spread of the sum there."""

    theta: float
    epsilon: float
    log_delta: float
    spread: float
    ranges: tuple[tuple[float, float], ...]
    coarse: tuple[Coarse, ...]
    wrapped: float  # the window leaves out e^-wrapped of the tilted mass on each side
    floor: float  # five standard deviations below the mean of the untilted sum
    window: float  # how wide the transform will be, in units of loss


def plan_for(parts: Parts, *, tail: float, choose: Callable[..., np.ndarray], target: float, wrapped: float) -> Plan:
    """Find the tilt by the saddle-point approximation of delta on a coarse, scale-free grid.

    With K the cumulant generating function of the sum, the saddle at theta belongs to
    epsilon = K' - 1/theta - 1/(1 + theta), ln delta = K - theta epsilon - ln theta(1 + theta) - ln(2 pi v)/2.
    """
    rounds = total(parts)
    coarse, ranges = [], []
    for loss, times in parts:
        low, high = _range(loss, max(tail / rounds, 1e-300))
        ranges.append((low, high))
        nodes = np.concatenate((-np.geomspace(-low, 1e-14, 200), [0.0], np.geomspace(1e-14, high, 300)))
        coarse.append((nodes, connect_dots(loss, nodes).masses, times))
    variance = sum(times * _variance(nodes, masses) for nodes, masses, times in coarse)
    thetas = np.geomspace(1e-3, 1e3, 41) / math.sqrt(max(variance, 1e-300))
    for _ in range(2):  # once over everything, once between the two nearest: where rare losses take over, K' jumps
        k0, k1, k2 = coarse_cumulants(coarse, thetas)
        epsilons = k1 - 1 / thetas - 1 / (1 + thetas)
        spread = np.maximum(k2, 0) + 1 / thetas**2 + 1 / (1 + thetas) ** 2
        log_deltas = k0 - thetas * epsilons - np.log(thetas) - np.log1p(thetas) - np.log(2 * np.pi * spread) / 2
        reached = np.maximum.accumulate(choose(epsilons, log_deltas))
        i = int(np.clip(np.searchsorted(reached, target), 1, thetas.size - 1))
        nearest = i if abs(reached[i] - target) < abs(reached[i - 1] - target) else i - 1
        found = float(thetas[nearest]), float(epsilons[nearest]), float(log_deltas[nearest]), float(k2[nearest])
        thetas = np.geomspace(thetas[i - 1], thetas[i], 25)
    theta, spread_there = found[0], math.sqrt(max(found[3], 1e-300))
    right, left = (chernoff(coarse, theta, sign / spread_there, wrapped)[1] for sign in (1, -1))
    floor = sum(times * float(masses @ nodes) for nodes, masses, times in coarse) - 5 * math.sqrt(variance)
    return Plan(*found[:3], spread_there, tuple(ranges), tuple(coarse), wrapped, floor, right - left)


def chernoff(coarse: Sequence[Coarse], theta: float, unit: float, wrapped: float) -> tuple[float, float]:
    """The further tilt (positive or negative, like ``unit``) that best bounds the tail, and where it is e^-wrapped."""
    tilts = unit * np.geomspace(0.2, 12.0, 16)
    k = coarse_cumulants(coarse, np.append(theta + tilts, theta))[0]
    points = (k[:-1] - k[-1] + wrapped) / tilts
    best = int(np.argmin(np.sign(unit) * points))
    return float(tilts[best]), float(points[best])


def coarse_cumulants(coarse: Sequence[Coarse], thetas: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """K, K' and K'' of the sum at many thetas at once, on the coarse nodes."""
    k0, k1, k2 = np.zeros_like(thetas), np.zeros_like(thetas), np.zeros_like(thetas)
    for nodes, masses, times in coarse:
        exponent = np.outer(thetas, nodes) + log_mass(masses)
        peak = exponent.max(axis=1)
        weight = np.exp(exponent - peak[:, None])
        norm = weight.sum(axis=1)
        mean = np.einsum("ij,j->i", weight, nodes) / norm
        k0 += times * (peak + np.log(norm))
        k1 += times * mean
        k2 += times * (np.einsum("ij,j->i", weight, nodes**2) / norm - mean**2)
    return k0, k1, k2


def _variance(nodes: np.ndarray, masses: np.ndarray) -> float:
    mean = masses @ nodes / masses.sum()
    return float(masses @ (nodes - mean) ** 2 / masses.sum())


def _range(loss: PrivacyLoss, tail: float) -> tuple[float, float]:
    """A finite interval that holds all losses but ``tail`` of their mass on each side (and 0)."""
    grid = np.geomspace(1e-13, LARGEST_LOSS, 500)
    high = grid[np.argmax(np.append(loss.above(grid[:-1])[0] - loss.infinite_mass <= tail, True))]
    low = grid[np.argmax(np.append(loss.below(-grid[:-1])[0] <= tail, True))]
    smallest = loss.reverse()._max_finite_loss
    return -min(low, max(smallest, 1e-13)), min(high, max(loss._max_finite_loss, 1e-13))
