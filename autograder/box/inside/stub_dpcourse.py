"""What ``import dpcourse`` finds while a notebook is graded: no reference implementation, and a sentence saying so."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

THERE = ("accounting", "data", "tasks")


class _NotHere:
    """Says why a module of dpcourse cannot be imported."""

    @staticmethod
    def find_spec(name: str, _: Sequence[str] | None, __: ModuleType | None = None) -> ModuleSpec | None:
        """Asked when nothing else has found the module."""
        if name.startswith("dpcourse."):
            raise ModuleNotFoundError(f"{name} cannot be used while a homework is graded: write it yourself", name=name)
        return None


sys.meta_path.append(_NotHere())


def __getattr__(name: str) -> object:
    if name in THERE:
        import importlib

        return importlib.import_module(f"dpcourse.{name}")
    if name.startswith("__"):
        raise AttributeError(name)
    raise ImportError(f"dpcourse.{name} cannot be used while a homework is graded: write it yourself", name="dpcourse")
