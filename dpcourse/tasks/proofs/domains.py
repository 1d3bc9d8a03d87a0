"""Where the symbols of a derivation may be: domains, givens that tie them together, random points; what holds there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpcourse.tasks.complaints import Complaint
from dpcourse.tasks.proofs.formulas import Formula, Undefined, at_one_point, at_points, parse

CANDIDATES = 6_000
ENOUGH = 60  # points that a place must have
CLOSE = 1e-9  # relative, in double precision; the points with 60 digits see what is smaller
EXACT_POINTS = 2
#: What checking one derivation may cost, in values of single nodes: about three seconds. The longest right one of the
#: tests takes a fifth of it.
MOST_WORK = 100_000_000
EXACT_WORK = 5_000  # a value with 60 digits takes as long as so many in double precision


@dataclass(frozen=True)
class Domain:
    """The numbers that a symbol stands for: low <= x <= high, perhaps whole, perhaps a vector.

    Wide enough that every case occurs, narrow enough that exp stays a number: formulas are tried out in here.
    """

    low: float = -4.0
    high: float = 4.0
    whole: bool = False
    vector: bool = False

    def draw(self, rng: np.random.Generator, size: tuple[int, int]) -> np.ndarray:
        """Uniform for most points; whole numbers and the two ends for others, where cases meet."""
        span = self.high - self.low
        # A third of the points lie close together, so that givens like |c - d| <= Delta hold often enough.
        near = self.low + span * np.clip(0.5 + 0.08 * rng.standard_normal(size), 0, 1)
        x = np.where(rng.random((size[0], 1)) < 0.35, near, self.low + span * rng.random(size))
        corner = rng.random(size)
        x = np.where(corner < 0.04, self.low, np.where(corner > 0.96, self.high, x))
        x = np.where((rng.random((size[0], 1)) < 0.2) | self.whole, np.clip(np.round(x), self.low, self.high), x)
        return np.round(x, 3)  # three digits: rational, and short

    def holds(self, x: np.ndarray) -> np.ndarray:
        """Which points have this symbol (all its coordinates) inside."""
        return np.asarray(((x >= self.low) & (x <= self.high)).all(axis=1))


def real(low: float = -4.0, high: float = 4.0) -> Domain:
    """Any number; tried between low and high."""
    return Domain(low, high)


def positive(low: float = 0.2, high: float = 4.0) -> Domain:
    """A number above 0; tried between low and high."""
    return Domain(low, high)


def whole(low: int = 1, high: int = 12) -> Domain:
    """A whole number."""
    return Domain(low, high, whole=True)


def vector(low: float = -4.0, high: float = 4.0) -> Domain:
    """A vector of any length; sum(...) and prod(...) run over its coordinates."""
    return Domain(low, high, vector=True)


@dataclass(frozen=True)
class Given:
    """A fact that may be used: ``text`` is "left <= right", "left >= right" or "left = right".

    For vectors it holds in every coordinate. ``edge`` (symbol -> formula) makes it an equality; where one side is a
    symbol alone, that is found without being told.
    """

    text: str
    edge: Mapping[str, str] | None = None

    def read(self, kinds: Mapping[str, bool]) -> tuple[Formula, str, Formula]:
        """Left side, relation, right side."""
        relation = next(sign for sign in ("<=", ">=", "=") if sign in self.text)
        left, right = (parse(side, kinds, number=False) for side in self.text.split(relation))
        return left, relation, right

    def solved(self, kinds: Mapping[str, bool]) -> dict[str, Formula]:
        """What to put for which symbol, so that both sides are equal."""
        if self.edge is not None:
            return {name: parse(formula, kinds, number=False) for name, formula in self.edge.items()}
        left, _, right = self.read(kinds)
        for side, other in ((right, left), (left, right)):
            if side.kind == "symbol":
                return {side.value: other}
        raise ValueError(f"say where {self.text!r} is an equality: edge={{symbol: formula}}")


class Work:
    """What is left of the work that one derivation may cost."""

    def __init__(self, most: int = MOST_WORK) -> None:
        self.left = most

    def spend(self, amount: int) -> None:
        """Take so much; if that is too much, the derivation is."""
        self.left -= amount
        if self.left < 0:
            raise Complaint("to check lines as long as yours, one by one, takes too much time: write them shorter.")


@dataclass(frozen=True)
class Place:
    """Random points at which some givens hold. ``exact``: their coordinates are short decimals."""

    points: Mapping[str, np.ndarray]
    size: int
    exact: bool
    work: Work = field(compare=False)
    _known: dict[Any, Any] = field(default_factory=dict, compare=False)  # a line is the end of one step, and a start

    @property
    def width(self) -> int:
        """The number of coordinates of its longest symbol."""
        return max(values.shape[1] for values in self.points.values())

    def values(self, formula: Formula) -> np.ndarray:
        """A formula's values at all points, by numpy."""
        if formula not in self._known:
            self.work.spend(formula.size() * self.size * self.width)
            self._known[formula] = at_points(formula, self.points)[:, 0]
        return np.asarray(self._known[formula])

    def exactly(self, formula: Formula, index: int) -> Any:
        """Its value at one of the points, with 60 digits."""
        if (formula, index) not in self._known:
            self.work.spend(formula.size() * self.width * EXACT_WORK)
            at = {name: values[index] for name, values in self.points.items()}
            self._known[formula, index] = at_one_point(formula, at)
        return self._known[formula, index]

    def described(self, index: int, names: set[str]) -> str:
        """One of the points, in words, as far as these symbols are concerned."""
        return ", ".join(
            f"{name} = {values[index, 0]:.4g}" if values.shape[1] == 1
            else f"{name} = ({', '.join(f'{one:.4g}' for one in values[index])})"
            for name, values in self.points.items() if name in names
        )  # fmt: skip


