"""Lecture 3: two algorithms that are (0, delta)-DP and publish people's rows."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dpcourse import data
from dpcourse.mechanisms import LeakRows, LeakTable
from dpcourse.scenes import Axis, Bars, Label, Line, Picture, Rule, Table, again, choice, dot, panel, picture_of, slider
from dpcourse.scenes.widget import explorer

__all__ = ["leak_table", "somebody_leaks"]

PEOPLE = 12
RUNS = 1_000
ALGORITHMS: dict[str, type[LeakTable | LeakRows]] = {"the whole table": LeakTable, "each row by itself": LeakRows}
COLUMNS = ("name", "hospitalized in", "age", "illegal drugs")
HIDDEN = ("·····",) * len(COLUMNS)
#: The table that is published when the coin shows tails (Table 2 of the slides, made longer): the same for every data.
MADE_UP = (
    ("Jim", "2022", "16", "no"),
    ("Dave", "2011", "71", "yes"),
    ("Lena", "2017", "38", "no"),
    ("Milo", "2013", "24", "yes"),
    ("Nora", "2020", "59", "no"),
    ("Otto", "2015", "83", "no"),
    ("Paula", "2024", "27", "yes"),
    ("Quinn", "2012", "45", "no"),
    ("Rosa", "2019", "66", "no"),
    ("Sven", "2023", "19", "yes"),
    ("Tara", "2016", "52", "no"),
    ("Ugo", "2021", "34", "no"),
)


@lru_cache(maxsize=1)
def _patients() -> tuple[tuple[str, ...], ...]:
    """The hospital's table (Table 1 of the slides, with more people between Charlie and Xander), as words."""
    table = data.hospital(PEOPLE, drug_users=4)
    return tuple(
        (name, str(year), str(age), "yes" if uses else "no") for name, year, age, uses in table.itertuples(index=False)
    )


@lru_cache(maxsize=256)
def _leaked_in_many_runs(algorithm: str, delta: float, draw: int) -> np.ndarray:
    """In how many of the runs 0, 1, ... rows leaked."""
    rng = np.random.default_rng([2022, draw])
    leaks = ALGORITHMS[algorithm](delta=delta).release(range(PEOPLE), size=RUNS, rng=rng)
    return np.bincount([0 if leak is None else len(leak) for leak in leaks], minlength=PEOPLE + 1)


def _public(algorithm: str, out: set[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """What everybody can read after a run: the rows that leaked, and a made-up table or nothing in place of others."""
    if not out and algorithm == "the whole table":
        return MADE_UP
    return tuple(row if row in out else HIDDEN for row in _patients())


def _named(algorithm: str, leaked: list[str]) -> str:
    if not leaked:
        return "a made-up table, nothing leaked" if algorithm == "the whole table" else "nothing leaked"
    if len(leaked) == PEOPLE:
        return f"all {PEOPLE} rows leaked"
    names = ", ".join(leaked[:4]) + (" and others" if len(leaked) > 4 else "")
    return f"{len(leaked)} of {PEOPLE} rows leaked ({names})"


ROW_TICKS = tuple((rows, f"{rows}") for rows in range(0, PEOPLE + 1, 2))


@explorer(
    "Private by the letter",
    "How bad can a run be that the definition allows?",
    choice("algorithm", "what may leak", list(ALGORITHMS), "each row by itself"),
    slider("delta", "δ", [0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.3], 0.01, "{:g}"),
    again(draws=8),
)
def leak_table(algorithm: str, delta: float, draw: int) -> Picture:
    """The two extreme algorithms of the slides at work: what one run made public; beside it, 1,000 other runs."""
    patients = _patients()
    mechanism = ALGORITHMS[algorithm](delta=delta)
    out = set(mechanism.release(patients, rng=np.random.default_rng([draw, 7])) or ())
    counts = _leaked_in_many_runs(algorithm, delta, draw)
    somebody = int(counts[1:].sum())
    chance = mechanism.probability_somebody_leaks(PEOPLE)
    return picture_of(
        f"This run: {_named(algorithm, [row[0] for row in patients if row in out])}. Out of {RUNS:,} other runs, "
        f"{somebody} leaked something ({chance:.1%} expected), {counts[-1]} leaked everything. Both algorithms are "
        f"(0, {delta:g})-DP.",
        Table(
            "What this run made public",
            COLUMNS,
            _public(algorithm, out),
            [float(row in out) for row in patients],
            "leaked",
        ),
        panel(
            f"{RUNS:,} other runs: how many rows leaked?",
            Axis("rows leaked in one run", -0.7, PEOPLE + 0.7, ticks=ROW_TICKS),
            Axis("runs", 0, 1_050),
            Bars(np.arange(PEOPLE + 1), counts, colour="red"),
            height=290,
        ),
    )


SIZES = np.unique(np.round(np.logspace(0, 9, 181)))


@lru_cache(maxsize=64)
def leak_chances(delta: float) -> list[float]:
    """The probability that somebody leaks, over the number of people."""
    return [LeakRows(delta=delta).probability_somebody_leaks(int(n)) for n in SIZES]


PEOPLE_STOPS = [m * 10**d for d in range(9) for m in (1, 2, 5)] + [10**9]


@explorer(
    "Somebody among many",
    "How small must δ be for n people?",
    slider("n", "people n", PEOPLE_STOPS, 1_000, "{:,}"),
    slider("delta", "δ", [10.0**-d for d in range(9, 0, -1)], 1e-6, "{:.0e}"),
)
def somebody_leaks(n: int, delta: float) -> Picture:
    """The probability that somebody leaks among n people, against the approximation n delta of the slide."""
    exact = LeakRows(delta=delta).probability_somebody_leaks(n)
    straight = np.logspace(0, min(9, np.log10(2 / delta)), 121)  # it leaves the picture where n delta is 2
    return picture_of(
        f"n = {n:,} people and δ = {delta:g}: somebody is exposed with probability {exact:.3g}, while nδ = "
        f"{n * delta:.3g} is the number of people exposed on average.",
        panel(
            "Is anybody exposed?",
            Axis("people in the table, n", 1, 1e9, log=True),
            Axis("probability (nδ: expected number of people)", 0, 2),
            Line(straight, straight * delta, "nδ", "orange", "dashed"),
            Line(SIZES, leak_chances(delta), "probability that somebody leaks, 1 − (1 − δ)^n", "red", width=3),
            Rule(1, "y", colour="grey", dash="dotted"),
            Label(1.3, 1, "certainty", "grey", "start"),
            Rule(1 / delta, "x", colour="grey"),
            Label(0.8 / delta, 1.7, "n = 1/δ", "grey", "end"),
            dot(n, exact, "your n", colour="ink", size=10),
            drag="n",
            height=290,
        ),
    )
