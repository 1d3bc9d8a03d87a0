"""What a student's function uses of the notebook around it: is all of that there when it is graded?

Grading runs the cells with solutions, where dpcourse has no mechanisms (they would be the answer). So ``check`` says so
before it is too late: it refuses what grading refuses, and names what it may miss.
"""

from __future__ import annotations

import contextlib
import dis
import linecache
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

#: What homeworks tell students to call in dpcourse; while a homework is graded there is nothing else of it.
SERVICES = {
    **{f"data.{name}": () for name in ("bank_debts", "cities", "hospital", "lectures_skipped", "secret_society")},
    "accounting.dp_sgd_epsilon": ("sigma", "q", "steps", "delta"),
    "accounting.sigma_for": ("epsilon", "delta", "q", "steps"),
}
OPEN_ROOMS = ("dpcourse", "dpcourse.tasks", "dpcourse.accounting", "dpcourse.data")


class Use(NamedTuple):
    """A name that a function's code uses: what it is there, and the attributes that are asked of it."""

    name: str
    value: Any
    module: str  # the module that it is, or comes from
    attributes: tuple[str, ...] = ()


def uses(function: Callable[..., Any]) -> Iterator[Use]:
    """The modules that a function imports, and the global names that it and its helpers use."""
    waiting: list[Any] = [function]
    seen = set[CodeType]()
    while waiting:
        one = waiting.pop()
        if not isinstance(one, FunctionType):
            continue
        for code in _codes(one.__code__):
            if code in seen:
                continue
            seen.add(code)
            for use in _uses_of(code, one.__globals__):
                yield use
                if isinstance(use.value, FunctionType) and use.value.__globals__ is one.__globals__:
                    waiting.append(use.value)


def _uses_of(code: CodeType, names: dict[str, Any]) -> Iterator[Use]:
    steps = list(dis.get_instructions(code))
    for place, step in enumerate(steps):
        if step.opname == "IMPORT_NAME":
            following = (later for later in steps[place + 1 :] if later.opname != "EXTENDED_ARG")
            wanted = list[str]()
            for later in following:
                if later.opname != "IMPORT_FROM":
                    if later.opname.startswith("STORE") and wanted:
                        continue
                    break
                wanted.append(str(later.argval))
            yield Use(str(step.argval), None, str(step.argval), tuple(wanted))
        elif step.opname == "LOAD_GLOBAL" and step.argval in names:
            value = names[step.argval]
            after = steps[place + 1] if place + 1 < len(steps) else None
            asked = (str(after.argval),) if after is not None and after.opname in ("LOAD_ATTR", "LOAD_METHOD") else ()
            yield Use(str(step.argval), value, _module(value), asked)


def refused(function: Callable[..., Any]) -> str:
    """What it uses of dpcourse and will not find when it is graded, in words; "" if there is nothing."""
    with contextlib.suppress(Exception):  # whatever objects a student's notebook holds
        for use in uses(function):
            if use.module.partition(".")[0] == "dpcourse" and (what := _missing(use)):
                return f"`{what}` cannot be used while a homework is graded: write it yourself."
    return ""


def _missing(use: Use) -> str:
    """The part of dpcourse that is not there, or ""."""
    if not isinstance(use.value, ModuleType | None):  # a class or a function of dpcourse
        name = getattr(use.value, "__name__", use.name)
        room = ".".join(use.module.split(".")[1:2])
        there = f"{room}.{name}" in SERVICES or room == "tasks"
        return "" if there else f"dpcourse.{name}"
    if use.module not in OPEN_ROOMS:
        return use.module
    room = use.module.partition(".")[2]
    if room == "tasks":
        return ""
    for attribute in use.attributes:
        if room and f"{room}.{attribute}" not in SERVICES:
            return f"{use.module}.{attribute}"
        if not room and f"dpcourse.{attribute}" not in OPEN_ROOMS:
            return f"dpcourse.{attribute}"
    return ""


def helpers_elsewhere(function: Callable[..., Any], tasks: Sequence[str]) -> list[str]:
    """The functions it uses that stand in a cell without any of these tasks: such cells are not graded."""
    own = _cell(function)
    if own is None:
        return []
    names = []
    for use in uses(function):
        cell = _cell(use.value) if isinstance(use.value, FunctionType) else None
        if cell is not None and cell != own and not any(_defines(cell, task) for task in tasks):
            names.append(use.name)
    return sorted(set(names))


def is_outdated(function: Callable[..., Any]) -> bool:
    """Does the last cell that was run and defines it stand there unused, because it stopped with an error?"""
    inputs = getattr(sys.modules.get("__main__"), "In", None)
    cell, name = _cell(function), getattr(function, "__name__", "")
    if cell is None or not isinstance(inputs, list) or not name:
        return False
    last = next((source for source in reversed(inputs) if _defines(source, name)), None)
    return last is not None and last.strip() != cell.strip()


def _cell(function: Any) -> str | None:
    """The text of the notebook's cell in which a function stands; None where it stands in a file."""
    code = getattr(function, "__code__", None)
    if code is None or getattr(function, "__module__", "") != "__main__" or "ipykernel" not in code.co_filename:
        return None
    return "".join(linecache.getlines(code.co_filename)) or None


def _defines(source: str, name: str) -> bool:
    return re.search(rf"^(?:async\s+)?def\s+{re.escape(name)}\b", source, re.MULTILINE) is not None


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A function's code, and that of the functions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _module(value: Any) -> str:
    """The module that a thing is, or comes from."""
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return name if isinstance(name, str) and name else "__main__"
