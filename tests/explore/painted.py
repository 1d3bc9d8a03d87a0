"""What matplotlib drew against the numbers that a painter received, for tests with and without a browser."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from dpcourse.scenes import PALETTE

KINDS = ("Line", "Points", "Rule")


def close(seen: Any, drawn: Any, rtol: float = 3e-7) -> None:
    np.testing.assert_allclose(np.asarray(seen, float), np.asarray(drawn, float), rtol=rtol, atol=1e-37)


def assert_paper_shows(figure: Figure, tree: dict[str, Any]) -> None:
    """Every panel of the figure shows the marks of the tree: positions, colours, words, rows."""
    painted = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
    for axes, part in zip(painted, tree["panels"], strict=True):
        if part["kind"] == "Table":
            _table(axes, part)
        else:
            assert axes.get_xlim() == pytest.approx((part["x"]["low"], part["x"]["high"]), rel=1e-6)
            assert axes.get_ylim() == pytest.approx((part["y"]["low"], part["y"]["high"]), rel=1e-6)
            _panel(axes, part["marks"])
    assert " ".join(tree["says"].split()) == " ".join(figure.get_supxlabel().split())


def _panel(axes: Any, marks: list[dict[str, Any]]) -> None:
    curves, bands = iter(axes.lines), iter(axes.collections)
    bars = [patch for patch in axes.patches if hasattr(patch, "get_width")]
    words = iter([text for text in axes.texts if text.get_text().strip()])
    for mark in marks:
        kind = mark["kind"]
        if kind in KINDS:
            curve = next(curves)
            assert to_hex(curve.get_color()) == PALETTE[mark["colour"]].lower()
            data = np.asarray(curve.get_xydata())
            if kind == "Rule":
                close(mark["at"], data[0][0 if mark["axis"] == "x" else 1])
            else:
                close(np.array([mark["x"], mark["y"]]).T, data)
        elif kind == "Band":
            outline = next(bands).get_paths()[0].vertices
            for edge in ("low", "high"):
                for x, y in zip(np.asarray(mark["x"]), np.asarray(mark[edge]), strict=True):
                    distance = np.abs(outline - (x, y)) / (1 + np.abs([x, y]))
                    assert distance.max(axis=1).min() < 1e-6, f"the band's {edge} edge misses ({x:g}, {y:g})"
        elif kind == "Bars":
            mine, bars = bars[: len(mark["x"])], bars[len(mark["x"]) :]
            for bar, x, height in zip(mine, mark["x"], mark["height"], strict=True):
                across, along = (
                    (bar.get_width(), bar.get_y() + bar.get_height() / 2),
                    (
                        bar.get_height(),
                        bar.get_x() + bar.get_width() / 2,
                    ),
                )
                length, middle = across if mark["lying"] else along
                assert length == pytest.approx(height - mark["base"], rel=1e-5, abs=1e-6)
                assert middle == pytest.approx(x, rel=1e-6, abs=1e-6)
                assert to_hex(bar.get_edgecolor()) == PALETTE[mark["colour"]].lower()
        elif kind == "Heat":
            drawn = axes.images[0].get_array()
            close(np.reshape(mark["z"], drawn.shape), drawn)  # from the browser the matrix comes row after row
        if mark.get("text" if kind == "Label" else "label", "").strip() and kind in ("Label", "Rule"):
            word = next(words)
            if kind == "Label":
                assert word.get_text() == mark["text"]
                close(word.get_position(), (mark["x"], mark["y"]))
            else:
                assert word.get_text().strip() == mark["label"]


def _table(axes: Any, part: dict[str, Any]) -> None:
    cells = axes.tables[0].get_celld()
    for i, (row, marked) in enumerate(zip(part["rows"], part["marked"], strict=True), start=1):
        shown = [cells[i, j].get_text().get_text() for j in range(len(row) + 1)]
        assert shown == [part["mark"] if marked and row[0] else "", *row]  # a message of several lines has one mark
