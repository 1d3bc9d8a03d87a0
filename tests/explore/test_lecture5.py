"""Lecture 5: what its explorers show and say, against the definitions, known values and the stored runs themselves."""

from __future__ import annotations

import itertools
import math
import re
import statistics
from functools import cache

import numpy as np
import pytest

from dpcourse import explore
from dpcourse.data import PARTIES
from dpcourse.explore.lecture5 import comparison, subset_sizes, surveys
from dpcourse.explore.lecture5.matrices import MECHANISMS
from dpcourse.explore.stored import stored
from dpcourse.scenes import Bars, Heat, Line, Mark, Picture, Points, Scene


@cache
def scene(name: str) -> Scene:
    return explore.CATALOGUE[name]().scene


def picture(name: str, **values: object) -> Picture:
    return scene(name).picture(**values)


def marks(shown: Picture, panel: int, kind: type[Mark], label: str | None = None) -> list:
    found = [mark for mark in shown.panels[panel].marks if isinstance(mark, kind)]
    return found if label is None else [mark for mark in found if mark.label == label]


def matrix_of(shown: Picture) -> np.ndarray:
    """The heat map's matrix with x = 0 first again."""
    return marks(shown, 0, Heat)[0].z[::-1]


def largest_ratio(matrix: np.ndarray) -> float:
    """From the definition of LDP, pair by pair."""
    people, reports = map(range, matrix.shape)
    return max(
        math.inf if matrix[b, y] == 0 else matrix[a, y] / matrix[b, y]
        for a, b, y in itertools.product(people, people, reports)
        if matrix[a, y] > 0
    )


@pytest.mark.parametrize("mechanism", MECHANISMS[:3])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 5.0])
def test_matrices_spend_what_they_say(mechanism: str, epsilon: float) -> None:
    shown = picture("response_matrices", mechanism=mechanism, epsilon=epsilon)
    matrix = matrix_of(shown)
    np.testing.assert_allclose(matrix.sum(axis=1), 1)
    assert math.log(largest_ratio(matrix)) == pytest.approx(epsilon)
    assert f"the true ε is {epsilon:.3f}" in shown.says


def test_the_naive_idea_is_not_private_at_all() -> None:
    shown = picture("response_matrices", mechanism=MECHANISMS[3], epsilon=1.0)
    matrix = matrix_of(shown)
    np.testing.assert_allclose(matrix.sum(axis=1), 1)
    assert largest_ratio(matrix) == math.inf
    assert np.all(matrix[:4, 4:] == 0), "who is in S never reports anything outside"
    assert matrix[0, 0] == pytest.approx(math.e / (math.e + 3))  # the talk: e^eps / (3 + e^eps)
    assert np.all(matrix[4:, 4:] == 0.5)
    assert "infinite" in shown.says


def by_hand(k: int, size: int, first: float, second: float) -> np.ndarray:
    """The five probabilities of RRRR, written out case by case."""
    n, e1, e2 = k - size, math.exp(first), math.exp(second)
    a, b = 1 / (e1 + size), 1 / (e2 + n - 1)
    matrix = np.empty((k, k))
    for x, y in itertools.product(range(k), range(k)):
        if y < size:
            matrix[x, y] = e1 * a if x == y else a
        elif x < size:
            matrix[x, y] = a / n
        else:
            matrix[x, y] = e1 * a * b * (e2 if x == y else 1)
    return matrix


@pytest.mark.parametrize(
    ("size", "share", "second"), [(3, 0.8, math.log(4 / (5 * math.exp(-0.2) - 1))), (0, 0.8, 1.0), (4, 1.0, 0.0)]
)
def test_restricted_response_divides_its_budget(size: int, share: float, second: float) -> None:
    shown = picture("restricted_response", size=size, epsilon=1.0, share=share)
    np.testing.assert_allclose(matrix_of(shown), by_hand(8, size, share, second), rtol=1e-9)
    assert f"{second:.3f}" in shown.says
    assert "True ε: 1.000 of 1" in shown.says


def test_one_category_outside_leaves_budget_unused() -> None:
    shown = picture("restricted_response", size=7, epsilon=1.0, share=0.8)
    assert math.log(largest_ratio(matrix_of(shown))) == pytest.approx(0.8)
    assert "True ε: 0.800 of 1" in shown.says


