"""The secret society and the cities: where shall the next meeting be? (Lecture 4, the exponential mechanism.)

Coordinates are the slide's (latitude, longitude) in degrees, and distance is Euclidean in degrees, as on the slide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpcourse import checks
from dpcourse.data.tables import names, pick, uniforms

if TYPE_CHECKING:
    import pandas as pd

_CITIES = {
    "Ottawa": (45, -75),
    "Toronto": (43, -79),
    "New York": (40, -74),
    "Washington": (38, -77),
    "Memphis": (35, -90),
    "Los Angeles": (34, -118),
    "La Habana": (23, -82),
}
_MEMBERS = {"Alice": "Los Angeles", "Bob": "New York", "Charlie": "Washington", "Xander": "Toronto"}


def cities() -> pd.DataFrame:
    """The public list of all cities: columns ``city``, ``latitude``, ``longitude``."""
    import pandas as pd

    latitude, longitude = zip(*_CITIES.values(), strict=True)
    return pd.DataFrame({"city": list(_CITIES), "latitude": latitude, "longitude": longitude})


def secret_society(n: int = 4, *, seed: int = 0) -> pd.DataFrame:
    """The members and where they live: columns ``name``, ``city``, ``latitude``, ``longitude`` (lecture 4, Table 5).

    The mean of the slide's four members is (38.75, -87), not (36, -88) as printed there; Memphis is still the closest.
    Larger societies keep the four and draw the others' cities from the public list.
    """
    import pandas as pd

    n = checks.whole_number("n", n, at_least=4)
    homes = np.array(list(_CITIES))[pick(uniforms(seed, n - 4), 0, len(_CITIES) - 1)].tolist()
    people, lives_in = list(_MEMBERS), list(_MEMBERS.values())
    city = [*lives_in[:3], *homes, lives_in[3]]
    return pd.DataFrame(
        {
            "name": [*people[:3], *names(n - 4), people[3]],
            "city": city,
            "latitude": [_CITIES[home][0] for home in city],
            "longitude": [_CITIES[home][1] for home in city],
        }
    )


def meeting_utility(members: pd.DataFrame, candidates: pd.DataFrame | None = None) -> pd.Series:
    """u(D, c) = -d(mean of D, c) for every candidate city c (default: :func:`cities`), indexed by city.

    The slide takes u = 1/d. That has no finite sensitivity, because the mean may fall on a city, and so no noise makes
    it private; minus the distance ranks the cities the same way and has the sensitivity of :func:`utility_sensitivity`.
    """
    import pandas as pd

    if len(members) == 0:
        raise ValueError(f"members must hold at least one row, got {len(members)}")
    candidates = cities() if candidates is None else candidates
    distance = np.linalg.norm(_points(candidates) - _points(members).mean(axis=0), axis=1)
    return pd.Series(-distance, index=candidates["city"].to_list(), name="utility")


def utility_sensitivity(n: int, candidates: pd.DataFrame | None = None) -> float:
    """Sensitivity of :func:`meeting_utility`: diameter / n, over all candidates and all pairs of neighbours.

    For a public number of members n, replace-one neighbours, and members who live in the public cities: replacing one
    moves the mean by at most the largest distance between two cities, divided by n, and a distance to the mean changes
    by no more than the mean moves. Attained when all live in one end of the diameter and one moves to the other end.
    44.41 / 4 = 11.10 for the slide.
    """
    n = checks.whole_number("n", n)
    points = _points(cities() if candidates is None else candidates)
    return float(np.linalg.norm(points[:, None] - points[None, :], axis=2).max()) / n


def _points(table: pd.DataFrame) -> np.ndarray:
    return checks.finite_array("coordinates", table[["latitude", "longitude"]].to_numpy())
