"""The picture of a verdict: a student's answers beside what they should be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpcourse.tasks.wording import number

LINE = 44  # letters below an axis


def spread(title: str, answers: np.ndarray, center: float, scale: float, cdf: Any) -> Any:
    """The picture of a sample beside its law: bars of the student's answers, and the curve they should follow."""
    from dpcourse.scenes import Axis, Bars, Line, Picture, panel

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
    low, top = float(center - 1.03 * scale * wide), float(center + 1.03 * scale * wide)
    median = number(float(np.median(answers)), 4)
    says = f"Bars: your answers, half of them below {median}. Curve: what they should be, around {number(center, 4)}."
    across = Axis("answer", low, top, ticks=_ticks(low, top))
    return Picture((panel(title, across, Axis("share", 0, high), *marks, height=190),), says)


def shares(title: str, labels: Sequence[str], counts: np.ndarray, right: np.ndarray, *, what: str = "report") -> Any:
    """The picture of counted answers: how often each came, as bars, and how often it should, as points."""
    from dpcourse.scenes import Axis, Bars, Picture, Points, panel

    x = np.arange(len(labels))
    marks = (Bars(x, counts, "your answers", "orange"), Points(x, right, "what they should be", "blue"))
    room = max(4, LINE // len(labels))  # letters for each, so that none lies on the next
    step = 1 if len(labels) * 5 <= LINE else 1 + len(labels) * 5 // LINE
    words = [label if len(label) <= room else f"{label[: room - 2]}." for label in labels]
    ticks = tuple((float(place), word) for place, word in enumerate(words) if place % step == 0)
    sides = Axis(what, -0.6, len(labels) - 0.4, ticks=ticks)
    high = min(1.05, 1.1 * float(max(counts.max(), right.max())))
    says = f"Bars: how often each {what} came. Points: how often it should."
    return Picture((panel(title, sides, Axis("share", 0, high), *marks, height=190),), says)


def _ticks(low: float, high: float) -> tuple[tuple[float, str], ...]:
    """Three to six round numbers between the ends, in full: 1,400,000 and not 1.4e+06."""
    step = 10.0 ** np.floor(np.log10((high - low) / 3))
    step *= max(factor for factor in (1, 2, 5) if (high - low) / (factor * step) >= 2.5)
    places = step * np.arange(np.ceil(low / step), np.floor(high / step) + 1)
    return tuple((float(place), number(float(place), 6)) for place in places)
