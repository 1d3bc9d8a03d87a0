"""A mistake that students really make, as a task knows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Mistake:
    """A mistake that students really make: a name, the wrong function, and what to say about it.

    ``hides`` says whether the wrong noise hides somebody, where its width alone does not tell.
    """

    name: str
    wrong: Callable[..., Any]
    message: str
    hides: bool | None = None
