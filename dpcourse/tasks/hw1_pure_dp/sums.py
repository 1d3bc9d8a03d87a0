"""Homework 1, sums and vectors: the bank's total debt, several counts at once, and a histogram."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpcourse import sensitivity
from dpcourse.mechanisms import Laplace
from dpcourse.tasks.answers import Answer
from dpcourse.tasks.interview import CLOSER, Failed, Interview
from dpcourse.tasks.judges.noise import LAPLACE_DRAWS, Noise, noise_of
from dpcourse.tasks.judges.scale_tests import LAPLACE
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.task import Task
from dpcourse.tasks.wording import arguments, number, shown


def _debt_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """A table whose own maximum is far below the public one; nobody owes anything; entries outside the public range.

    In the last one the others owe enough that their total is far from the mean of all, and from one maximum.
    """
    maximum = float(rng.integers(3, 9) * 100_000)
    inside = rng.uniform(0, 0.12, int(rng.integers(6, 11))) * maximum
    others = rng.uniform(0.4, 0.8, len(inside)) * maximum
    outside = np.concatenate([others, maximum * rng.uniform(4, 6, 3), -maximum * rng.uniform(1.5, 2.5, 4)])
    tables = (inside, np.zeros(len(inside)), rng.permutation(outside))
    budgets = (rng.uniform(0.5, 0.8), rng.uniform(0.5, 0.8), rng.uniform(1.5, 2.5))
    return [
        {"debts": table.round(2), "maximum": maximum, "epsilon": float(epsilon)}
        for table, epsilon in zip(tables, budgets, strict=True)
    ]


def _debt_law(debts: np.ndarray, maximum: float, epsilon: float) -> Noise:
    noise = Laplace(epsilon=epsilon, sensitivity=sensitivity.bounded_sum(0, maximum))
    return Noise.laplace(np.clip(debts, 0, maximum).sum(), noise.scale)


total_debt = Task(
    name="total_debt",
    see="lecture 1, sections 9 and 10",
    probes=_debt_probes,
    judge=noise_of(_debt_law, draws=LAPLACE_DRAWS),
    mistakes=(
        Mistake(
            "largest debt in the table",
            lambda debts, maximum, epsilon, rng: (
                np.clip(debts, 0, maximum).sum() + rng.laplace(0, np.clip(debts, 0, maximum).max() / epsilon)
            ),
            "That is the largest debt of this table. The scale must not depend on the data, because the neighbour "
            "whom we "
            "must hide could owe the maximum; and the scale itself would tell the largest debt.",
        ),
        Mistake(
            "noise of a count",
            lambda debts, maximum, epsilon, rng: np.clip(debts, 0, maximum).sum() + rng.laplace(0, 1 / epsilon),
            "That is the noise for a count. One customer moves a total by up to the maximum, not by 1.",
        ),
        Mistake(
            "scale upside down",
            lambda debts, maximum, epsilon, rng: np.clip(debts, 0, maximum).sum() + rng.laplace(0, maximum * epsilon),
            "The scale is maximum / epsilon, not maximum * epsilon: a larger epsilon, less privacy, must mean less "
            "noise.",
        ),
        Mistake(
            "not cut", lambda debts, maximum, epsilon, rng: debts.sum() + rng.laplace(0, maximum / epsilon),
            "An entry outside the public range moves the total by more than the noise can hide: cut every entry to "
            "[0, maximum] before you add them up.",
        ),
        Mistake(
            "cut above only",
            lambda debts, maximum, epsilon, rng: np.minimum(debts, maximum).sum() + rng.laplace(0, maximum / epsilon),
            "A negative entry moves the total, too, and by any amount: the public range has two ends, 0 and the "
            "maximum.",
        ),
        Mistake(
            "cut after the noise",
            lambda debts, maximum, epsilon, rng: np.clip(debts.sum() + rng.laplace(0, maximum / epsilon), 0, maximum),
            "It is each debt that must be cut, before the noise: that is what bounds one customer's part.",
        ),
        Mistake(
            "left out instead of cut",
            lambda debts, maximum, epsilon, rng: (
                debts[(debts >= 0) & (debts <= maximum)].sum() + rng.laplace(0, maximum / epsilon)
            ),
            "You leave out whoever lies outside the range. That is private, but the total lacks them; asked for is "
            "the total of the debts cut to the range.",
        ),
        Mistake(
            "total cut instead of debts",
            lambda debts, maximum, epsilon, rng: np.clip(debts.sum(), 0, maximum) + rng.laplace(0, maximum / epsilon),
            "You cut the total, not each debt: the total of many customers may well exceed one customer's maximum.",
        ),
        Mistake(
            "mean for total",
            lambda debts, maximum, epsilon, rng: np.clip(debts, 0, maximum).mean() + rng.laplace(0, maximum / epsilon),
            "That is the mean of the debts, with the noise of the total. Asked for is the total, their sum.",
        ),
        Mistake(
            "mean, with its own noise",
            lambda debts, maximum, epsilon, rng: (
                np.clip(debts, 0, maximum).mean() + rng.laplace(0, maximum / len(debts) / epsilon)
            ),
            "It looks like the mean of the debts, with noise for a mean: maximum / n / epsilon. Asked for is the "
            "total, their sum, and one customer moves that by up to the maximum.",
        ),
    ),
)  # fmt: skip


def _counts_probes(rng: np.random.Generator) -> Sequence[Probe]:
    return [
        {"counts": rng.integers(5, 90, k), "epsilon": float(epsilon)}
        for k, epsilon in ((int(rng.integers(5, 8)), rng.uniform(1.5, 2.5)), (4, rng.uniform(0.4, 0.7)))
    ]


def _counts_law(counts: np.ndarray, epsilon: float) -> Noise:
    reach = sensitivity.bounded_sum(0, 1, dimension=len(counts))
    return Noise.laplace(counts, Laplace(epsilon=epsilon, sensitivity=reach).scale)


def _plus(counts: np.ndarray, scale: float, rng: Any) -> np.ndarray:
    return np.asarray(counts + rng.laplace(0, scale, len(counts)))


_judge_each_count = noise_of(_counts_law, draws=LAPLACE_DRAWS)


def _judge_counts(talk: Interview) -> None:
    """One law for every count; but if epsilon was split unevenly, no coordinate alone says if that hides a person."""
    try:
        _judge_each_count(talk)
    except Failed as failed:
        probe = talk.recorded[-1].probe
        if not failed.name and talk.recorded[-1].found.shape[1:] == probe["counts"].shape:
            _say_if_uneven(talk, probe)
        raise


def _say_if_uneven(talk: Interview, probe: Probe) -> None:
    """Only to choose the words. Of 3,000 draws a scale is off by 2% (one deviation), and what all spend by 1%."""
    noise = talk.draws(probe, CLOSER) - probe["counts"]
    scales = np.abs(noise).mean(axis=0)
    if not (scales > 0).all() or not _like_laplace(noise / scales):
        return
    spent = float((1 / scales).sum())
    if scales.max() < 1.2 * scales.min():
        return
    found = (
        f"For {arguments(probe)} the scales of your noise are about {shown(scales)}; the sum of 1/scale, which is what "
        f"they spend together, is about {number(spent)}"
    )
    if spent > 1.05 * probe["epsilon"]:
        talk.fail(f"{found}, more than epsilon. That is too little to hide one person.")
    talk.fail(f"{found}, so one person is hidden; but some counts get more noise than others.", name="uneven split")


def _like_laplace(z: np.ndarray) -> bool:
    """Around 0, as flat as Laplace noise, and no two coordinates together: each within six deviations."""
    flat = np.abs((z**2).mean(axis=0) - LAPLACE.flatness) < 0.25
    signs = np.sign(z)
    together = signs.T @ signs / len(z) - np.eye(z.shape[1])
    return bool(flat.all() and np.abs(signs.mean(axis=0)).max() < 0.11 and np.abs(together).max() < 0.11)


def _unevenly(counts: np.ndarray, epsilon: float, rng: Any) -> np.ndarray:
    shares = np.arange(len(counts), 0, -1) / np.arange(len(counts) + 1).sum()
    return np.asarray(counts + rng.laplace(0, 1 / (shares * epsilon)))


noisy_counts = Task(
    name="noisy_counts",
    see="lecture 1, section 11",
    probes=_counts_probes,
    judge=_judge_counts,
    answer=Answer((None,)),
    mistakes=(
        Mistake(
            "noise of one count", lambda counts, epsilon, rng: _plus(counts, 1 / epsilon, rng),
            "One patient may match all k questions and moves k counts by 1: in the l1 norm that is k, not 1.",
        ),
        Mistake(
            "l2 for l1", lambda counts, epsilon, rng: _plus(counts, np.sqrt(len(counts)) / epsilon, rng),
            "That is the l2 length, sqrt(k). An output far out in every coordinate speaks k times, and the losses add "
            "up: "
            "Laplace noise must be measured in l1.",
        ),
        Mistake(
            "shared noise", lambda counts, epsilon, rng: counts + rng.laplace(0, len(counts) / epsilon),
            "The draws must be independent: the proof multiplies their densities.",
        ),
        Mistake(
            "k squared", lambda counts, epsilon, rng: _plus(counts, len(counts) ** 2 / epsilon, rng),
            "It looks like k was used twice, once to split epsilon and once as the sensitivity. Either alone is "
            "enough.",
        ),
        Mistake(
            "scale upside down", lambda counts, epsilon, rng: _plus(counts, epsilon / len(counts), rng),
            "The scale is sensitivity / epsilon, not the other way round: less privacy, less noise.",
        ),
        Mistake(
            "uneven split", _unevenly,
            "You split epsilon unevenly. That is private, too, but here every count gets the same noise, of scale "
            "k / epsilon.",
        ),
    ),
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


def _in_bins(years: np.ndarray, bins: np.ndarray) -> np.ndarray:
    return (np.asarray(years)[:, None] == np.asarray(bins)).sum(axis=0)


def _histogram_law(years: np.ndarray, bins: np.ndarray, epsilon: float) -> Noise:
    noise = Laplace(epsilon=epsilon, sensitivity=sensitivity.histogram("add/remove"))
    return Noise.laplace(_in_bins(years, bins), noise.scale)


def _with_later_years(years: np.ndarray, bins: np.ndarray) -> np.ndarray:
    return np.histogram(years, bins=[*bins, np.inf])[0]


def _histogram_without_empty(years: np.ndarray, bins: np.ndarray, epsilon: float, rng: Any) -> np.ndarray:
    counts = _in_bins(years, bins)
    return np.where(counts > 0, counts + rng.laplace(0, 1 / epsilon, len(bins)), 0)


noisy_histogram = Task(
    name="noisy_histogram",
    see="lecture 1, section 11, the histogram",
    probes=_histogram_probes,
    judge=noise_of(_histogram_law, draws=LAPLACE_DRAWS),
    answer=Answer((None,)),
    mistakes=(
        Mistake(
            "as many counts", lambda years, bins, epsilon, rng: _plus(_in_bins(years, bins), len(bins) / epsilon, rng),
            "A patient was admitted in one year only and moves one of the counts: the sensitivity is 1, however many "
            "years.",
        ),
        Mistake(
            "replaced", lambda years, bins, epsilon, rng: _plus(_in_bins(years, bins), 2 / epsilon, rng),
            "2 is for replacing a patient by another. Here one comes or goes, and one count changes.",
        ),
        Mistake(
            "no noise on some", _histogram_without_empty,
            "A year in which nobody came must be noisy as well: an exact 0 that becomes a noisy 1 tells who came.",
        ),
        Mistake(
            "shared noise",
            lambda years, bins, epsilon, rng: _in_bins(years, bins) + rng.laplace(0, 1 / epsilon),
            "The draws must be independent: the proof multiplies their densities.",
        ),
        Mistake(
            "only the years that occur",
            lambda years, bins, epsilon, rng: _plus(
                _in_bins(years, bins)[_in_bins(years, bins) > 0], 1 / epsilon, rng
            ),
            "The list of years must be the public one: a year whose only patient leaves would vanish from your answer.",
        ),
        Mistake(
            "later years in the last",
            lambda years, bins, epsilon, rng: _plus(_with_later_years(years, bins), 1 / epsilon, rng),
            "Who came after the last year of the list is counted in the last one. Who came in another year is not "
            "counted.",
        ),
    ),
)  # fmt: skip

TASKS: tuple[Task, ...] = (total_debt, noisy_counts, noisy_histogram)
