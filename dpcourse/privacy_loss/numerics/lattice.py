"""A loss on a grid, from above and from below: polygons around its delta curve.

In the variable a = e^epsilon the curve H(a) = delta(ln a) is convex, and a loss with atoms at grid points a_i is
exactly a convex polygon with corners at a_i. So two polygons around H are two discrete losses around L:

* **dominating** ("connect the dots", Doroshenko et al. 2022): the chords of H. It lies above H, and composing it keeps
  that order, because delta of a product is an average of H against a *positive* measure.
* **dominated**: the same chords, each lowered by as much as H can bend away below them (known from the tangents at both
  ends), then made convex from below. It lies under H everywhere, and the order is kept for the same reason.

Both err by O(step^2) only. An atom that sits on a grid point is represented exactly by both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpcourse.privacy_loss.base import PrivacyLoss


@dataclass(frozen=True, eq=False)
class Lattice:
    """Atoms of mass ``masses[i]`` at loss ``(first + i) * step``, and ``infinite`` mass at +inf."""

    step: float
    first: int
    masses: np.ndarray
    infinite: float

    @property
    def losses(self) -> np.ndarray:
        return self.step * np.arange(self.first, self.first + self.masses.size)


def log_mass(masses: np.ndarray) -> np.ndarray:
    """The logarithm, -inf for no mass."""
    with np.errstate(divide="ignore"):
        return np.log(masses)


def total(parts: Sequence[tuple[object, int]]) -> int:
    """How many losses are added up."""
    return sum(times for _, times in parts)


@dataclass(frozen=True, eq=False)
class Dots:
    """The chords of H between given nodes, as a discrete loss, with what is needed to lower them."""

    nodes: np.ndarray
    masses: np.ndarray  # P-mass at each node
    infinite: float  # P-mass beyond the last node that no finite node can carry
    low_share: np.ndarray  # P-mass of each cell that went to its lower node ...
    high_share: np.ndarray  # ... and to its upper node
    split: int  # cells before this one include an atom on their lower node, the others one on their upper node
    height: np.ndarray  # H at each node
    below_first: tuple[float, float]  # (P, Q) mass left of the first node


def connect_dots(loss: PrivacyLoss, nodes: np.ndarray) -> Dots:
    """Share the mass of every cell between its two nodes so that both its P- and its Q-mass are kept."""
    p_above, q_above = loss.above(nodes)
    # Differences of tails lose digits where the tail is large: left of Q's median count from the other end. (Q's, not
    # P's, because an error of Q is multiplied by e^loss.)
    split = int(np.searchsorted(-q_above, -0.5))
    p_below, q_below = loss.below(nodes[: split + 1])
    p_cell, q_cell = -np.diff(p_above), -np.diff(q_above)
    count = min(split, nodes.size - 1)
    p_cell[:count], q_cell[:count] = np.diff(p_below)[:count], np.diff(q_below)[:count]
    below_first = float(p_below[0]), float(q_below[0])
    # An atom exactly on the node where the two countings meet is in neither.
    node_atom = max(1 - p_above[split] - p_below[split], 0.0) if split < nodes.size else 0.0
    odds = np.exp(nodes)
    p_cell = np.maximum(p_cell, 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        high = (p_cell - odds[:-1] * q_cell) / -np.expm1(-np.diff(nodes))
    high = np.clip(high, 0.0, p_cell)
    low = p_cell - high
    masses = np.zeros(nodes.size)
    masses[:-1] += low
    masses[1:] += high
    masses[0] += below_first[0]  # moved up to the first node: the observer learns more, never less
    if split < nodes.size:
        masses[split] += node_atom
    top = min(odds[-1] * q_above[-1], p_above[-1])
    masses[-1] += top
    height = np.maximum(p_above - odds * q_above, 0.0)
    return Dots(nodes, masses, float(p_above[-1] - top), low, high, split, height, below_first)


def _inside(loss: PrivacyLoss, dots: Dots, odds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The Q-mass that bends H within each cell, by the node it was shared to: without the atoms that sit on nodes."""
    low, high = dots.low_share.copy(), dots.high_share.copy()
    atoms = np.maximum(1 - loss.above(dots.nodes)[0] - loss.below(dots.nodes)[0] - 1e-13, 0.0)
    if atoms.any():  # 1e-13 for rounding: an atom that is overlooked only costs width
        low[: dots.split] -= atoms[:-1][: dots.split]
        high[dots.split :] -= atoms[1:][dots.split :]
    return np.maximum(low, 0.0) / odds[:-1], np.maximum(high, 0.0) / odds[1:]


