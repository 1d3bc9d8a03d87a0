"""Lecture 4: clipping of per-example gradients."""

from __future__ import annotations

import numpy as np

from dpcourse import sensitivity
from dpcourse.scenes import Axis, Bars, Line, Picture, Rule, choice, dot, panel, picture_of, slider
from dpcourse.scenes.widget import explorer
from dpcourse.sensitivity.rows import clipped, norms

__all__ = ["clipping"]

PEOPLE = 12
#: What the last example's gradient is: one like the others, or one that a strange example has.
LAST = {"one like the others": (1.1, -0.5), "an outlier": (-7.0, -4.6)}
#: How far the picture must reach, and where its ticks are.
REACH = {"one like the others": (4.5, 2), "an outlier": (9.0, 4)}


def gradients(last: str) -> np.ndarray:
    """A dozen gradients in the plane that roughly agree; the last one is chosen."""
    rng = np.random.default_rng(4)
    angles, lengths = rng.normal(0.7, 0.75, PEOPLE), rng.gamma(3.0, 0.7, PEOPLE)
    rows = np.column_stack([lengths * np.cos(angles), lengths * np.sin(angles)])
    rows[-1] = LAST[last]
    return rows


def angle(vector: np.ndarray) -> float:
    """Its direction in degrees, from the first axis."""
    return float(np.degrees(np.arctan2(vector[1], vector[0])))


def arrows(rows: np.ndarray, barb: float) -> tuple[np.ndarray, np.ndarray]:
    """One path that runs from the origin to the tip of every row, draws its two barbs, and returns."""
    lengths = np.maximum(norms(rows), 1e-12)
    back = -rows * (np.minimum(barb, 0.5 * lengths) / lengths)[:, None]
    turned = [back @ np.array([[np.cos(t), np.sin(t)], [-np.sin(t), np.cos(t)]]) for t in (0.45, -0.45)]
    home = np.zeros_like(rows)
    path = np.stack([home, rows, rows + turned[0], rows, rows + turned[1], rows, home], axis=1).reshape(-1, 2)
    return path[:, 0], path[:, 1]


TURN = np.linspace(0, 2 * np.pi, 73)
EXAMPLES = np.arange(1, PEOPLE + 1)


@explorer(
    "A leash for gradients",
    "How far can one example pull the sum?",
    slider("bound", "clipping constant C", [0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 9], 9, "{:g}"),
    choice("last", "the last example is", list(LAST), "an outlier"),
)
def clipping(bound: float, last: str) -> Picture:
    """A dozen gradient arrows: clipped to length C, no single one can move their sum by more than C."""
    before = gradients(last)
    after = clipped(before, bound)
    mean, mean_after = before.mean(0), after.mean(0)
    short = int((norms(before) > bound).sum())
    most = sensitivity.clipped_sum(bound)
    reach, step = max(REACH[last][0], bound), REACH[last][1]
    ticks = tuple((at, f"{at}") for at in range(-2 * step, 2 * step + 1, step))
    return picture_of(
        f"C = {bound:g}: {short} of {PEOPLE} gradients {'is' if short == 1 else 'are'} shortened. The last example "
        f"moves the sum by {norms(before)[-1]:.2f} without clipping, by {norms(after)[-1]:.2f} with it; nobody can "
        f"move it by more than {most:g}. The average has length {norms(mean):.2f} and direction "
        f"{angle(mean):.0f}° before, {norms(mean_after):.2f} and {angle(mean_after):.0f}° after.",
        panel(
            "One arrow for each example",
            Axis("gradient, first coordinate", -reach, reach, ticks=ticks),
            Axis("second coordinate", -reach, reach, ticks=ticks),
            Line(*arrows(before, reach / 14), "gradient", "grey", "dashed", 1.5),
            Line(*arrows(after, reach / 14), "clipped gradient", "blue", "solid", 2),
            Line(bound * np.cos(TURN), bound * np.sin(TURN), "length C", "ink", "dotted", 2),
            height=300,
            equal=True,
        ),
        panel(
            "Their average",
            Axis("first coordinate", -0.5, 1.7),
            Axis("second coordinate", -0.5, 1.7),
            Line([0, mean[0]], [0, mean[1]], "of all gradients", "grey", "dotted", 3),
            Line([0, mean_after[0]], [0, mean_after[1]], "of the clipped ones", "blue", "solid", 3),
            dot(mean[0], mean[1], colour="grey", marker="square", size=8),
            dot(mean_after[0], mean_after[1], colour="blue", size=8),
            height=300,
            equal=True,
        ),
        panel(
            "How far each one moves the sum",
            Axis("example", 0.4, PEOPLE + 0.6),
            Axis("length of the gradient", 0, reach),
            Bars(EXAMPLES, norms(before), "gradient", "grey", "outline"),
            Bars(EXAMPLES, norms(after), "clipped", "blue"),
            Rule(bound, "y"),
            height=300,
        ),
    )
