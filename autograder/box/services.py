"""What a homework tells students to call in dpcourse, done for them by the trusted side: numbers in, numbers out.

The reference implementations are not in the sandbox, but a few results are part of the question: the tables of the
slides, and the exact accountant of homework 4. Students write everything else themselves.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection
from functools import lru_cache
from typing import Any

from dpcourse.tasks.complaints import Complaint
from dpcourse.tasks.notebook import SERVICES
from dpcourse.tasks.student import Student

SECONDS = 20.0  # for one of them, whatever the arguments are


class _Anything:
    def read(self, raw: Any) -> Any:
        return raw


def told_of(text: str) -> frozenset[str]:
    """The services that a homework with this text tells students to use; in another one they would be the answer."""
    return frozenset(name for name in SERVICES if name in text)


def served(asked: dict[str, Any], known: Collection[str] = tuple(SERVICES)) -> dict[str, Any]:
    """The reply to a request for one of the ``known`` services: its result, or the error of the real function."""
    name, arguments, named = asked.get("service"), asked.get("arguments"), asked.get("named")
    if not isinstance(name, str) or not isinstance(arguments, list) or not isinstance(named, dict):
        return {"error": "not a request"}
    if name not in SERVICES or name not in known:
        return {"error": f"dpcourse.{name[:60]} cannot be used while a homework is graded: write it yourself"}
    takes = SERVICES[name]
    given = {**dict(zip(takes, arguments, strict=False)), **named}
    if len(arguments) > len(takes) or set(given) - set(takes):
        return {"error": f"dpcourse.{name} takes {', '.join(takes) or 'no arguments'}"}
    if not all(type(value) in (int, float) for value in given.values()):
        return {"error": f"dpcourse.{name} takes numbers while a homework is graded"}
    try:
        return {"result": _result(name, tuple(sorted(given.items())))}
    except Complaint as complaint:
        return {"error": str(complaint)}


@lru_cache(maxsize=2_000)
def _result(name: str, given: tuple[tuple[str, float], ...]) -> Any:
    """Computed once for a class: the same public probes come again and again."""
    room, _, function = name.partition(".")
    called = getattr(importlib.import_module(f"dpcourse.{room}"), function)
    result = Student(called, _Anything(), seconds=SECONDS).value(dict(given))
    return {column: result[column].tolist() for column in result} if room == "data" else result
