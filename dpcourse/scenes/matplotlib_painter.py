"""The painter for paper: a picture as a matplotlib figure, for exports, tests and places without widgets."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, NullLocator

from dpcourse.scenes.picture import (
    PALETTE,
    Axis,
    Band,
    Bars,
    Heat,
    Label,
    Line,
    Mark,
    Panel,
    Picture,
    Points,
    Rule,
    Table,
)

DASHES = {"solid": "-", "dashed": "--", "dotted": ":", "dashdot": "-."}
MARKERS = {"circle": "o", "square": "s", "triangle": "^", "diamond": "D", "cross": "X"}
HATCHES = {"solid": "", "striped": "////", "outline": ""}
STYLE = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "hatch.linewidth": 0.8}


def figure(picture: Picture, *, title: str = "", width: float = 10) -> Figure:
    """Paint a picture, ``width`` inches wide. The figure belongs to no window; save it or show it as you like."""
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        height = max(_height(part) for part in picture.panels) + 1.1
        painting = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(painting)
        shares = [part.share for part in picture.panels]
        grid = painting.subplots(1, len(shares), squeeze=False, width_ratios=shares)
        for axes, part in zip(grid[0], picture.panels, strict=True):
            if isinstance(part, Table):
                _table(axes, part)
            else:
                _panel(axes, part)
        if title:
            painting.suptitle(title, x=0.01, ha="left", fontweight="bold")
        painting.supxlabel(textwrap.fill(picture.says, int(width * 13)), x=0.01, ha="left", fontsize=10)
    return painting


def png(picture: Picture, *, title: str = "", width: float = 10, dpi: int = 80) -> bytes:
    """The figure as the bytes of a PNG file."""
    stream = io.BytesIO()
    figure(picture, title=title, width=width).savefig(stream, format="png", dpi=dpi)
    return stream.getvalue()


def _height(part: Panel | Table) -> float:
    return 0.24 * (len(part.rows) + 2) if isinstance(part, Table) else part.height / 80


def _panel(axes: Axes, part: Panel) -> None:
    _axis(part.x, axes.set_xlabel, axes.set_xscale, axes.set_xlim, axes.xaxis)
    _axis(part.y, axes.set_ylabel, axes.set_yscale, axes.set_ylim, axes.yaxis)
    if part.equal:
        axes.set_aspect("equal", adjustable="box")
    for mark in part.marks:
        _PAINT[type(mark)](axes, mark)
    named = [mark for mark in part.marks if getattr(mark, "label", "") and not isinstance(mark, Rule | Heat)]
    if named:  # above the axes, where no curve can run into it, with the panel's title on top
        place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1.01), "borderaxespad": 0}
        legend = axes.legend(title=part.title, ncols=2, frameon=False, fontsize=9, **place)
        legend.set_alignment("left")
    else:
        axes.set_title(part.title, loc="left", fontsize=10)


def _axis(axis: Axis, label: Any, scale: Any, limits: Any, ticks: Any) -> None:
    label(axis.label)
    if axis.log:
        scale("log")
    limits(axis.low, axis.high)
    if axis.ticks is not None:
        ticks.set_ticks([at for at, _ in axis.ticks], labels=[text for _, text in axis.ticks])
        ticks.set_minor_locator(NullLocator())
        ticks.set_minor_formatter(NullFormatter())


def _line(axes: Axes, mark: Line) -> None:
    axes.plot(mark.x, mark.y, color=PALETTE[mark.colour], ls=DASHES[mark.dash], lw=mark.width, label=mark.label or "_")


def _band(axes: Axes, mark: Band) -> None:
    style: dict[str, Any] = {"color": PALETTE[mark.colour], "alpha": 0.25, "lw": 0, "label": mark.label or "_"}
    axes.fill_between(mark.x, mark.low, mark.high, **style)


def _bars(axes: Axes, mark: Bars) -> None:
    colour = PALETTE[mark.colour]
    style: dict[str, Any] = {
        "facecolor": colour if mark.texture == "solid" else "none",
        "edgecolor": colour,
        "hatch": HATCHES[mark.texture],
        "label": mark.label or "_",
    }
    if mark.lying:
        axes.barh(mark.x, mark.height - mark.base, height=mark.width, left=mark.base, **style)
    else:
        axes.bar(mark.x, mark.height - mark.base, width=mark.width, bottom=mark.base, **style)


def _points(axes: Axes, mark: Points) -> None:
    look: dict[str, Any] = {"color": PALETTE[mark.colour], "marker": MARKERS[mark.marker], "ms": mark.size}
    axes.plot(mark.x, mark.y, ls="", mec="white", mew=0.5, label=mark.label or "_", **look)


def _heat(axes: Axes, mark: Heat) -> None:
    place: dict[str, Any] = {"origin": "lower", "extent": (mark.left, mark.right, mark.bottom, mark.top)}
    shades = axes.imshow(mark.z, aspect="auto", vmin=mark.low, vmax=mark.high, cmap="cividis", **place)
    axes.figure.colorbar(shades, ax=axes).set_label(mark.label)


def _rule(axes: Axes, mark: Rule) -> None:
    draw = axes.axvline if mark.axis == "x" else axes.axhline
    draw(mark.at, color=PALETTE[mark.colour], ls=DASHES[mark.dash], lw=1.2)
    if mark.label:
        transform = axes.get_xaxis_transform() if mark.axis == "x" else axes.get_yaxis_transform()
        spot = (mark.at, 0.99) if mark.axis == "x" else (0.99, mark.at)
        sides: dict[str, Any] = {"ha": "left", "va": "top"} if mark.axis == "x" else {"ha": "right", "va": "bottom"}
        box = {"facecolor": "white", "alpha": 0.75, "lw": 0, "pad": 1}
        style = {"color": PALETTE[mark.colour], "fontsize": 9, "bbox": box, **sides}
        axes.text(*spot, f" {mark.label}", transform=transform, **style)


def _label(axes: Axes, mark: Label) -> None:
    sides = {"start": "left", "middle": "center", "end": "right"}
    axes.text(mark.x, mark.y, mark.text, ha=sides[mark.anchor], va="bottom", fontsize=9, color=PALETTE[mark.colour])


def _table(axes: Axes, part: Table) -> None:
    axes.set_axis_off()
    axes.set_title(part.title, loc="left", fontsize=10)
    columns = ("", *part.columns)
    # a row whose first cell is empty belongs to the one above: it stands out with it, but the mark is there already
    rows = [(part.mark if on and row[0] else "", *row) for on, row in zip(part.marked, part.rows, strict=True)]
    table = axes.table(cellText=[list(row) for row in rows], colLabels=list(columns), loc="upper left", cellLoc="left")
    table.auto_set_font_size(False)
    table.set_fontsize(8)
    table.auto_set_column_width(list(range(len(columns))))
    for (row, _), cell in table.get_celld().items():
        cell.set_linewidth(0.3)
        if row and part.marked[row - 1]:
            cell.set_facecolor("#FBE3D6")
            cell.get_text().set_fontweight("bold")


_PAINT: dict[type[Mark], Callable[[Axes, Any], None]] = {
    Line: _line,
    Band: _band,
    Bars: _bars,
    Points: _points,
    Heat: _heat,
    Rule: _rule,
    Label: _label,
}
