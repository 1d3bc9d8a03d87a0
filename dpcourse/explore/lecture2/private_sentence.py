"""Lecture 2: private words. Each word of a sentence is reported by k-ary randomized response."""

from __future__ import annotations

import re
from functools import cache

import numpy as np

from dpcourse.accounting import basic_composition
from dpcourse.mechanisms import KaryResponse
from dpcourse.scenes import Axis, Line, Picture, Rule, Table, again, dot, panel, picture_of, slider
from dpcourse.scenes.widget import explorer

__all__ = ["private_words"]

#: The public vocabulary, 64 words; the secret sentence is made of the first nine.
VOCABULARY = re.findall(
    r"\w+",
    "I skipped five lectures and watched a series instead the my your our doctor nurse friend mother teacher patient "
    "lawyer bank dog cat says thinks reads writes buys owes knows never often always today green old small happy sick "
    "tired rich poor bread coffee book letter secret money house train garden music film exam one two three four ten "
    "but because with for she",
)
SENTENCE = VOCABULARY[:9]
SIZES = {2: ("green", "dotted", "triangle"), len(VOCABULARY): ("blue", "solid", "circle")}
SIZES |= {50_000: ("red", "dashed", "square")}


GRID = np.round(np.arange(0.25, 16.01, 0.25), 2)
K = len(VOCABULARY)
SECRET = np.array([VOCABULARY.index(word) for word in SENTENCE])


@cache
def curves() -> list[Line]:
    """How often the true word is reported, over epsilon, for each size of the vocabulary."""
    return [
        Line(GRID, [100 * KaryResponse(epsilon=float(e), k=size).truth for e in GRID], f"{size:,} words", colour, dash)
        for size, (colour, dash, _) in SIZES.items()
    ]


@explorer(
    "Words as secrets",
    "How large must ε be before a sentence says what it said?",
    slider("epsilon", "ε for one word", [0.5, 1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16], 1, "{:g}"),
    again("Speak again", 6, "run"),
)
def private_words(epsilon: float, run: int) -> Picture:
    """The slides' discussion: how often a word survives, by the size of the vocabulary, and what a sentence becomes."""
    response = KaryResponse(epsilon=epsilon, k=K)
    reports = response.release(SECRET, rng=np.random.default_rng([run, 7]))
    chances = {size: KaryResponse(epsilon=epsilon, k=size).truth for size in SIZES}
    survives = reports == SECRET
    total = basic_composition([(epsilon, 0)] * len(SECRET)).epsilon
    return picture_of(
        f"ε = {epsilon:g} for a word: the true one is kept with {100 * chances[K]:.1f}% of {K} words, with "
        f"{100 * chances[50_000]:.3g}% of 50,000. Here {survives.sum()} of {len(SECRET)} survived, and the whole "
        f"sentence costs {len(SECRET)} × {epsilon:g} = {total:g}.",
        panel(
            "How often is the true word reported?",
            Axis("ε for one word", 0, 16.2),
            Axis("true word kept (%)", 0, 105),
            curves(),
            Rule(epsilon, "x", colour="grey", dash="dotted"),
            [dot(epsilon, 100 * chances[s], colour=style[0], marker=style[2]) for s, style in SIZES.items()],
            drag="epsilon",
            share=1.5,
        ),
        Table(
            f"A sentence from {K} words",
            ("secret", "report"),
            tuple((word, VOCABULARY[report]) for word, report in zip(SENTENCE, reports, strict=True)),
            survives,
            "kept",
        ),
    )
