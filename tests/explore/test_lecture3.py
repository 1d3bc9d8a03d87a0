"""Lecture 3: the numbers that its explorers and its text state, against known values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcourse import Gaussian, GaussianLoss, LeakRows, LeakTable, accounting, explore
from dpcourse.explore.lecture3 import leaks, output_functions, privacy_loss
from dpcourse.mechanisms import classical_limit, classical_sigma
from dpcourse.scenes import Bars, Line, Panel, Picture, Table

GAUSSIAN, RESPONSE = "Gaussian (σ = 1)", "randomized response (θ = .75)"


def picture(name: str, **values: object) -> Picture:
    return explore.CATALOGUE[name]().scene.picture(**values)


def bars(part: Panel | Table) -> list[Bars]:
    assert isinstance(part, Panel)
    return [mark for mark in part.marks if isinstance(mark, Bars)]


def test_the_tail_is_not_delta() -> None:
    """ERRATA: a Gaussian with sigma 1 has delta(1) = .1269, but Pr[|L| > 1] = .375."""
    says = picture("tail_against_delta", mechanism=GAUSSIAN, epsilon=1.0).says
    assert "0.1269" in says
    assert "0.3753" in says


def test_randomized_response_is_private_though_its_loss_always_exceeds_epsilon() -> None:
    """theta = .75 is (ln 2, .25)-DP, yet Pr[|L| > ln 2] = 1."""
    example = privacy_loss.EXAMPLES[RESPONSE]
    assert sum(privacy_loss.outside(example.loss, math.log(2))) == pytest.approx(1)
    assert example.loss.delta(math.log(2)) == pytest.approx(0.25)
    says = picture("tail_against_delta", mechanism=RESPONSE, epsilon=math.log(2)).says
    assert "1.0000" in says
    assert "0.2500" in says


@pytest.mark.parametrize("name", privacy_loss.EXAMPLES)
@pytest.mark.parametrize("epsilon", [0.0, 0.7, 1.0, 2.3])
def test_what_delta_counts_adds_up_to_delta(name: str, epsilon: float) -> None:
    example = privacy_loss.EXAMPLES[name]
    counted = sum(part.sum() for part in privacy_loss.counted(example, epsilon))
    assert counted == pytest.approx(example.loss.delta(epsilon), abs=1e-5)  # a Gaussian loss may lie beyond the axis
    drawn = privacy_loss.loss_bars(example)[1].sum() + privacy_loss.spike_heights(example)[0].sum()
    assert drawn == pytest.approx(1, abs=2e-5)


def test_a_spike_is_as_high_as_its_probability() -> None:
    """The text says 1/2 and e^-1/2 for Laplace noise, 0.75 and 0.25 for randomized response; a bell has no spikes."""
    for name, (low, high) in (
        ("Laplace (b = 1)", (math.exp(-1) / 2, 0.5)),
        (RESPONSE, (0.25, 0.75)),
        (GAUSSIAN, (0, 0)),
    ):
        assert privacy_loss.spike_heights(privacy_loss.EXAMPLES[name])[0] == pytest.approx([low, high])
    between = privacy_loss.loss_bars(privacy_loss.EXAMPLES["Laplace (b = 1)"])[1]
    assert between.sum() == pytest.approx(0.316, abs=5e-4)
    assert not privacy_loss.loss_bars(privacy_loss.EXAMPLES[RESPONSE])[1].any()


@pytest.mark.parametrize("name", privacy_loss.EXAMPLES)
def test_every_bar_is_of_one_kind(name: str) -> None:
    """The bars of three textures, put together, are the histogram; those beyond epsilon are the tails."""
    for part, whole in zip(picture("plrv", mechanism=name, epsilon=0.6).panels, (None, 1), strict=True):
        heights = [mark.height for mark in bars(part)]  # above, below, between; for losses also the spikes of each kind
        for first in range(0, len(heights), 3):
            assert np.count_nonzero(sum((height > 0) * 1 for height in heights[first : first + 3]) > 1) == 0
        if whole:
            assert sum(height.sum() for height in heights) == pytest.approx(1, abs=2e-5)
            assert heights[0].sum() + heights[3].sum() == pytest.approx(
                privacy_loss.outside(privacy_loss.EXAMPLES[name].loss, 0.6)[0], abs=2e-5
            )


def test_laplace_never_loses_more_than_its_epsilon() -> None:
    assert "above ε = 1 with probability 0.0000" in picture("plrv", mechanism="Laplace (b = 1)", epsilon=1.0).says


def test_the_classical_formula_wastes_and_fails() -> None:
    assert classical_sigma(1, 1e-5) == pytest.approx(4.845, abs=5e-4)
    assert Gaussian.analytic(epsilon=1, delta=1e-5).sigma == pytest.approx(3.731, abs=5e-4)
    assert GaussianLoss(1 / classical_sigma(10, 1e-5)).delta(10) == pytest.approx(2.3e-5, abs=5e-7)
    assert GaussianLoss(1 / classical_sigma(20, 1e-5)).delta(20) == pytest.approx(1.5e-3, abs=5e-5)
    assert "really fails from ε = 8.42 on" in picture("gaussian_sigma", epsilon=10.0, delta=1e-5).says


@pytest.mark.parametrize("delta", [0.9, 1e-2, 1e-5, 1e-9, 1e-100])
def test_at_the_classical_limit_both_sigmas_meet(delta: float) -> None:
    limit = classical_limit(delta)
    for factor, wasteful in ((0.99, True), (1.01, False)):
        exact = Gaussian.analytic(epsilon=limit * factor, delta=delta).sigma
        assert (classical_sigma(limit * factor, delta) > exact) == wasteful
    assert Gaussian.analytic(epsilon=limit, delta=delta).sigma == pytest.approx(classical_sigma(limit, delta))


def test_the_classical_limit() -> None:
    assert classical_limit(1e-5) == pytest.approx(8.42, abs=5e-4)
    with pytest.raises(ValueError, match="delta"):
        classical_limit(0)


def test_somebody_among_a_million() -> None:
    assert LeakRows(delta=1e-6).probability_somebody_leaks(10**6) == pytest.approx(0.632, abs=5e-4)
    assert "0.632" in picture("somebody_leaks", n=10**6, delta=1e-6).says


def test_what_leaked_is_what_is_marked() -> None:
    for algorithm, sizes in (("the whole table", {0, 12}), ("each row by itself", set(range(13)))):
        for draw in range(12):
            shown = picture("leak_table", algorithm=algorithm, delta=0.3, draw=draw)
            table = shown.panels[0]
            assert isinstance(table, Table)
            leaked = int(table.marked.sum())
            assert leaked in sizes
            names = [row[0] for row in table.rows]
            public = [name for name, out in zip(names, table.marked, strict=True) if not out]
            assert set(public) <= (
                {"·····"} if algorithm == "each row by itself" else {row[0] for row in leaks.MADE_UP}
            )
            assert {0: "nothing leaked", 12: "all 12 rows leaked"}.get(leaked, f"{leaked} of 12 rows") in shown.says


def test_the_made_up_table_holds_nobody_of_the_real_one() -> None:
    assert len(leaks.MADE_UP) == leaks.PEOPLE
    assert not {row[0] for row in leaks.MADE_UP} & {row[0] for row in leaks._patients()}


def test_both_leaky_algorithms_keep_delta() -> None:
    for mechanism in (LeakTable(delta=0.1), LeakRows(delta=0.1)):
        assert mechanism.plrv().delta(0.0) == pytest.approx(0.1)


@pytest.mark.parametrize(("epsilon", "first"), [(1.0, 7), (7.77, 12), (8.0, 12)])
def test_where_gaussian_noise_wins(epsilon: float, first: int) -> None:
    """The sentence agrees with itself on both sides of the crossing, on the grid and beside it."""
    before, after = (picture("noise_in_dimensions", k=k, epsilon=epsilon).says for k in (first - 1, first))
    assert "Laplace is" in before
    assert "wins from" not in before
    assert "Gaussian is" in after
    assert f"wins from k = {first} on" in after


def test_the_margin_is_printed_where_it_is_small() -> None:
    assert "Gaussian is 1.03 times better" in picture("noise_in_dimensions", k=12, epsilon=7.77).says
    assert "Gaussian is 1.003 times better" in picture("noise_in_dimensions", k=7, epsilon=1.0).says


def test_nothing_ahead_of_the_slider_is_given_away() -> None:
    before, after = (picture("gaussian_sigma", epsilon=epsilon, delta=1e-5) for epsilon in (8.0, 9.0))
    assert "fails" not in before.says
    assert "fails" in after.says
    for shown, epsilon in ((before, 8.0), (after, 9.0)):
        part = shown.panels[1]
        assert isinstance(part, Panel)
        true = next(mark for mark in part.marks if isinstance(mark, Line))
        assert true.x.max() == epsilon


@pytest.mark.parametrize("function", output_functions.SETTINGS)
@pytest.mark.parametrize("strength", range(1, 9))
def test_no_function_raises_delta(function: str, strength: int) -> None:
    part = picture("post_processing", function=function, strength=strength).panels[1]
    assert isinstance(part, Panel)
    before, after = (mark.y for mark in part.marks if isinstance(mark, Line))
    assert np.all(after <= before + 1e-12)


def test_the_sharper_group_bound_lies_between_the_truth_and_the_slide() -> None:
    for k in range(1, 11):
        part = picture("group_privacy", k=k, epsilon=0.5, delta=1e-6).panels[1]
        assert isinstance(part, Panel)
        slide, sharp, exact = (mark.y[k - 1] for mark in part.marks if isinstance(mark, Line))
        assert exact <= sharp * (1 + 1e-9)
        assert sharp <= slide * (1 + 1e-9)
        assert slide == pytest.approx(k * math.exp((k - 1) * 0.5) * 1e-6)
        assert sharp == pytest.approx(1e-6 * math.expm1(k * 0.5) / math.expm1(0.5))


def test_a_budget_of_ten_pays_for_a_hundred_tenths() -> None:
    says = picture("composition", k=100, epsilon=0.1).says
    assert "pays for 100 of them." in says
    assert accounting.basic_composition([(0.1, 0)] * 100).epsilon == pytest.approx(10)
    assert "exact loss is 4.69" in says
