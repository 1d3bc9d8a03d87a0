"""Fingerprints for the study of the judges: what decides on a right submission, and whether it has changed.

A fingerprint is made from the compiled code of the judge, its probes, the submission and its twin, and from every
function, class and constant of the house that these use. So a change elsewhere in the same file changes nothing.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Iterator, Mapping
from functools import partial
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from dpcourse.tasks.bank import tasks_of
from dpcourse.tasks.task import Interview

ROOMS = ("dpcourse.tasks", "dpcourse.audit", "tests.tasks")
#: How a function is called, how its answer is read, how a verdict looks: no part of a decision.
WITHOUT = tuple(f"dpcourse.tasks.{module}" for module in ("student", "answers", "shown", "verdict"))


def bank_of(homework: str) -> Any:
    """The module with the submissions to a homework."""
    return importlib.import_module(f"tests.tasks.bank_{homework.split('_')[0]}")


def version(homework: str, task: str, style: str) -> str:
    """The fingerprint of what is examined when this submission is graded."""
    from tests.tasks.together import TOGETHER

    asked, submitted = tasks_of(homework)[task], bank_of(homework).RIGHT[task][style]
    parts = (Interview.require, asked.judge, asked.probes, submitted, TOGETHER.get(task, {}).get(style))
    return hashlib.sha256("\n".join(_told(parts, set())).encode()).hexdigest()[:16]


def _ours(thing: Any) -> bool:
    module = getattr(thing, "__module__", None) or ""
    return module.startswith(ROOMS) and module not in WITHOUT


def _told(value: Any, seen: set[int]) -> Iterator[str]:
    """What a value is or does, as texts; what belongs to a library is only named where it is used."""
    if id(value) in seen:
        return
    if isinstance(value, str | int | float | complex | None | np.ndarray | np.generic):
        yield repr(value)
    elif isinstance(value, frozenset | set):
        yield repr(sorted(map(repr, value)))
    elif isinstance(value, CodeType):
        yield value.co_code.hex() + repr(value.co_names)
        yield from _told(value.co_consts, seen)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _told(part, seen)
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield repr(name)
            yield from _told(part, seen)
    elif isinstance(value, partial):
        yield from _told((value.func, value.args, value.keywords), seen)
    elif hasattr(value, "__wrapped__"):  # behind a cache
        yield from _told(value.__wrapped__, seen)
    elif _ours(value):
        seen.add(id(value))
        yield from _inside(value, seen)


def _inside(value: Any, seen: set[int]) -> Iterator[str]:
    """A function, a class, or an object of one of our classes."""
    if isinstance(value, FunctionType):
        used = (value.__globals__.get(name) for name in sorted(_names(value.__code__)))
        held = [cell.cell_contents for cell in value.__closure__ or ()]
        yield from _told((value.__code__, value.__defaults__, value.__kwdefaults__, held, *used), seen)
    elif isinstance(value, type):
        yield from _told([part for name, part in sorted(vars(value).items()) if isinstance(part, FunctionType)], seen)
    else:
        yield from _told((type(value), getattr(value, "__dict__", {})), seen)


def _names(code: CodeType) -> set[str]:
    inner = [_names(one) for one in code.co_consts if isinstance(one, CodeType)]
    return set(code.co_names).union(*inner)
