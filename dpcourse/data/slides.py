"""The tables of lectures 4 to 6 as printed on the slides, and larger ones around them.

``f()`` is the slide's table; ``f(n, seed=...)`` is a table of n people with the slide's people inside, first Alice, Bob
and Charlie, last Xander. The same seed gives the same table everywhere; nothing is downloaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpcourse import checks
from dpcourse.data.tables import names, pick, uniforms

if TYPE_CHECKING:
    import pandas as pd

MAX_DEBT = 10_000_000
"""The largest debt in euros that the bank offers to one person: public, and known before any data (lecture 4)."""

MAX_SKIPPED = 15
"""The number of lectures that can be skipped: answers lie between 0 and 15 (lecture 5)."""


def hospital(n: int = 4, *, drug_users: int = 2, seed: int = 0) -> pd.DataFrame:
    """The hospital table: "How many persons in the database take illegal drugs?" (lecture 4 and 6).

    Columns ``name``, ``hospitalized_in_year``, ``age``, ``illegal_drug_use`` (True for the slide's "yes"). With the
    public size n = 100 of the slide the true answer is 2: Alice and Xander. For a larger answer, such as the 51 and 50
    of the slide's proof, ask for ``drug_users=51``; the others among them are drawn.
    """
    import pandas as pd

    n = checks.whole_number("n", n, at_least=4)
    drug_users = checks.whole_number("drug_users", drug_users, at_least=2)
    if drug_users > n - 2:
        raise ValueError(f"drug_users must be at most n - 2 = {n - 2} (Bob and Charlie say no), got {drug_users!r}")
    year, age, luck = uniforms(seed, 3, n - 4)
    drawn_users = np.zeros(n - 4, dtype=bool)
    drawn_users[np.argsort(luck, kind="stable")[: drug_users - 2]] = True
    return pd.DataFrame(
        {
            "name": _around(["Alice", "Bob", "Charlie", "Xander"], names(n - 4)),
            "hospitalized_in_year": _around([2024, 2020, 2023, 2020], pick(year, 2011, 2024).tolist()),
            "age": _around([32, 21, 45, 31], pick(age, 16, 90).tolist()),
            "illegal_drug_use": _around([True, False, False, True], drawn_users.tolist()),
        }
    )


def bank_debts(n: int = 4, *, outlier: bool = False, seed: int = 0) -> pd.DataFrame:
    """The bank's table: "What is the total debt in euros?" (lecture 4, Table 3). Columns ``name``, ``debt``.

    ``outlier=True`` is the slide's worst case: nobody owes anything but Xander, who owes the public maximum
    :data:`MAX_DEBT`. Drawn debts have a heavy tail: two in five people owe nothing, the others follow a Pareto law
    (median 3,175 euros, and so heavy that without a maximum it would have no mean) that is cut off at the maximum.
    """
    import pandas as pd

    n = checks.whole_number("n", n, at_least=4)
    if not isinstance(outlier, bool | np.bool_):
        raise TypeError(f"outlier must be True or False, got {outlier!r}")
    owes, luck = uniforms(seed, 2, n - 4)
    # 1,000 / u^(1/0.6): the smaller the exponent, the heavier the tail. Whole cents, as in a bank.
    pareto = np.minimum(1_000 * (1 - luck) ** (-1 / 0.6), MAX_DEBT)
    drawn = np.where(owes < 0.4, 0.0, np.round(pareto, 2))
    slide = [2_800_798.00, 7_000.00, 1.56, 0.00]
    if outlier:
        slide, drawn = [0.0, 0.0, 0.0, float(MAX_DEBT)], np.zeros(n - 4)
    return pd.DataFrame(
        {"name": _around(["Alice", "Bob", "Charlie", "Xander"], names(n - 4)), "debt": _around(slide, drawn.tolist())}
    )


def lectures_skipped(n: int = 30, *, seed: int = 0) -> pd.DataFrame:
    """ "How many classes did you skip (and binge-watched Netflix instead)?": 0 to 15 (lecture 5).

    Columns ``name``, ``lectures_skipped``. The slide asks the question and prints no answers, so all are drawn, for a
    class in which most skip a few lectures and some skip nearly all.
    """
    import pandas as pd

    n = checks.whole_number("n", n)
    diligence, luck = uniforms(seed, 2, n)
    # Most students skip each lecture with a chance around 1 in 6; the square keeps the average down, the tail long.
    share = np.where(diligence < 0.85, luck**2 * 0.5, 0.5 + 0.5 * luck)
    return pd.DataFrame({"name": names(n), "lectures_skipped": np.floor(share * (MAX_SKIPPED + 1)).astype(np.int64)})


def _around(slide: list, drawn: list) -> list:
    """The slide's first three people, the drawn ones where the slide has its dots, and Xander."""
    return [*slide[:3], *drawn, slide[3]]
