"""Homework 1, sums and vectors: the bank's total debt, several counts at once, and a histogram."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpcourse import sensitivity
from dpcourse.mechanisms import Laplace
from dpcourse.tasks.answers import VECTOR
from dpcourse.tasks.declare import laplace_task
from dpcourse.tasks.mistake import mistake
from dpcourse.tasks.probes import drawn, edges
from dpcourse.tasks.respondent import Probe


def _debt_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """A table whose own maximum is far below the public one; nobody owes anything; entries outside the public range.

    In the last one the others owe enough that their total is far from the mean of all, and from one maximum.
    """
    maximum = float(rng.integers(10, 36) * 10_000)  # totals below 4 million: single precision has halves there
    inside = rng.uniform(0, 0.12, int(rng.integers(6, 11))) * maximum
    others = rng.uniform(0.4, 0.8, len(inside)) * maximum
    outside = np.concatenate([others, maximum * rng.uniform(4, 6, 3), -maximum * rng.uniform(1.5, 2.5, 4)])
    tables = (inside, np.zeros(len(inside)), rng.permutation(outside))
    budgets = (rng.uniform(0.5, 0.8), rng.uniform(0.5, 0.8), rng.uniform(1.5, 2.5))
    return [
        {"debts": table.round(2), "maximum": maximum, "epsilon": float(epsilon)}
        for table, epsilon in zip(tables, budgets, strict=True)
    ]


def _cut(p: Any) -> np.ndarray:
    return np.clip(p.debts, 0, p.maximum)


total_debt = laplace_task(
    "total_debt",
    see="lecture 1, sections 9 and 10",
    probes=edges(
        _debt_probes,
        {"debts": np.empty(0)},
        {"debts": drawn(lambda rng: rng.uniform(1e3, 1e5, 1).round(2))},
        {"debts": np.array([9e9])},
        {"maximum": 2.5},
        {"debts": drawn(lambda rng: rng.uniform(0, 1e5, 400).round(2))},
    ),
    law=lambda p: (_cut(p).sum(), Laplace(epsilon=p.epsilon, sensitivity=sensitivity.bounded_sum(0, p.maximum)).scale),
    mistakes=[
        mistake(
            "largest debt in the table",
            "That is the largest debt of this table. The scale must not depend on the data, because the neighbour whom "
            "we must hide could owe the maximum; and the scale itself would tell the largest debt.",
            scale=lambda p: _cut(p).max() / p.epsilon, hides=False,
        ),
        mistake(
            "noise of a count",
            "That is the noise for a count. One customer moves a total by up to the maximum, not by 1.",
            scale=lambda p: 1 / p.epsilon,
        ),
        mistake(
            "scale upside down",
            "The scale is maximum / epsilon, not maximum * epsilon: a larger epsilon, less privacy, must mean less "
            "noise.",
            scale=lambda p: p.maximum * p.epsilon, hides=False,
        ),
        mistake(
            "noise on every debt",
            "It looks like noise on every single debt, before you add them up: private, but the noises add up, too. "
            "One draw, on the sum, hides everybody.",
            draw=lambda p, rng: (_cut(p) + rng.laplace(0, p.maximum / p.epsilon, len(p.debts))).sum(), hides=True,
        ),
        mistake(
            "epsilon shared out",
            "It looks like epsilon was divided by the number of customers. Only one total is published, once: it may "
            "spend all of epsilon.",
            scale=lambda p: p.maximum * len(p.debts) / p.epsilon,
        ),
        mistake(
            "not cut",
            "An entry outside the public range moves the total by more than the noise can hide: cut every entry to "
            "[0, maximum] before you add them up.",
            center=lambda p: p.debts.sum(),
        ),
        mistake(
            "cut above only",
            "A negative entry moves the total, too, and by any amount: the public range has two ends, 0 and the "
            "maximum.",
            center=lambda p: np.minimum(p.debts, p.maximum).sum(),
        ),
        mistake(
            "cut after the noise",
            "It is each debt that must be cut, before the noise: that is what bounds one customer's part.",
            draw=lambda p, rng: np.clip(p.debts.sum() + rng.laplace(0, p.maximum / p.epsilon), 0, p.maximum),
        ),
        mistake(
            "left out instead of cut",
            "You leave out whoever lies outside the range. That is private, but the total lacks them; asked for is "
            "the total of the debts cut to the range.",
            center=lambda p: p.debts[(p.debts >= 0) & (p.debts <= p.maximum)].sum(),
        ),
        mistake(
            "absolute value for below 0",
            "A debt below 0 becomes 0, the nearer end; you take its absolute value.",
            center=lambda p: np.minimum(np.abs(p.debts), p.maximum).sum(),
        ),
        mistake(
            "total cut instead of debts",
            "You cut the total, not each debt: the total of many customers may well exceed one customer's maximum.",
            center=lambda p: min(max(p.debts.sum(), 0), p.maximum),
        ),
        mistake(
            "mean for total",
            "That is the mean of the debts, with the noise of the total. Asked for is the total, their sum.",
            center=lambda p: _cut(p).mean(),
        ),
        mistake(
            "mean, with its own noise",
            "It looks like the mean of the debts, with noise for a mean: maximum / n / epsilon. Asked for is the "
            "total, their sum, and one customer moves that by up to the maximum.",
            center=lambda p: _cut(p).mean(), scale=lambda p: p.maximum / len(p.debts) / p.epsilon,
        ),
    ],
)  # fmt: skip


def _counts_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """One of the counts is 0: it needs noise like the others."""
    return [
        {"counts": rng.permutation([0, *rng.integers(5, 90, k - 1)]), "epsilon": float(epsilon)}
        for k, epsilon in ((int(rng.integers(5, 8)), rng.uniform(1.5, 2.5)), (4, rng.uniform(0.4, 0.7)))
    ]


def _uneven_scales(p: Any) -> np.ndarray:
    k = len(p.counts)
    return np.asarray(k * (k + 1) / 2 / np.arange(k, 0, -1) / p.epsilon)


noisy_counts = laplace_task(
    "noisy_counts",
    see="lecture 1, section 11",
    probes=edges(
        _counts_probes,
        {"counts": drawn(lambda rng: rng.integers(5, 90, 2))},  # of one, scipy's `rvs` makes a number, not a list
        {"counts": np.zeros(6, dtype=int)},
        {"counts": drawn(lambda rng: rng.integers(2_000, 9_000, 12))},
    ),
    law=lambda p: (
        p.counts,
        Laplace(epsilon=p.epsilon, sensitivity=sensitivity.bounded_sum(0, 1, dimension=len(p.counts))).scale,
    ),
    form=VECTOR,
    mistakes=[
        mistake(
            "noise of one count",
            "One patient may match all k questions and moves k counts by 1: in the l1 norm that is k, not 1.",
            scale=lambda p: 1 / p.epsilon,
        ),
        mistake(
            "l2 for l1",
            "That is the l2 length, sqrt(k). An output far out in every coordinate speaks k times, and the losses add "
            "up: Laplace noise must be measured in l1.",
            scale=lambda p: np.sqrt(len(p.counts)) / p.epsilon,
        ),
        mistake("shared noise", "The draws must be independent: the proof multiplies their densities.", shared=True),
        mistake(
            "k squared",
            "It looks like k was used twice, once to split epsilon and once as the sensitivity. Either is enough.",
            scale=lambda p: len(p.counts) ** 2 / p.epsilon,
        ),
        mistake(
            "k on the wrong side",
            "It looks like the scale is 1 / (k epsilon). One patient moves k counts: the scale grows with k.",
            scale=lambda p: 1 / (len(p.counts) * p.epsilon),
        ),
        mistake(
            "scale upside down",
            "The scale is sensitivity / epsilon, not the other way round: less privacy, less noise.",
            scale=lambda p: p.epsilon / len(p.counts),
        ),
        mistake(
            "uneven split",
            "You split epsilon unevenly. Here every count gets the same noise, of scale k / epsilon.",
            scale=_uneven_scales,
        ),
    ],
)  # fmt: skip


def _histogram_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Some public years have nobody in them, the last one too; some people came before the first or after the last.

    Some of them right after it: the last bin of np.histogram holds its right end, too.
    """
    probes = []
    for k, epsilon in ((7, rng.uniform(1.5, 2.5)), (5, rng.uniform(0.3, 0.6))):
        bins = np.arange(2024 - k, 2024)
        others = rng.integers(1990, 2000, 6), np.full(4, 2024), rng.integers(2026, 2035, 9)
        seen = np.concatenate([bins[:2], rng.choice(bins[:-2], 40), *others])
        probes.append({"years": rng.permutation(seen), "bins": bins, "epsilon": float(epsilon)})
    return probes


