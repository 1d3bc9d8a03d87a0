"""What somebody else made, put into words: never longer than a line, never slower than a moment, whatever it is.

A ``repr`` is as long as its object, and a list of half a million arrays takes it a quarter of a minute. So nothing that
a student's function gives back is ever shown by ``repr``, ``str`` or an f-string: it is shown by this module, which
stops when the line is full.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

LINE = 120  # characters
MOST_PARTS = 40  # of a list, a dict or an array that are looked at
DEEPEST = 4
MOST_DIGITS = 60  # of a whole number
SHOWN = 6  # numbers of a long array
SPARE = 20  # characters of a text that are looked at beyond those that are shown

_OPEN: dict[type, tuple[str, str]] = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    set: ("{", "}"),
    frozenset: ("frozenset({", "})"),
}


def described(value: Any, line: int = LINE) -> str:
    """The beginning of a value's ``repr``: at most ``line`` characters, made in a time that no value can stretch."""
    pieces, length = [], 0
    try:
        for piece in _pieces(value, line, 0):
            pieces.append(piece)
            length += len(piece)
            if length > line:
                break
    except Exception:  # a type of the student's own, whose __repr__ has an error
        return f"something of the type {shortened(type(value).__name__, 60)}"
    return shortened("".join(pieces), line)


def shortened(text: str, line: int) -> str:
    """A text of at most ``line`` characters; dots stand for the rest."""
    return text if len(text) <= line else f"{text[: line - 3]}..."


def error_text(error: BaseException, line: int) -> str:
    """The words of an error, at most ``line`` characters; "" if it has none, or its type cannot say them."""
    plain = type(error).__str__ in (BaseException.__str__, KeyError.__str__)
    try:
        if plain and len(error.args) == 1:
            words = error.args[0]
            text = words if type(words) is str and not isinstance(error, KeyError) else described(words, line)
        elif plain:
            text = described(error.args, line) if error.args else ""
        else:
            text = str(error)
    except Exception:  # an error type of the student's own, whose __str__ has an error
        return ""
    return text[:line]


def _pieces(value: Any, line: int, depth: int) -> Iterator[str]:
    """A value's ``repr`` piece by piece, so that one can stop."""
    kind = type(value)
    if kind is str or kind is bytes:
        yield repr(value[: line + SPARE])
    elif kind is int:
        yield _whole(value)
    elif kind in _OPEN and depth < DEEPEST:
        yield from _listed(value, line, depth)
    elif kind is dict and depth < DEEPEST:
        yield "{"
        for number, (key, inner) in enumerate(islice(value.items(), MOST_PARTS)):
            yield ", " if number else ""
            yield from _pieces(key, line, depth + 1)
            yield ": "
            yield from _pieces(inner, line, depth + 1)
        yield "}" if len(value) <= MOST_PARTS else ", ...}"
    elif kind in _OPEN or kind is dict:
        yield "..."
    elif kind is np.ndarray:
        yield _array(value)
    else:
        yield repr(value)[:1_000]  # a number, None, or an object that lives on the student's own side


def _listed(value: Any, line: int, depth: int) -> Iterator[str]:
    kind: type = type(value)
    empty_set = not value and kind in (set, frozenset)
    first, last = (f"{kind.__name__}(", ")") if empty_set else _OPEN[kind]
    yield first
    for number, inner in enumerate(islice(value, MOST_PARTS)):
        yield ", " if number else ""
        yield from _pieces(inner, line, depth + 1)
    if len(value) > MOST_PARTS:
        yield ", ..."
    yield f",{last}" if kind is tuple and len(value) == 1 else last


def _whole(value: int) -> str:
    digits = int(value.bit_length() * 0.30103) + 1
    return repr(value) if digits <= MOST_DIGITS else f"a whole number of about {digits:,} digits"


def _array(value: np.ndarray) -> str:
    """A small array as it is; a large one by its shape and its first numbers."""
    if value.dtype.kind not in "fiubc":
        return f"an array of shape {value.shape} of {shortened(str(value.dtype), 20)}"
    if value.size <= MOST_PARTS:
        return repr(value)
    return f"an array of shape {value.shape} that begins {value.flat[:5].tolist()}"


def arguments(probe: Mapping[str, Any]) -> str:
    """The arguments in words."""
    return ", ".join(f"{name} = {shown(value)}" for name, value in probe.items())


def shortens(probe: Mapping[str, Any]) -> bool:
    """Do the words leave out a part of the arguments?"""
    return any(not isinstance(value, str) and np.size(value) > SHOWN for value in probe.values() if not callable(value))


def shown(value: Any) -> str:
    """A value as a student wants to read it: four digits, the beginning of a long array."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {shown(one)}" for key, one in value.items()) + "}"
    if isinstance(value, str | bool) or value is None:
        return described(value)
    if np.ndim(value) == 0 and not callable(value):
        return number(float(value), 6)
    if callable(value):
        return getattr(value, "__name__", "a function")
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        return described(value, 80)
    flat = [number(float(one), 4).replace(",", "") for one in array.ravel()[:SHOWN]]  # commas part the numbers here
    more = f", ... ({array.size} numbers)" if array.size > SHOWN else ""
    return (
        f"[{', '.join(flat)}{more}]"
        if array.ndim == 1
        else f"an array of shape {array.shape} [{', '.join(flat)}{more}]"
    )


def compared(answer: Any, right: Any, same: Callable[[Any, Any], bool]) -> str:
    """An answer and the right one, in words that differ: the first row or number that does, or more digits."""
    long = np.ndim(right) > 1 or (np.ndim(right) and np.size(right) > SHOWN and shown(answer) == shown(right))
    if long and np.shape(answer) == np.shape(right):
        pairs = list(zip(answer, right, strict=True))
        place = next((i for i, (one, other) in enumerate(pairs) if not same(one, other)), None)
        if place is not None:
            what = "row" if np.ndim(right) > 1 else "number"
            return f"in {what} {place} (the first is 0) {compared(*pairs[place], same)}"
    one, other = shown(answer), shown(right)
    if one == other and np.ndim(answer) <= 1 and not isinstance(answer, Mapping | str | None):
        one, other = (repr(np.asarray(value, dtype=float).tolist()) for value in (answer, right))
    return f"you answer {one}; right is {other}"


def number(value: float, digits: int = 3) -> str:
    """So many digits, and 1,190,000 rather than 1.19e+06."""
    value += 0.0  # no -0
    rounded = float(f"{value:.{digits}g}") if np.isfinite(value) else value
    return f"{rounded:,.0f}" if 1e4 <= abs(rounded) < 1e12 else f"{rounded:.{digits}g}"
