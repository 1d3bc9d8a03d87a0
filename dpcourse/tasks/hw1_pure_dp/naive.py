"""Homework 1, an open task: break a mechanism whose noise comes from the data."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpcourse.mechanisms import Laplace
from dpcourse.tasks.answers import Answer, Answers
from dpcourse.tasks.interview import Interview
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.task import Task


def _naive_probes(rng: np.random.Generator) -> Sequence[Probe]:
    return [
        {"maximum": float(rng.integers(2, 9) * 1_000), "epsilon": float(rng.uniform(0.3, 0.9))},
        {"maximum": float(rng.integers(2, 9) * 100_000), "epsilon": float(rng.uniform(1.5, 3))},
    ]


def naive_loss(data: np.ndarray, neighbour: np.ndarray, output: float, epsilon: float) -> float:
    """ln p(output | data) - ln p(output | neighbour), for the sum with noise of scale max(table) / epsilon.

    A table of zeros gets no noise at all: it answers 0, for certain. (A point against a density is an infinite loss.)
    """
    logs = []
    for table in (data, neighbour):
        largest, total = float(np.max(table, initial=0.0)), float(np.sum(table))
        if largest > 0:
            logs.append(float(Laplace(epsilon=epsilon, sensitivity=largest).log_prob(output, total)))
        else:
            logs.append(math.inf if output == total else -math.inf)
    return 0.0 if logs[0] == logs[1] else logs[0] - logs[1]


def _judge_break(talk: Interview) -> None:
    for probe in talk.probes:
        found, maximum, epsilon = talk.value(probe), probe["maximum"], probe["epsilon"]
        data, neighbour, output = found["data"], found["neighbour"], found["output"]
        both = np.concatenate([data, neighbour])
        about = f"For maximum = {maximum:g}, epsilon = {epsilon:.3g}:"
        if ((both < 0) | (both > maximum)).any():
            talk.fail(
                f"{about} {both[(both < 0) | (both > maximum)][0]:g} is no possible debt.", name="outside the range"
            )
        more, fewer = Counter(data.tolist()), Counter(neighbour.tolist())
        if more == fewer:
            talk.fail(f"{about} your two tables have the same rows.", name="the same table twice")
        if sum(((more - fewer) + (fewer - more)).values()) != 1:
            talk.fail(
                f"{about} your two tables have {len(data)} and {len(neighbour)} rows and are not neighbours: one must "
                f"be the "
                f"other with a single row added.",
                name="not neighbours",
            )
        loss = naive_loss(data, neighbour, output, epsilon)
        if abs(loss) <= 2 * epsilon:
            talk.fail(
                f"{about} at your output the two densities differ by a factor e^{loss:.3g}; more than "
                f"e^{2 * epsilon:.3g} "
                f"either way is asked for.",
                name="noise is wide enough there" if abs(loss) <= epsilon * (1 + 1e-9) else "not far enough",
            )
    talk.praise = "At your outputs the mechanism says far more than it promises: it is broken."


def _broken(data: Any, neighbour: Any, output: float) -> dict[str, Any]:
    return {"data": data, "neighbour": neighbour, "output": output}


break_naive = Task(
    name="break_naive",
    see="lecture 1, section 10",
    probes=_naive_probes,
    judge=_judge_break,
    answer=Answers({"data": Answer((None,)), "neighbour": Answer((None,)), "output": Answer()}),
    mistakes=(
        Mistake(
            "outside the range", lambda maximum, epsilon: _broken([0.0, 9 * maximum], [0.0], 9 * maximum),
            "A debt below 0 or above the maximum may break everything, but it cannot exist: find a pair of tables that "
            "can.",
        ),
        Mistake(
            "not neighbours", lambda maximum, epsilon: _broken([1.0, 1.0], [maximum, maximum], maximum),
            "Neighbours differ by one row that comes or goes (a row that is replaced goes, and another comes). Tables "
            "that differ in more a mechanism may tell apart.",
        ),
        Mistake(
            "the same table twice", lambda maximum, epsilon: _broken([maximum], [maximum], maximum),
            "No output tells a table from itself. One of the two must have a row more.",
        ),
        Mistake(
            "noise is wide enough there", lambda maximum, epsilon: _broken([maximum, maximum], [maximum], maximum),
            "Here the noise has the same width in both tables, and hides the row. Which row changes the width?",
        ),
        Mistake(
            "not far enough",
            lambda maximum, epsilon: _broken([0.8 * maximum, maximum], [0.8 * maximum], 0.8 * maximum),
            "You are over e^epsilon, but only just. Let the neighbour's noise be much narrower, or look further out.",
        ),
    ),
)  # fmt: skip

TASKS: tuple[Task, ...] = (break_naive,)
