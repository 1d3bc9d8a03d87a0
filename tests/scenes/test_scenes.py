"""Pictures, controls, packing and scenes: what they keep, and what they refuse, quoting it."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from dpcourse.scenes import (
    Axis,
    Band,
    Bars,
    Heat,
    Label,
    Line,
    Picture,
    Points,
    Rule,
    Scene,
    Table,
    again,
    choice,
    dot,
    matplotlib_painter,
    panel,
    picture_of,
    slider,
    widget,
)
from dpcourse.scenes.packing import Packer, tree_of, unpack
from dpcourse.scenes.widget import BadValue, Explorer, explorer, explorer_from_scene
from tests.explore.painted import assert_paper_shows

UNIT = Axis("x", 0, 1)


def picture(a: float, kind: str = "up", draw: int = 0) -> Picture:
    """One of every mark, moved by the controls."""
    x = np.linspace(0, 1, 5)
    heat = Heat(np.full((2, 3), a / 10), 0, 1, 0, 1, 0, 1, "shade")
    marks = [heat, Line(x, x * a / 10), Band(x, x * 0, x * a / 10), Bars([0.5], [a / 10], width=0.2)]
    marks += [Points([a / 10], [draw / 10]), Rule(a / 10, "x", "here"), Label(0.5, 0.5, kind)]
    table = Table("rows", ("word",), (("one",), ("two",)), [kind == "up", kind != "up"], "this")
    return Picture((panel("all of them", UNIT, UNIT, marks), table), f"a is {a:g}, {kind}, run {draw}")


def scene() -> Scene:
    controls = (slider("a", "a", np.arange(1.0, 6), 3), choice("kind", "kind", ["up", "down"]), again(draws=3))
    return Scene("A try", "Does it work?", controls, picture)


def test_every_position_reads_back() -> None:
    made = scene()
    for position in np.ndindex(made.shape):
        seen = unpack(made.packed.spec["picture"], made.packed.buffer, made.shape, position)
        drawn = tree_of(made.picture(**made.values_at(position)))
        assert seen["says"] == drawn["says"]
        np.testing.assert_allclose(seen["panels"][0]["marks"][0]["z"], drawn["panels"][0]["marks"][0]["z"], rtol=1e-6)
        assert_paper_shows(matplotlib_painter.figure(made.picture(**made.values_at(position))), seen)


def test_only_what_changes_is_stored_and_only_by_what_changes_it() -> None:
    marks = scene().packed.spec["picture"]["panels"][0]["marks"]
    assert marks[1]["x"]["by"] == []  # the same everywhere
    assert marks[1]["y"]["by"] == [0]  # by a alone
    assert marks[4]["y"]["by"] == [2]  # by the draw alone
    assert marks[6]["text"]["by"] == [1]


def test_numbers_far_from_zero_and_close_together_keep_their_differences() -> None:
    packer = Packer((1,))
    tree = packer.pack([{"x": np.array([10_000_000.0, 10_000_000.25, 10_000_001.0])}])
    np.testing.assert_array_equal(
        unpack(tree, packer.buffer(), (1,), (0,))["x"], [10_000_000, 10_000_000.25, 10_000_001]
    )


@pytest.mark.parametrize(
    ("trees", "words"),
    [
        ([{"x": np.array([np.nan])}], "not finite"),
        ([{"x": np.array([1e300])}], "1e\\+300"),
        ([{"x": np.zeros(2)}, {"x": np.zeros(3)}], "same shape"),
        ([{"x": [1]}, {"x": [1, 2]}], "as many parts"),
        ([{"kind": "Line"}, {"kind": "Bars"}], "'Bars', 'Line'"),
        ([{"x": 1}, {"x": "one"}], "'int', 'str'"),
        ([{"x": True}, {"x": False}], "may not change"),
    ],
)
def test_pictures_that_do_not_fit_together_are_refused(trees: list[Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Packer((len(trees),)).pack(trees)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"a": 0.5}, "a must lie between 1.0 and 5.0, got 0.5"),
        ({"a": 99}, "got 99"),
        ({"a": float("nan")}, "nan"),
        ({"kind": "sideways"}, "one of \\['up', 'down'\\], got 'sideways'"),
        ({"draw": -1}, "got -1"),
        ({"b": 1}, "no control 'b'; it has: a, kind, draw"),
    ],
)
def test_a_value_that_a_control_cannot_take_is_refused_and_the_old_one_stays(
    values: dict[str, Any], words: str
) -> None:
    made = scene()
    with pytest.raises(ValueError, match=words):
        made.picture(**values)
    shown = Explorer(made)
    shown.values = {"a": 4.0}
    with pytest.raises(BadValue, match=words):
        shown.values = values
    assert shown.values == {"a": 4.0, "kind": "up", "draw": 0}


def test_a_whole_slider_takes_whole_numbers_only_negative_ones_too() -> None:
    control = slider("k", "k", range(-3, 4), 0)
    assert control.check(-2) == -2
    with pytest.raises(ValueError, match=r"0\.5"):
        control.check(0.5)


def test_values_between_the_stops_and_later_draws_are_drawn_on_demand() -> None:
    packed = scene().packed_at(a=2.5, draw=9)
    assert unpack(packed.spec["picture"], packed.buffer, (1, 1, 1), (0, 0, 0))["says"] == "a is 2.5, up, run 9"


def test_a_page_starts_where_the_explorer_stands() -> None:
    moved = scene().starting_at({"a": 4.2, "kind": "down", "draw": 4})
    assert moved.start == {"a": 4.0, "kind": "down", "draw": 1}


def test_a_decorated_draw_is_an_explorer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(widget, "CATALOGUE", {})

    @explorer("A try", "Does it work?", slider("a", "a", [1, 2], 1))
    def tried(a: float) -> Picture:
        """A point that moves."""
        return picture_of(f"a is {a:g}", panel("p", Axis("x", 0, 9), UNIT, dot(a, 0.5)))

    @explorer_from_scene
    def tried_up_to(most: int = 3) -> Scene:
        """The same, farther."""
        return Scene("A try", "Does it work?", (slider("a", "a", range(1, most), 1),), lambda a: tried().scene.draw(a))

    assert list(widget.CATALOGUE.values()) == [tried, tried_up_to]
    assert (tried.__name__, tried.__doc__) == ("tried", "A point that moves.")
    assert (tried().scene.start, tried_up_to(5).scene.shape) == ({"a": 1}, (4,))
    assert (len(inspect.signature(tried).parameters), *inspect.signature(tried_up_to).parameters) == (0, "most")
    assert tried().scene is tried().scene  # drawn once, however often it is shown


def test_the_parameters_of_draw_are_the_controls() -> None:
    with pytest.raises(
        ValueError, match=r"'A try'.*draw takes \['epsilon', 'm'\], the controls are \['epsilon', 'n'\]"
    ):

        @explorer("A try", "Does it work?", slider("epsilon", "ε", [1, 2], 1), slider("n", "n", [1, 2], 1))
        def tried(epsilon: float, m: int) -> Picture:
            return picture(epsilon)


def test_a_dot_is_points_of_one_point() -> None:
    point = dot(2, 3, "here", colour="red", marker="square", size=8)
    assert repr(point) == repr(Points([2], [3], "here", "red", "square", 8))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Axis("x", 1, 1), "low=1.0, high=1.0"),
        (lambda: Axis("x", 0, 1, log=True), "above 0, got low=0.0"),
        (lambda: Line([1, 2], [1]), r"\(2,\)"),
        (lambda: Line([], []), "not empty"),
        (lambda: Line([[1]], [[1]]), "one length"),
        (lambda: Line([1], [1], colour="pink"), "'pink'"),
        (lambda: Heat([[2.0]], 0, 1, 0, 1, 0, 1), "outside its shades"),
        (lambda: panel("p", UNIT, UNIT, Line([0, 2], [0, 1])), "leaves the axis 'x'"),
        (lambda: panel("p", UNIT, UNIT, Points([0.5], [np.nan])), "leaves the axis"),
        (lambda: panel("p", UNIT, UNIT), "'p' is empty"),
        (lambda: Table("t", ("a",), (("1",),), [2], "m"), "0 or a 1"),
        (lambda: slider("a", "a", [1, np.nan], 1), "must increase"),
        (lambda: slider("a", "a", [1, 2], 99), "got 99"),
        (lambda: choice("a", "a", ["x", "y"], "z"), "'z'"),
        (lambda: again(draws=1), "1"),
        (lambda: Scene("t", "q?", (), picture), "got 0"),
        (
            lambda: Scene("t", "q?", (slider("a", "a", range(200), 1), slider("b", "b", range(200), 1)), picture),
            "40,000",
        ),
    ],
)
def test_bad_parts_are_refused_with_their_value(make: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()
