"""The numbers that the explorers of lecture 1 state, against values known from elsewhere."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcourse import data, explore
from dpcourse.explore.lecture1 import exponential, sums_and_vectors
from dpcourse.scenes import Bars, Line, Points, Rule
from dpcourse.scenes.packing import unpack


def says(name: str, **values: object) -> str:
    return explore.CATALOGUE[name]().scene.picture(**values).says


def test_two_worlds_keeps_its_rails_however_far_out() -> None:
    scene = explore.two_worlds(51, 50).scene
    assert "2.718 times" in scene.picture(y=57.0, b=1.0).says
    assert "0.368 times" in scene.picture(y=44.0, b=1.0).says
    assert "No y goes above that" in scene.picture(y=51.0, b=1.0).says
    assert "No y goes below that" in scene.picture(y=50.0, b=5.0).says


def test_two_worlds_does_not_give_its_answer_away_and_shows_what_was_typed() -> None:
    scene = explore.two_worlds(51, 50).scene
    start = scene.picture()
    assert "No y goes" not in start.says
    assert [mark.at for mark in start.panels[1].marks if isinstance(mark, Rule)] == [1, 1, 1]
    assert "At y = 50.55 the answer is 1.105 times" in scene.picture(y=50.55).says
    assert "46" in explore.two_worlds(51, 46).scene.picture(b=0.5, y=40).panels[0].marks[1].label


def test_the_scale_is_the_inverse_of_the_largest_loss() -> None:
    for b in (0.5, 1.0, 4.0):
        (loss, _), text = explore.laplace_scale().scene.picture(b=b).panels, says("laplace_scale", b=b)
        (yours,) = [mark for mark in loss.marks if isinstance(mark, Line) and mark.label == "your b"]
        assert (yours.y.min(), yours.y.max()) == pytest.approx((-1 / b, 1 / b), rel=1e-12)
        assert f"{math.exp(1 / b):.2f} times" in text


def test_the_density_has_its_peak_and_its_quartiles() -> None:
    assert "0.500" in says("laplace_density", b=1.0)
    assert f"{math.log(2):.2f} people" in says("laplace_density", b=1.0)
    assert f"{2 * math.log(10):.2f};" in says("laplace_density", b=2.0)


def test_the_error_of_a_count() -> None:
    assert "off by 10 people" in says("count_error", epsilon=0.1, count=51)
    assert "19.6%" in says("count_error", epsilon=0.1, count=51)
    assert " 0.1%." in says("count_error", epsilon=0.1, count=10_000)


def test_the_banks_three_scales() -> None:
    naive, table, allowed = explore.bank_debts().scene.controls[0].values
    *_, charlie, xander, worst = explore.bank_debts().scene.controls[1].values
    assert "e^1,400,399, and e^0.5" in says("bank_debts", scale=naive, pair="Alice leaves", epsilon=0.5)
    assert "broken" in says("bank_debts", scale=naive, pair=charlie)
    assert "broken" not in says("bank_debts", scale=naive, pair=xander)  # who owes nothing
    assert "broken" not in says("bank_debts", scale=table, pair="Alice leaves")
    broken = says("bank_debts", scale=table, pair=worst, epsilon=1.0)
    assert f"e^{10_000_000 / 2_800_798:.2f}, and e^1 was" in broken
    assert f"y = {(10_000_000 + 2_800_798) / 2:,.2f}" in broken
    for pair in explore.bank_debts().scene.controls[1].values:
        assert "broken" not in says("bank_debts", scale=allowed, pair=pair)


def test_the_l2_length_misses_by_the_root_of_k() -> None:
    assert "1.414 in city blocks" in says("l1_against_l2", angle=45, k=16)
    assert "loses 4.00 ε" in says("l1_against_l2", angle=45, k=16)
    assert "1.000 in city blocks" in says("l1_against_l2", angle=90, k=100)
    curve = explore.l1_against_l2().scene.picture().panels[1].marks[0]
    np.testing.assert_allclose(curve.y, np.sqrt(curve.x), rtol=1e-9)


@pytest.mark.parametrize(("epsilon", "probability"), [(1.0, "0.205"), (5.0, "0.485")])
def test_memphis(epsilon: float, probability: str) -> None:
    scene = explore.secret_society().scene
    assert f"Memphis is picked with probability {probability};" in scene.picture(epsilon=epsilon).says
    (mean,) = [m for m in scene.picture().panels[0].marks if isinstance(m, Points) and m.label == "mean of the four"]
    assert (float(mean.y[0]), float(mean.x[0])) == (38.75, -87)


def test_no_move_of_any_member_changes_a_citys_probability_by_more_than_allowed() -> None:
    scene = explore.secret_society().scene
    for epsilon, member, city in [
        (e, m, c) for e in (0.1, 1.0, 20.0) for m in scene.controls[1].values for c in scene.controls[2].values
    ]:
        bars = scene.picture(epsilon=epsilon, member=member, city=city).panels[1].marks
        here, there = (mark.height for mark in bars if isinstance(mark, Bars))
        assert np.abs(np.log(here / there)).max() <= epsilon + 1e-12
        assert (here.sum(), there.sum()) == pytest.approx((1, 1), rel=1e-12)


def test_the_hardest_move_is_named_and_no_move_is_called_so() -> None:
    scene = explore.secret_society().scene
    assert scene.picture(epsilon=1.0).says.endswith("Hardest to hide at this ε: Bob in Los Angeles, 2.201.")
    assert "Alice stays in Los Angeles: nothing changes" in scene.picture(member="Alice", city="Los Angeles").says
    sharp = scene.picture(epsilon=20.0, member="Alice", city="New York").says
    assert "e^ε = 485,000,000" in sharp
    assert "with 0.000" not in sharp


def test_four_floats_in_five_give_the_count_away() -> None:
    """The errata's 80%, in 200 answers up to epsilon = 2 (0.15 is 5 standard deviations), and more beyond."""
    scene = explore.floating_point().scene
    for truth in scene.controls[0].values:
        for epsilon in scene.controls[1].values:
            bars = scene.picture(truth=truth, epsilon=epsilon).panels[1].marks
            assert bars[0].height[0] == pytest.approx(0.8, abs=0.15) if epsilon <= 2 else bars[0].height[0] > 0.9
            assert bars[1].height.tolist() == [0, 1]


