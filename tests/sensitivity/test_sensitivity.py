"""Closed forms against a search that tries to break them: never exceeded, and attained."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpcourse import sensitivity
from dpcourse.guarantee import Neighbours
from dpcourse.sensitivity import find_violation, interval

MAX_DEBT = 10_000_000
RELATIONS = ("add/remove", "replace")


def box(low: float, high: float, d: int) -> Callable[[np.random.Generator], Any]:
    draw = interval(low, high)
    return lambda rng: [draw(rng) for _ in range(d)]


def corners(d: int, bound: float) -> list[Any]:
    return [list(sign * bound * row) for row in np.eye(d) for sign in (1, -1)]


def histogram(values: np.ndarray) -> np.ndarray:
    return np.bincount(values, minlength=3)


def vector_sum(values: np.ndarray) -> np.ndarray:
    return values.sum(axis=0)


# name: (query, domain, closed form of the relation, options of the search)
CLOSED_FORMS: dict[str, tuple[Any, Any, Callable[[str], float], dict[str, Any]]] = {
    "count": (lambda v: np.sum(v > 3), interval(0, 10), sensitivity.count, {}),
    "histogram, l1": (histogram, [0, 1, 2], sensitivity.histogram, {}),
    "histogram, l2": (histogram, [0, 1, 2], lambda r: sensitivity.histogram(r, norm="l2"), {"norm": "l2"}),
    "debts": (np.sum, interval(0, MAX_DEBT), lambda r: sensitivity.bounded_sum(0, MAX_DEBT, r), {}),
    "sum, two-sided": (np.sum, interval(-5, 5), lambda r: sensitivity.bounded_sum(-5, 5, r), {}),
    "sum, negative": (np.sum, interval(-5, -2), lambda r: sensitivity.bounded_sum(-5, -2, r), {}),
    "box sum, l1": (vector_sum, box(-1, 2, 2), lambda r: sensitivity.bounded_sum(-1, 2, r, dimension=2), {}),
    "box sum, l2": (
        vector_sum,
        box(-1, 2, 2),
        lambda r: sensitivity.bounded_sum(-1, 2, r, dimension=2, norm="l2"),
        {"norm": "l2"},
    ),
    "clipped sum, l2": (vector_sum, corners(3, 2.5), lambda r: sensitivity.clipped_sum(2.5, r), {"norm": "l2"}),
    "clipped sum, l1": (vector_sum, corners(3, 2.5), lambda r: sensitivity.clipped_sum(2.5, r), {}),
    "mean, n = 4": (lambda v: np.sum(v) / 4, interval(-3, 15), lambda r: sensitivity.mean(-3, 15, r, n=4), {}),
    "mean, any size": (np.mean, interval(-3, 15), lambda r: sensitivity.mean(-3, 15, r, n=None), {}),
}


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_closed_form_is_never_exceeded_and_attained(name: str, neighbours: str) -> None:
    # Fixed seeds. The first search can only fail if the closed form is too small; the second shows that 1% less is.
    query, domain, closed, options = CLOSED_FORMS[name]
    claimed = closed(neighbours)
    held = find_violation(query, domain, claimed, neighbours=neighbours, **options)
    assert not held, str(held)
    assert held.tried == 2000
    broken = find_violation(query, domain, 0.99 * claimed, neighbours=neighbours, **options)
    assert broken, str(broken)
    assert broken.difference == pytest.approx(claimed, rel=0.01)


def test_known_values() -> None:
    assert [sensitivity.count(r) for r in RELATIONS] == [1, 1]
    assert [sensitivity.histogram(r) for r in RELATIONS] == [1, 2]
    assert [sensitivity.histogram(r, norm="l2") for r in RELATIONS] == [1, math.sqrt(2)]
    assert [sensitivity.bounded_sum(0, 7, r) for r in RELATIONS] == [7, 7]
    assert [sensitivity.bounded_sum(-7, 7, r) for r in RELATIONS] == [7, 14]
    assert [sensitivity.bounded_sum(-9, 7, r) for r in RELATIONS] == [9, 16]
    assert [sensitivity.mean(0, 15, r, n=30) for r in RELATIONS] == [0.5, 0.5]
    assert [sensitivity.mean(0, 15, r, n=None) for r in RELATIONS] == [7.5, 15]
    assert [sensitivity.clipped_sum(2, r) for r in RELATIONS] == [2, 4]
    assert sensitivity.histogram(Neighbours.REPLACE) == 2


# What students claim: (query, domain, claim, options)
FALSE_CLAIMS: dict[str, tuple[Any, Any, Any, dict[str, Any]]] = {
    "the debt of Alice": (np.sum, interval(0, MAX_DEBT), 2_800_798, {}),
    "the largest debt in this table": (np.sum, interval(0, MAX_DEBT), np.max, {}),
    "the largest debt in this table, replace": (np.sum, interval(0, MAX_DEBT), np.max, {"neighbours": "replace"}),
    "a histogram is one count": (histogram, [0, 1, 2], 1, {"neighbours": "replace"}),
    "l1 of the histogram is its l2": (histogram, [0, 1, 2], math.sqrt(2), {"neighbours": "replace"}),
    "C for values in [-C, C]": (np.sum, interval(-5, 5), 5, {"neighbours": "replace"}),
    "the mean has 1/n, n not public": (np.mean, interval(0, 15), 15 / 30, {"rows": (1, 30)}),
    "the median is like the mean": (np.median, interval(0, 15), 15 / 9, {"rows": 9, "neighbours": "replace"}),
    "the median, all of it": (np.median, interval(0, 15), 14.9, {"rows": 9, "neighbours": "replace"}),
    "the maximum moves little": (np.max, interval(0, 15), 14, {"rows": (1, 20)}),
    "the variance": (np.var, interval(0, 1), 0.24, {"rows": (1, 20)}),
    "number of distinct values": (lambda v: len(set(v)) * 2, ["a", "b", "c"], 1, {}),
}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", FALSE_CLAIMS)
def test_false_claims_are_refuted_quickly(name: str, seed: int) -> None:
    query, domain, claim, options = FALSE_CLAIMS[name]
    start = time.process_time()
    found = find_violation(query, domain, claim, rng=seed, **options)
    assert time.process_time() - start < 1
    assert found, str(found)
    # The pair is what it says it is: recompute the difference, and check that the tables are neighbours.
    answers = [np.asarray(query(np.asarray(rows)), dtype=float) for rows in (found.data, found.neighbour)]
    assert np.abs(answers[0] - answers[1]).sum() == pytest.approx(found.difference)
    assert found.difference > found.claimed
    sizes = len(found.data), len(found.neighbour)
    if options.get("neighbours") == "replace":
        assert sizes[0] == sizes[1]
        assert sum(a != b for a, b in zip(found.data, found.neighbour, strict=True)) == 1
    else:
        assert found.data[:-1] == found.neighbour
    low, high = options.get("rows", (1, 6)) if isinstance(options.get("rows", (1, 6)), tuple) else (9, 9)
    assert all(low <= size <= high for size in sizes)
    assert "differ by" in str(found)


def test_both_ends_of_the_sizes_are_searched() -> None:
    sizes = set()

    def query(values: np.ndarray) -> float:
        sizes.add(len(values))
        return 0.0

    find_violation(query, [1, 2], 1, rows=(2, 7))
    assert sizes == set(range(2, 8))
    sizes.clear()
    find_violation(query, [1, 2], 1, rows=(2, 7), neighbours="replace")
    assert sizes == set(range(2, 8))
    sizes.clear()
    find_violation(query, [1, 2], 1, rows=(0, 1))
    assert sizes == {0, 1}


def test_tables_of_any_kind() -> None:
    found = find_violation(
        lambda people: sum(person["debt"] for person in people),
        [{"name": "Bob", "debt": 0.0}, {"name": "Xander", "debt": 1e7}],
        2_800_798,
        table=list,
    )
    assert found.data[-1]["debt"] == 1e7
    assert found == find_violation(
        lambda people: sum(person["debt"] for person in people),
        [{"name": "Bob", "debt": 0.0}, {"name": "Xander", "debt": 1e7}],
        2_800_798,
        table=list,
    )


@pytest.mark.parametrize(
    ("call", "error", "quoted"),
    [
        (lambda: sensitivity.bounded_sum(3, 3), ValueError, "low = 3"),
        (lambda: sensitivity.bounded_sum(5, 3), ValueError, "high = 3"),
        (lambda: sensitivity.bounded_sum(0, math.inf), ValueError, "inf"),
        (lambda: sensitivity.bounded_sum(0, 1, "swap"), ValueError, "swap"),
        (lambda: sensitivity.bounded_sum(0, 1, dimension=0), ValueError, "0"),
        (lambda: sensitivity.histogram(norm="l3"), ValueError, "l3"),
        (lambda: sensitivity.count("both"), ValueError, "both"),
        (lambda: sensitivity.mean(0, 1, n=0), ValueError, "0"),
        (lambda: sensitivity.clipped_sum(-1), ValueError, "-1"),
        (lambda: interval(2, 1), ValueError, "low = 2"),
        (lambda: find_violation(np.sum, [], 1), ValueError, r"\[\]"),
        (lambda: find_violation(np.sum, [1], -1), ValueError, "-1"),
        (lambda: find_violation(np.sum, [1], 1, rows=5), ValueError, "5"),
        (lambda: find_violation(np.sum, [1], 1, rows=(5, 2)), ValueError, "2"),
        (lambda: find_violation(np.sum, [1], 1, tries=0), ValueError, "0"),
        (lambda: find_violation(lambda v: math.nan, [1], 1), ValueError, "nan"),
        (lambda: find_violation(lambda v: v, [1], 1), ValueError, "one shape"),
        (lambda: find_violation(np.sum, [1], 1, neighbours="none"), ValueError, "none"),
    ],
)
def test_bad_arguments_are_quoted(call: Callable[[], object], error: type[Exception], quoted: str) -> None:
    with pytest.raises(error, match=quoted):
        call()
