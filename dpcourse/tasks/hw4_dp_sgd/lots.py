"""Homework 4, who takes part and how much: clipping each example's gradient, and Poisson lots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import special

from dpcourse.sensitivity.rows import clipped, norms
from dpcourse.tasks.answers import TABLE, VECTOR
from dpcourse.tasks.complaints import Complaint
from dpcourse.tasks.declare import judged_task, value_task
from dpcourse.tasks.interview import LEVEL, Interview
from dpcourse.tasks.judges.lots import SAME_LOT, look_at_lots
from dpcourse.tasks.mistake import mistake
from dpcourse.tasks.pictures import shares
from dpcourse.tasks.probes import each, uniform, whole
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.wording import arguments, shown

LOTS = 5_000
NO_REPEATS = 100  # people: two lots of so many are never the same (at q between 0.25 and 0.35: less than 1e-18)
POISSON = "Poisson numbers"


def _gradient_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Short and long rows, one of zeros; C never 1, and rows whose l1 length exceeds C while the l2 length does not.

    Then tables of a single row: a long one, and one that is short enough.
    """
    probes: list[Probe] = []
    all_lengths = [0.0, 0.6, 0.9, 1.6, 3.0, 20.0]
    for factors, d, clip in (
        (all_lengths, 3, rng.uniform(0.3, 0.7)), (all_lengths[:5], 8, rng.uniform(2, 4)),
        ([2.5], 4, rng.uniform(0.3, 0.7)), ([0.7], 4, rng.uniform(2, 4)),
    ):  # fmt: skip
        rows = rng.normal(size=(len(factors), d))
        lengths = clip * rng.permutation(factors)
        probes.append({"gradients": rows / norms(rows)[:, None] * lengths[:, None], "clip": float(clip)})
    return probes


def _shortened(rows: np.ndarray, lengths: Any, bound: float) -> np.ndarray:
    """Rows of these lengths, at most as long as the bound."""
    factors = np.minimum(1, bound / np.maximum(lengths, 1e-300))
    return np.asarray(rows * (factors[:, None] if np.ndim(factors) else factors))


clip_gradients = value_task(
    "clip_gradients",
    see="lecture 4, Problem 1: a gradient has no bound",
    probes=_gradient_probes,
    right=lambda p: clipped(p.gradients, p.clip),
    form=TABLE,
    mistakes=[
        mistake(
            "batch clipped",
            "You shorten the whole batch by one factor, from the length of its sum. A single odd example then still "
            "decides the direction, and changes everybody's factor. Each row has to be clipped by its own length.",
            lambda p: _shortened(p.gradients, norms(p.gradients.sum(axis=0)), p.clip),
        ),
        mistake(
            "average clipped",
            "You shorten the whole batch by one factor, from the length of its average. Each row has to be clipped by "
            "its own length.",
            lambda p: _shortened(p.gradients, norms(p.gradients.mean(axis=0)), p.clip),
        ),
        mistake(
            "longest row decides",
            "You shorten all rows by the factor of the longest one. Each row has to be clipped by its own length.",
            lambda p: _shortened(p.gradients, norms(p.gradients).max(), p.clip),
        ),
        mistake(
            "one length for the table",
            "np.linalg.norm without axis=1 is the length of the whole table. Each row has a length of its own.",
            lambda p: _shortened(p.gradients, np.linalg.norm(p.gradients), p.clip),
        ),
        mistake(
            "columns clipped",
            "You measure down the columns (axis=0). An example is a row: axis=1.",
            lambda p: clipped(p.gradients.T, p.clip).T,
        ),
        mistake(
            "squared length",
            "You compare the squared length with C: the root is missing.",
            lambda p: _shortened(p.gradients, norms(p.gradients) ** 2, p.clip),
        ),
        mistake(
            "each coordinate clipped",
            "Clipping every coordinate to [-C, C] leaves lengths up to C sqrt(d), and turns the gradient. Shorten the "
            "row as a whole.",
            lambda p: np.clip(p.gradients, -p.clip, p.clip),
        ),
        mistake(
            "always length C",
            "Short gradients are stretched to length C. They should stay as they are: divide by max(1, length / C).",
            lambda p: p.gradients * p.clip / np.maximum(norms(p.gradients)[:, None], 1e-300),
        ),
        mistake(
            "always length 1",
            "Every row has length 1 in yours. Only rows longer than C are shortened, to length C.",
            lambda p: p.gradients / np.maximum(norms(p.gradients)[:, None], 1e-300),
        ),
        mistake(
            "long ones left out",
            "You leave out the rows that are longer than C, or set them to 0. They are shortened to length C.",
            lambda p: p.gradients * (norms(p.gradients) <= p.clip)[:, None],
        ),
        mistake(
            "largest entry",
            "You measure a row by its largest entry. Gaussian noise needs the l2 length, the root of the squares.",
            lambda p: _shortened(p.gradients, np.abs(p.gradients).max(axis=1), p.clip),
        ),
        mistake(
            "l1 length",
            "You measure with the sum of absolute values. Gaussian noise needs the l2 length, the root of the squares. "
            "(It is private, but shortens more than needed.)",
            lambda p: _shortened(p.gradients, np.abs(p.gradients).sum(axis=1), p.clip), hides=True,
        ),
        mistake(
            "C forgotten",
            "You divide by max(1, length), as if C were 1.",
            lambda p: clipped(p.gradients, 1.0),
        ),
        mistake("not clipped", "The rows come back as they were: none is shortened.", lambda p: p.gradients.copy()),
    ],
)  # fmt: skip


