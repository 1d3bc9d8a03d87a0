"""Lecture 4: stored training runs on handwritten digits and reviews (``python -m experiments.train_grid``).

What a reader types between the stored settings of the digits is trained at once, where a kernel runs.
"""

from __future__ import annotations

import math
import statistics
from functools import lru_cache
from typing import Any

import numpy as np

from dpcourse import accounting
from dpcourse.explore.lecture4.privacy_accounts import key
from dpcourse.explore.stored import stored
from dpcourse.scenes import Axis, Bars, Label, Line, Picture, Points, Rule, choice, dot, panel, picture_of, slider
from dpcourse.scenes.widget import explorer

__all__ = ["supervised_tasks", "training_run"]

DELTA, WRITTEN = 1e-5, "δ = 10⁻⁵"
RATE, EPOCHS = 1.0, 15
SIGMAS, CLIPS, LOTS = (0.5, 1.0, 2.0, 4.0, 8.0), (0.1, 0.3, 1.0, 3.0, 10.0), (32, 128, 512)
BUDGETS = (1.0, 2.0, 5.0, math.inf)
#: Per task: settings for a finite budget, and settings without privacy. Found by hand, the same for every epsilon.
SETTINGS: dict[str, tuple[dict[str, float], dict[str, float]]] = {
    "digits": (
        {"epochs": 20, "lot_size": 256, "learning_rate": 1.0},
        {"epochs": 20, "lot_size": 128, "learning_rate": 1.0},
    ),
    "3,200 reviews": (
        {"epochs": 20, "lot_size": 256, "learning_rate": 10.0, "clip_norm": 0.5},
        {"epochs": 20, "lot_size": 64, "learning_rate": 2.0},
    ),
    "16,000 reviews": (
        {"epochs": 20, "lot_size": 256, "learning_rate": 10.0, "clip_norm": 0.5},
        {"epochs": 20, "lot_size": 64, "learning_rate": 2.0},
    ),
}
#: What guessing gets.
CHANCE = {"digits": 10, "3,200 reviews": 50, "16,000 reviews": 50}


@lru_cache(maxsize=256)
def trained(sigma: float, clip: float, lot: int, seed: int) -> tuple[float, ...]:
    """The accuracy after each epoch of one training run on the digits. Below a second, on an ordinary machine."""
    from dpcourse import data, sgd  # torch takes seconds to load, and most explorers do without it

    train, test = data.digits()
    budget: dict[str, Any] = {"epsilon": math.inf}
    if sigma:
        budget = {"epsilon": 1e9, "delta": DELTA, "noise_multiplier": sigma}
    settings: dict[str, Any] = {"clip_norm": clip, "lot_size": lot, "epochs": EPOCHS, "learning_rate": RATE}
    model = sgd.digit_mlp(seed=seed)
    run = sgd.train(model, train, test=test, progress=False, looks=EPOCHS, seed=seed, **budget, **settings)
    return tuple(moment.accuracy or 0.0 for moment in run.history)


@lru_cache(maxsize=256)
def spent(sigma: float, lot: int, n: int) -> tuple[float, ...]:
    """The exact epsilon after each epoch."""
    from dpcourse.sgd.run import steps_of  # torch comes in where it is used

    steps = [steps_of(epoch, n, lot) for epoch in range(1, EPOCHS + 1)]
    return tuple(accounting.dp_sgd_epsilon(sigma, lot / n, k, DELTA) for k in steps)


EPOCH_STOPS = np.arange(1, EPOCHS + 1)
#: Words stand left of the first epoch, where no curve can be.
EPOCH_AXIS = Axis("epoch", -3.5, EPOCHS + 0.5, ticks=tuple((at, f"{at}") for at in (1, 5, 10, 15)))


