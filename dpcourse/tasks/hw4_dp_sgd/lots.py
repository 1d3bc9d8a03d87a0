"""Homework 4, who takes part and how much: clipping each example's gradient, and Poisson lots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import special

from dpcourse.tasks.answers import Answer
from dpcourse.tasks.interview import LEVEL, Interview
from dpcourse.tasks.judges.lots import look_at_lots
from dpcourse.tasks.judges.values import values_of
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.pictures import shares
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.task import Task
from dpcourse.tasks.wording import arguments
from dpcourse.vectors import clipped, norms

LOTS = 3_000


def _gradient_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Short and long rows, one of zeros; C never 1, and rows whose l1 length exceeds C while the l2 length does not."""
    probes: list[Probe] = []
    for n, d, clip in ((6, 3, rng.uniform(0.3, 0.7)), (5, 8, rng.uniform(2, 4))):
        rows = rng.normal(size=(n, d))
        lengths = clip * rng.permutation([0.0, 0.6, 0.9, 1.6, 3.0, 20.0][:n])
        probes.append({"gradients": rows / norms(rows)[:, None] * lengths[:, None], "clip": float(clip)})
    return probes


def _shorter(lengths: Any, bound: float) -> Any:
    return np.minimum(1, bound / np.maximum(lengths, 1e-300))


def _normalised(gradients: np.ndarray, clip: float) -> np.ndarray:
    lengths = norms(gradients)[:, None]
    return np.where(lengths > 0, gradients * clip / np.maximum(lengths, 1e-300), 0.0)


clip_gradients = Task(
    name="clip_gradients",
    see="lecture 4, Problem 1: a gradient has no bound",
    probes=_gradient_probes,
    judge=values_of(lambda gradients, clip: clipped(gradients, clip)),
    answer=Answer((None, None)),
    mistakes=(
        Mistake(
            "batch clipped",
            lambda gradients, clip: gradients * _shorter(norms(gradients.sum(axis=0)), clip),
            "You shorten the whole batch by one factor, from the length of its sum. A single odd example then still "
            "decides the direction, and changes everybody's factor. Each row has to be clipped by its own length.",
        ),
        Mistake(
            "one length for the table",
            lambda gradients, clip: gradients * _shorter(np.linalg.norm(gradients), clip),
            "np.linalg.norm without axis=1 is the length of the whole table. Each row has a length of its own.",
        ),
        Mistake(
            "columns clipped", lambda gradients, clip: clipped(gradients.T, clip).T,
            "You measure down the columns (axis=0). An example is a row: axis=1.",
        ),
        Mistake(
            "squared length", lambda gradients, clip: gradients * _shorter(norms(gradients) ** 2, clip)[:, None],
            "You compare the squared length with C: the root is missing.",
        ),
        Mistake(
            "each coordinate clipped", lambda gradients, clip: np.clip(gradients, -clip, clip),
            "Clipping every coordinate to [-C, C] leaves lengths up to C sqrt(d), and turns the gradient. Shorten the "
            "row as a whole.",
        ),
        Mistake(
            "always length C", _normalised,
            "Short gradients are stretched to length C. They should stay as they are: divide by max(1, length / C).",
        ),
        Mistake(
            "l1 length", lambda gradients, clip: gradients * _shorter(np.abs(gradients).sum(1), clip)[:, None],
            "You measure with the sum of absolute values. Gaussian noise needs the l2 length, the root of the squares. "
            "(It is private, but shortens more than needed.)",
        ),
        Mistake(
            "C forgotten", lambda gradients, clip: clipped(gradients, 1.0),
            "You divide by max(1, length), as if C were 1.",
        ),
    ),
)  # fmt: skip