def _judge_lots(talk: Interview) -> None:
    """Gross mistakes by what is seen at once; then whether everybody has a coin of their own."""
    for probe in talk.probes:
        talk.failing, n, q = probe, probe["n"], probe["q"]
        about = f"I called you {LOTS:,} times with {arguments(probe)}."
        lots = _lots(talk, probe)
        if lots.shape[1] != n:
            talk.fail(f"{about} I expected {n} truth values, one for each person, but got {lots.shape[1]}.")
        _refuse_numbers(talk, lots, about)
        if talk.public:
            _paint(talk, lots, q)
        _refuse_known_lots(talk, lots, q, about)
        look_at_lots(talk, lots, q, about, LEVEL / len(talk.probes))
    talk.praise = "Your lots look like independent coins."


def _lots(talk: Interview, probe: Probe) -> np.ndarray:
    """Many lots. Lists of members have different lengths, and cannot be drawn together: they are told by their name."""
    try:
        return talk.draws(probe, LOTS)
    except Complaint:
        several = [talk.value(probe) for _ in range(20)]  # what stops the function does so again
        members = max(several, key=len)
        if len({len(one) for one in several}) > 1 and members.max() > 1 and len(np.unique(members)) == len(members):
            text = f"For {arguments(probe)} you answer {shown(members)}, and another time {len(several[0])} numbers."
            talk.fail(text, name="indices for a mask")
        raise


def _refuse_numbers(talk: Interview, lots: np.ndarray, about: str) -> None:
    strange = lots[(lots != 0) & (lots != 1)]
    if strange.size:
        text = f"{about} I expected only truth values, or 0 and 1, but got {strange[0]:g}"
        numbers = bool((strange == np.round(strange)).all() and strange.min() > 0)
        talk.fail(f"{text}.", name=POISSON if numbers else "")


def _paint(talk: Interview, lots: np.ndarray, q: float) -> None:
    """How large the lots are, and should be."""
    n = lots.shape[1]
    sizes = np.arange(n + 1)
    chances = special.bdtr(sizes, n, q) - np.append(0, special.bdtr(sizes[:-1], n, q))
    counts = np.bincount(lots.sum(axis=1).astype(np.int64), minlength=n + 1) / len(lots)
    within = np.flatnonzero((chances > 1e-4) | (counts > 0))
    seen = slice(int(within[0]), int(within[-1]) + 1)
    labels = [str(size) if size % 4 == 0 else "" for size in sizes]
    talk.picture = shares(talk.task.name, labels[seen], counts[seen], chances[seen], what="size of the lot")


def _refuse_known_lots(talk: Interview, lots: np.ndarray, q: float, about: str) -> None:
    """Gross mistakes that are seen at once, and whose names are known by what is seen."""
    n, sizes = lots.shape[1], lots.sum(axis=1)
    if (lots == lots[0]).all():
        talk.fail(f"{about} It was always the same lot: a fixed seed inside the function?", name="always the same lot")
    if np.isin(sizes, (0, n)).all():
        talk.fail(f"{about} Your lot was always everybody or nobody.", name="one coin for all")
    if (sizes == sizes[0]).all():  # a right one: less than 0.4^5000
        together = float((lots[:, 0 : n - 1 : 2] * lots[:, 1:n:2]).mean())
        name = "a block" if together > 2 * q * q else "fixed size"
        talk.fail(f"{about} All your lots have exactly {sizes[0]:g} members.", name=name)
    if n >= NO_REPEATS and (repeats := len(lots) - len(np.unique(lots, axis=0))):
        text = f"{about} {repeats:,} of your lots came before, person by person: every lot needs coins of its own."
        talk.fail(text, name=SAME_LOT)


