"""Homework 1, an open task: break a mechanism whose noise comes from the data."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from dpcourse.mechanisms import Laplace
from dpcourse.tasks.answers import NUMBER, VECTOR, Answers
from dpcourse.tasks.declare import judged_task
from dpcourse.tasks.interview import Interview
from dpcourse.tasks.mistake import mistake
from dpcourse.tasks.probes import each, uniform


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
        answer, maximum, epsilon = talk.value(probe), probe["maximum"], probe["epsilon"]
        data, neighbour = answer["data"], answer["neighbour"]
        about, talk.failing = f"For maximum = {maximum:g}, epsilon = {epsilon:.3g}:", probe
        both = np.concatenate([data, neighbour])
        outside = both[(both < 0) | (both > maximum)]
        if outside.size:
            talk.fail(f"{about} {outside[0]:g} is no possible debt.", name="outside the range")
        more, fewer = Counter(data.tolist()), Counter(neighbour.tolist())
        rows = ((more - fewer) + (fewer - more)).total()
        if rows == 0:
            talk.fail(f"{about} your two tables have the same rows.", name="the same table twice")
        if rows > 1:
            talk.fail(
                f"{about} your two tables have {len(data)} and {len(neighbour)} rows and are not neighbours: one must "
                f"be the other with a single row added.",
                name="not neighbours",
            )
        loss = naive_loss(data, neighbour, answer["output"], epsilon)
        if abs(loss) <= 2 * epsilon:
            talk.fail(
                f"{about} at your output the two densities differ by a factor e^{loss:.3g}; more than "
                f"e^{2 * epsilon:.3g} either way is asked for.",
                name="noise is wide enough there" if abs(loss) <= epsilon * (1 + 1e-9) else "not far enough",
            )
    talk.praise = "At your outputs the mechanism says far more than it promises: it is broken."


break_naive = judged_task(
    "break_naive",
    see="lecture 1, section 10",
    probes=each(2, maximum=uniform((2e3, 9e3), (2e5, 9e5), digits=0), epsilon=uniform((0.3, 0.9), (1.5, 3))),
    judge=_judge_break,
    form=Answers({"data": VECTOR, "neighbour": VECTOR, "output": NUMBER}),
    mistakes=[
        mistake(
            "outside the range",
            "A debt below 0 or above the maximum may break everything, but it cannot exist: find a pair of tables that "
            "can.",
            lambda p: ([0.0, 9 * p.maximum], [0.0], 9 * p.maximum),
        ),
        mistake(
            "not neighbours",
            "Neighbours differ by one row that comes or goes (a row that is replaced goes, and another comes). Tables "
            "that differ in more a mechanism may tell apart.",
            lambda p: ([1.0, 1.0], [p.maximum, p.maximum], p.maximum),
        ),
        mistake(
            "the same table twice",
            "No output tells a table from itself. One of the two must have a row more.",
            lambda p: ([p.maximum], [p.maximum], p.maximum),
        ),
        mistake(
            "noise is wide enough there",
            "Here the noise has the same width in both tables, and hides the row. Which row changes the width?",
            lambda p: ([p.maximum, p.maximum], [p.maximum], p.maximum),
        ),
        mistake(
            "not far enough",
            "You are over e^epsilon, but only just. Let the neighbour's noise be much narrower, or look further out.",
            lambda p: ([0.8 * p.maximum, p.maximum], [0.8 * p.maximum], 0.8 * p.maximum),
        ),
    ],
)  # fmt: skip