def test_the_marked_entries_are_the_widest_pair() -> None:
    for size, share in itertools.product(range(8), (0.1, 0.5, 1.0)):
        shown = picture("restricted_response", size=size, epsilon=2.0, share=share)
        matrix, (high, low) = matrix_of(shown), marks(shown, 0, Points)
        (y,), (x,), (other,) = high.x - 0.5, 7.5 - high.y, 7.5 - low.y
        ratio = matrix[int(x), int(y)] / matrix[int(other), int(y)]
        assert ratio == pytest.approx(largest_ratio(matrix))


def test_the_published_table_breaks_its_promise() -> None:
    """1.713 at its worst; kept only where eps2 does not count: |S| = 0 and one category outside."""
    published, correct = marks(picture("published_code", size=1), 0, Line)
    assert "1.713" in picture("published_code", size=1).says
    assert published.y.max() == pytest.approx(1.713, abs=5e-4)
    assert np.flatnonzero(published.y > 1 + 1e-9).tolist() == list(range(1, 19))
    assert correct.y.max() == pytest.approx(1)


@pytest.mark.parametrize(("epsilon", "ratio"), [(1.0, 1.5), (5.0, 3.0), (0.5, 1.0)])
def test_honest_answers_from_the_matrix(epsilon: float, ratio: float) -> None:
    shares = np.array([ratio**-i for i in range(20)])
    shares /= shares.sum()
    chances = []
    for k in range(20):
        n, first = 20 - k, 0.8 * epsilon if k < 19 else epsilon
        inner = n * math.exp(first - epsilon) - 1
        second = min(epsilon, math.log((n - 1) / inner)) if k and inner > 0 and n > 1 else epsilon
        chances.append(float(shares @ np.diag(by_hand(20, k, first, second))))
    shown = picture("honest_answer", epsilon=epsilon, ratio=ratio)
    (line,) = marks(shown, 1, Line)
    np.testing.assert_allclose(line.y, chances, rtol=1e-9)
    (best,) = marks(shown, 1, Points, "the best k")
    assert best.y[0] == pytest.approx(max(chances))
    rrrr, srr = marks(shown, 0, Line)
    at = int(np.argmin(np.abs(rrrr.x - ratio)))
    assert (rrrr.y[at], srr.y[at]) == pytest.approx((max(chances), chances[0]))


@pytest.mark.parametrize("utility", subset_sizes.UTILITY_WORDS.values())
@pytest.mark.parametrize("evenness", [*subset_sizes.EVENNESS, subset_sizes.PARTY_WORDS])
def test_the_best_size_is_the_highest_point(utility: str, evenness: str) -> None:
    shown = picture("six_utilities", utility=utility, epsilon="1", evenness=evenness)
    (line,), (best,) = marks(shown, 0, Line), marks(shown, 0, Points, "the best k")
    assert best.y[0] == pytest.approx(line.y.max())
    inside, outside = marks(shown, 1, Bars)
    assert np.count_nonzero(inside.height) == best.x[0]
    assert (inside.height + outside.height).sum() == pytest.approx(100)
    assert line.y[0] == pytest.approx(line.y[19]), "with one category outside S it is SRR again"


def test_the_twenty_parties_of_the_talk() -> None:
    assert PARTIES.sum() == pytest.approx(1)
    assert PARTIES[:4].sum() == pytest.approx(0.95)
    assert np.all(np.diff(PARTIES) < 0), "the theorem wants them strictly ordered"


@pytest.mark.parametrize("epsilon", ["0.5", "1", "5"])
def test_a_survey_shows_its_own_errors(epsilon: str) -> None:
    run = stored("surveys")[epsilon]
    for estimate, error, subset in zip(run["estimate"], run["error"], run["subset"], strict=True):
        assert sum(estimate) == pytest.approx(1, abs=2e-3)
        apart = 0.5 * sum(abs(a - b) for a, b in zip(estimate, PARTIES, strict=True))
        assert error == pytest.approx(apart, abs=1e-3)
        assert set(subset) < set(range(20))
    assert run["error"][-1] < 0.7 * run["error"][0]
    assert run["srr_error"][-1] < 0.7 * run["srr_error"][0]
    shown = picture("adaptive_survey", arrival=10_000, epsilon=epsilon)
    inside, outside = marks(shown, 0, Bars)
    assert set(np.flatnonzero(inside.height)) == set(run["subset"][-1])
    assert not np.any((inside.height > 0) & (outside.height > 0))
    assert f"{run['error'][-1]:.3f}" in shown.says


