"""Lecture 1: the exponential mechanism chooses the city where a society meets."""

from __future__ import annotations

import itertools
import math
from functools import cache, lru_cache

import numpy as np

from dpcourse import data
from dpcourse.mechanisms import Exponential
from dpcourse.scenes import Axis, Bars, Label, Line, Picture, Points, Rule, choice, dot, panel, picture_of, slider
from dpcourse.scenes.widget import explorer

__all__ = ["secret_society"]


def short(ratio: float) -> str:
    """Three decimals of a small ratio, three significant digits of a large one."""
    return f"{ratio:.3f}" if ratio < 100 else f"{float(f'{ratio:.3g}'):,.0f}"


def small(probability: float) -> str:
    """Three decimals, and never a zero for what is not zero."""
    return f"{probability:.3f}" if probability >= 0.0005 else "below 0.001"


CITIES = ("Ottawa", "Toronto", "New York", "Washington", "Memphis", "Los Angeles", "La Habana")
RESIDENTS = {"Los Angeles": "Alice", "New York": "Bob", "Washington": "Charlie", "Toronto": "Xander"}
BUDGETS = (0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0)
#: Where a city's name stands beside its place, and not below it.
BESIDE = {"Ottawa": (1.3, "start"), "New York": (1.3, "start"), "Toronto": (-1.3, "end")}
ROWS = np.arange(len(CITIES))[::-1]
TICKS = tuple(zip(ROWS.astype(float).tolist(), CITIES, strict=True))

#: Who moves, and to which city.
Move = tuple[str, str]


@cache
def places() -> dict[str, tuple[float, float]]:
    """Longitude and latitude of each city."""
    table = data.cities().set_index("city")
    return {city: (table.longitude[city], table.latitude[city]) for city in CITIES}


@cache
def city_labels() -> list[Label]:
    """The cities' names on the map, with those who live there."""
    labels = []
    for city, (x, y) in places().items():
        shift, anchor = BESIDE.get(city, (0, "middle"))
        text = f"{city} ({RESIDENTS[city]})" if city in RESIDENTS else city
        labels.append(Label(x + shift, y - (0.35 if shift else 2.6), text, anchor=anchor))
    return labels


@cache
def mean_and_utility(move: Move | None) -> tuple[np.ndarray, np.ndarray]:
    """Where the members' mean lies, and how well each city suits them: as they live, or after a move."""
    members = data.secret_society()
    if move is not None:
        (longitude, latitude), (member, city) = places()[move[1]], move
        members = data.replaced(members, member, city=city, longitude=longitude, latitude=latitude)
    mean = members[["longitude", "latitude"]].mean().to_numpy()
    return mean, data.meeting_utility(members).loc[list(CITIES)].to_numpy()


@lru_cache(maxsize=4096)
def chances(epsilon: float, move: Move | None) -> np.ndarray:
    """The probability of each city: as the members live, or after a move."""
    sensitivity = data.utility_sensitivity(len(RESIDENTS))
    mechanism = Exponential(epsilon=epsilon, sensitivity=sensitivity, candidates=CITIES)
    return np.asarray(mechanism.probabilities(mean_and_utility(move)[1]))


def largest_ratio(epsilon: float, move: Move) -> tuple[float, str]:
    """The largest ratio that a move makes, either way round, and the city that has it."""
    losses = np.abs(np.log(chances(epsilon, None) / chances(epsilon, move)))
    return math.exp(losses.max()), CITIES[int(losses.argmax())]


@lru_cache(maxsize=64)
def hardest_move(epsilon: float) -> Move:
    """The move whose largest ratio is the largest."""
    return max(itertools.product(RESIDENTS.values(), CITIES), key=lambda move: largest_ratio(epsilon, move)[0])


@explorer(
    "Where does the secret society meet?",
    "Can you tell from the chosen city where one member lives?",
    slider("epsilon", "ε", BUDGETS, 1, "{:g}"),
    choice("member", "who moves", list(RESIDENTS.values())),
    choice("city", "to", CITIES, "New York"),
)
def secret_society(epsilon: float, member: str, city: str) -> Picture:
    """The exponential mechanism on the slides' map: u = -d, one member replaced, sensitivity diameter / n = 11.10."""
    here, there = chances(epsilon, None), chances(epsilon, (member, city))
    ratio, widest = largest_ratio(epsilon, (member, city))
    worst = hardest_move(epsilon)
    ((x, y), before), ((moved_x, moved_y), after) = mean_and_utility(None), mean_and_utility((member, city))
    first, then = CITIES[before.argmax()], CITIES[after.argmax()]
    longitudes, latitudes = zip(*places().values(), strict=True)
    stays = RESIDENTS.get(city) == member
    moved = "stays" if stays else f"in {city}"
    memphis = CITIES.index("Memphis")
    consequence = (
        f"{member} stays in {city}: nothing changes, and every ratio is 1."
        if stays
        else f"with {member} in {city}, with {small(there[memphis])}. Without noise {first} wins; after the "
        f"move, {then}{' again' if then == first else ''}. Largest ratio: {short(ratio)} ({widest})."
    )
    return picture_of(
        f"ε = {epsilon:g}: Memphis is picked with probability {small(here[memphis])}; {consequence} Allowed: e^ε = "
        f"{short(math.exp(epsilon))}. Hardest to hide at this ε: {worst[0]} in {worst[1]}, "
        f"{short(largest_ratio(epsilon, worst)[0])}.",
        panel(
            "The map: where the members' mean lies",
            Axis("longitude (degrees)", -127, -46),
            Axis("latitude (degrees)", 19, 50),
            Points(longitudes, latitudes, "city", "grey", "square", 7),
            Line([x, moved_x], [y, moved_y], colour="red", dash="dotted"),
            dot(x, y, "mean of the four", colour="blue", marker="diamond", size=11),
            dot(moved_x, moved_y, f"mean with {member} in {city}", colour="red", marker="cross", size=10),
            city_labels(),
            height=310,
        ),
        panel(
            "Which city is picked?",
            Axis("probability", 0, 1),
            Axis("", -0.6, 6.6, ticks=TICKS),
            Bars(ROWS + 0.2, here, "as it is", "blue", "solid", 0.36, lying=True),
            Bars(ROWS - 0.2, there, f"{member} {moved}", "red", "striped", 0.36, lying=True),
            Rule(1 / len(CITIES), "x", "1/7: no idea", "grey", "dotted"),
            height=310,
        ),
    )
