"""Every explorer, moved through its whole range: nothing is NaN, empty or outside its axes, and both painters agree.

That no mark leaves its axes or is empty is checked by ``Panel`` itself, at every position, when the scene is packed.
"""

from __future__ import annotations

import itertools
import random
import time
from typing import Any

import numpy as np
import pytest

from dpcourse import explore
from dpcourse.scenes import Bars, Line, Picture, Points, Scene, Table, matplotlib_painter
from dpcourse.scenes.packing import tree_of, unpack
from tests.explore.painted import assert_paper_shows

LIMIT = 2_000_000  # bytes that an explorer may send
EXPLORERS = sorted(explore.CATALOGUE)


@pytest.fixture(scope="module", params=EXPLORERS)
def scene(request: pytest.FixtureRequest) -> Scene:
    return explore.CATALOGUE[request.param]().scene


def some_positions(scene: Scene, count: int = 12) -> list[tuple[int, ...]]:
    """The corners of the grid, and some positions between."""
    corners = list(itertools.product(*({0, n - 1} for n in scene.shape)))
    chosen = random.Random(3)
    return corners + [tuple(chosen.randrange(n) for n in scene.shape) for _ in range(count)]


def test_it_fits_the_wire_and_is_ready_at_once(scene: Scene) -> None:
    fresh = Scene(scene.title, scene.question, scene.controls, scene.draw)
    start = time.process_time()
    size = fresh.packed.size
    assert size <= LIMIT, f"{size:,} bytes"
    assert time.process_time() - start < 4  # a lecture with ten of them opens within 20 s; this is a generous alarm


def test_it_asks_one_question_with_few_controls(scene: Scene) -> None:
    assert scene.question.endswith("?")
    dragged = {getattr(part, "drag", "") for part in scene.picture().panels}  # these are part of the picture, too
    beside = [control for control in scene.controls if control.kind != "again" and control.name not in dragged]
    assert len(beside) <= 3
    assert all(control.label.strip() for control in scene.controls)


def test_the_browser_reads_what_python_drew(scene: Scene) -> None:
    """The buffer, read back at a position, is the picture there (to the 7 digits of a 32-bit number)."""
    for position in some_positions(scene):
        seen = unpack(scene.packed.spec["picture"], scene.packed.buffer, scene.shape, position)
        drawn = tree_of(scene.picture(**scene.values_at(position)))
        assert_same(seen, drawn)


def assert_same(seen: Any, drawn: Any) -> None:
    if isinstance(drawn, dict):
        assert seen.keys() == drawn.keys()
        for key in drawn:
            assert_same(seen[key], drawn[key])
    elif isinstance(drawn, list):
        assert len(seen) == len(drawn)
        for one, other in zip(seen, drawn, strict=True):
            assert_same(one, other)
    elif isinstance(drawn, np.ndarray | float | int) and not isinstance(drawn, bool):
        np.testing.assert_allclose(seen, drawn, rtol=3e-7, atol=1e-37)
    else:
        assert seen == drawn


def test_every_control_changes_the_picture(scene: Scene) -> None:
    for axis, control in enumerate(scene.controls):
        here = [c.start for c in scene.controls]
        pictures = []
        for i in range(len(control.values)):
            here[axis] = i
            tree = unpack(scene.packed.spec["picture"], scene.packed.buffer, scene.shape, here)
            pictures.append(repr(tree))
        assert len(set(pictures)) > len(pictures) / 2, f"{control.name} hardly changes anything"


def test_the_sentence_states_a_number_and_fits(scene: Scene) -> None:
    for position in some_positions(scene):
        says = scene.picture(**scene.values_at(position)).says
        assert any(char.isdigit() for char in says)
        assert 30 <= len(says) <= 330, says
        assert "nan" not in says.lower().split()


def test_paper_shows_the_same_numbers(scene: Scene) -> None:
    """What matplotlib drew at a position is what the browser received for it."""
    for position in some_positions(scene, 2)[-2:]:
        seen = unpack(scene.packed.spec["picture"], scene.packed.buffer, scene.shape, position)
        assert_paper_shows(matplotlib_painter.figure(scene.picture(**scene.values_at(position))), seen)


def test_a_line_within_one_picture_is_told_apart_without_colour(scene: Scene) -> None:
    """Lines that are named in one legend differ by dash or width, points by shape, bars by texture."""
    picture: Picture = scene.picture()
    for part in picture.panels:
        if isinstance(part, Table):
            continue
        named = [mark for mark in part.marks if getattr(mark, "label", "")]
        for kind, style in (
            (Line, lambda m: (m.dash, m.width)),
            (Points, lambda m: m.marker),
            (Bars, lambda m: m.texture),
        ):
            styles = [style(mark) for mark in named if isinstance(mark, kind)]
            assert len(set(styles)) == len(styles), f"two {kind.__name__} of {part.title!r} differ by colour alone"