def test_the_answer_itself_is_among_the_floats_that_its_count_can_give() -> None:
    scene = explore.floating_point().scene
    for draw in range(12):
        zero, one = scene.picture(truth="count 1", draw=draw).panels[0].marks[:2]
        middle = len(one.x) // 2
        assert one.height[middle] == 2.2
        text = scene.picture(truth="count 1", draw=draw).says
        assert ("Both counts" in text) == (zero.height[middle] == 1)


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        ((50, 50), r"50\.0 and 50\.0"),
        ((51, float("nan")), "nan"),
        ((0, 1e300), "1e\\+300"),
        (("a", 1), "'a'"),
        ((1, True), "True"),
    ],
)
def test_two_worlds_that_cannot_be_drawn_are_refused_at_the_door(pair: tuple[float, float], words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=words):
        explore.two_worlds(*pair)


def test_two_worlds_far_from_zero_keep_their_shape() -> None:
    """Ten million against one person more: 32-bit numbers alone would draw a staircase."""
    scene = explore.two_worlds(10_000_001, 10_000_000).scene
    x = unpack(scene.packed.spec["picture"], scene.packed.buffer, scene.shape, (0, 0))["panels"][0]["marks"][0]["x"]
    assert np.allclose(np.diff(x), np.diff(x)[0], rtol=1e-3)
    assert "10,000,001" in scene.picture().panels[0].marks[0].label  # type: ignore[union-attr]


def test_the_names_on_the_controls_are_those_of_the_tables() -> None:
    """They are written out, so that importing the explorers loads no table."""
    assert list(data.cities()["city"]) == list(exponential.CITIES)
    members = data.secret_society()
    assert dict(zip(members["city"], members["name"], strict=True)) == exponential.RESIDENTS
    debts = data.bank_debts()
    assert debts["debt"].max() == sums_and_vectors.ALICES_DEBT
    assert list(debts["name"]) == list(sums_and_vectors.LEAVERS.values())[:-1]
