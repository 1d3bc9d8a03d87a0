"""Who makes a generator with a fixed seed inside the function tosses the same coin at every call: how to see it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpcourse.tasks.complaints import Complaint
from dpcourse.tasks.interview import Interview
from dpcourse.tasks.respondent import Probe

FEW = 20  # calls that must all give the same answer

SAME = "always the same coin"

#: What to say about it.
SAME_COIN = (
    "Your coin is tossed, but falls the same way at every call: is a generator made inside the function, with a fixed "
    "seed? Then each call begins again with the same number. Draw from the `rng` that you are given, or make your own "
    "generator once, outside the function."
)


def is_constant(answers: np.ndarray) -> bool:
    """Is it always the same answer?"""
    return bool((answers == answers[0]).all())


def constants(talk: Interview, probes: Sequence[Probe]) -> list[np.ndarray]:
    """The answers to these probes, as far as each is always the same; a probe that stops the function ends the list.

    They are asked aside: to find out which known mistake it is, only the questions of the task itself are compared.
    """
    before, steady = list(talk.recorded), list[np.ndarray]()
    try:
        for probe in probes:
            answers = talk.draws(probe, FEW)
            if not is_constant(answers):
                return []
            steady.append(answers[0])
    except Complaint:
        pass
    finally:
        talk.recorded[:] = before
    return steady


def same_coin(talk: Interview, probe: Probe, *, far: float) -> bool:
    """Of answers that never change: do they still follow epsilon? Then a coin is tossed, but always the same one.

    Without a coin the answer is the same for every epsilon. One and the same coin u, compared with a probability that
    epsilon moves from 0 to 1, must change sides. ``far``: an epsilon at which the best answer is nearly certain; at
    -far it nearly never comes. (Whoever refuses a negative epsilon is asked the first two only.)
    """
    steady = constants(talk, [{**probe, "epsilon": epsilon} for epsilon in (far, 0.01, -far)])
    return len({str(one) for one in steady}) > 1
