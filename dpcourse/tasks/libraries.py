"""Which libraries a student's function uses, and words about those that grading will not find.

Where students got a bundle of their course, it says which libraries the course allows (``own.libraries_near``).
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Collection, Sequence
from importlib import metadata
from types import FunctionType
from typing import Any

from dpcourse.tasks.notebook import Use, uses
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
    modules = {use.module.partition(".")[0] for use in uses(function) if not _is_helper(use, function)}
    names = sorted(modules - {*libraries, *sys.stdlib_module_names, *OURS})
    if not names:
        return []
    owners = metadata.packages_distributions()  # some libraries consist of several modules
    allowed = {owner for name in libraries for owner in owners.get(name, ())}
    return [name for name in names if not allowed.intersection(owners.get(name, ()))]


def _is_helper(use: Use, function: Callable[..., Any]) -> bool:
    """A function of the same notebook is followed, not a library."""
    names = getattr(function, "__globals__", None)
    return isinstance(use.value, FunctionType) and use.value.__globals__ is names
