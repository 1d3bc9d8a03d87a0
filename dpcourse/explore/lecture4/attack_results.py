"""Lecture 4: stored results of three attacks on trained models: inversion, canaries, membership."""

from __future__ import annotations

import math

import numpy as np

from dpcourse.explore.stored import stored
from dpcourse.scenes import Axis, Band, Bars, Heat, Label, Line, Panel, Picture, Points, Rule, dot, panel, picture_of
from dpcourse.scenes.controls import choice, slider
from dpcourse.scenes.widget import explorer

__all__ = ["canaries", "inversion", "membership"]

#: The trainings of the keyboard model, and how often a user typed the secret.
TRAININGS = ("without privacy", "a message is protected: (5, 10⁻⁵)-DP", "a user is protected: (5, 10⁻³)-DP")
REPEATS = (1, 3, 9)
SPACE, BY_CHANCE = math.log2(10_000), 1 / math.log(2)
ATTACKED = ("without privacy", "(5, 10⁻⁵)-DP", "(1, 10⁻⁵)-DP")
#: The trainings under a membership attack. The first learns everything by heart, the others stop early.
OVERFITTED: dict[str, dict[str, float]] = {
    "without privacy, 200 epochs": {"epsilon": math.inf, "epochs": 200, "q": 0.125},
    "without privacy, 20 epochs": {"epsilon": math.inf, "epochs": 20, "q": 0.25},
    "(3, 10⁻⁵)-DP, 20 epochs": {"epsilon": 3.0, "epochs": 20, "q": 0.25},
    "(1, 10⁻⁵)-DP, 20 epochs": {"epsilon": 1.0, "epochs": 20, "q": 0.25},
}
#: Where the attacker's curve is stored.
FALSE_ALARMS = tuple(i / 100 for i in range(101))
PIXELS = Axis("", 0, 8, ticks=())


def with_article(digit: int) -> str:
    """A 7, an 8."""
    return f"{'an' if digit == 8 else 'a'} {digit}"


def image_panel(title: str, shades: np.ndarray) -> Panel:
    """An image of 8 by 8 pixels, row 0 on top."""
    return panel(title, PIXELS, PIXELS, Heat(shades[::-1], 0, 8, 0, 8, 0, 1), height=370, equal=True)


@explorer(
    "A face from a name",
    "What can you recover from a model that only answers?",
    slider("digit", "digit to recover", range(10), 0, "{:d}"),
    choice("model", "the model was trained", list(ATTACKED), ATTACKED[0]),
)
def inversion(digit: int, model: str) -> Picture:
    """What a model believes a digit looks like: Fredrikson et al.'s attack on our own networks."""
    attack = stored("inversion")
    one = attack["images"][model][digit]
    image, mean = np.array(one["image"]), np.array(attack["means"][digit])
    image = image / image.max()  # with full contrast: only the shape is recovered, not the brightness
    return picture_of(
        f"Digit {digit}, model trained {model if model.startswith('without') else 'with ' + model}: the attacker's "
        f"image convinces it to {100 * one['confidence']:.1f}%. Of the ten average digits it is most like "
        f"{with_article(one['likest'])} (correlation {one['likeness']:.2f}).",
        image_panel("What the attacker recovers, in full contrast", image),
        image_panel(f"The average training image of {with_article(digit)}", mean),
    )


PLACES = np.arange(len(REPEATS))
REPEAT_TICKS = tuple((float(place), f"{repeats}") for place, repeats in enumerate(REPEATS))


@explorer(
    "How well is a secret kept?",
    "Is it enough to protect a message?",
    choice("training", "training", list(TRAININGS), TRAININGS[0]),
)
def canaries(training: str) -> Picture:
    """Exposure of a four-digit secret (Carlini et al. 2019), by the unit that training protects."""
    runs = np.array([stored("canaries")[training][f"{repeats}"] for repeats in REPEATS])
    means, extracted = runs.mean(1), int((runs > SPACE - 0.01).sum())
    return picture_of(
        f"Training: {training}. Mean exposure {means[0]:.1f} bits if typed once, {means[1]:.1f} if typed "
        f"{REPEATS[1]} times, {means[2]:.1f} if typed {REPEATS[2]} times; a model that knows nothing has "
        f"{BY_CHANCE:.1f} on average. In {extracted} of {runs.size} models the attacker's first guess is right.",
        panel(
            f"Training: {training}",
            Axis("how often the user typed the secret", -1.4, 2.5, ticks=REPEAT_TICKS),
            Axis("exposure (bits)", 0, 15.5),
            Bars(PLACES, means, f"mean of {runs.shape[1]} models", "sky", "striped", 0.6),
            [Line(PLACES, model, colour="grey", width=1) for model in runs.T],
            Points(np.repeat(PLACES, runs.shape[1]), runs.ravel(), "one model", "ink", "circle", 8),
            Rule(SPACE, "y", colour="red", dash="dashed"),
            Label(-1.37, SPACE + 0.6, "the first of 10,000 guesses is right", "red", "start"),
            Rule(BY_CHANCE, "y", colour="grey", dash="dotted"),
            Label(-1.37, BY_CHANCE + 0.1, "chance", "grey", "start"),
            height=340,
        ),
    )


@explorer(
    "Were you in it?",
    "How much better than guessing can an attacker be?",
    choice("training", "training", list(OVERFITTED)),
)
def membership(training: str) -> Picture:
    """Yeom et al.'s attack (2018) on networks that learn by heart: hits against false alarms, and what DP allows."""
    one = stored("membership")[training]
    alarms, most = 100 * np.array(FALSE_ALARMS), 100 * np.array(one["bound"])
    alarm, hit = (100 * share for share in one["best"])
    inside, outside = (100 * share for share in one["right"])
    private = math.isfinite(OVERFITTED[training]["epsilon"])
    allowed = f"No attack can exceed {one['advantage_bound']:.2f}" if private else "Nothing is promised"
    return picture_of(
        f"Training: {training}. The attacker's largest gap is {hit:.1f}% hits at {alarm:.1f}% false alarms, an "
        f"advantage of {one['advantage']:.3f}. {allowed}. The network finds the given label of {inside:.0f}% of "
        f"its members and {outside:.0f}% of others, whose true one it finds in {100 * one['truly_right']:.0f}%. "
        "Ten networks, about 500 members each.",
        panel(
            "The attacker says “was in the training set”",
            Axis("false alarms: of others (%)", 0, 101),
            Axis("hits: of members (%)", 0, 101),
            # Saying the opposite of an attack is an attack: the region is symmetric about its centre.
            Band(alarms, 100 - most[::-1], most, "every attack stays in here", "sky"),
            Line(alarms, 100 * np.array(one["hits"]), "small loss: “member”", "blue", "solid", 3),
            Line([0, 100], [0, 100], "guessing", "ink", "dotted", 2),
            dot(alarm, hit, "largest gap", colour="red", marker="square"),
            height=360,
            equal=True,
        ),
        panel(
            "What the network learnt",
            Axis("", -0.6, 2.6, ticks=((0, "members"), (1, "others"), (2, "others: true"))),
            Axis("labels found (%)", 0, 102),
            Bars([0, 1], [inside, outside], "as given, one in five wrong", "green", "striped", 0.6),
            Bars([2], [100 * one["truly_right"]], "the true ones", "purple", "outline", 0.6),
            height=360,
        ),
    )
