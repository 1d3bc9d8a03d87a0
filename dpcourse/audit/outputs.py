"""The outputs of a black box in two worlds, made comparable: numbers stay numbers, everything else becomes a label."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse import checks
from dpcourse.randomness import Rng, generator

Statistic = Callable[[Any], Any]


@dataclass(frozen=True)
class Outputs:
    """Outputs of both worlds as two vectors. ``labels`` is None for numbers; else the vectors index into it."""

    with_it: np.ndarray
    without_it: np.ndarray
    labels: tuple[Any, ...] | None

    def shuffled(self, rng: np.random.Generator) -> Outputs:
        """The same draws in random order, so that a sorted list may be split like a fresh one."""
        return Outputs(rng.permutation(self.with_it), rng.permutation(self.without_it), self.labels)


def comparable(outputs_with: Any, outputs_without: Any, statistic: Statistic | None) -> Outputs:
    """Check both worlds' outputs, apply ``statistic`` to each one, and bring them into one common form."""
    first = _vector("outputs_with", outputs_with, statistic)
    second = _vector("outputs_without", outputs_without, statistic)
    if first.dtype.kind in "biuf" and second.dtype.kind in "biuf":
        common = np.result_type(first, second, np.int8)  # int8: booleans become numbers
        return Outputs(first.astype(common), second.astype(common), None)
    codes: dict[Hashable, int] = {}
    labels: list[Any] = []

    def code(value: Any) -> int:
        # The answer 1 and the answer "1" are different outputs; 1, 1.0 and numpy's 1 are the same.
        value = value.item() if isinstance(value, np.generic) else value
        kind = float if isinstance(value, bool | int | float) else type(value)
        key = (kind, value if isinstance(value, Hashable) else repr(value))
        if key not in codes:
            codes[key] = len(labels)
            labels.append(value)
        return codes[key]

    one, two = (np.fromiter(map(code, world), dtype=np.int64, count=len(world)) for world in (first, second))
    return Outputs(one, two, tuple(labels))


def _vector(name: str, outputs: Any, statistic: Statistic | None) -> np.ndarray:
    if isinstance(outputs, str | bytes) or callable(outputs):
        raise TypeError(f"{name} must be an array or list of outputs, got {outputs!r:.120}")
    try:
        values = [statistic(output) for output in outputs] if statistic is not None else outputs
        # A list with a label in it keeps its entries as they are: numpy would make strings of the numbers beside it.
        labels = isinstance(values, list | tuple) and any(
            v is None or isinstance(v, str | bytes | tuple) for v in values
        )
        array = _objects(values) if labels else np.asarray(values)
    except ValueError as error:  # rows of unequal length
        raise ValueError(f"{name} must be one number or label per draw; give a statistic for anything else") from error
    if array.ndim > 1 and array.size == len(array):
        array = array.reshape(len(array))  # one-element answers
    if array.ndim != 1 or array.dtype.kind == "c":
        shown = f"shape {array.shape}, dtype {array.dtype}"
        raise ValueError(f"{name} must be one number or label per draw; give a statistic for vectors, got {shown}")
    return array


def _objects(values: Any) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def draw(mechanism: Any, data: Any, draws: int, rng: Rng) -> Any:
    """``draws`` independent outputs of a Mechanism, or of any function ``f(data)`` or ``f(data, rng=...)``.

    A function is called once per output: what it might share between the answers of one call is not for us to assume.
    """
    draws = checks.whole_number("draws", draws)
    rng = generator(rng)
    release = getattr(mechanism, "release", None)
    if release is not None:
        return release(data, size=draws, rng=rng)
    if not callable(mechanism):
        raise TypeError(f"mechanism must be a function of the data or have a release method, got {mechanism!r}")
    options = {"rng": rng} if _accepts_rng(mechanism) else {}
    return [mechanism(data, **options) for _ in range(draws)]


def _accepts_rng(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a builtin that does not tell
        return False
    return any(p.name == "rng" and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) for p in parameters)