def lattice_nodes(step: float, low: float, high: float) -> tuple[int, np.ndarray]:
    """The grid points from just below ``low`` to just above ``high``, and the index of the first."""
    slack = 1e-12  # a bound that is itself a grid point must not gain a cell by rounding
    first, last = int(np.floor(low / step + slack)), int(np.ceil(high / step - slack))
    # ... nor lose the atom that sits on it, by a last bit.
    first, last = first - (step * first > low), last + (step * last < high)
    return first, step * np.arange(first, max(last, first + 1) + 1)


def dominating(loss: PrivacyLoss, step: float, low: float, high: float) -> Lattice:
    """The grid loss whose delta is never below the true one."""
    first, nodes = lattice_nodes(step, low, high)
    dots = connect_dots(loss, nodes)
    return Lattice(step, first, dots.masses, dots.infinite)


def dominated(loss: PrivacyLoss, step: float, low: float, high: float) -> Lattice:
    """The grid loss whose delta is never above the true one."""
    first, nodes = lattice_nodes(step, low, high)
    dots = connect_dots(loss, nodes)
    odds = np.exp(nodes)
    width = odds[:-1] * np.expm1(step)
    q_low, q_high = _inside(loss, dots, odds)
    # The two tangents of a cell meet this far below its chord; H lies above them.
    q_cell = q_low + q_high
    share = np.divide(q_high, q_cell, out=np.full_like(q_cell, 0.5), where=q_cell > 0)  # where in the cell they meet
    bend = width * q_low * share
    # Each chord is lowered by ``bend`` where the tangents meet. Its end in the thinner neighbourhood (a tail, or the
    # edge of the support) is lowered by no more than that neighbour needs anyway; the other end bears the rest.
    before, after = np.insert(bend[:-1], 0, 0.0), np.append(bend[1:], 0.0)
    rising = before < after
    left = np.where(rising, np.minimum(bend, before), 0.0)
    right = np.where(rising, 0.0, np.minimum(bend, after))
    np.divide(bend - (1 - share) * left, share, out=right, where=rising & (share > 0))
    np.divide(bend - share * right, 1 - share, out=left, where=~rising & (share < 1))
    drop = np.maximum(np.append(left, 0.0), np.insert(right, 0, 0.0))
    # End where lowering would eat the curve itself; beyond, only the true infinite mass remains.
    too_low = drop > (dots.height - loss.infinite_mass) / 2
    end = int(np.argmax(too_low)) if too_low.any() else nodes.size - 1
    if end == 0:
        return Lattice(step, first, np.zeros(1), min(loss.infinite_mass, float(dots.height[0])))
    infinite = min(loss.infinite_mass, float(dots.height[end]))
    drop = drop[: end + 1]
    drop[end] = dots.height[end] - infinite
    drop[end - 1] = max(drop[end - 1], q_high[end - 1] * width[end - 1])  # keeps the last chord under H
    q_masses = dots.masses / odds
    q_above = np.append(np.cumsum(q_masses[::-1])[::-1][1:], 0.0)
    slopes = -q_above[:end] - np.diff(drop) / width[:end]
    # To the left of the grid: the tangent of H at the first node, lowered with it. (It gives up the mass below.)
    slopes = np.insert(slopes, 0, dots.below_first[1] - 1 - drop[0] / odds[0])
    if (np.diff(slopes) < 0).any():
        # Increasing slopes mean convex; the isotonic fit of the slopes *is* the greatest convex minorant.
        from scipy.optimize import isotonic_regression

        slopes = isotonic_regression(slopes, weights=np.insert(width[:end], 0, odds[0])).x
    slopes = np.append(np.minimum(slopes, 0.0), 0.0)
    return Lattice(step, first, odds[: end + 1] * np.diff(slopes), infinite)
