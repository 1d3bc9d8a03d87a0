"""Where does a mechanism leak? Candidate events, and the choice of the one that separates the two worlds most.

Nothing here has to be right for the audit to be honest: the event is chosen on draws that the bound never sees. A poor
choice costs power, not validity.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from dpcourse.audit.outputs import Outputs

_TAILS = 120  # thresholds tried
_ATOMS = 500  # repeated values told apart
_BINS = 40  # bins for what is not repeated


@dataclass(frozen=True)
class Event:
    """A set of outputs: in words, and as a test."""

    words: str
    contains: Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Family:
    """Many candidate events that are counted in one pass; only the chosen one is spelled out."""

    counts: Callable[[np.ndarray], np.ndarray]
    event: Callable[[int], Event]


def most_telling(proposal: Outputs, choice: Outputs, *, delta: float, level: float) -> tuple[Event, bool]:
    """The candidate with the largest cautious ratio on ``choice``, and whether it is likelier in the with-world.

    As cautious as the bound will be at ``level``, and at least 3 standard errors: of a thousand candidates the luckiest
    one is 3 standard errors off, and events in the far tail, with few counts, are the lucky ones.
    """
    z = max(3.0, -float(special.ndtri(level / 2)))
    best, winner = -math.inf, None
    sizes = choice.with_it.size, choice.without_it.size
    for family in families(proposal):
        counts = family.counts(choice.with_it), family.counts(choice.without_it)
        for first in (0, 1):
            score = _score(counts[first], sizes[first], counts[1 - first], sizes[1 - first], delta, z)
            i = int(np.argmax(score))
            # A set that is better by a hair is better by chance: the simpler event, found earlier, stays.
            if winner is None or score[i] > best + 0.03:
                best, winner = float(score[i]), (family.event(i), first == 0)
    assert winner is not None
    return winner


def _score(k: np.ndarray, n: int, other: np.ndarray, m: int, delta: float, z: float) -> np.ndarray:
    """ln((p_low - delta) / q_high) with Wilson's closed-form bounds: for choosing only, where speed counts."""

    def wilson(hits: np.ndarray, draws: int, sign: int) -> np.ndarray:
        root = np.sqrt(hits * (draws - hits) / draws + z * z / 4)
        return (hits + z * z / 2 + sign * z * root) / (draws + z * z)

    return np.log(np.maximum(wilson(k, n, -1) - delta, 1e-300) / wilson(other, m, +1))


def families(proposal: Outputs) -> list[Family]:
    """The candidates that a first look at the outputs suggests."""
    pooled = np.concatenate([proposal.with_it, proposal.without_it])
    numbers = pooled[~np.isnan(pooled)]
    ordered = proposal.labels is None and numbers.size > 0
    return [tails(numbers), cells(proposal, pooled)] if ordered else [cells(proposal, pooled)]


def tails(pooled: np.ndarray) -> Family:
    """{output <= t} and {output > t}, with t among the outputs seen: evenly by rank, and close to both ends."""
    ordered = np.sort(pooled)
    ends = 2 ** np.arange(int(np.log2(ordered.size)) + 1) - 1
    ranks = np.concatenate([np.linspace(0, ordered.size - 1, _TAILS).astype(int), ends, ordered.size - 1 - ends])
    thresholds = np.unique(ordered[ranks])

    def counts(outputs: np.ndarray) -> np.ndarray:
        known = np.sort(outputs[~np.isnan(outputs)])
        below = np.searchsorted(known, thresholds, side="right")
        return np.concatenate([below, known.size - below])

    def event(index: int) -> Event:
        t = thresholds[index % thresholds.size]
        if index < thresholds.size:
            return Event(f"output <= {_number(t)}", lambda outputs: outputs <= t)
        return Event(f"output > {_number(t)}", lambda outputs: outputs > t)

    return Family(counts, event)


