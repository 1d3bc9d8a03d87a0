"""Lecture 4: SGD and DP-SGD on a loss of two parameters, step by step."""

from __future__ import annotations

import math
from functools import cache, lru_cache

import numpy as np

from dpcourse import accounting
from dpcourse.explore.lecture4.privacy_accounts import DELTA, WRITTEN, readable
from dpcourse.scenes import Axis, Line, Mark, Panel, Picture, again, dot, panel, picture_of, slider
from dpcourse.scenes.widget import explorer
from dpcourse.sensitivity.rows import clipped

__all__ = ["descent", "private_descent"]

PEOPLE, STEPS, LATE, RATE = 200, 80, 20, 0.1
START, LOTS, REACH = np.array([-2.0, 2.5]), (1, 4, 16, 64, 200), 4.0
LEVELS = (0.25, 1.0, 2.25, 4.0)  # of the loss above the least possible one, where its lines are drawn
#: Of the private walk: gradients here are about 4 long at the start.
CLIP, NOISES, PRIVATE_LOTS = 4.0, (0.0, 0.5, 1.0, 2.0, 4.0), (4, 16, 64)


@cache
def people() -> tuple[np.ndarray, np.ndarray]:
    """A straight line is to be found: everybody has a point (1, x) and a value y near 1 - x."""
    rng = np.random.default_rng(7)
    x = rng.normal(0.4, 0.8, PEOPLE)
    return np.column_stack([np.ones(PEOPLE), x]), 1 - x + rng.normal(0, 0.8, PEOPLE)


@cache
def best() -> np.ndarray:
    """The parameters with the smallest average loss."""
    rows, values = people()
    return np.linalg.lstsq(rows, values, rcond=None)[0]


def loss(theta: np.ndarray) -> np.ndarray:
    """The average squared error of everybody, at each row of parameters."""
    rows, values = people()
    return np.asarray(np.mean((np.atleast_2d(theta) @ rows.T - values) ** 2, axis=1))


def walk(lot: int, run: int, noise: float | None = None) -> np.ndarray:
    """The parameters after each step. ``noise`` None: minibatch SGD with ``lot`` examples; otherwise DP-SGD.

    DP-SGD draws Poisson lots, clips each gradient to ``CLIP``, adds noise to the sum, and divides by the expected size.
    """
    rows, values = people()
    rng = np.random.default_rng([run, lot, 0 if noise is None else 1])
    path = [START]
    for _ in range(STEPS):
        if noise is None:
            chosen = rng.choice(PEOPLE, lot, replace=False)
        else:
            chosen = np.flatnonzero(rng.random(PEOPLE) < lot / PEOPLE)
        gradients = 2 * (rows[chosen] @ path[-1] - values[chosen])[:, None] * rows[chosen]
        if noise is None:
            total = gradients.sum(0)
        else:
            total = clipped(gradients, CLIP).sum(0) + noise * CLIP * rng.normal(size=2)
        path.append(path[-1] - RATE * total / lot)
    return np.array(path)


@cache
def lines_of_equal_loss() -> list[Mark]:
    """Ellipses around the best parameters."""
    rows, _ = people()
    turn = np.linspace(0, 2 * math.pi, 73)
    shape = np.linalg.inv(np.linalg.cholesky(rows.T @ rows / PEOPLE)).T
    rings = [best()[:, None] + math.sqrt(level) * shape @ np.array([np.cos(turn), np.sin(turn)]) for level in LEVELS]
    names = ["equally wrong", *[""] * (len(rings) - 1)]
    return [Line(x, y, name, "grey", "dotted", 1.5) for (x, y), name in zip(rings, names, strict=True)]


def walk_panels(path: np.ndarray) -> tuple[Panel, Panel]:
    """The walk on the map of the loss, and the loss after every step. Whoever leaves the map is drawn at its edge."""
    (x, y), (best_x, best_y) = np.clip(path, -REACH, REACH).T, best()
    above = np.clip(loss(path) - loss(best()), 1e-5, 100)
    return (
        panel(
            "The walk, seen from above",
            Axis("first parameter", -REACH, REACH),
            Axis("second parameter", -REACH, REACH),
            lines_of_equal_loss(),
            Line(x, y, "the walk", "blue", "solid", 1.5),
            dot(x[0], y[0], "start", colour="ink", marker="square"),
            dot(best_x, best_y, "best", colour="red", marker="cross", size=10),
            dot(x[-1], y[-1], "end", colour="blue"),
            height=330,
            equal=True,
        ),
        panel(
            "How wrong after each step",
            Axis("step", 0, STEPS),
            Axis("average loss, above the best", 1e-5, 100, log=True),
            Line(np.arange(STEPS + 1), above, colour="blue"),
            height=330,
            share=1.1,
        ),
    )


def late(path: np.ndarray) -> str:
    """How wrong, on average over the last steps (a single one may be luck): two digits, without powers of ten."""
    above = float((loss(path[-LATE:]) - loss(best())).mean())
    return np.format_float_positional(above, precision=2, fractional=False, trim="-")


@explorer(
    "Downhill",
    "How straight is the way down, and how close does it come?",
    slider("lot", "examples in a step", LOTS, 1),
    again("Walk again", 4, "run"),
)
def descent(lot: int, run: int) -> Picture:
    """Online and minibatch SGD on a loss of two parameters: by one example it staggers, by many it walks straight."""
    path = walk(lot, run)
    who = "1 example" if lot == 1 else f"{lot} examples"
    return picture_of(
        f"Each of {STEPS} steps follows the average gradient of {who} of {PEOPLE}: {STEPS * lot:,} gradients in "
        f"all. Over the last {LATE} steps the loss is {late(path)} above the least possible one.",
        *walk_panels(path),
    )


@lru_cache(maxsize=64)
def price(noise: float, lot: int) -> float:
    """Epsilon of the whole walk."""
    return accounting.dp_sgd_epsilon(noise, lot / PEOPLE, STEPS, DELTA) if noise else math.inf


@explorer(
    "Downhill in the fog",
    "What does the noise do to the walk, and what helps?",
    slider("noise", "noise σ", NOISES, 1.0),
    slider("lot", "expected lot size", PRIVATE_LOTS, 16),
    again("Walk again", 4, "run"),
)
def private_descent(noise: float, lot: int, run: int) -> Picture:
    """DP-SGD on the same loss: noise makes the walk stagger, and large lots make it steady again."""
    path = walk(lot, run, noise)
    epsilon = price(noise, lot)
    cost = f"cost ε = {readable(epsilon)} at {WRITTEN}" if noise else "without noise promise nothing"
    return picture_of(
        f"σ = {noise:g}, C = {CLIP:g}, lots of about {lot}: on the average gradient lies noise of σ C / {lot} = "
        f"{noise * CLIP / lot:.3g}. {STEPS} steps {cost}. Over the last {LATE} the loss is {late(path)} "
        f"above the least possible one.",
        *walk_panels(path),
    )