def _in_bins(p: Any) -> np.ndarray:
    return (np.asarray(p.years)[:, None] == np.asarray(p.bins)).sum(axis=0)


noisy_histogram = laplace_task(
    "noisy_histogram",
    see="lecture 1, section 11, the histogram",
    probes=edges(
        _histogram_probes,
        {"years": np.empty(0, dtype=int)},
        {"years": np.array([2021])},
        {"bins": np.array([2023])},
        {"years": drawn(lambda rng: rng.permutation(np.repeat([2018, 2022], [600, 200])))},
    ),
    law=lambda p: (_in_bins(p), Laplace(epsilon=p.epsilon, sensitivity=sensitivity.histogram("add/remove")).scale),
    form=VECTOR,
    mistakes=[
        mistake(
            "as many counts",
            "A patient was admitted in one year only and moves one of the counts: the sensitivity is 1, however many "
            "years.",
            scale=lambda p: len(p.bins) / p.epsilon,
        ),
        mistake(
            "replaced",
            "2 is for replacing a patient by another. Here one comes or goes, and one count changes.",
            scale=lambda p: 2 / p.epsilon,
        ),
        mistake(
            "scale upside down",
            "The scale is 1 / epsilon, not epsilon: a larger epsilon, less privacy, must mean less noise.",
            scale=lambda p: p.epsilon, hides=False,
        ),
        mistake(
            "epsilon shared out",
            "It looks like epsilon was divided by the number of patients. Each of them is in one year only: every "
            "count may spend all of epsilon.",
            scale=lambda p: len(p.years) / p.epsilon,
        ),
        mistake(
            "no noise on some",
            "A year in which nobody came must be noisy as well: an exact 0 that becomes a noisy 1 tells who came.",
            draw=lambda p, rng: np.where(
                _in_bins(p) > 0, _in_bins(p) + rng.laplace(0, 1 / p.epsilon, len(p.bins)), 0
            ),
        ),
        mistake("shared noise", "The draws must be independent: the proof multiplies their densities.", shared=True),
        mistake(
            "only the years that occur",
            "The list of years must be the public one: a year whose only patient leaves would vanish from your answer.",
            draw=lambda p, rng: (counts := _in_bins(p)[_in_bins(p) > 0]) + rng.laplace(0, 1 / p.epsilon, len(counts)),
        ),
        mistake(
            "later years in the last",
            "Who came after the last year of the list is counted in the last one. Who came in another year is not "
            "counted.",
            center=lambda p: np.histogram(p.years, bins=[*p.bins, np.inf])[0],
        ),
    ],
)  # fmt: skip
