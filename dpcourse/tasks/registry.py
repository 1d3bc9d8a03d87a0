"""All tasks by name, and the homework that each belongs to. A homework's module is loaded when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache

from dpcourse.tasks.task import Task

#: The homeworks, each a package with its tasks in ``TASKS``.
HOMEWORKS: tuple[str, ...] = ("hw1_pure_dp", "hw2_local_dp", "hw3_approximate_dp", "hw4_dp_sgd", "hw5_adaptive_ldp")


@cache
def tasks_of(homework: str) -> dict[str, Task]:
    """The tasks of a homework by name, in its order."""
    if homework not in HOMEWORKS:
        raise ValueError(f"there is no homework {homework!r}; there are: {', '.join(HOMEWORKS)}")
    tasks: dict[str, Task] = {}
    for task in importlib.import_module(f"dpcourse.tasks.{homework}").TASKS:
        if task.name in tasks:
            raise ValueError(f"{homework} has two tasks named {task.name!r}")
        tasks[task.name] = task
    return tasks


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