def cells(proposal: Outputs, pooled: np.ndarray) -> Family:
    """Every cell (a repeated value, or a bin of the others) alone, and the sets of cells with the highest ratios.

    By Neyman and Pearson the best events are sets of outputs whose likelihood ratio exceeds a threshold. The ratios are
    estimated here; how many cells to take is decided later, on other draws, because the same draws would flatter it.
    """
    grid = _Grid.over(pooled, proposal.labels)
    ratio = (grid.histogram(proposal.with_it) + 0.5) / (grid.histogram(proposal.without_it) + 0.5)
    order = np.argsort(-ratio, kind="stable")

    def counts(outputs: np.ndarray) -> np.ndarray:
        histogram = grid.histogram(outputs)
        sets = np.cumsum(histogram[order])[:-1]  # all cells together are no event
        return np.concatenate([histogram, sets, outputs.size - sets])

    def event(index: int) -> Event:
        if index < order.size:
            return grid.event(np.array([index]))
        take, complement = (index - order.size) % (order.size - 1) + 1, index >= 2 * order.size - 1
        return grid.event(order[take:] if complement else order[:take])

    return Family(counts, event)


@dataclass(frozen=True)
class _Grid:
    """A partition of the outputs: cell i < len(atoms) is one value, then bins (edge, edge], last of all NaN."""

    atoms: np.ndarray
    edges: np.ndarray
    labels: tuple[Any, ...] | None
    saw_nan: bool

    @classmethod
    def over(cls, pooled: np.ndarray, labels: tuple[Any, ...] | None) -> _Grid:
        values, multiplicity = np.unique(pooled[~np.isnan(pooled)], return_counts=True)
        repeated = np.flatnonzero(multiplicity >= 3)
        frequent = repeated[np.argsort(-multiplicity[repeated], kind="stable")[:_ATOMS]]
        rest = np.repeat(np.delete(values, frequent), np.delete(multiplicity, frequent))
        edges = rest[:0]  # labels have no order, so no bins: all rare ones share a cell
        if labels is None and rest.size >= 2 * _BINS:
            edges = np.unique(np.sort(rest)[np.linspace(0, rest.size - 1, _BINS + 1).astype(int)[1:-1]])
        return cls(values[np.sort(frequent)], edges, labels, bool(np.isnan(pooled).any()))

    def cell_of(self, outputs: np.ndarray) -> np.ndarray:
        cell = self.atoms.size + np.searchsorted(self.edges, outputs, side="left")
        if self.atoms.size:
            nearest = np.minimum(np.searchsorted(self.atoms, outputs), self.atoms.size - 1)
            cell = np.where(self.atoms[nearest] == outputs, nearest, cell)
        return np.where(np.isnan(outputs), self.size - 1, cell)

    @property
    def size(self) -> int:
        return self.atoms.size + self.edges.size + 2

    def histogram(self, outputs: np.ndarray) -> np.ndarray:
        return np.bincount(self.cell_of(outputs), minlength=self.size)

    def event(self, members: np.ndarray) -> Event:
        return Event(self._words(np.sort(members)), lambda outputs: np.isin(self.cell_of(outputs), members))

    def _words(self, members: np.ndarray) -> str:
        first_bin, nan = self.atoms.size, self.size - 1
        named = [self._name(value) for value in self.atoms[members[members < first_bin]]]
        parts = [f"output = {named[0]}" if len(named) == 1 else f"output in {{{_listed(named)}}}"] if named else []
        bins = members[(members >= first_bin) & (members < nan)] - first_bin
        runs = np.split(bins, np.flatnonzero(np.diff(bins) > 1) + 1)
        spans = [self._span(run[0], run[-1]) for run in runs if run.size]
        if spans:
            parts.append(_listed(spans, " or ") + (", repeated values apart" if first_bin and self.edges.size else ""))
        if nan in members and self.saw_nan:
            parts.append("output is NaN")
        return " or ".join(parts) or "an output never seen"

    def _name(self, value: Any) -> str:
        return _number(value) if self.labels is None else repr(self.labels[int(value)])

    def _span(self, first: int, last: int) -> str:
        low = self.edges[first - 1] if first > 0 else None
        high = self.edges[last] if last < self.edges.size else None
        if low is None and high is None:
            return "any other output" if self.atoms.size else "any output"
        if low is None:
            return f"output <= {_number(high)}"
        return f"output > {_number(low)}" if high is None else f"{_number(low)} < output <= {_number(high)}"


def _number(value: Any) -> str:
    return str(value) if isinstance(value, np.integer) else f"{value:.8g}"


def _listed(words: list[str], separator: str = ", ", limit: int = 6) -> str:
    shown = words if len(words) <= limit else [*words[: limit - 1], f"... ({len(words)} in all)"]
    return separator.join(shown)
