"""The picture of a verdict: a student's answers beside what they should be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def spread(title: str, answers: np.ndarray, center: float, scale: float, cdf: Any) -> Any:
    """The picture of a sample beside its law: bars of the student's answers, and the curve they should follow."""
    from dpcourse.plots import Axis, Bars, Line, Picture, panel

    wide = max(6.0, min(60.0, float(np.quantile(np.abs(answers - center) / scale, 0.99))))
    edges = np.linspace(-wide, wide, 42)  # an odd number of bars: one stands in the middle
    counts = np.histogram((answers - center) / scale, edges)[0] / len(answers)
    right = np.diff(np.asarray(cdf(edges), dtype=float))
    middle = (edges[1:] + edges[:-1]) / 2
    high = float(max(counts.max(), right.max())) * 1.1
    x = center + scale * middle
    marks = (
        Bars(x, counts, "your answers", "orange", width=float(x[1] - x[0])),
        Line(x, right, "what they should be", "blue"),
    )
    sides = (float(center - 1.03 * scale * wide), float(center + 1.03 * scale * wide))
    says = f"Your answers around {center:.4g}, as bars; the law that they should have, as a curve."
    return Picture((panel(title, Axis("answer", *sides), Axis("share", 0, high), *marks, height=170),), says)


def shares(title: str, labels: Sequence[str], found: np.ndarray, right: np.ndarray, *, what: str = "report") -> Any:
    """The picture of counted answers: how often each came, as bars, and how often it should, as points."""
    from dpcourse.plots import Axis, Bars, Picture, Points, panel

    x = np.arange(len(labels))
    marks = (Bars(x, found, "your answers", "orange"), Points(x, right, "what they should be", "blue"))
    sides = Axis(what, -0.6, len(labels) - 0.4, ticks=tuple((float(i), label) for i, label in enumerate(labels)))
    high = min(1.05, 1.1 * float(max(found.max(), right.max())))
    says = f"How often each {what} came, as bars; how often it should, as points."
    return Picture((panel(title, sides, Axis("share", 0, high), *marks, height=170),), says)
