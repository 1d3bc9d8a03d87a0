"""Local privacy for categories: a million SRR answers against numpy and two packages, and the adaptive loop."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.figures import Figure, median_seconds
from dpcourse import KaryResponse
from dpcourse.adaptive_ldp.simulation import microseconds_per_arrival

PEOPLE, CATEGORIES, EPSILON = 1_000_000, 20, 1.0
#: The peers answer for one person at a time; their time is that of a part of the people, scaled up.
PART = 50_000


def pure_ldp(people: np.ndarray) -> Callable[[], object]:
    """Direct encoding of pure-ldp (Maddock), one call for each person."""
    from pure_ldp.frequency_oracles.direct_encoding import DEClient

    client, answers = DEClient(EPSILON, CATEGORIES, index_mapper=lambda x: x), people.tolist()
    return lambda: [client.privatise(answer) for answer in answers]


def multi_freq_ldpy(people: np.ndarray) -> Callable[[], object]:
    """Generalised randomized response of multi-freq-ldpy (Arcolezi et al.), one call of compiled code per person."""
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

    answers = people.tolist()
    return lambda: [GRR_Client(answer, CATEGORIES, EPSILON) for answer in answers]


PEERS = {"pure-ldp": pure_ldp, "multi-freq-ldpy": multi_freq_ldpy}


def srr() -> list[Figure]:
    rng = np.random.default_rng(1)
    people = rng.integers(CATEGORIES, size=PEOPLE)
    response = KaryResponse(epsilon=EPSILON, k=CATEGORIES)

    def ours() -> object:
        return response.release(people, rng=rng)

    ours()
    our_time, numpy_time = median_seconds(ours, lambda: rng.integers(CATEGORIES, size=PEOPLE), repeats=25)
    figures = [Figure("time of a million SRR answers / numpy's `integers`", our_time / numpy_time, 3, "20 categories")]
    for name, make in PEERS.items():
        try:
            theirs = make(people[:PART])
        except ImportError as error:
            print(f"  no figure for {name} ({error}): python -m pip install {name} statsmodels")
            continue
        theirs()  # the first call compiles
        our_time, peer_time = median_seconds(ours, theirs, repeats=5)
        ratio = our_time / (peer_time * PEOPLE / PART)
        figures.append(Figure(f"time of a million SRR answers / {name}", ratio, 0.1, f"{1 / ratio:.0f} times as fast"))
    return figures


def loop() -> list[Figure]:
    together, alone = microseconds_per_arrival()
    what = "adaptive survey: microseconds per arrival and run, 50 runs side by side"
    detail = f"20 categories, 20 updates, subset chosen; one run at a time {alone:.0f}"
    return [Figure(what, together, 40, detail)]


def run() -> list[Figure]:
    return srr() + loop()