@explorer(
    "Four dials of a private training",
    "Can you get above 90% with ε below 3?",
    slider("sigma", "noise σ", SIGMAS, 1.0),
    slider("clip", "clipping constant C", CLIPS, 10.0),
    slider("lot", "expected lot size", LOTS, 32, "{:d}"),
    slider("epochs", "epochs", EPOCH_STOPS, EPOCHS, "{:d}"),
)
def training_run(sigma: float, clip: float, lot: int, epochs: int) -> Picture:
    """DP-SGD on 1,438 digits: accuracy and epsilon over the epochs, by four dials; other values are trained at once."""
    grid = stored("digits")
    plain = 100 * np.array(grid["plain"])
    if sigma in SIGMAS and clip in CLIPS and lot in LOTS:
        right, costs = grid["accuracy"][key(sigma, clip, lot)], grid["epsilon"][key(sigma, lot)]
        source = f"Each curve is the median of three real runs on {grid['n']:,} digits with step size {RATE:g}."
    else:
        right, costs = trained(sigma, clip, lot, seed=0), spent(sigma, lot, grid["n"])
        source = f"Trained for you just now: one run on {grid['n']:,} digits with step size {RATE:g}."
    accuracy, epsilon = 100 * np.array(right), np.array(costs)
    now = epochs - 1
    return picture_of(
        f"σ = {sigma:g}, C = {clip:g}, lots of {lot}, after epoch {epochs}: {accuracy[now]:.1f}% are right "
        f"(plain SGD in lots of 128: {plain[now]:.1f}%), and ε = {epsilon[now]:.3g} is spent. {source}",
        panel(
            "Accuracy on 359 new digits",
            EPOCH_AXIS,
            Axis("accuracy (%)", 0, 102),
            Line(EPOCH_STOPS, plain, "plain SGD", "grey", "dotted", 2.5),
            Line(EPOCH_STOPS, accuracy, "DP-SGD", "blue", "solid", 3),
            dot(epochs, accuracy[now], colour="blue"),
            Rule(10, "y", colour="grey", dash="dotted"),
            Label(-3.4, 11, "guessing", "grey", "start"),
            drag="epochs",
        ),
        panel(
            "ε spent",
            EPOCH_AXIS,
            Axis(f"ε at {WRITTEN}", 0.04, 400, log=True),
            Line(EPOCH_STOPS, epsilon, colour="red", width=3),
            dot(epochs, epsilon[now], colour="red", marker="square"),
            Rule(3, "y"),
            Label(-3.4, 3.2, "ε = 3", "ink", "start"),
            drag="epochs",
        ),
    )


PLACES = np.arange(len(BUDGETS))
BUDGET_TICKS = tuple((int(i), "∞" if math.isinf(e) else f"{e:g}") for i, e in enumerate(BUDGETS))


@explorer(
    "What a budget leaves",
    "Which task suffers most from privacy?",
    choice("task", "task", list(SETTINGS), "digits"),
)
def supervised_tasks(task: str) -> Picture:
    """As in Senge et al. (2022), on our small tasks: what each budget leaves of the accuracy."""
    tasks = stored("tasks")
    runs = 100 * np.array([tasks[task]["accuracy"][f"{e:g}"] for e in BUDGETS])
    middle = [statistics.median(row) for row in runs]
    return picture_of(
        f"{task} ({tasks[task]['n']:,} training examples, {WRITTEN}): median accuracy {middle[0]:.1f}% at ε = 1, "
        f"{middle[1]:.1f}% at 2, {middle[2]:.1f}% at 5, {middle[3]:.1f}% without privacy; guessing gets "
        f"{CHANCE[task]}%.",
        panel(
            f"{task}: five runs for each budget",
            Axis("privacy budget ε", -1.7, 3.5, ticks=BUDGET_TICKS),
            Axis("accuracy on new examples (%)", 0, 102),
            Bars(PLACES, middle, "median", "sky", "striped", 0.6),
            Points(np.repeat(PLACES, runs.shape[1]), runs.ravel(), "one run", "ink", "circle", 8),
            Rule(CHANCE[task], "y", colour="grey", dash="dotted"),
            Label(-1.65, CHANCE[task] + 1, "guessing", "grey", "start"),
            height=280,
        ),
    )
