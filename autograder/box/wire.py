"""What crosses the border of the sandbox: frames of plain values, and nothing that could be executed.

A frame is two lengths (of the text, of everything), a JSON text, and the raw numbers of its arrays. None, booleans,
numbers, texts, lists, tuples, dicts with text keys and numeric arrays can be sent; every size is checked before
anything is read into memory, and how many values and containers there are before the text is parsed. The same file is
used on both sides, so it needs nothing but numpy.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from typing import Any

import numpy as np

MOST_BYTES = 64 * 2**20  # of one frame: 8 million numbers
MOST_TEXT = 8 * 2**20
MOST_VALUES = 1_200_000  # a log of 500 steps with 2,000 people in each has a million
MOST_BRACKETS = 400_000  # 20,000 answers that are dicts of six numbers have 180,000
DEEPEST = 12
ARRAYS = {"f": "<f8", "i": "<i8", "u": "<i8", "b": "|b1", "c": "<c16"}  # what a kind of array is sent as
DTYPES = frozenset(ARRAYS.values())
SIMPLE = frozenset({int, float, bool, type(None)})  # what needs no reading: json has made it
LENGTHS = struct.Struct(">II")


class BadFrame(Exception):
    """What arrived is no frame."""


class Ended(Exception):
    """The other side has closed the channel."""


class Silence(Exception):
    """No frame came in time."""


def packed(value: Any) -> bytes:
    """The frame of a value. What is not plain raises TypeError, what is too much ValueError."""
    buffers: list[bytes] = []
    text = json.dumps(_plain(value, buffers, 0)).encode()
    body = b"".join([text, *buffers])
    if len(text) > MOST_TEXT or len(body) > MOST_BYTES:
        raise ValueError(f"{len(body):,} bytes are too many for one message")
    if _has_too_many_parts(text):
        raise ValueError("it has too many parts for one message: give back an array in place of a list of lists")
    return LENGTHS.pack(len(text), len(body)) + body


def _plain(value: Any, buffers: list[bytes], depth: int) -> Any:
    if value is None or type(value) in (bool, float, str):
        return value
    if type(value) is int:
        return value if -(2**63) <= value < 2**63 else float(value)
    if depth > DEEPEST:
        raise ValueError("nested too deeply")
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in ARRAYS:
            raise TypeError(f"an array of {value.dtype} is not plain")
        sent = np.ascontiguousarray(value, dtype=ARRAYS[value.dtype.kind])
        buffers.append(sent.tobytes())
        return {"a": [sent.dtype.str, list(value.shape)]}
    if isinstance(value, np.generic):
        return _plain(value.item(), buffers, depth)
    if isinstance(value, list | tuple):
        items = [_plain(one, buffers, depth + 1) for one in value]
        return {"t" if isinstance(value, tuple) else "l": items}
    if isinstance(value, dict) and all(type(key) is str for key in value):
        return {"d": [[key, _plain(one, buffers, depth + 1)] for key, one in value.items()]}
    raise TypeError(f"{type(value).__name__} is not plain")


def _has_too_many_parts(text: bytes) -> bool:
    """Could parsing this take long? Every container opens a bracket, and commas part all values."""
    return text.count(b"[") + text.count(b"{") > MOST_BRACKETS or text.count(b",") > MOST_VALUES


def unpacked(text: bytes, numbers: memoryview) -> Any:
    """The value of a frame's two parts; whatever is wrong with them is a :class:`BadFrame`."""
    if _has_too_many_parts(text):
        raise BadFrame("a message of too many parts")
    try:
        value, used = _read(json.loads(text, parse_int=_integer), numbers, 0, 0)
    except BadFrame:
        raise
    except (ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError, AttributeError) as error:
        raise BadFrame(f"not a message: {type(error).__name__}") from None
    if used != len(numbers):
        raise BadFrame("more numbers than arrays")
    return value


def _integer(digits: str) -> int:
    if len(digits) > 20:
        raise BadFrame("a number of too many digits")
    return int(digits)


def _read(sent: Any, numbers: memoryview, start: int, depth: int) -> tuple[Any, int]:
    if sent is None or type(sent) in (bool, int, float):
        return sent, start
    if type(sent) is str:
        return _writable(sent), start
    if depth > DEEPEST or type(sent) is not dict or len(sent) != 1:
        raise BadFrame("not a plain value")
    ((kind, inner),) = sent.items()
    if kind == "a":
        return _array(inner, numbers, start)
    if kind not in ("l", "t", "d") or type(inner) is not list:
        raise BadFrame("an unknown kind of value")
    if kind != "d" and SIMPLE.issuperset(map(type, inner)):
        return (tuple(inner) if kind == "t" else inner), start
    found = []
    for one in inner:
        if kind == "d" and (type(one) is not list or len(one) != 2 or type(one[0]) is not str):
            raise BadFrame("a dict without keys")
        value, start = _read(one[1] if kind == "d" else one, numbers, start, depth + 1)
        found.append((_writable(one[0]), value) if kind == "d" else value)
    return (dict(found) if kind == "d" else tuple(found) if kind == "t" else found), start


def _writable(text: str) -> str:
    """Half a character, as JSON may spell it, has no place in any file: whoever writes it down would stop."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _array(inner: Any, numbers: memoryview, start: int) -> tuple[np.ndarray, int]:
    dtype, shape = inner
    if dtype not in DTYPES or type(shape) is not list or len(shape) > 8:
        raise BadFrame("an unknown kind of array")
    if not all(type(length) is int and 0 <= length <= MOST_BYTES for length in shape):
        raise BadFrame("an array of impossible lengths")
    count = 1
    for length in shape:
        count *= length
    end = start + count * np.dtype(dtype).itemsize
    if end > len(numbers):
        raise BadFrame("an array without its numbers")
    flat = np.frombuffer(numbers[start:end], dtype=dtype)
    return flat.reshape(shape).copy(), end


class Channel:
    """Frames over a socket. ``receive`` has a clock of its own: the other side may send a byte a second."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection

    def send(self, value: Any, seconds: float | None = None) -> None:
        """Send a value; if the other side does not take it in time, :class:`Silence`."""
        self._socket.settimeout(seconds)
        try:
            self._socket.sendall(packed(value))
        except TimeoutError:
            raise Silence from None
        except OSError:
            raise Ended from None

    def receive(self, seconds: float | None = None) -> Any:
        """The next value, or :class:`Silence`, :class:`Ended`, :class:`BadFrame`."""
        end = None if seconds is None else time.monotonic() + seconds
        head = self._exactly(LENGTHS.size, end)
        text, whole = LENGTHS.unpack(head)
        if not text <= whole <= MOST_BYTES or text > MOST_TEXT:
            raise BadFrame(f"a message of {whole:,} bytes")
        body = self._exactly(whole, end)
        return unpacked(bytes(body[:text]), memoryview(body)[text:])

    def _exactly(self, size: int, end: float | None) -> bytearray:
        found = bytearray()
        while len(found) < size:
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                raise Silence
            self._socket.settimeout(left)
            try:
                part = self._socket.recv(min(size - len(found), 2**20))
            except TimeoutError:
                raise Silence from None
            except OSError:
                raise Ended from None
            if not part:
                raise Ended
            found += part
        return found

    def close(self) -> None:
        """No more frames."""
        self._socket.close()
