"""The wire between trusted and untrusted: what goes through comes out the same, and nothing else goes through."""

import contextlib
import json
import socket
import struct
import threading

import numpy as np
import pytest

from autograder.box.wire import LENGTHS, MOST_BYTES, BadFrame, Channel, Ended, Silence, packed, unpacked

PLAIN = [
    None, True, 3, -2.5, "texte ü", [1, [2.0, "x"]], (1, (2,)), {"a": [None], "b": {"c": (True,)}}, float("inf"), 2**62,
    np.arange(6.0).reshape(2, 3), np.array([True, False]), np.arange(3), np.array(1 + 2j), np.zeros((0, 4)),
]  # fmt: skip


def taken(frame: bytes):
    text, whole = LENGTHS.unpack(frame[:8])
    assert len(frame) == 8 + whole
    return unpacked(frame[8 : 8 + text], memoryview(frame)[8 + text :])


def same(one, other):
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and np.array_equal(one, other)
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_plain_values_come_out_the_same(value):
    assert same(taken(packed(value)), value)


def test_single_precision_and_large_numbers_become_what_is_sent():
    assert taken(packed(np.float32([0.5]))).dtype == np.float64
    assert taken(packed(2**70)) == float(2**70)
    assert taken(packed(np.int64(7))) == 7


@pytest.mark.parametrize("value", [object(), {1, 2}, {1: 2}, b"bytes", np.array(["a"]), np.array([object()]), print])
def test_nothing_else_is_sent(value):
    with pytest.raises(TypeError, match="not plain"):
        packed(value)


def test_what_is_too_much_is_not_sent():
    with pytest.raises(ValueError, match="too many"):
        packed(np.zeros(MOST_BYTES // 8 + 1))
    nested: list = []
    for _ in range(100):
        nested = [nested]
    with pytest.raises(ValueError, match="deeply"):
        packed(nested)


FORGED = {
    "no json": b"{",
    "not utf-8": b"\xff\xfe",
    "an unknown kind": b'{"x": []}',
    "two kinds": b'{"l": [], "t": []}',
    "a bare list": b"[1]",
    "objects": b'{"a": ["|O", [1]]}',
    "text arrays": b'{"a": ["<U9", [1]]}',
    "negative length": b'{"a": ["<f8", [-1]]}',
    "no numbers": b'{"a": ["<f8", [10]]}',
    "an overflowing shape": b'{"a": ["<f8", [60000000, 60000000, 60000000]]}',
    "a fractional shape": b'{"a": ["<f8", [0.5]]}',
    "many axes": json.dumps({"a": ["<f8", [1] * 40]}).encode(),
    "keys that are no text": b'{"d": [[1, 2]]}',
    "a number of a million digits": b"1" * 1_000_000,
    "nested without end": b'{"l": [' * 50_000 + b"]}" * 50_000,
    "a little too deep": b'{"l": [' * 14 + b"]}" * 14,
}


@pytest.mark.parametrize("text", FORGED.values(), ids=FORGED)
def test_forged_frames_are_refused(text):
    with pytest.raises(BadFrame):
        unpacked(text, memoryview(b""))


def test_numbers_that_belong_to_no_array_are_refused():
    with pytest.raises(BadFrame, match="more numbers"):
        unpacked(b'{"a": ["<f8", [1]]}', memoryview(bytes(16)))


def test_random_bytes_are_refused_or_plain():
    """Whatever comes: a BadFrame, or a plain value; never another error."""
    rng = np.random.default_rng(5)
    frame = bytearray(packed({"number": 3, "answers": np.arange(4.0), "text": "abc", "more": [1, (2, None)]}))
    for _ in range(3_000):
        broken = bytearray(frame)
        for _ in range(rng.integers(1, 6)):
            broken[rng.integers(8, len(broken))] = rng.integers(256)
        text = struct.unpack(">I", broken[:4])[0]
        with contextlib.suppress(BadFrame):
            unpacked(bytes(broken[8 : 8 + text]), memoryview(broken)[8 + text :])


def test_a_channel_has_a_clock_against_slow_senders():
    ours, theirs = socket.socketpair()
    frame = packed({"answers": list(range(50))})

    def dribble() -> None:
        for byte in frame[:20]:
            theirs.send(bytes([byte]))
            threading.Event().wait(0.05)

    thread = threading.Thread(target=dribble)
    thread.start()
    with pytest.raises(Silence):
        Channel(ours).receive(0.3)
    thread.join()
    theirs.close()
    ours.close()


def test_a_closed_channel_and_a_giant_one():
    ours, theirs = socket.socketpair()
    theirs.send(LENGTHS.pack(10, 2**32 - 1))
    with pytest.raises(BadFrame, match="bytes"):
        Channel(ours).receive(1)
    theirs.close()
    with pytest.raises(Ended):
        Channel(ours).receive(1)
    ours.close()
