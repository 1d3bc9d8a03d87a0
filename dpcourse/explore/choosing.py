"""Lecture 1: picking a winner, and the trouble with floats."""

from __future__ import annotations

import math

import numpy as np

from dpcourse import Exponential, data
from dpcourse.explore.widget import explorer
from dpcourse.plots import Axis, Bars, Label, Line, Picture, Points, Rule, Scene, choice, panel, slider

__all__ = ["secret_society"]


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
    labels = []
    for name, (x, y) in where.items():
        shift, anchor = beside.get(name, (0, "middle"))
        text = f"{name} ({lives[name]})" if name in lives else name
        labels.append(Label(x + shift, y - (0.35 if shift else 2.6), text, "ink", anchor))

    def draw(epsilon: float, member: str, city: str) -> Picture:
        mechanism = Exponential(epsilon=epsilon, sensitivity=sensitivity, candidates=names)
        here, there = (mechanism.probabilities(u.to_numpy()) for u in (before, after[member, city]))
        losses = np.log(here / there)
        widest = int(np.argmax(np.abs(losses)))
        ratio = math.exp(abs(losses[widest]))
        mean = means[member, city]
        return Picture(
            (
                panel(
                    "The map: where the members' mean lies",
                    Axis("longitude (degrees)", -127, -56),
                    Axis("latitude (degrees)", 19, 50),
                    Points(cities["longitude"], cities["latitude"], "city", "grey", "square", 7),
                    Line([start[0], mean[0]], [start[1], mean[1]], "", "red", "dotted"),
                    Points([start[0]], [start[1]], "mean of the four", "blue", "diamond", 11),
                    Points([mean[0]], [mean[1]], f"mean if {member} lived elsewhere", "red", "cross", 10),
                    labels,
                    height=310,
                ),
                panel(
                    "Which city is picked?",
                    Axis("probability", 0, 1),
                    Axis("", -0.6, 6.6, ticks=tuple((float(r), n) for r, n in zip(rows, names, strict=True))),
                    Bars(rows + 0.2, here, "as it is", "blue", "solid", 0.36, lying=True),
                    Bars(rows - 0.2, there, f"{member} in {city}", "red", "striped", 0.36, lying=True),
                    Rule(1 / len(names), "x", "1/7: no idea", "grey", "dotted"),
                    height=310,
                ),
            ),
            f"ε = {epsilon:g}: Memphis is picked with probability {here[names.index('Memphis')]:.3f}; with {member} in "
            f"{city} with {there[names.index('Memphis')]:.3f}. The winner without noise: {before.idxmax()}, then "
            f"{after[member, city].idxmax()}. The largest ratio is {ratio:,.3f} ({names[widest]}); allowed are e^ε = "
            f"{math.exp(epsilon):,.3f}.",
        )

    return Scene(
        "Where does the secret society meet?",
        "Can you tell from the chosen city where one member lives?",
        (
            slider("epsilon", "ε", [0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0], 1, "{:g}"),
            choice("member", "who moves", list(members["name"])),
            choice("city", "to", names, "New York"),
        ),
        draw,
    )
