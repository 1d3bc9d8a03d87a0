"""The slides' tables, digit by digit, and the generated ones: same seed, same data, nothing out of range."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcourse.data import (
    MAX_DEBT,
    MAX_SKIPPED,
    bank_debts,
    cities,
    hospital,
    lectures_skipped,
    meeting_utility,
    replaced,
    secret_society,
    utility_sensitivity,
    without,
)

SLIDE_PEOPLE = ["Alice", "Bob", "Charlie", "Xander"]
Table = Callable[..., pd.DataFrame]


def rows(table: pd.DataFrame) -> list[list[Any]]:
    return table.to_numpy(dtype=object).tolist()


def test_hospital_is_the_slide() -> None:
    assert list(hospital().columns) == ["name", "hospitalized_in_year", "age", "illegal_drug_use"]
    assert rows(hospital()) == [
        ["Alice", 2024, 32, True],
        ["Bob", 2020, 21, False],
        ["Charlie", 2023, 45, False],
        ["Xander", 2020, 31, True],
    ]


@pytest.mark.parametrize("seed", range(5))
def test_the_public_hundred_have_two_drug_users(seed: int) -> None:
    table = hospital(n=100, seed=seed)
    assert len(table) == 100
    assert table["illegal_drug_use"].sum() == 2
    assert table["illegal_drug_use"].dtype == bool
    assert table["age"].between(16, 90).all()
    assert table["hospitalized_in_year"].between(2011, 2024).all()


def test_the_fifty_one_of_the_proof() -> None:
    table = hospital(n=100, drug_users=51, seed=3)
    assert table["illegal_drug_use"].sum() == 51
    assert without(table, "Alice")["illegal_drug_use"].sum() == 50
    assert without(table, "Bob")["illegal_drug_use"].sum() == 51
    assert hospital(n=10, drug_users=8)["illegal_drug_use"].sum() == 8


def test_bank_debts_are_the_slide() -> None:
    assert rows(bank_debts()) == [["Alice", 2_800_798.0], ["Bob", 7_000.0], ["Charlie", 1.56], ["Xander", 0.0]]
    assert bank_debts()["debt"].sum() == 2_807_799.56
    assert without(bank_debts(), "Alice")["debt"].sum() == pytest.approx(7_001.56, abs=1e-9)
    assert rows(bank_debts(outlier=True)) == [["Alice", 0.0], ["Bob", 0.0], ["Charlie", 0.0], ["Xander", MAX_DEBT]]
    assert MAX_DEBT == 10_000_000


def test_generated_debts_have_a_heavy_tail_below_the_maximum() -> None:
    # Fixed seed and portable stream: the same numbers everywhere, so no false fails.
    debts = bank_debts(20_000, seed=1)["debt"]
    assert debts.between(0, MAX_DEBT).all()
    assert (debts == MAX_DEBT).any()
    assert 0.38 < (debts == 0).mean() < 0.42
    assert 2_900 < debts[debts > 0].median() < 3_450  # 1000 * 2^(1/0.6) = 3,175
    assert debts.mean() > 20 * debts.median()
    assert (debts == debts.round(2)).all()
    assert bank_debts(50, outlier=True)["debt"].sum() == MAX_DEBT


def test_secret_society_is_the_slide_with_the_right_mean() -> None:
    society = secret_society()
    assert rows(society) == [
        ["Alice", "Los Angeles", 34, -118],
        ["Bob", "New York", 40, -74],
        ["Charlie", "Washington", 38, -77],
        ["Xander", "Toronto", 43, -79],
    ]
    assert society[["latitude", "longitude"]].mean().tolist() == [38.75, -87.0]
    assert len(cities()) == 7
    assert [45, -75] in rows(cities()[["latitude", "longitude"]])
    public = rows(cities())
    assert all(home in public for home in rows(secret_society(300, seed=2)[["city", "latitude", "longitude"]]))
    assert set(secret_society(300, seed=2)["city"]) == set(cities()["city"])


def test_memphis_wins_with_the_probabilities_of_the_correction() -> None:
    utility = meeting_utility(secret_society())
    assert utility.idxmax() == "Memphis"
    assert utility["Memphis"] == pytest.approx(-np.hypot(3.75, 3))
    sensitivity = utility_sensitivity(4)
    assert sensitivity == pytest.approx(11.1018, abs=1e-4)
    for epsilon, expected in ((1, 0.205), (5, 0.485)):
        weights = np.exp(epsilon * utility / (2 * sensitivity))
        assert weights["Memphis"] / weights.sum() == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize("n", [1, 4, 9])
def test_utility_sensitivity_is_attained_and_never_exceeded(n: int) -> None:
    # Every replacement in 200 random societies (fixed seed): a true sensitivity would never be exceeded.
    rng = np.random.default_rng(0)
    known, worst = cities(), 0.0
    for _ in range(200):
        homes = rng.integers(7, size=n) if rng.random() < 0.7 else np.full(n, rng.integers(7))
        moved = np.r_[homes[1:], rng.integers(7)]
        society, neighbour = known.take(homes), known.take(moved)
        worst = max(worst, (meeting_utility(society) - meeting_utility(neighbour)).abs().max())
    assert worst == pytest.approx(utility_sensitivity(n), rel=1e-9)


def test_lectures_skipped() -> None:
    table = lectures_skipped(2000, seed=4)
    assert list(table.columns) == ["name", "lectures_skipped"]
    assert table["lectures_skipped"].dtype == np.int64
    assert set(table["lectures_skipped"]) == set(range(MAX_SKIPPED + 1))
    assert 2 < table["lectures_skipped"].mean() < 5
    assert len(lectures_skipped(1)) == 1


@pytest.mark.parametrize("make", [hospital, bank_debts, secret_society, lectures_skipped])
def test_generated_tables(make: Table) -> None:
    table = make(150, seed=7)
    pd.testing.assert_frame_equal(table, make(150, seed=7))
    assert not table.equals(make(150, seed=8))
    assert len(table) == 150
    assert table["name"].is_unique
    if make is not lectures_skipped:
        assert [*table["name"][:3], table["name"].iloc[-1]] == SLIDE_PEOPLE
        slide = table[table["name"].isin(SLIDE_PEOPLE)].reset_index(drop=True)
        pd.testing.assert_frame_equal(slide, make())


@pytest.mark.parametrize(
    ("make", "digest"),
    [
        (hospital, "4508ccab53f3fc8f"),
        (bank_debts, "ab5aa933366a72db"),
        (secret_society, "0332e84b54256033"),
        (lectures_skipped, "c917041cb6f189b1"),
    ],
)
def test_the_same_data_on_every_machine(make: Table, digest: str) -> None:
    text = make(200, seed=11).to_csv(index=False, float_format="%.2f", lineterminator="\n")
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == digest


def test_neighbours() -> None:
    table = hospital(20)
    assert len(without(table, "Dana")) == 19
    assert list(without(table, "Dana").index) == list(range(19))
    assert len(table) == 20
    other = replaced(table, "Bob", age=99, illegal_drug_use=True)
    assert other["illegal_drug_use"].sum() == 3
    assert other["illegal_drug_use"].dtype == bool
    assert (other != table).any(axis=1).sum() == 1
    assert table["age"][1] == 21


@pytest.mark.parametrize(
    ("call", "error", "quoted"),
    [
        (lambda: hospital(3), ValueError, "3"),
        (lambda: hospital(10.5), ValueError, "10.5"),  # type: ignore[arg-type]
        (lambda: hospital(100, drug_users=1), ValueError, "1"),
        (lambda: hospital(100, drug_users=99), ValueError, "99"),
        (lambda: hospital(100, seed=-1), ValueError, "-1"),
        (lambda: bank_debts(0), ValueError, "0"),
        (lambda: bank_debts(outlier="yes"), TypeError, "yes"),  # type: ignore[arg-type]
        (lambda: secret_society(2), ValueError, "2"),
        (lambda: lectures_skipped(0), ValueError, "0"),
        (lambda: lectures_skipped(True), TypeError, "True"),
        (lambda: utility_sensitivity(0), ValueError, "0"),
        (lambda: meeting_utility(secret_society().iloc[:0]), ValueError, "0"),
        (lambda: without(hospital(), "Eve"), ValueError, "Eve"),
        (lambda: without(cities(), "Eve"), ValueError, "column 'name'"),
        (lambda: replaced(hospital(), "Eve", age=3), ValueError, "Eve"),
        (lambda: replaced(hospital(), "Bob", height=3), ValueError, "height"),
        (lambda: replaced(hospital(), "Bob"), ValueError, "columns"),
    ],
)
def test_bad_arguments_are_quoted(call: Callable[[], object], error: type[Exception], quoted: str) -> None:
    with pytest.raises(error, match=quoted):
        call()


def test_pandas_is_not_loaded_before_it_is_used() -> None:
    code = "import sys, dpcourse.data; assert 'pandas' not in sys.modules; dpcourse.data.hospital()"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