def _mask(n: int, members: Any) -> np.ndarray:
    mask = np.zeros(n, dtype=bool)
    mask[members] = True
    return mask


def _twice(p: Any, rng: np.random.Generator) -> np.ndarray:
    """One of a few lots that were drawn before."""
    return np.random.default_rng(int(rng.integers(1_000))).random(p.n) < p.q


def _never_empty(p: Any, rng: np.random.Generator) -> np.ndarray:
    mask = rng.random(p.n) < p.q
    return mask if mask.any() else _mask(p.n, rng.integers(p.n))


poisson_lot = judged_task(
    "poisson_lot",
    see="lecture 4, Trick 3: perhaps you were not even there",
    # A list so long that no lot comes twice; one of which most are in; and one so short that its lot is often empty.
    probes=each(
        3, n=whole((NO_REPEATS, NO_REPEATS + 20), (18, 25), (7, 9)), q=uniform((0.25, 0.35), (0.6, 0.7), (0.22, 0.28))
    ),
    judge=_judge_lots,
    form=VECTOR,
    mistakes=[
        mistake(
            "fixed size",
            "A fixed number of different people, drawn without replacement, is not Poisson sampling: if Ada is in, "
            "somebody else is out, and the accountant's formula does not hold for it. Toss a coin for each.",
            draw=lambda p, rng: _mask(p.n, rng.choice(p.n, round(p.q * p.n), replace=False)),
        ),
        mistake(
            "a block",
            "A batch cut from the list (shuffled or not) is not Poisson sampling: who stands together comes together.",
            draw=lambda p, rng: _mask(p.n, (rng.integers(p.n) + np.arange(round(p.q * p.n))) % p.n),
        ),
        mistake(
            "with replacement",
            "You draw q n people with replacement. Some are drawn twice and count once, so that each takes part with "
            "less than q, and the coins are not independent.",
            draw=lambda p, rng: _mask(p.n, rng.integers(p.n, size=round(p.q * p.n))),
        ),
        mistake(
            POISSON,
            "`rng.poisson` draws numbers 0, 1, 2, ..., so that somebody may come twice. Poisson sampling is named "
            "after something else: a coin for each person, `rng.random(n) < q`.",
            draw=lambda p, rng: rng.poisson(p.q, p.n),
        ),
        mistake(
            "Poisson size",
            "It looks like a lot whose size is a Poisson number. With a coin for each person the sizes vary less: "
            "their variance is n q (1 - q).",
            draw=lambda p, rng: _mask(p.n, rng.choice(p.n, min(p.n, rng.poisson(p.q * p.n)), replace=False)),
        ),
        mistake(
            "indices for a mask",
            "These look like the numbers of the people who are in. Asked are n truth values, one for each person: is "
            "this one in?",
            draw=lambda p, rng: np.flatnonzero(rng.random(p.n) < p.q),
        ),
        mistake(
            "one coin for all",
            "One coin decides for everybody. Each person needs a coin of their own.",
            draw=lambda p, rng: np.full(p.n, rng.random() < p.q),
        ),
        mistake(
            "coin upside down",
            "You leave out with probability q, and take with 1 - q.",
            draw=lambda p, rng: rng.random(p.n) > p.q,
        ),
        mistake(
            "a fair coin",
            "Your coin is fair: everybody is in with probability 1/2, whatever q is.",
            draw=lambda p, rng: rng.random(p.n) < 0.5,
        ),
        mistake(
            "never empty",
            "An empty lot is a lot. Whoever takes somebody in its place takes part with more than q, and by another "
            "law than the accountant's.",
            draw=_never_empty,
        ),
        mistake(
            "always the same lot",
            "Then everybody knows who is in it, and sampling hides nobody.",
            lambda p: np.random.default_rng(0).random(p.n) < p.q,
        ),
        mistake(
            SAME_LOT,
            "The accountant counts on fresh coins in every step. A lot that comes again hides less each time.",
            draw=_twice,
        ),
    ],
)  # fmt: skip
