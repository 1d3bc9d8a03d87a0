"""Lecture 4, training for real: stored runs on handwritten digits and reviews (``python -m tools.train_grid``)."""

from __future__ import annotations

import math
import statistics

import numpy as np

from dpcourse.explore.accounts import key
from dpcourse.explore.stored import stored
from dpcourse.explore.widget import explorer
from dpcourse.plots import (
    Axis,
    Bars,
    Label,
    Line,
    Picture,
    Points,
    Rule,
    Scene,
    choice,
    panel,
    slider,
)

__all__ = ["supervised_tasks", "training_run"]

DELTA, RATE, EPOCHS = 1e-5, 1.0, 15
SIGMAS, CLIPS, LOTS = (0.5, 1.0, 2.0, 4.0, 8.0), (0.1, 0.3, 1.0, 3.0, 10.0), (32, 128, 512)
BUDGETS = (1.0, 2.0, 5.0, math.inf)
#: Per task: settings for a finite budget, and settings without privacy. Found by hand, the same for every epsilon.
SETTINGS: dict[str, tuple[dict[str, float], dict[str, float]]] = {
    "digits": ({"epochs": 20, "lot_size": 256, "rate": 1.0}, {"epochs": 20, "lot_size": 128, "rate": 1.0}),
    "3,200 reviews": (
        {"epochs": 20, "lot_size": 256, "rate": 10.0, "clip": 0.5},
        {"epochs": 20, "lot_size": 64, "rate": 2.0},
    ),
    "16,000 reviews": (
        {"epochs": 20, "lot_size": 256, "rate": 10.0, "clip": 0.5},
        {"epochs": 20, "lot_size": 64, "rate": 2.0},
    ),
}
#: What guessing gets.
CHANCE = {"digits": 10, "3,200 reviews": 50, "16,000 reviews": 50}


@explorer
def training_run() -> Scene:
    """DP-SGD on 1,438 digits: accuracy and epsilon over the epochs, for three dials."""
    grid = stored("digits")
    epochs = np.arange(1, EPOCHS + 1)
    # Words stand left of the first epoch, where no curve can be.
    axis = Axis("epoch", -3.5, EPOCHS + 0.5, ticks=tuple((at, f"{at}") for at in (1, 5, 10, 15)))
    plain = 100 * np.array(grid["plain"])

    def draw(sigma: float, clip: float, lot: int) -> Picture:
        # Between the stops there is no run to show: the nearest one stands in.
        near = [min(stops, key=lambda s: abs(math.log(s / v))) for stops, v in ((SIGMAS, sigma), (CLIPS, clip))]
        size = min(LOTS, key=lambda s: abs(s - lot))
        accuracy = 100 * np.array(grid["accuracy"][key(*near, size)])
        epsilon = np.array(grid["epsilon"][key(near[0], size)])
        return Picture(
            (
                panel(
                    "Accuracy on 359 new digits",
                    axis,
                    Axis("accuracy (%)", 0, 102),
                    Line(epochs, plain, "plain SGD", "grey", "dotted", 2.5),
                    Line(epochs, accuracy, "DP-SGD", "blue", "solid", 3),
                    Points([EPOCHS], [accuracy[-1]], "", "blue", "circle", 9),
                    Rule(10, "y", "", "grey", "dotted"),
                    Label(-3.4, 11, "guessing", "grey", "start"),
                ),
                panel(
                    "ε spent",
                    axis,
                    Axis(f"ε at δ = {DELTA:.0e}", 0.04, 400, log=True),
                    Line(epochs, epsilon, "", "red", "solid", 3),
                    Points([EPOCHS], [epsilon[-1]], "", "red", "square", 9),
                    Rule(3, "y", "", "ink", "dashed"),
                    Label(-3.4, 3.2, "ε = 3", "ink", "start"),
                ),
            ),
            f"σ = {near[0]:g}, C = {near[1]:g}, lots of {size}: after {EPOCHS} epochs {accuracy[-1]:.1f}% are right "
            f"(plain SGD: {plain[-1]:.1f}%), and ε = {epsilon[-1]:.3g} is spent. Each curve is the median of three "
            f"real runs on {grid['n']:,} digits with step size {RATE:g}.",
        )

    controls = (
        slider("sigma", "noise σ", SIGMAS, 1.0),
        slider("clip", "clipping constant C", CLIPS, 10.0),
        slider("lot", "expected lot size", LOTS, 32, "{:d}"),
    )
    return Scene("Three dials of a private training", "Can you get above 90% with ε below 3?", controls, draw)


@explorer
def supervised_tasks() -> Scene:
    """As in Senge et al. (2022), on our small tasks: what each budget leaves of the accuracy."""
    tasks = stored("tasks")
    places = np.arange(len(BUDGETS))
    ticks = tuple((int(i), "∞" if math.isinf(e) else f"{e:g}") for i, e in enumerate(BUDGETS))

    def draw(task: str) -> Picture:
        runs = 100 * np.array([tasks[task]["accuracy"][f"{e:g}"] for e in BUDGETS])
        middle = [statistics.median(row) for row in runs]
        return Picture(
            (
                panel(
                    f"{task}: five runs for each budget",
                    Axis("privacy budget ε", -1.7, 3.5, ticks=ticks),
                    Axis("accuracy on new examples (%)", 0, 102),
                    Bars(places, middle, "median", "sky", "striped", 0.6),
                    Points(np.repeat(places, runs.shape[1]), runs.ravel(), "one run", "ink", "circle", 8),
                    Rule(CHANCE[task], "y", "", "grey", "dotted"),
                    Label(-1.65, CHANCE[task] + 1, "guessing", "grey", "start"),
                    height=280,
                ),
            ),
            f"{task} ({tasks[task]['n']:,} training examples, δ = 1e-05): median accuracy {middle[0]:.1f}% at ε = 1, "
            f"{middle[1]:.1f}% at 2, {middle[2]:.1f}% at 5, {middle[3]:.1f}% without privacy; guessing gets "
            f"{CHANCE[task]}%.",
        )

    controls = (choice("task", "task", list(SETTINGS), "digits"),)
    return Scene("What a budget leaves", "Which task suffers most from privacy?", controls, draw)
