"""The budget: spends, refuses, keeps its ledger straight, loses nothing."""

from __future__ import annotations

import numpy as np
import pytest

from dpcourse import Budget, BudgetExceeded, Gaussian, Laplace, Neighbours, RandomizedResponse


def test_ten_tenths_are_one_and_the_eleventh_is_refused() -> None:
    budget = Budget(1.0)
    for _ in range(10):
        budget.spend(0.1)
    with pytest.raises(BudgetExceeded, match=r"costs epsilon = 0\.1.*only epsilon = "):
        budget.spend(0.1)
    assert len(budget.ledger) == 10
    assert budget.remaining[0] == pytest.approx(0, abs=1e-12)


def test_queries_may_depend_on_earlier_answers() -> None:
    budget, rng = Budget(2.0, delta=1e-5), np.random.default_rng(1)
    first = budget.release(Laplace(epsilon=0.5, sensitivity=1), 51, label="users", rng=rng)
    price = 1.0 if first > 50 else 0.7
    budget.release(Laplace(epsilon=price, sensitivity=1), 3, rng=rng)
    budget.spend(0.1, 1e-5, "a Gaussian")
    assert budget.spent == pytest.approx((0.6 + price, 1e-5))
    with pytest.raises(BudgetExceeded):
        budget.spend(0.01, 1e-9)


def test_delta_runs_out_on_its_own() -> None:
    budget = Budget(10)
    with pytest.raises(BudgetExceeded, match="delta = 1e-05"):
        budget.release(Gaussian(sigma=5, sensitivity=1), 0.0)
    assert budget.ledger == []


def test_a_release_that_fails_costs_nothing_and_an_overdrawn_one_releases_nothing() -> None:
    budget = Budget(1)
    with pytest.raises(ValueError, match="nan"):
        budget.release(Laplace(epsilon=0.5, sensitivity=1), float("nan"))
    assert budget.spent == (0, 0)
    rng = np.random.default_rng(1)
    before = rng.bit_generator.state
    with pytest.raises(BudgetExceeded):
        budget.release(Laplace(epsilon=1.5, sensitivity=1), 1.0, rng=rng)
    assert rng.bit_generator.state == before


def test_neighbour_relations_do_not_mix() -> None:
    budget = Budget(5)
    budget.release(Laplace(epsilon=1, sensitivity=1), 3.0, rng=1)
    with pytest.raises(ValueError, match=r"add/remove.*replace"):
        budget.release(RandomizedResponse(epsilon=1), 1)
    assert Budget(1, neighbours="replace").neighbours is Neighbours.REPLACE


def test_the_ledger_prints_every_query_and_what_is_left() -> None:
    budget = Budget(1)
    budget.spend(0.25, label="how many patients")
    text = str(budget)
    assert "how many patients" in text
    assert "0.25" in text
    assert "0.75" in text


@pytest.mark.parametrize("bad", [0, -1, float("nan")])
def test_bad_budgets(bad: float) -> None:
    with pytest.raises(ValueError, match=repr(bad)):
        Budget(bad)
    with pytest.raises(ValueError, match=r"1\.0"):
        Budget(1, delta=1.0)
