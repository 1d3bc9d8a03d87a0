"""A scene: one question, its controls, and the picture at each of their positions.

Making a scene draws nothing yet. ``packed`` draws the picture at every position of the controls, once, and
packs the numbers for the browser, which then follows the sliders by itself.
"""

from __future__ import annotations

import inspect
import itertools
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from dpcourse.scenes.controls import Control
from dpcourse.scenes.packing import Packer, tree_of
from dpcourse.scenes.picture import Picture

MOST_PICTURES = 20_000


@dataclass(frozen=True)
class Packed:
    """What the browser receives: a description, and the numbers it points into."""

    spec: dict[str, Any]
    buffer: bytes

    @property
    def size(self) -> int:
        """Bytes on the wire."""
        return len(self.buffer) + len(json.dumps(self.spec, ensure_ascii=False).encode())


@dataclass(frozen=True)
class Scene:
    """A question that a reader answers by moving controls.

    ``draw`` takes the values of the controls by name and returns the :class:`Picture`; it must be a pure function of
    them (randomness comes from a control made by ``again``, used as a seed).
    """

    title: str
    question: str
    controls: tuple[Control, ...]
    draw: Callable[..., Picture] = field(repr=False)

    def __post_init__(self) -> None:
        if not 1 <= len(self.controls) <= 4:
            raise ValueError(
                "a scene has one to three controls (and perhaps a button, or one to drag in the picture), "
                f"got {len(self.controls)}"
            )
        names = [control.name for control in self.controls]
        if len(set(names)) < len(names):
            raise ValueError(f"two controls of {self.title!r} share a name: {names}")
        if math.prod(self.shape) > MOST_PICTURES:
            pictures = math.prod(self.shape)
            raise ValueError(f"{self.title!r} asks for {pictures:,} pictures; {MOST_PICTURES:,} is the most")
        parameters = list(inspect.signature(self.draw).parameters)
        if parameters != names:
            raise ValueError(
                f"the parameters of draw must be the controls of {self.title!r}, in their order: "
                f"draw takes {parameters}, the controls are {names}"
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """How many positions each control has."""
        return tuple(len(control.values) for control in self.controls)

    @property
    def start(self) -> dict[str, Any]:
        """The values at which the controls stand at first."""
        return {control.name: control.values[control.start] for control in self.controls}

    def values_at(self, position: tuple[int, ...]) -> dict[str, Any]:
        """The controls' values at a position of the grid."""
        return {control.name: control.values[i] for control, i in zip(self.controls, position, strict=True)}

    def checked(self, values: dict[str, Any]) -> dict[str, Any]:
        """The start, changed to these values; a name or a value that does not exist is refused."""
        known = {control.name: control for control in self.controls}
        for name in values:
            if name not in known:
                raise ValueError(f"{self.title!r} has no control {name!r}; it has: {', '.join(known)}")
        return self.start | {name: known[name].check(value) for name, value in values.items()}

    def starting_at(self, values: dict[str, Any]) -> Scene:
        """The same scene with its controls at other stops; a value between two stops goes to the nearest one."""
        wanted = self.checked(values)
        controls = tuple(control.starting_at(wanted[control.name]) for control in self.controls)
        moved = Scene(self.title, self.question, controls, self.draw)
        if "packed" in self.__dict__:  # the pictures are the same: no need to draw them again
            head = {"controls": tree_of(controls)}
            moved.__dict__["packed"] = Packed({**self.packed.spec, **head}, self.packed.buffer)
        return moved

    def picture(self, **values: Any) -> Picture:
        """The picture at these values, on the grid or off it; controls that are not named stand at their start."""
        return self.draw(**self.checked(values))

    @cached_property
    def packed(self) -> Packed:
        """All pictures, for the browser."""
        positions = itertools.product(*(range(n) for n in self.shape))
        trees = [tree_of(self.draw(**self.values_at(position))) for position in positions]
        return self._pack(trees, self.shape)

    def packed_at(self, **values: Any) -> Packed:
        """The one picture at these values, for a browser that asks."""
        return self._pack([tree_of(self.picture(**values))], (1,) * len(self.shape))

    def _pack(self, trees: list[Any], shape: tuple[int, ...]) -> Packed:
        packer = Packer(shape)
        picture = packer.pack(trees)
        head = {"title": self.title, "question": self.question, "controls": tree_of(self.controls)}
        return Packed({**head, "picture": picture}, packer.buffer())
