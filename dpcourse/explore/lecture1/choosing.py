"""Lecture 1: picking a winner, and the trouble with floats."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from dpcourse import Exponential, data
from dpcourse.scenes import Axis, Bars, Label, Line, Picture, Points, Rule, Scene, choice, panel, slider
from dpcourse.scenes.widget import explorer

__all__ = ["secret_society"]


def short(ratio: float) -> str:
    """Three decimals of a small ratio, three significant digits of a large one."""
    return f"{ratio:.3f}" if ratio < 100 else f"{float(f'{ratio:.3g}'):,.0f}"


def small(probability: float) -> str:
    """Three decimals, and never a zero for what is not zero."""
    return f"{probability:.3f}" if probability >= 0.0005 else "below 0.001"


@explorer
def secret_society() -> Scene:
    """The exponential mechanism on the slides' map: u = -d, one member replaced, sensitivity diameter / n = 11.10."""
    cities, members = data.cities(), data.secret_society()
    names = cities["city"].to_list()
    where = dict(zip(names, zip(cities["longitude"], cities["latitude"], strict=True), strict=True))
    sensitivity = data.utility_sensitivity(len(members))
    rows = np.arange(len(names))[::-1]
    before = data.meeting_utility(members)
    start = members[["longitude", "latitude"]].mean().to_numpy()
    moved = {
        (name, city): data.replaced(members, name, city=city, longitude=where[city][0], latitude=where[city][1])
        for name in members["name"]
        for city in names
    }
    after = {key: data.meeting_utility(table) for key, table in moved.items()}
    means = {key: table[["longitude", "latitude"]].mean().to_numpy() for key, table in moved.items()}
    lives = dict(zip(members["city"], members["name"], strict=True))
    beside = {
        "Ottawa": (1.3, "start"),
        "New York": (1.3, "start"),
        "Toronto": (-1.3, "end"),
    }
    budgets = [0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0]
    labels = []
    for name, (x, y) in where.items():
        shift, anchor = beside.get(name, (0, "middle"))
        text = f"{name} ({lives[name]})" if name in lives else name
        labels.append(Label(x + shift, y - (0.35 if shift else 2.6), text, "ink", anchor))

    @lru_cache(maxsize=4096)
    def chances(epsilon: float, move: tuple[str, str] | None) -> np.ndarray:
        """The probability of each city: as the members live, or after a move."""
        mechanism = Exponential(epsilon=epsilon, sensitivity=sensitivity, candidates=names)
        return np.asarray(mechanism.probabilities((before if move is None else after[move]).to_numpy()))

    def telling(epsilon: float, move: tuple[str, str]) -> tuple[float, str]:
        """The largest ratio that a move makes, either way round, and the city that has it."""
        losses = np.abs(np.log(chances(epsilon, None) / chances(epsilon, move)))
        return math.exp(losses.max()), names[int(losses.argmax())]

    @lru_cache(maxsize=64)
    def hardest(epsilon: float) -> tuple[str, str]:
        """The move whose largest ratio is the largest."""
        return max(after, key=lambda move: telling(epsilon, move)[0])

    def draw(epsilon: float, member: str, city: str) -> Picture:
        here, there = chances(epsilon, None), chances(epsilon, (member, city))
        ratio, widest = telling(epsilon, (member, city))
        worst = hardest(epsilon)
        mean, stays = means[member, city], lives.get(city) == member
        first, then = before.idxmax(), after[member, city].idxmax()
        memphis = names.index("Memphis")
        told = (
            f"{member} stays in {city}: nothing changes, and every ratio is 1."
            if stays
            else f"with {member} in {city}, with {small(there[memphis])}. Without noise {first} wins; after the move, "
            f"{then}{' again' if then == first else ''}. Largest ratio: {short(ratio)} ({widest})."
        )
        return Picture(
            (
                panel(
                    "The map: where the members' mean lies",
                    Axis("longitude (degrees)", -127, -46),
                    Axis("latitude (degrees)", 19, 50),
                    Points(cities["longitude"], cities["latitude"], "city", "grey", "square", 7),
                    Line([start[0], mean[0]], [start[1], mean[1]], "", "red", "dotted"),
                    Points([start[0]], [start[1]], "mean of the four", "blue", "diamond", 11),
                    Points([mean[0]], [mean[1]], f"mean with {member} in {city}", "red", "cross", 10),
                    labels,
                    height=310,
                ),
                panel(
                    "Which city is picked?",
                    Axis("probability", 0, 1),
                    Axis("", -0.6, 6.6, ticks=tuple((float(r), n) for r, n in zip(rows, names, strict=True))),
                    Bars(rows + 0.2, here, "as it is", "blue", "solid", 0.36, lying=True),
                    Bars(
                        rows - 0.2,
                        there,
                        f"{member} {'stays' if stays else 'in ' + city}",
                        "red",
                        "striped",
                        0.36,
                        lying=True,
                    ),
                    Rule(1 / len(names), "x", "1/7: no idea", "grey", "dotted"),
                    height=310,
                ),
            ),
            f"ε = {epsilon:g}: Memphis is picked with probability {small(here[memphis])}; {told} Allowed: e^ε = "
            f"{short(math.exp(epsilon))}. Hardest to hide at this ε: {worst[0]} in {worst[1]}, "
            f"{short(telling(epsilon, worst)[0])}.",
        )

    return Scene(
        "Where does the secret society meet?",
        "Can you tell from the chosen city where one member lives?",
        (
            slider("epsilon", "ε", budgets, 1, "{:g}"),
            choice("member", "who moves", list(members["name"])),
            choice("city", "to", names, "New York"),
        ),
        draw,
    )
