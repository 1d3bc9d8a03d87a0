"""A mistake that students really make: what a task knows of it, and how it is declared as a variation of what is right.

In a task's list stands ``mistake("k delta", "Each link multiplies ...", delta=lambda p: p.k * p.delta)``. The kind of
task (see ``declare``) knows what ``delta`` is a part of, and makes the wrong function of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

#: Makes ``number`` answers to a probe at once, (number, ...), without a call for each of them.
Sampler = Callable[[Mapping[str, Any], int, np.random.Generator], np.ndarray]


class Arguments(SimpleNamespace):
    """The arguments of one call as attributes: ``p.epsilon``."""


@dataclass(frozen=True)
class Mistake:
    """A name, the wrong function, and what to say about it.

    ``hides`` says whether the wrong answers still hide somebody, where their width alone does not tell. ``sample``
    draws many wrong answers at once, where that can be had; ``parts`` are what differs from the right answer.
    """

    name: str
    wrong: Callable[..., Any]
    message: str
    hides: bool | None = None
    sample: Sampler | None = None
    parts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Variation:
    """A mistake as it is declared: what differs from the right answer."""

    name: str
    message: str
    answer: Callable[[Any], Any] | None
    draw: Callable[[Any, np.random.Generator], Any] | None
    parts: Mapping[str, Any]
    hides: bool | None

    def whole(self) -> Mistake | None:
        """The mistake, if its whole answer is declared."""
        answer, draw = self.answer, self.draw
        if answer is not None:
            return Mistake(self.name, lambda **probe: answer(arguments_of(probe)), self.message, self.hides)
        if draw is not None:
            return Mistake(self.name, lambda rng, **probe: draw(Arguments(**probe), rng), self.message, self.hides)
        return None


def mistake(
    name: str,
    message: str,
    answer: Callable[[Any], Any] | None = None,
    *,
    draw: Callable[[Any, np.random.Generator], Any] | None = None,
    hides: bool | None = None,
    **parts: Any,
) -> Variation:
    """A mistake: its whole ``answer(p)``, or ``draw(p, rng)`` where chance is asked for, or ``parts`` that differ."""
    ways = {"answer": answer is not None, "draw": draw is not None, "parts": bool(parts)}
    declared = [way for way, chosen in ways.items() if chosen]
    if len(declared) != 1:
        raise ValueError(f"the mistake {name!r} must declare one of answer, draw or parts, but has {declared}")
    return Variation(name, message, answer, draw, parts, hides)


def arguments_of(probe: Mapping[str, Any]) -> Arguments:
    """The arguments of a call; the generator, which everybody is given, is none."""
    return Arguments(**{name: value for name, value in probe.items() if name != "rng"})