def _lot_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Two lists of people; and one so short that its lot is empty once in ten times."""
    return [
        {"n": int(rng.integers(30, 40)), "q": float(rng.uniform(0.15, 0.25))},
        {"n": int(rng.integers(18, 26)), "q": float(rng.uniform(0.3, 0.4))},
        {"n": int(rng.integers(7, 10)), "q": float(rng.uniform(0.22, 0.28))},
    ]


def _judge_lots(talk: Interview) -> None:
    """Gross mistakes by what is seen at once; then whether everybody has a coin of their own."""
    for probe in talk.probes:
        lots, n, q = talk.draws(probe, LOTS), probe["n"], probe["q"]
        about = f"I called you {LOTS:,} times with {arguments(probe)}."
        if lots.shape[1] != n:
            talk.fail(f"{about} I expected {n} truth values, one for each person, but got {lots.shape[1]}.")
        sizes = lots.sum(axis=1)
        if talk.public:
            chances = special.bdtr(np.arange(n + 1), n, q) - np.append(0, special.bdtr(np.arange(n), n, q))
            found = np.bincount(sizes.astype(np.int64), minlength=n + 1) / LOTS
            seen = slice(0, int(np.flatnonzero((chances > 1e-4) | (found > 0))[-1]) + 1)
            labels = [str(size) if size % 4 == 0 else "" for size in range(n + 1)]
            talk.picture = shares(talk.task.name, labels[seen], found[seen], chances[seen], what="size of the lot")
        together = float((lots[:, 0 : n - 1 : 2] * lots[:, 1:n:2]).mean())
        _known_lots(talk, lots, sizes, together, q, about)
        look_at_lots(talk, lots, q, about, LEVEL / len(talk.probes))
    talk.praise = "Your lots look like independent coins."


def _known_lots(talk: Interview, lots: np.ndarray, sizes: np.ndarray, together: float, q: float, about: str) -> None:
    """Gross mistakes that are seen at once, and whose names are known by what is seen."""
    n = lots.shape[1]
    if (lots == lots[0]).all():
        talk.fail(f"{about} It was always the same lot: a fixed seed inside the function?", name="always the same lot")
    if np.isin(sizes, (0, n)).all():
        talk.fail(f"{about} Your lot was always everybody or nobody.", name="one coin for all")
    if (sizes == sizes[0]).all():  # a right one: less than 0.4^3000
        name = "a block" if together > 2 * q * q else "fixed size"
        talk.fail(f"{about} All your lots have exactly {sizes[0]:g} members.", name=name)


def _mask(n: int, members: np.ndarray) -> np.ndarray:
    mask = np.zeros(n, dtype=bool)
    mask[members] = True
    return mask


def _somebody(mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.flatnonzero(mask) if mask.any() else rng.integers(len(mask), size=1)


poisson_lot = Task(
    name="poisson_lot",
    see="lecture 4, Trick 3: perhaps you were not even there",
    probes=_lot_probes,
    judge=_judge_lots,
    answer=Answer((None,), choices=(0, 1)),
    mistakes=(
        Mistake(
            "fixed size",
            lambda n, q, rng: _mask(n, rng.choice(n, round(q * n), replace=False)),
            "A fixed number of different people, drawn without replacement, is not Poisson sampling: if Ada is in, "
            "somebody else is out, and the accountant's formula does not hold for it. Toss a coin for each.",
        ),
        Mistake(
            "a block", lambda n, q, rng: _mask(n, (rng.integers(n) + np.arange(round(q * n))) % n),
            "A batch cut from the list (shuffled or not) is not Poisson sampling: who stands together comes together.",
        ),
        Mistake(
            "with replacement", lambda n, q, rng: _mask(n, rng.integers(n, size=round(q * n))),
            "You draw q n people with replacement. Some are drawn twice and count once, so that each takes part with "
            "less than q, and the coins are not independent.",
        ),
        Mistake(
            "one coin for all", lambda n, q, rng: np.full(n, rng.random() < q),
            "One coin decides for everybody. Each person needs a coin of their own.",
        ),
        Mistake(
            "coin upside down", lambda n, q, rng: rng.random(n) > q,
            "You leave out with probability q, and take with 1 - q.",
        ),
        Mistake(
            "never empty", lambda n, q, rng: _mask(n, _somebody(rng.random(n) < q, rng)),
            "An empty lot is a lot. Whoever takes somebody in its place takes part with more than q, and by another "
            "law than the accountant's.",
        ),
        Mistake(
            "always the same lot", lambda n, q: np.random.default_rng(0).random(n) < q,
            "Then everybody knows who is in it, and sampling hides nobody.",
        ),
    ),
)  # fmt: skip

TASKS: tuple[Task, ...] = (clip_gradients, poisson_lot)
