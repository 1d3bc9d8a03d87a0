"""What is seen at one position of the controls: panels of marks, as plain numbers and words.

A picture knows nothing of who paints it. ``matplotlib_painter`` paints it on paper, ``browser/`` in the browser; both
receive the very same arrays. No mark may leave its axes: a picture whose curve is cut off at the top misleads, so
``Panel`` refuses it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from dpcourse import checks

Array: TypeAlias = Any  # anything that numpy takes; a mark turns it into an array of floats

#: Okabe and Ito's colours, which colour-blind readers tell apart; "sky" and "orange" also carry on a dark ground.
PALETTE: dict[str, str] = {
    "blue": "#0072B2",
    "orange": "#E69F00",
    "green": "#009E73",
    "red": "#D55E00",
    "purple": "#CC79A7",
    "sky": "#56B4E9",
    "grey": "#767676",
    "ink": "#222222",
}
#: The styles of marks; any other word is refused when a mark is made.
STYLES: dict[str, tuple[str, ...]] = {
    "colour": tuple(PALETTE),
    "dash": ("solid", "dashed", "dotted", "dashdot"),
    "marker": ("circle", "square", "triangle", "diamond", "cross"),
    "texture": ("solid", "striped", "outline"),
    "anchor": ("start", "middle", "end"),
    "axis": ("x", "y"),
}


@dataclass(frozen=True)
class Axis:
    """One axis: what it measures (with its unit), where it starts and ends, and the words at its ticks, if any."""

    label: str
    low: float
    high: float
    log: bool = False
    ticks: tuple[tuple[float, str], ...] | None = None

    def __post_init__(self) -> None:
        low, high = checks.real("low", self.low), checks.real("high", self.high)
        if not low < high:
            raise ValueError(f"the axis {self.label!r} must start below its end, got low={low!r}, high={high!r}")
        if self.log and low <= 0:
            raise ValueError(f"the logarithmic axis {self.label!r} must start above 0, got low={low!r}")

    def holds(self, values: ArrayLike) -> bool:
        """Whether all values are numbers on this axis (up to one part in a thousand of its length)."""
        array = np.asarray(values, float)
        if self.log:
            if not array.min() > 0:
                return False
            array, low, high = np.log(array), math.log(self.low), math.log(self.high)
        else:
            low, high = self.low, self.high
        slack = (high - low) * 1e-3
        return bool(array.min() >= low - slack and array.max() <= high + slack)


class Mark:
    """Anything drawn inside a panel."""

    def reach(self) -> Iterator[tuple[str, Any]]:
        """The coordinates it touches, as ("x" or "y", values)."""
        raise NotImplementedError

    def sizes(self) -> None:
        """Refuse arrays that do not fit together."""

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            if field.type == "Array":
                object.__setattr__(self, field.name, np.asarray(getattr(self, field.name), float))
            elif field.name in STYLES:
                checks.one_of(field.name, getattr(self, field.name), STYLES[field.name])
        self.sizes()


def _same_length(mark: Mark, *names: str) -> None:
    lengths = {name: getattr(mark, name).shape for name in names}
    first = next(iter(lengths.values()))
    if len(set(lengths.values())) > 1 or len(first) != 1 or first[0] == 0:
        raise ValueError(f"{type(mark).__name__} needs arrays of one length, not empty, got {lengths}")


class _ThroughPoints(Mark):
    """What is drawn at the points (x, y)."""

    x: Array
    y: Array

    def sizes(self) -> None:
        _same_length(self, "x", "y")

    def reach(self) -> Iterator[tuple[str, Any]]:
        yield from (("x", self.x), ("y", self.y))


@dataclass(frozen=True)
class Line(_ThroughPoints):
    """A curve through points, in the order given."""

    x: Array
    y: Array
    label: str = ""
    colour: str = "blue"
    dash: str = "solid"
    width: float = 2


@dataclass(frozen=True)
class Band(Mark):
    """The area between two curves over x."""

    x: Array
    low: Array
    high: Array
    label: str = ""
    colour: str = "blue"

    def sizes(self) -> None:
        _same_length(self, "x", "low", "high")

    def reach(self) -> Iterator[tuple[str, Any]]:
        yield from (("x", self.x), ("y", self.low), ("y", self.high))


@dataclass(frozen=True)
class Bars(Mark):
    """Bars from ``base`` to ``height`` at positions ``x``; lying bars swap the axes, for long names."""

    x: Array
    height: Array
    label: str = ""
    colour: str = "blue"
    texture: str = "solid"
    width: float = 0.8
    base: float = 0
    lying: bool = False

    def sizes(self) -> None:
        _same_length(self, "x", "height")

    def reach(self) -> Iterator[tuple[str, Any]]:
        along, across = ("y", "x") if self.lying else ("x", "y")
        yield from ((along, self.x - self.width / 2), (along, self.x + self.width / 2))
        yield from ((across, self.height), (across, self.base))


@dataclass(frozen=True)
class Points(_ThroughPoints):
    """Single points, told apart by their shape as well as by their colour."""

    x: Array
    y: Array
    label: str = ""
    colour: str = "blue"
    marker: str = "circle"
    size: float = 6


@dataclass(frozen=True)
class Heat(Mark):
    """A matrix of numbers between ``low`` and ``high``, as shades over a rectangle; row 0 lies at the bottom."""

    z: Array
    left: float
    right: float
    bottom: float
    top: float
    low: float
    high: float
    label: str = ""

    def sizes(self) -> None:
        if self.z.ndim != 2 or self.z.size == 0:
            raise ValueError(f"Heat needs a matrix that is not empty, got shape {self.z.shape}")
        if not np.all((self.z >= self.low) & (self.z <= self.high)):
            raise ValueError(f"Heat {self.label!r} has values outside its shades from {self.low!r} to {self.high!r}")

    def reach(self) -> Iterator[tuple[str, Any]]:
        yield from (("x", (self.left, self.right)), ("y", (self.bottom, self.top)))


@dataclass(frozen=True)
class Rule(Mark):
    """A straight line across the whole panel: x = at (upright) or y = at (level), with a word beside it."""

    at: float
    axis: str = "x"
    label: str = ""
    colour: str = "ink"
    dash: str = "dashed"

    def reach(self) -> Iterator[tuple[str, Any]]:
        yield (self.axis, self.at)


@dataclass(frozen=True)
class Label(Mark):
    """Words at a point."""

    x: float
    y: float
    text: str
    colour: str = "ink"
    anchor: str = "middle"

    def reach(self) -> Iterator[tuple[str, Any]]:
        yield from (("x", self.x), ("y", self.y))


@dataclass(frozen=True)
class Panel:
    """A coordinate system with marks. ``drag`` names the control that follows the pointer along x.

    ``equal`` makes a unit of x as long as a unit of y, so that a circle is round and a map keeps its shape.
    """

    title: str
    x: Axis
    y: Axis
    marks: tuple[Mark, ...]
    drag: str | None = None
    share: float = 1  # of the picture's width
    height: float = 250  # in pixels
    equal: bool = False

    def __post_init__(self) -> None:
        if not self.marks:
            raise ValueError(f"the panel {self.title!r} is empty")
        for mark in self.marks:
            for name, values in mark.reach():
                axis = self.x if name == "x" else self.y
                if not axis.holds(values):
                    array = np.asarray(values, float)
                    raise ValueError(
                        f"{type(mark).__name__} {getattr(mark, 'label', '')!r} of the panel {self.title!r} leaves the "
                        f"axis {axis.label!r} ({axis.low:g} to {axis.high:g}): it runs from {array.min():g} to "
                        f"{array.max():g}"
                    )


@dataclass(frozen=True)
class Table:
    """Rows of words; those where ``marked`` is 1 stand out, and ``mark`` says why (also to those who see no colour).

    A row whose first cell is empty goes on with the one above."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    marked: Array
    mark: str
    share: float = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "marked", np.asarray(self.marked, float))
        if self.marked.shape != (len(self.rows),) or not set(self.marked.tolist()) <= {0.0, 1.0}:
            raise ValueError(
                f"marked must hold a 0 or a 1 for each of the {len(self.rows)} rows, got {self.marked!r:.200}"
            )
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"every row needs {len(self.columns)} cells, got {[len(row) for row in self.rows]}")


@dataclass(frozen=True)
class Picture:
    """Panels side by side, and one sentence that says what is to be seen, with its numbers."""

    panels: tuple[Panel | Table, ...]
    says: str

    def __post_init__(self) -> None:
        if not self.panels or not self.says.strip():
            raise ValueError(f"a picture needs panels and a sentence, got {len(self.panels)} panels, {self.says!r}")


def dot(
    x: float, y: float, label: str = "", *, colour: str = "blue", marker: str = "circle", size: float = 9
) -> Points:
    """A single point, larger than one of many: where the controls stand."""
    return Points([x], [y], label, colour, marker, size)


def picture_of(says: str, *panels: Panel | Table) -> Picture:
    """A picture from its sentence and its panels."""
    return Picture(panels, says)


def panel(
    title: str,
    x: Axis,
    y: Axis,
    *marks: Mark | Sequence[Mark],
    drag: str | None = None,
    share: float = 1,
    height: float = 250,
    equal: bool = False,
) -> Panel:
    """A panel from marks and lists of marks."""
    flat = tuple(one for mark in marks for one in ([mark] if isinstance(mark, Mark) else mark))
    return Panel(title, x, y, flat, drag, share, height, equal)