def test_langevin_is_as_near_as_promised_and_the_slide_is_not() -> None:
    """Ours within .02 of the exact mean; the talk's step needs more updates; noise gamma W gives hardly any spread."""
    found = stored("langevin")
    ours, talk, slide = (found[name] for name in surveys.SAMPLERS)
    exact = np.array(found["exact"]["mean"])
    for updates, one in ours.items():
        assert one["apart"] == pytest.approx(0.5 * np.abs(np.array(one["mean"]) - exact).sum(), abs=2e-4)
        assert f"{one['apart']:.3f}" in picture("langevin", sampler="ours", updates=int(updates)).says
    assert ours["10000"]["apart"] < 0.02
    assert talk["3000"]["apart"] > 5 * ours["3000"]["apart"]

    def width(one: dict) -> float:
        return float((np.array(one["high"]) - one["low"])[:4].mean())

    assert width(ours["30000"]) == pytest.approx(width(found["exact"]), rel=0.35)
    assert width(slide["30000"]) < width(found["exact"]) / 2


def test_the_posterior_narrows_like_one_over_root_n() -> None:
    found = stored("narrowing")

    def width(n: int) -> float:
        return found[f"{n}"]["high"][0] - found[f"{n}"]["low"][0]

    assert width(1_000) / width(10_000) == pytest.approx(math.sqrt(10), rel=0.5)
    for n in surveys.MOMENTS:
        for line, party in zip(marks(picture("posterior_narrows", arrivals=n), 0, Line), surveys.FOLLOWED, strict=True):
            assert line.y.sum() * (line.x[1] - line.x[0]) == pytest.approx(1, abs=0.01)  # all of it is on the picture
            assert (line.x @ line.y) / line.y.sum() == pytest.approx(100 * found[f"{n}"]["mean"][party], abs=0.3)
    often = stored("surveys")["1"]["best_so_far"]
    assert often[-1] > often[surveys.CHECKPOINTS.index(1_000)]


@pytest.mark.parametrize("estimate", comparison.ESTIMATES)
def test_experiments_are_the_stored_runs(estimate: str) -> None:
    grid = stored("adaptive")
    for setting in grid["settings"]:
        rows = dict(comparison.contestants(setting["methods"], estimate))
        assert list(rows) == [*comparison.LEARNING, *comparison.FIXED]
        for label, one in rows.items():
            assert one["estimate"] == comparison.ESTIMATES[estimate][label in comparison.FIXED]
            assert one["error"]["median"] == pytest.approx(statistics.median(one["error"]["values"]), abs=2e-4)
            assert len(one["error"]["values"]) == grid["runs"]
        rivals = [
            m for m in setting["methods"] if m["kind"] == "adaptive" and m["estimate"] == rows["adaptive"]["estimate"]
        ]
        assert len(rivals) == 12
        taking = [one for one in rivals if one["size"]["median"] > 0]  # the others are SRR under another name
        assert rows["adaptive"] in taking
        assert all(rows["adaptive"]["error"]["median"] <= one["error"]["median"] for one in taking)
        assert len(comparison.largest_shares(setting["epsilon"], setting["rho"])) == grid["runs"]
        evenness = next(words for words, rho in comparison.EVENNESS.items() if rho == setting["rho"])
        shown = picture("experiments", estimate=estimate, epsilon=f"{setting['epsilon']:g}", evenness=evenness)
        (medians,) = marks(shown, 0, Points)
        np.testing.assert_allclose(medians.x, [one["error"]["median"] for one in rows.values()])
        assert f"{medians.x.min():.3f}" == re.findall(r"0\.\d{3}", shown.says)[0]
