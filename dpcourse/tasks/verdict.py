"""What was decided about one task: the share of the points, a message that teaches, and how sure it is."""

from __future__ import annotations

import base64
import html
from dataclasses import dataclass, field
from typing import Any

from dpcourse.audit.fit_result import Fit

STATUSES = ("passed", "failed", "error", "timeout", "missing")
COLOURS = {"passed": "#009E73", "failed": "#D55E00", "error": "#E69F00", "timeout": "#E69F00", "missing": "#767676"}


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The decision on one task.

    ``status``: passed, failed (wrong answers), error (no usable answer), timeout, missing (not written yet).
    ``share`` is the part of the task's points that was earned, 0 to 1.
    ``mistake`` is the name of the known mistake that explains the answers, or ""; ``also`` names others made beside it.
    ``probe``: the arguments of the call that the message speaks of.
    ``false_fail`` bounds the probability that chance alone failed a right answer; ``odds`` are the words for it, with
    which the message ends.
    Of an answer that could not be used ``layer`` says where it went wrong (see ``complaints``), and ``errors`` are the
    types of the error that the function stopped with.
    """

    task: str
    status: str
    message: str
    share: float = 0.0
    mistake: str = ""
    also: tuple[str, ...] = ()
    wasteful: bool = False
    public: bool = False
    false_fail: float = 0.0
    odds: str = ""
    layer: str = ""
    errors: tuple[str, ...] = ()
    evidence: tuple[Fit, ...] = ()
    probe: Any = field(default=None, compare=False, repr=False)
    picture: Any = field(default=None, compare=False, repr=False)

    @property
    def passed(self) -> bool:
        """Every point was earned."""
        return self.status == "passed"

    def __bool__(self) -> bool:
        return self.passed

    @property
    def headline(self) -> str:
        """A few words."""
        if self.passed:
            done = "public checks passed; grading draws new ones" if self.public else "passed"
            return f"{self.task}: {done}"
        words = {
            "failed": "not yet",
            "error": "no answer yet",
            "timeout": "no answer in time",
            "missing": "still empty",
        }
        return f"{self.task}: {words[self.status]}"

    def __str__(self) -> str:
        return f"{self.headline}. {self.message}"

    def _repr_html_(self) -> str:
        return as_html(self)


def as_html(verdict: Verdict) -> str:
    """For the notebook. Everything a student wrote is escaped."""
    colour = COLOURS[verdict.status]
    picture = ""
    if verdict.picture is not None:
        from dpcourse.scenes import matplotlib_painter

        data = base64.b64encode(matplotlib_painter.png(verdict.picture, width=4.6, dpi=160)).decode()
        alt = html.escape(verdict.picture.says)
        picture = (
            f'<img alt="{alt}" style="width:30em;max-width:100%;border-radius:4px" src="data:image/png;base64,{data}">'
        )
    message, odds = verdict.message.removesuffix(verdict.odds), ""
    if verdict.odds:
        odds = f'<br><small style="opacity:0.75">{html.escape(verdict.odds)}</small>'
    return (
        f'<div style="border-left:4px solid {colour};padding:2px 12px;max-width:46em">'
        f"<b>{html.escape(verdict.headline)}</b><br>{html.escape(message.strip())}{odds}<br>{picture}</div>"
    )
