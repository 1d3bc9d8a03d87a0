"""A small vocabulary for probes: how the arguments of a few calls are drawn.

``each(3, epsilon=uniform(0.3, 0.8), k=shuffled(4, 5, 6))`` draws three probes. Never blind ones, at which a mistake
does not show: not epsilon = 1, not a range from 0 where a mistake forgets the lower end.

``edges(probes, {"debts": fixed([])}, ...)`` asks at the edges, too: an empty table, one row, a large count. Who is
careful only with ordinary tables is found out there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpcourse.tasks.respondent import Probe

#: Draws one argument for so many probes.
Column = Callable[[np.random.Generator, int], Sequence[Any]]
#: Draws the probes of one examination.
Probes = Callable[[np.random.Generator], list[Probe]]
Ends = tuple[float, float]


def each(number: int, **columns: Column) -> Probes:
    """So many probes; each argument is drawn by its column."""

    def probes(rng: np.random.Generator) -> list[Probe]:
        drawn = {name: column(rng, number) for name, column in columns.items()}
        return [{name: values[place] for name, values in drawn.items()} for place in range(number)]

    return probes


class Edge(dict[str, Any]):
    """A probe at an edge of what may be asked."""


def edges(probes: Callable[[np.random.Generator], Sequence[Probe]], *changes: dict[str, Any]) -> Probes:
    """These probes, and before the last one (which many judges ask most) the edges.

    An edge is the first probe with some arguments changed: by a value, or by a column that draws it.
    """

    def with_edges(rng: np.random.Generator) -> list[Probe]:
        first, *others = probes(rng)
        drawn = [{name: new(rng, 1)[0] if callable(new) else new for name, new in one.items()} for one in changes]
        asked = [Edge({**first, **change}) for change in drawn]
        return [first, *others[:-1], *asked, *others[-1:]]

    return with_edges


def uniform(*ends: float | Ends, digits: int | None = None) -> Column:
    """Numbers between two ends: ``uniform(0.3, 0.8)`` for all probes, ``uniform((0.3, 0.8), (2, 3))`` for each."""

    def column(rng: np.random.Generator, number: int) -> list[float]:
        values = [float(rng.uniform(*pair)) for pair in _pairs(ends, number)]
        return values if digits is None else [round(value, digits) for value in values]

    return column


def log_uniform(*exponents: float | Ends) -> Column:
    """Powers of ten; the exponents are uniform between their ends."""
    return lambda rng, number: [float(10 ** rng.uniform(*pair)) for pair in _pairs(exponents, number)]


def whole(*ends: int | tuple[int, int]) -> Column:
    """Whole numbers from the first end to the last, both included."""
    return lambda rng, number: [int(rng.integers(low, high, endpoint=True)) for low, high in _pairs(ends, number)]


def fixed(*values: Any) -> Column:
    """These values, in this order; a single one for all probes."""
    return lambda rng, number: list(values) * number if len(values) == 1 else list(values)


def shuffled(*values: Any) -> Column:
    """These values in an order drawn by chance, as many as there are probes."""
    return lambda rng, number: [values[place] for place in rng.permutation(len(values))[:number]]


def drawn(make: Callable[[np.random.Generator], Any]) -> Column:
    """Whatever ``make(rng)`` draws, for each probe anew."""
    return lambda rng, number: [make(rng) for _ in range(number)]


def _pairs(ends: Sequence[Any], number: int) -> list[Any]:
    """The two ends for each probe."""
    pairs = list(ends) if isinstance(ends[0], tuple) else [tuple(ends)] * number
    if len(pairs) != number or any(len(pair) != 2 for pair in pairs):
        raise ValueError(f"{number} probes need two ends, or two for each of them; got {tuple(ends)!r}")
    return pairs
