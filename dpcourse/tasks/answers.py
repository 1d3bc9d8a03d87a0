"""What a student's function gave back, made plain: numbers and arrays, or one clear sentence on why it is not that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

import numpy as np

from dpcourse.tasks.complaints import Complaint
from dpcourse.tasks.wording import MOST_PARTS, described

MOST_NUMBERS = 10_000  # an answer is a result, not a data set
DEEPEST = 12  # lists in lists


class Form(Protocol):
    """What an answer must look like: ``read`` makes it plain, or complains."""

    def read(self, raw: Any) -> Any:
        """The answer made plain."""


@dataclass(frozen=True)
class Answer:
    """What a function must give back: a number (shape ``()``) or an array; a length of None may be any.

    ``choices`` are the only values allowed, if there are any; ``optional`` allows None, ``infinite`` infinities.
    ``most`` numbers are allowed, so that judging them takes a moment.
    """

    shape: tuple[int | None, ...] = ()
    choices: tuple[Any, ...] | None = None
    optional: bool = False
    infinite: bool = False
    most: int = MOST_NUMBERS

    def read(self, raw: Any) -> Any:
        """The answer as a float or a float array (or as one of the choices). A wrong one is a :class:`Complaint`."""
        if raw is None:
            if self.optional:
                return None
            raise Complaint("Your function gave back nothing (None): is a `return` missing?")
        _refuse_promises(raw)
        if self.choices is not None and self.shape == ():
            return self._chosen(raw)  # words are allowed, too
        array = _numbers(raw, self.most)
        if self.shape == ():
            if array.size != 1:
                raise Complaint(
                    f"I expected one number, but got {array.size} (shape {array.shape}): {described_answer(raw)}."
                )
            array = array.reshape(())
        elif len(self.shape) != array.ndim or any(
            want not in (None, have) for want, have in zip(self.shape, array.shape, strict=True)
        ):
            raise Complaint(f"I expected {_form(self.shape)}, but got shape {array.shape}: {described_answer(raw)}.")
        sound = ~np.isnan(array) if self.infinite else np.isfinite(array)
        if not sound.all():
            bad = array[~sound].flat[0]
            raise Complaint(
                f"Your answer contains {bad}: a division by zero, the logarithm of 0, or e to too large a power?"
            )
        if self.choices is not None and not np.isin(array, np.array(self.choices, dtype=float)).all():
            allowed = ", ".join(map(repr, self.choices))
            raise Complaint(f"I expected only the numbers {allowed}, but got {described_answer(raw)}.")
        return float(array) if self.shape == () else array

    def _chosen(self, raw: Any) -> Any:
        value = raw.item() if hasattr(raw, "item") and int(np.prod(np.shape(raw))) == 1 else raw
        if isinstance(value, list | tuple) and len(value) == 1:
            value = value[0]
        for choice in self.choices or ():
            if type(value) in (type(choice), bool, int, float) and value == choice:
                return choice
        raise Complaint(
            f"I expected one of {', '.join(map(repr, self.choices or ()))}, but got {described_answer(raw)}."
        )


#: What most tasks ask for.
NUMBER, VECTOR, TABLE = Answer(), Answer((None,)), Answer((None, None))


@dataclass(frozen=True)
class Answers:
    """Several answers at once, by name: the function gives back a tuple in this order, or a dict with these names."""

    parts: Mapping[str, Answer]

    def read(self, raw: Any) -> dict[str, Any]:
        """Each part, read."""
        names = list(self.parts)
        _refuse_promises(raw)
        if isinstance(raw, dict):
            missing = [name for name in names if name not in raw]
            if missing:
                raise Complaint(
                    f"I expected {_listed(names)}, but {missing[0]!r} is missing in {described_answer(raw)}."
                )
            values = [raw[name] for name in names]
        elif (isinstance(raw, tuple | list) or _rows(raw)) and len(raw) == len(names):
            values = list(raw)
        else:
            raise Complaint(f"I expected {len(names)} things, {_listed(names)}, but got {described_answer(raw)}.")
        read = {}
        for name, value in zip(names, values, strict=True):
            try:
                read[name] = self.parts[name].read(value)
            except Complaint as complaint:
                raise complaint.with_text(f"About {name}: {complaint}") from None
        return read


def _rows(raw: Any) -> bool:
    """An array, each row of which may be one of several answers (a tensor, too)."""
    return getattr(raw, "ndim", 0) >= 1


def _refuse_promises(raw: Any) -> None:
    if isinstance(raw, Iterator):
        raise Complaint(
            f"Your function gave back a `{type(raw).__name__}`, which has not computed its numbers yet: write "
            f"list(...) around it."
        )


def _numbers(raw: Any, most: int) -> np.ndarray:
    if hasattr(raw, "detach"):  # a torch tensor, without loading torch here
        raw = raw.detach().cpu().numpy()
    if isinstance(raw, str | bytes | dict | set):
        raise Complaint(f"I expected numbers, but got {described_answer(raw)}.")
    # Of a list with one long text numpy would make a table in which every text has room for as many letters.
    texts = isinstance(raw, list | tuple) and _has_texts(raw, 2 * most)
    try:
        array = np.array(raw, dtype=float) if texts else np.asarray(raw)
        if array.dtype == object or array.dtype.kind in "USOMm":
            array = np.array(raw, dtype=float)
    except Exception:
        raise Complaint(f"I expected numbers, but got {described_answer(raw)}.") from None
    if array.size > most:
        raise Complaint(f"Your answer has {array.size:,} numbers; nothing here needs more than {most:,}.")
    if array.dtype.kind == "c":
        if np.abs(array.imag).max(initial=0) > 0:
            raise Complaint(
                f"Your answer is a complex number, {described_answer(raw)}: the root or power of a negative one?"
            )
        array = array.real
    return np.array(array, dtype=float)


def _has_texts(raw: list[Any] | tuple[Any, ...], most: int) -> bool:
    """Is there a text somewhere in these lists? More than ``most`` parts are refused, before numpy copies them."""
    waiting, parts, texts = [(raw, 0)], 0, False
    while waiting:
        inner, depth = waiting.pop()
        kinds = set(map(type, inner))
        texts = texts or str in kinds or bytes in kinds
        parts += len(inner)
        if parts > most:
            raise Complaint(f"Your answer has more than {most:,} parts; nothing here needs so many.")
        if depth > DEEPEST:
            raise Complaint(f"Your answer is nested too deeply: {described(raw)}.")
        if not kinds.isdisjoint((list, tuple)):
            waiting += [(one, depth + 1) for one in inner if isinstance(one, list | tuple)]
    return texts


def _form(shape: tuple[int | None, ...]) -> str:
    """A shape in words."""
    if len(shape) == 1:
        return "a list of numbers" if shape[0] is None else f"a list of {shape[0]} numbers"
    if len(shape) == 2:
        rows, columns = ("any number of" if length is None else str(length) for length in shape)
        return f"a table of numbers ({rows} rows x {columns} columns)"
    return f"an array of numbers with {len(shape)} axes"


def described_answer(raw: Any) -> str:
    """An answer as it is, for a sentence: the beginning of its repr, and what to do about a set."""
    parts = raw.values() if type(raw) is dict else raw if isinstance(raw, list | tuple) else ()
    if any(isinstance(one, set | frozenset) for one in (raw, *islice(parts, MOST_PARTS))):
        return f"{described(raw)}: for a set give a list, list(...)"
    return described(raw)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else names[0]
