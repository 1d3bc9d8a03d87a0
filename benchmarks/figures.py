"""What a measured figure is, and how to time two things fairly in one run."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One row of the table: what was measured, what came out, what we promised (an upper limit)."""

    what: str
    value: float
    limit: float
    detail: str = ""

    @property
    def holds(self) -> bool:
        return self.value <= self.limit


def median_seconds(*calls: Callable[[], object], repeats: int) -> list[float]:
    """The median time of each call, taken in turns so that a busy moment hits all of them alike."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(repeats):
        for call, record in zip(calls, times, strict=True):
            start = time.perf_counter()
            call()
            record.append(time.perf_counter() - start)
    return [statistics.median(record) for record in times]


def table(figures: list[Figure]) -> str:
    """The table as it stands in the README."""
    lines = ["| figure | measured | promised | |", "|---|---:|---:|---|"]
    for figure in figures:
        notes = [figure.detail] if figure.holds else ["**not kept**", figure.detail]
        detail = "; ".join(note for note in notes if note)
        lines.append(f"| {figure.what} | {figure.value:.3g} | at most {figure.limit:g} | {detail} |")
    return "\n".join(lines)
