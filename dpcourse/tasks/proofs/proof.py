"""A task whose answer is a derivation, and whose known mistakes are derivations, too."""

from __future__ import annotations

from collections.abc import Callable

from dpcourse.tasks.interview import Interview
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.proofs.steps import Steps
from dpcourse.tasks.task import Task

Lines = list[tuple[str, str, str]]


def proof(name: str, see: str, judge: Callable[[Interview], None], *known: tuple[str, Lines, str]) -> Task:
    """The student's function takes nothing and gives back the steps. ``known`` mistakes: name, steps, message."""
    wrong = tuple(Mistake(title, _giving(lines), message) for title, lines, message in known)
    return Task(name=name, see=see, probes=lambda rng: [{}], judge=judge, mistakes=wrong, answer=Steps())


def _giving(lines: Lines) -> Callable[[], Lines]:
    return lambda: lines