class Map:
    """The places of one examination: each is drawn once, when it is first asked for."""

    def __init__(self, symbols: Mapping[str, Domain], givens: Mapping[str, Given], rng: np.random.Generator) -> None:
        self.symbols, self.givens, self.rng = symbols, givens, rng
        self.kinds = {name: domain.vector for name, domain in symbols.items()}
        self._work = Work()
        self._length = int(rng.integers(2, 5))  # of every vector
        self._known: dict[tuple[tuple[str, ...], bool], Place] = {}

    def place(self, given: tuple[str, ...] = (), *, edge: bool = False) -> Place:
        """Points at which these givens hold; with ``edge``, hold as equalities."""
        if (given, edge) not in self._known:
            self._known[given, edge] = self._drawn([self.givens[name] for name in given], edge)
        return self._known[given, edge]

    def _drawn(self, givens: list[Given], edge: bool) -> Place:
        points: dict[str, np.ndarray] = {
            name: domain.draw(self.rng, (CANDIDATES, self._length if domain.vector else 1))
            for name, domain in self.symbols.items()
        }
        keep, exact = np.ones(CANDIDATES, dtype=bool), True
        for given in givens:
            left, relation, right = given.read(self.kinds)
            if edge or relation == "=":
                exact = False
                for name, formula in given.solved(self.kinds).items():
                    points[name] = np.broadcast_to(at_points(formula, points), points[name].shape)
            one, other = at_points(left, points), at_points(right, points)
            excess = {"<=": one - other, ">=": other - one, "=": np.abs(one - other)}[relation]
            keep &= (excess <= 1e-12 * np.maximum(1, np.abs(one))).all(axis=1)
        for name, domain in self.symbols.items():
            keep &= domain.holds(points[name])
        number = int(np.count_nonzero(keep))
        if number < ENOUGH:
            raise ValueError(
                f"{[given.text for given in givens]} leave {number} of {CANDIDATES} points: widen the domains"
            )
        return Place({name: values[keep] for name, values in points.items()}, number, exact, self._work)


def broken(before: Formula, after: Formula, relation: str, place: Place) -> str | None:
    """Where the relation does not hold, in words; None if it does everywhere."""
    names = before.symbols() | after.symbols()
    try:
        one, other = place.values(before), place.values(after)
    except Undefined as undefined:
        where = int(np.flatnonzero(np.broadcast_to(undefined.where, (place.size,)))[0])
        return f"there is no value at {place.described(where, names) or 'any point'}"
    excess = _excess(one, other, relation)
    bad = excess > CLOSE * np.maximum(1e-3, np.maximum(np.abs(one), np.abs(other)))
    if bad.any():
        worst = int(np.argmax(np.where(bad, excess, -np.inf)))
        return f"at {place.described(worst, names)} it would say {one[worst]:.5g} {relation} {other[worst]:.5g}"
    for index in range(EXACT_POINTS if place.exact else 0):
        if _exactly_broken(before, after, relation, place, index):
            return f"at {place.described(index, names)} it fails, by very little"
    return None


def _excess(one: Any, other: Any, relation: str) -> Any:
    return {"=": abs(one - other), "<=": one - other, ">=": other - one}[relation]


def _exactly_broken(before: Formula, after: Formula, relation: str, place: Place, index: int) -> bool:
    import sympy

    one, other = (place.exactly(formula, index) for formula in (before, after))
    scale = max(abs(one), abs(other), sympy.Float("1e-3"))
    return bool(_excess(one, other, relation) > sympy.Float("1e-40") * scale)
