"""What a reader can move: a slider over given values, a choice between words, a button that draws again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpcourse import checks


@dataclass(frozen=True)
class Control:
    """A name, the words beside it, its values (each with its text), and where it stands at first.

    ``kind`` is "slider", "choice" or "again". A value of a slider that lies between its first and its last, and any
    later draw of an "again", may be asked of the kernel; a choice has no values between.
    """

    name: str
    label: str
    kind: str
    values: tuple[Any, ...]
    texts: tuple[str, ...]
    start: int

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise ValueError(f"a control's name is a Python name, got {self.name!r}")
        if len(self.values) < 2 or len(set(self.values)) < len(self.values):
            raise ValueError(f"the control {self.name!r} needs two different values or more, got {self.values!r:.200}")

    def check(self, value: Any) -> Any:
        """Return a value that this control can take, or say what it can take."""
        if self.kind == "choice":
            if value not in self.values:
                raise ValueError(f"{self.name} must be one of {list(self.values)}, got {value!r}")
            return value
        if self.kind == "again":
            return checks.whole_number(self.name, value, at_least=0)
        whole = isinstance(self.values[0], int)
        least = self.values[0] if whole else 0
        number = checks.whole_number(self.name, value, at_least=least) if whole else checks.real(self.name, value)
        low, high = self.values[0], self.values[-1]
        if not low <= number <= high:
            raise ValueError(f"{self.name} must lie between {low:,} and {high:,}, got {value!r}")
        return number

    def starting_at(self, value: Any) -> Control:
        """This control, standing at the value or at the nearest stop to it."""
        if self.kind == "choice":
            return replace(self, start=self.values.index(value))
        if self.kind == "again":
            return replace(self, start=value % len(self.values))
        return replace(self, start=int(np.argmin(np.abs(np.asarray(self.values) - value))))


def slider(
    name: str, label: str, values: ArrayLike, start: float, form: str | Callable[[Any], str] = "{:g}"
) -> Control:
    """A slider that stops at ``values`` (increasing) and shows each in the given form."""
    numbers = np.asarray(values)
    if numbers.ndim != 1 or not np.all(np.diff(numbers) > 0):
        raise ValueError(f"the values of the slider {name!r} must increase, got {numbers!r:.200}")
    plain = tuple(numbers.tolist())
    write = form.format if isinstance(form, str) else form
    if not plain[0] <= start <= plain[-1]:
        raise ValueError(f"the slider {name!r} must start between {plain[0]:g} and {plain[-1]:g}, got {start!r}")
    nearest = int(np.argmin(np.abs(numbers - start)))
    return Control(name, label, "slider", plain, tuple(write(value) for value in plain), nearest)


def choice(name: str, label: str, options: Sequence[str], start: str | None = None) -> Control:
    """A choice between words."""
    if start is not None and start not in options:
        raise ValueError(f"the choice {name!r} must start at one of {list(options)}, got {start!r}")
    return Control(name, label, "choice", tuple(options), tuple(options), options.index(start) if start else 0)


def again(label: str = "Run it again", draws: int = 8, name: str = "draw") -> Control:
    """A button that goes to the next random draw; the first ``draws`` of them need no kernel."""
    draws = checks.whole_number("draws", draws, at_least=2)
    return Control(name, label, "again", tuple(range(draws)), tuple(f"run {i + 1}" for i in range(draws)), 0)
