"""All tasks by name, and the homework that each belongs to. A homework's module is loaded when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache

from dpcourse.tasks.task import Task

#: The homeworks, and the modules that hold their tasks (each has a tuple TASKS).
HOMEWORKS: dict[str, tuple[str, ...]] = {
    "hw1_pure_dp": ("pure_dp", "pure_dp_sums", "pure_dp_choices", "pure_dp_naive", "pure_dp_median", "pure_dp_proofs"),
    "hw2_local_dp": ("local_dp", "local_dp_reports", "local_dp_laplace", "local_dp_survey", "local_dp_proofs"),
    "hw3_approximate_dp": (
        "approximate_dp_loss",
        "approximate_dp_delta",
        "approximate_dp_sigma",
        "approximate_dp_gaussian",
        "approximate_dp_rules",
        "approximate_dp_proofs",
    ),
    "hw4_dp_sgd": (
        "dp_sgd",
        "dp_sgd_average",
        "dp_sgd_steps",
        "dp_sgd_budget",
        "dp_sgd_accountant",
        "dp_sgd_proofs",
        "dp_sgd_training",
        "dp_sgd_people",
    ),
    "hw5_adaptive_ldp": ("adaptive", "adaptive_proofs", "adaptive_learning"),
}


@cache
def tasks_of(homework: str) -> dict[str, Task]:
    """The tasks of a homework by name, in its order."""
    if homework not in HOMEWORKS:
        raise ValueError(f"there is no homework {homework!r}; there are: {', '.join(HOMEWORKS)}")
    found: dict[str, Task] = {}
    for module in HOMEWORKS[homework]:
        for task in importlib.import_module(f"dpcourse.tasks.{module}").TASKS:
            if task.name in found:
                raise ValueError(f"{homework} has two tasks named {task.name!r}")
            found[task.name] = task
    return found


def task_named(name: str, own: Mapping[str, Task] | None = None) -> Task:
    """The task, of whatever homework; names are unique. A course's ``own`` tasks go before those of the package."""
    own = own or {}
    if name in own:
        return own[name]
    package = {task: one for homework in HOMEWORKS for task, one in tasks_of(homework).items()}
    if name in package:
        return package[name]
    names = [*own, *package]
    near = get_close_matches(name, names, 1)
    some = f"{', '.join(names[:8])} and {len(names) - 8} more"
    hint = f"did you mean {near[0]!r}?" if near else f"there are {some}."
    raise ValueError(f"there is no task {name!r}; {hint} A function is checked under its own name.")
