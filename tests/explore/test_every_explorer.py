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
from dpcourse.plots import Bars, Heat, Line, Panel, Picture, Points, Rule, Scene, Table, paper
from dpcourse.plots.packing import tree_of, unpack

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
    start = time.perf_counter()
    size = fresh.packed.size
    assert size <= LIMIT, f"{size:,} bytes"
    assert time.perf_counter() - start < 4  # a lecture with ten of them opens within 20 s; this is a generous alarm


def test_it_asks_one_question_with_few_controls(scene: Scene) -> None:
    assert scene.question.endswith("?")
    movable = [control for control in scene.controls if control.kind != "again"]
    assert len(movable) <= 3
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
        picture = scene.picture(**scene.values_at(position))
        seen = unpack(scene.packed.spec["picture"], scene.packed.buffer, scene.shape, position)
        painted = [axes for axes in paper.figure(picture).axes if axes.get_label() != "<colorbar>"]
        for axes, part, tree in zip(painted, picture.panels, seen["panels"], strict=True):
            if isinstance(part, Table):
                continue
            assert axes.get_xlim() == pytest.approx((tree["x"]["low"], tree["x"]["high"]), rel=1e-6)
            assert axes.get_ylim() == pytest.approx((tree["y"]["low"], tree["y"]["high"]), rel=1e-6)
            assert_curves_match(axes, part, tree)


def assert_curves_match(axes: Any, part: Panel, tree: dict[str, Any]) -> None:
    curves = iter(axes.lines)
    for mark, received in zip(part.marks, tree["marks"], strict=True):
        if isinstance(mark, Line | Points):
            drawn = next(curves).get_xydata()
            np.testing.assert_allclose(drawn[:, 0], received["x"], rtol=3e-7, atol=1e-37)
            np.testing.assert_allclose(drawn[:, 1], received["y"], rtol=3e-7, atol=1e-37)
        elif isinstance(mark, Rule):
            drawn = np.asarray(next(curves).get_xydata())[0]
            assert drawn[0 if mark.axis == "x" else 1] == pytest.approx(received["at"], rel=3e-7)
        elif isinstance(mark, Heat):
            np.testing.assert_allclose(axes.images[0].get_array(), received["z"], rtol=3e-7)
    bars = [patch for patch in axes.patches if hasattr(patch, "get_width")]
    for mark, received in zip(part.marks, tree["marks"], strict=True):
        if isinstance(mark, Bars):
            mine, bars = bars[: len(mark.x)], bars[len(mark.x) :]
            lengths = [patch.get_width() if mark.lying else patch.get_height() for patch in mine]
            np.testing.assert_allclose(lengths, received["height"] - received["base"], rtol=1e-5, atol=1e-6)


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
