"""Lecture 2, local privacy in NLP: a sentence whose every word is a category of k-ary randomized response."""

from __future__ import annotations

import re

import numpy as np

from dpcourse import KaryResponse
from dpcourse.accounting import basic_composition
from dpcourse.scenes import Axis, Line, Picture, Points, Rule, Scene, Table, again, panel, slider
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


@explorer
def private_words() -> Scene:
    """The slides' discussion: how often a word survives, by the size of the vocabulary, and what a sentence becomes."""
    grid = np.round(np.arange(0.25, 16.01, 0.25), 2)
    k = len(VOCABULARY)
    true = np.array([VOCABULARY.index(word) for word in SENTENCE])
    curves = [
        Line(grid, [100 * KaryResponse(epsilon=float(e), k=size).truth for e in grid], f"{size:,} words", colour, dash)
        for size, (colour, dash, _) in SIZES.items()
    ]

    def draw(epsilon: float, run: int) -> Picture:
        response = KaryResponse(epsilon=epsilon, k=k)
        reports = response.release(true, rng=np.random.default_rng([run, 7]))
        chances = {size: KaryResponse(epsilon=epsilon, k=size).truth for size in SIZES}
        kept = reports == true
        total = basic_composition([(epsilon, 0)] * len(true)).epsilon
        return Picture(
            (
                panel(
                    "How often is the true word reported?",
                    Axis("ε for one word", 0, 16.2),
                    Axis("true word kept (%)", 0, 105),
                    curves,
                    Rule(epsilon, "x", "", "grey", "dotted"),
                    [Points([epsilon], [100 * chances[s]], "", style[0], style[2], 9) for s, style in SIZES.items()],
                    drag="epsilon",
                    share=1.5,
                ),
                Table(
                    f"A sentence from {k} words",
                    ("secret", "report"),
                    tuple((word, VOCABULARY[report]) for word, report in zip(SENTENCE, reports, strict=True)),
                    kept,
                    "kept",
                ),
            ),
            f"ε = {epsilon:g} for a word: the true one is kept with {100 * chances[k]:.1f}% of {k} words, with "
            f"{100 * chances[50_000]:.3g}% of 50,000. Here {kept.sum()} of {len(true)} survived, and the whole "
            f"sentence costs {len(true)} × {epsilon:g} = {total:g}.",
        )

    controls = (
        slider("epsilon", "ε for one word", [0.5, 1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16], 1, "{:g}"),
        again("Speak again", 6, "run"),
    )
    return Scene("Words as secrets", "How large must ε be before a sentence says what it said?", controls, draw)
