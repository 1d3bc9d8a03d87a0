"""Do wrong submissions ever pass, and are they called by their name? ``python -m studies.wrong_submissions``.

Every wrong submission of the banks, and every wrong function that a task knows, is graded with ``--seeds`` grading
seeds. Not one may pass; of those whose mistake has a name, 95% must be called by it.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

from dpcourse.tasks import HOMEWORKS, Student, Task, tasks_of
from testing.submissions.bank import bank_of


class Wrong(NamedTuple):
    """A wrong submission, and the name of its mistake (None: it has none)."""

    style: str
    function: Callable[..., Any]
    name: str | None


def wrong_ones(homework: str, task: Task) -> list[Wrong]:
    """The wrong functions that the task knows, and the bank's."""
    known = [Wrong(f"mistake: {one.name}", one.wrong, one.name) for one in task.mistakes]
    return [*known, *(Wrong(style, *pair) for style, pair in bank_of(homework).WRONG.get(task.name, {}).items())]


class Misses(NamedTuple):
    """Of one homework: submissions, gradings, those that passed, gradings with a name to find, those not found."""

    submissions: int
    gradings: int
    passed: list[str]
    named: int
    unnamed: Counter[str]

    def __str__(self) -> str:
        share = 1 - self.unnamed.total() / max(1, self.named)
        text = (
            f"{self.submissions} wrong submissions, {self.gradings:,} gradings, {len(self.passed)} passed; "
            f"{share:.2%} of {self.named:,} called by their name"
        )
        return "\n  ".join(
            [text, *self.passed, *(f"{times} times {what}" for what, times in self.unnamed.most_common())]
        )


def misses(homework: str, seeds: range, only: list[str] | None = None) -> Misses:
    """Grade every wrong submission with these seeds."""
    submissions, gradings, named, passed, unnamed = 0, 0, 0, list[str](), Counter[str]()
    for task in tasks_of(homework).values():
        if only and task.name not in only:
            continue
        everyone = wrong_ones(homework, task)
        submissions += len(everyone)
        for seed, wrong in product(seeds, everyone):
            student = Student(wrong.function, task.answer, seconds=10 * task.seconds)
            verdict = task.examine(student, seed)
            gradings += 1
            named += wrong.name is not None
            if verdict.passed:
                passed.append(f"{task.name}, {wrong.style}: passed with seed {seed}")
            if wrong.name not in (None, verdict.mistake):
                unnamed[f"{task.name}, {wrong.style}: called {verdict.mistake!r}"] += 1
    return Misses(submissions, gradings, passed, named, unnamed)


def main(arguments: list[str]) -> None:
    asked = argparse.ArgumentParser(description="Grade every wrong submission again and again.")
    asked.add_argument("--seeds", type=int, default=20)
    asked.add_argument("--homeworks", nargs="*", choices=tuple(HOMEWORKS), default=tuple(HOMEWORKS))
    asked.add_argument("--tasks", nargs="*", help="only these")
    options = asked.parse_args(arguments)
    for homework in options.homeworks:
        print(f"{homework}: {misses(homework, range(1_000, 1_000 + options.seeds), options.tasks)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
