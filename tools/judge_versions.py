"""Fingerprints for the study of the judges: what decides on a right submission, and whether it has changed."""

from __future__ import annotations

import ast
import hashlib
import importlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from dpcourse.tasks.bank import HOMEWORKS, tasks_of

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("dpcourse.tasks", "dpcourse.audit")  # where verdicts are made
#: How a function is called, how its answer is read, how a verdict looks: no part of a decision.
WITHOUT = ("student.py", "answers.py", "shown.py", "verdict.py")


def bank_of(homework: str) -> Any:
    """The module with the submissions to a homework."""
    return importlib.import_module(f"tests.tasks.bank_{homework.split('_')[0]}")


def version(homework: str, task: str, style: str) -> str:
    """A fingerprint of the judge (its module and all that this imports), of the submission and of its twin."""
    from tests.tasks.together import TOGETHER

    parts = [_judge(homework, task), *_told(bank_of(homework).RIGHT[task][style], set())]
    twin = TOGETHER.get(task, {}).get(style)
    return hashlib.sha256("\n".join([*parts, *(_told(twin, set()) if twin else ())]).encode()).hexdigest()[:16]


@cache
def _judge(homework: str, task: str) -> str:
    for module in HOMEWORKS[homework]:
        name = f"dpcourse.tasks.{module}"
        if any(one.name == task for one in importlib.import_module(name).TASKS):
            files = [path for path in sorted(_imported(name, set())) if path.name not in WITHOUT]
            return hashlib.sha256(b"".join(map(Path.read_bytes, files))).hexdigest()
    raise ValueError(f"{homework} has no task {task!r}; it has: {', '.join(tasks_of(homework))}")


def _imported(module: str, seen: set[Path]) -> set[Path]:
    """The files of a module and of all modules of the same rooms that it imports."""
    path = ROOT.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    if module.startswith(ROOMS) and path.exists() and path not in seen:
        seen.add(path)
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                for name in (node.module, *(f"{node.module}.{one.name}" for one in node.names)):
                    _imported(name, seen)
    return seen


def _told(value: Any, seen: set[int]) -> Iterator[str]:
    """What a function does: its code, and that of every function of the banks that it uses."""
    if isinstance(value, FunctionType) and value.__module__.startswith("tests.") and id(value) not in seen:
        seen.add(id(value))
        yield from _code(value.__code__)
        held = [cell.cell_contents for cell in value.__closure__ or ()]
        named = [value.__globals__[name] for name in sorted(_names(value.__code__)) if name in value.__globals__]
        for part in (*(value.__defaults__ or ()), *held, *named):
            yield from _told(part, seen)
    elif isinstance(value, str | int | float | list | tuple | dict):
        yield repr(value)
    elif isinstance(getattr(value, "__wrapped__", None), Callable):  # type: ignore[arg-type]
        yield from _told(value.__wrapped__, seen)  # behind a cache


def _code(code: CodeType) -> Iterator[str]:
    yield code.co_code.hex() + repr(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant)
        else:
            yield repr(sorted(constant) if isinstance(constant, frozenset) else constant)


def _names(code: CodeType) -> set[str]:
    inner = [_names(one) for one in code.co_consts if isinstance(one, CodeType)]
    return set(code.co_names).union(*inner)
