"""Pack many pictures of one shape into a tree and one buffer of 32-bit numbers.

The pictures of a scene, one for each position of its controls, are alike: the same panels and marks, other numbers.
``pack`` keeps what never changes once. A number, an array or a sentence that changes is stored over those controls
only on which it really depends: a density over b and y that the output y does not move is stored once for each b.
That is what keeps a scene of thousands of pictures below a megabyte, and no author has to declare it.

A leaf of the tree that lies in the buffer is ``{"$": kind, "at": start, "n": length, "by": controls}`` with kind
"array" (and its "shape" when it is a matrix), "number", or "text" (then the number is an index into "texts"); "base",
where there is one, is to be added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LEAVES = {str, int, float, bool, type(None), np.ndarray}


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def tree_of(thing: Any) -> Any:
    """A picture, or a part of one, as nested dicts and lists with numbers, words and arrays at the leaves."""
    kind = type(thing)
    if kind in _LEAVES:
        return thing
    if is_dataclass(kind):
        return {"kind": kind.__name__, **{name: tree_of(getattr(thing, name)) for name in _field_names(kind)}}
    if isinstance(thing, tuple | list):
        return [tree_of(one) for one in thing]
    if isinstance(thing, np.generic):
        return thing.item()
    return thing


class Packer:
    """Collects the numbers of a scene; ``shape`` is the number of positions of each control."""

    def __init__(self, shape: Sequence[int]) -> None:
        self.shape = tuple(shape)
        self.parts: list[NDArray[np.float32]] = []
        self.length = 0

    def buffer(self) -> bytes:
        """Everything that was stored, as little-endian 32-bit numbers."""
        joined = np.concatenate(self.parts) if self.parts else np.zeros(0, "<f4")
        return joined.astype("<f4").tobytes()

    def _store(self, stacked: NDArray[Any]) -> dict[str, Any]:
        """Store an array of shape (*controls, n), over the controls on which it depends."""
        rows = stacked.reshape(*self.shape, -1)
        by = []
        for axis in range(len(self.shape)):
            first = np.take(rows, [0], axis=axis)
            if np.array_equal(rows, np.broadcast_to(first, rows.shape)):
                rows = first
            else:
                by.append(axis)
        flat = rows.ravel().astype(float)
        if not np.all(np.isfinite(flat)):
            raise ValueError("a picture holds a number that is not finite")
        # Seven digits are too few for numbers that lie far from 0 and close together (10,000,000 against 10,000,001):
        # then the differences from the first one are stored.
        reach, range_ = np.max(np.abs(flat)), np.ptp(flat)
        base = float(flat[0]) if reach > 1000 * range_ and range_ > 0 else 0.0
        if reach > np.finfo("f4").max:
            raise ValueError(f"a picture holds a number too large for the browser, {reach:g}")
        numbers = (flat - base).astype("<f4")
        leaf: dict[str, Any] = {"at": self.length, "n": rows.shape[-1], "by": by}
        if base:
            leaf["base"] = base
        self.parts.append(numbers)
        self.length += len(numbers)
        return leaf

    def pack(self, trees: list[Any], where: str = "picture") -> Any:
        """One tree for all positions; the trees stand in the order of ``numpy.ndindex(shape)``."""
        first = trees[0]
        if any(type(tree) is not type(first) for tree in trees):
            kinds = sorted({type(tree).__name__ for tree in trees})
            if not set(kinds) <= {"int", "float"}:
                raise ValueError(f"{where} must be of one kind at every position, got {kinds}")
        if isinstance(first, dict):
            if any(tree.keys() != first.keys() or tree.get("kind") != first.get("kind") for tree in trees):
                kinds = sorted({str(tree.get("kind")) for tree in trees})
                raise ValueError(f"{where} must be of one kind at every position, got {kinds}")
            return {key: self.pack([tree[key] for tree in trees], f"{where}.{key}") for key in first}
        if isinstance(first, list):
            if len({len(tree) for tree in trees}) > 1:
                lengths = sorted({len(tree) for tree in trees})
                raise ValueError(f"{where} must have as many parts at every position, got {lengths}")
            return [self.pack([tree[i] for tree in trees], f"{where}[{i}]") for i in range(len(first))]
        if isinstance(first, np.ndarray):
            return self._arrays(trees, where)
        if all(tree == first for tree in trees):
            return first
        if isinstance(first, str):
            texts = sorted(set(trees))
            index = {text: i for i, text in enumerate(texts)}
            return {"$": "text", **self._store(np.array([index[tree] for tree in trees], float)), "texts": texts}
        if isinstance(first, int | float) and not isinstance(first, bool):
            return {"$": "number", **self._store(np.array(trees, float))}
        raise ValueError(f"{where} may not change with the controls: {first!r}, then {trees[-1]!r}")

    def _arrays(self, arrays: list[NDArray[Any]], where: str) -> dict[str, Any]:
        shapes = {array.shape for array in arrays}
        if len(shapes) > 1:
            raise ValueError(f"{where} must have the same shape at every position, got {sorted(shapes)!r:.99}")
        same = all(array is arrays[0] for array in arrays)
        stacked = np.broadcast_to(arrays[0], (len(arrays), *arrays[0].shape)) if same else np.stack(arrays)
        if same:  # the same object everywhere: no need to look at every copy
            whole, self.shape = self.shape, (1,) * len(self.shape)
            leaf = self._store(stacked[:1])
            self.shape = whole
        else:
            leaf = self._store(stacked)
        shape = {"shape": list(arrays[0].shape)} if arrays[0].ndim > 1 else {}
        return {"$": "array", **leaf, **shape}


def unpack(node: Any, buffer: bytes, shape: Sequence[int], position: Sequence[int]) -> Any:
    """The tree of the picture at one position, read back from the buffer exactly as the browser reads it."""
    if isinstance(node, list):
        return [unpack(one, buffer, shape, position) for one in node]
    if not isinstance(node, dict):
        return node
    if "$" not in node:
        return {key: unpack(value, buffer, shape, position) for key, value in node.items()}
    row = 0
    for axis in node["by"]:
        row = row * shape[axis] + position[axis]
    start = node["at"] + row * node["n"]
    numbers = np.frombuffer(buffer, "<f4")[start : start + node["n"]]
    if "base" in node:
        numbers = numbers.astype(float) + node["base"]
    if node["$"] == "array":
        return numbers.reshape(node.get("shape", -1))
    return node["texts"][int(numbers[0])] if node["$"] == "text" else float(numbers[0])
