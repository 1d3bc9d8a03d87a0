"""Which libraries a student's function uses, and words about those that grading will not find.

Where students got a bundle of their course, it says which libraries the course allows (``own.libraries_near``).
"""

from __future__ import annotations

import contextlib
import dis
import re
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from importlib import metadata
from types import CodeType, FunctionType, ModuleType
from typing import Any

from dpcourse.tasks.own_course import libraries_near

OURS = frozenset({"__main__", "IPython", "dpcourse", "autograder"})  # grading has all of them, as far as it should
ABSENT = re.compile(r"No module named '([^\W\d]\w*)'")  # Python's own words, of a library as a whole


def about(name: str, libraries: Sequence[str]) -> str:
    """What to say of a library that could not be imported; "" where nobody knows which ones are allowed."""
    if not libraries or name in OURS:
        return ""
    if name in libraries:
        return f"`{name}` is among the libraries of this course, but not installed where this ran."
    return f"`{name}` is not among the libraries of this course ({', '.join(libraries)})."


def absent_in(text: str) -> list[str]:
    """The libraries that were not found, by the words of the errors in this text."""
    return list(dict.fromkeys(ABSENT.findall(text)))


def warning_of(function: Callable[..., Any]) -> str:
    """Words about libraries that the function uses and its course does not allow; "" if there are none."""
    with contextlib.suppress(Exception):  # whatever objects a student's notebook holds
        libraries = libraries_near()
        names = foreign(function, libraries) if libraries else []
        return " ".join(f"{about(name, libraries)} Grading will not find it." for name in names)
    return ""


def foreign(function: Callable[..., Any], libraries: Collection[str]) -> list[str]:
    """The libraries that a function and its helpers use, other than these and Python's own."""
    names = sorted(set(_used(function)) - {*libraries, *sys.stdlib_module_names, *OURS})
    if not names:
        return []
    owners = metadata.packages_distributions()  # some libraries consist of several modules
    allowed = {owner for name in libraries for owner in owners.get(name, ())}
    return [name for name in names if not allowed.intersection(owners.get(name, ()))]


def _used(function: Callable[..., Any]) -> Iterator[str]:
    """The top names of the modules that a function imports, or whose things it names; its helpers' too."""
    waiting: list[Any] = [function]
    codes = set[CodeType]()
    while waiting:
        one = waiting.pop()
        if not isinstance(one, FunctionType):
            continue
        for code in _codes(one.__code__):
            if code in codes:
                continue
            codes.add(code)
            for step in dis.get_instructions(code):
                if step.opname == "IMPORT_NAME":
                    yield str(step.argval).partition(".")[0]
                if step.opname != "LOAD_GLOBAL":
                    continue
                value = one.__globals__.get(step.argval)
                if isinstance(value, FunctionType) and value.__globals__ is one.__globals__:
                    waiting.append(value)
                else:
                    yield _module(value).partition(".")[0]


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
