"""A search for two neighbours whose answers differ by more than a claimed sensitivity allows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse import checks
from dpcourse.guarantee import Neighbours
from dpcourse.randomness import Rng, generator

Row = Any
Rows = tuple[Row, ...]
RowSource = Callable[[np.random.Generator], Row]
_PATIENCE = 25  # steps without progress after which the climb starts again elsewhere


@dataclass(frozen=True, kw_only=True)
class Search:
    """The worst pair of neighbours found, as lists of rows. True in a condition if it refutes the claim."""

    data: Rows
    neighbour: Rows
    difference: float
    claimed: float
    tried: int
    violated: bool

    def __bool__(self) -> bool:
        return self.violated

    def __str__(self) -> str:
        if not self.violated:
            return (
                f"no violation of {self.claimed:g} among {self.tried:,} pairs (largest difference {self.difference:g})"
            )
        return (
            f"{_shown(self.data)} and {_shown(self.neighbour)} differ by {self.difference:g} > {self.claimed:g} "
            f"(found after {self.tried:,} pairs)"
        )


def interval(low: float, high: float) -> RowSource:
    """Rows that are numbers in [low, high]: its ends half of the time (most queries are worst there), else uniform."""
    bottom, top = checks.interval(low, high)

    def draw(rng: np.random.Generator) -> float:
        corner = rng.random()
        return bottom if corner < 0.25 else top if corner < 0.5 else float(rng.uniform(bottom, top))

    return draw


def find_violation(
    query: Callable[[Any], Any],
    domain: Sequence[Row] | RowSource,
    claimed: float | Callable[[Any], float],
    *,
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
    norm: str = "l1",
    rows: int | tuple[int, int] = (1, 6),
    table: Callable[[list[Row]], Any] = np.asarray,
    tries: int = 2000,
    rng: Rng = 0,
) -> Search:
    """Look for neighbours D, D' with ||query(D) - query(D')|| > ``claimed``.

    ``domain`` is the list of all possible rows, or a function that draws one from a generator (see :func:`interval`);
    ``rows`` the public number of rows, or the smallest and largest (both tables of a pair lie within); ``table`` turns
    a list of rows into what the query takes (default: an array). ``claimed`` may also be a function of the table, for a
    "sensitivity" computed from the data: then the smaller one of the pair must hold.

    The search climbs: from a random pair it changes one row at a time and keeps what brings the difference closer to
    (or over) the claim, starting again when stuck. It stops at the first violation, or after ``tries`` pairs. Finding
    none proves nothing.
    """
    problem = _Problem(
        query, _source(domain), claimed, Neighbours.of(neighbours), _order(norm), _size_range(rows, neighbours), table
    )
    if not callable(query):
        raise TypeError(f"query must be a function of a table, got {query!r}")
    tries, rng = checks.whole_number("tries", tries), generator(rng)
    best = current = problem.measured(*problem.start(rng))
    tried, stuck = 1, 0
    while tried < tries and not best.violates:
        restart = stuck >= _PATIENCE
        candidate = problem.measured(*(problem.start(rng) if restart else problem.step(current, rng)))
        tried += 1
        stuck = 0 if restart or candidate.excess > current.excess else stuck + 1
        current = candidate if stuck == 0 else current
        best = candidate if candidate.excess > best.excess else best
    best = problem.smallest(best) if best.violates else best
    return Search(
        data=best.shared + best.only_data,
        neighbour=best.shared + best.only_neighbour,
        difference=best.difference,
        claimed=best.claimed,
        tried=tried,
        violated=best.violates,
    )


@dataclass(frozen=True)
class _Pair:
    """Neighbours as the rows they share and the one in which they differ (in both tables, or in one only)."""

    shared: Rows
    only_data: Rows
    only_neighbour: Rows
    difference: float
    claimed: float
    tolerance: float

    @property
    def excess(self) -> float:
        return self.difference - self.claimed

    @property
    def violates(self) -> bool:
        return self.excess > self.tolerance


@dataclass(frozen=True)
class _Problem:
    query: Callable[[Any], Any]
    draw: RowSource
    claimed: float | Callable[[Any], float]
    neighbours: Neighbours
    order: int
    sizes: tuple[int, int]
    table: Callable[[list[Row]], Any]

    @property
    def fewest(self) -> int:
        """The smallest number of shared rows: under add/remove the neighbour has no others."""
        return self.sizes[0] - (self.neighbours is Neighbours.REPLACE)

    def start(self, rng: np.random.Generator) -> tuple[Rows, Rows, Rows]:
        # Small tables are tried more often (evenly in the logarithm): one person weighs most there. A row repeated is
        # as likely as a mixed table: many queries are at their worst where all the others agree.
        size = self.fewest + int((self.sizes[1] - self.fewest + 1) ** rng.random()) - 1
        same, mixed = self.draw(rng), rng.random() < 0.5
        shared = tuple(self.draw(rng) if mixed else same for _ in range(size))
        return shared, (self.draw(rng),), (self.draw(rng),) if self.neighbours is Neighbours.REPLACE else ()

    def step(self, pair: _Pair, rng: np.random.Generator) -> tuple[Rows, Rows, Rows]:
        shared, place = pair.shared, int(rng.integers(len(pair.shared) + 2))
        if place < len(shared):
            return (*shared[:place], self.draw(rng), *shared[place + 1 :]), pair.only_data, pair.only_neighbour
        if place == len(shared) or not pair.only_neighbour:
            return shared, (self.draw(rng),), pair.only_neighbour
        return shared, pair.only_data, (self.draw(rng),)

    def smallest(self, pair: _Pair) -> _Pair:
        """The same violation with as few rows as will still show it."""
        for place in reversed(range(len(pair.shared))):
            shared = pair.shared[:place] + pair.shared[place + 1 :]
            if len(shared) >= self.fewest:
                fewer = self.measured(shared, pair.only_data, pair.only_neighbour)
                pair = fewer if fewer.violates else pair
        return pair

    def measured(self, shared: Rows, one: Rows, other: Rows) -> _Pair:
        tables = [self.table([*shared, *own]) for own in (one, other)]
        answers = [np.atleast_1d(checks.finite_array("query(table)", self.query(table))).ravel() for table in tables]
        if answers[0].shape != answers[1].shape:
            raise ValueError(f"query must answer in one shape, got {answers[0].shape} and {answers[1].shape}")
        claims = [
            checks.non_negative("claimed", self.claimed(table) if callable(self.claimed) else self.claimed)
            for table in tables
        ]
        difference = float(np.linalg.norm(answers[0] - answers[1], ord=self.order))
        # Sums of large numbers round: what is below one part in a billion of the answers is not a violation.
        tolerance = 1e-9 * max(abs(min(claims)), *(float(np.abs(answer).max(initial=0.0)) for answer in answers))
        return _Pair(shared, one, other, difference, min(claims), tolerance)


def _source(domain: Sequence[Row] | RowSource) -> RowSource:
    if callable(domain):
        return domain
    possible = list(domain)
    if len(possible) == 0:
        raise ValueError(f"domain must hold at least one possible row, got {domain!r}")
    return lambda rng: possible[int(rng.integers(len(possible)))]


def _shown(rows: Rows) -> str:
    return str(list(rows)) if len(rows) <= 8 else f"[{rows[0]}, ... {len(rows) - 2} rows ..., {rows[-1]}]"


def _order(norm: str) -> int:
    return 1 if checks.one_of("norm", norm, ["l1", "l2"]) == "l1" else 2


def _size_range(rows: int | tuple[int, int], neighbours: Neighbours | str) -> tuple[int, int]:
    smallest, largest = (rows, rows) if not isinstance(rows, Sequence) else rows
    replace = Neighbours.of(neighbours) is Neighbours.REPLACE
    smallest = checks.whole_number("rows", smallest, at_least=1 if replace else 0)
    largest = checks.whole_number("rows", largest, at_least=smallest)
    if not replace and largest == smallest:
        raise ValueError(f"rows must be a range under add/remove, where the sizes differ by one, got {rows!r}")
    return smallest, largest
