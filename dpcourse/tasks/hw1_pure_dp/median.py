"""Homework 1, the open task: the best private median, audited on hard pairs and scored on its error."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpcourse.audit import epsilon_lower_bound
from dpcourse.audit.epsilon import certified
from dpcourse.tasks.interview import LEVEL, Interview
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.task import Task

# At epsilon 2 to 2.2 and this task's level, 2,900 draws convict a mechanism that spends twice epsilon on the hard pair
# with probability 1 - 1e-6; 1,500 one whose answers fall into an event 3 times in 10 here and never in the neighbour.
# All ordinary tables get equally many draws: how often it is called must not tell a program whether it is watched for
# privacy or paid for accuracy.
JUMP_DRAWS, PAIR_DRAWS, HARD_DRAWS = 500, 1_500, 3_000
# So many are seldom needed: a first look is enough if fewer answers lie below the step than such a mechanism gives
# (half of them; 190 of 500 with probability 5e-8), and not far fewer in the neighbour. The right one gives about 130.
LOOK_DRAWS, LOOK_BELOW, LOOK_LOSS = 500, 190, 1.4
# Pair i: the probes 2i and 2i + 1; of a scored one the first is scored.
JUMP, HARD, TORN, SCORED, CLOSE = 0, 1, 2, (3, 4), 5
ORDINARY = (TORN, *SCORED, CLOSE)
KNOWN_EVENTS = (*SCORED, CLOSE)
TESTS = 2 + len(ORDINARY) + len(KNOWN_EVENTS) + len(SCORED)  # random tests: searches, known events, and the errors


def _median_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Six pairs of neighbours (one row replaced) that are hard to hide.

    Four of the pairs look like any other table, no two rows alike: who is careful only with odd ones is found out. Two
    of these are scored, too, by the very answers that the audit reads: who is accurate there must be private there.
    They are drawn by chance, and so is what is replaced: nothing in a table tells which of the two it is.
    The range is some thousand euros, so that a choice among all whole euros takes seconds and not a minute.
    """
    n, low, high = int(rng.integers(45, 56)) * 2 + 1, 0.0, float(rng.integers(20, 31) * 100)
    epsilon, half = float(rng.uniform(2.0, 2.2)), n // 2
    tables = [np.repeat([low, high], [zeros, n - zeros]) for zeros in (half + 1, half)]  # the median jumps
    step = _step(low, high, epsilon)
    # Below the step half of the rows, above it two more; the neighbour moves one from the left end to the right one.
    tables += [np.repeat([low, step, high], [left, 2, n - left - 2]) for left in (half, half - 1)]
    below, above = np.sort(rng.uniform(low, 0.05 * high, n)), np.sort(rng.uniform(0.9 * high, high, n))
    tables += [np.concatenate([below[:few], above[few:]]) for few in (half + 2, half + 1)]  # its neighbours do
    tables += _without_its_middle(lambda rows: rng.uniform(low, high, rows), n)
    tables += _without_its_middle(lambda rows: high * rng.beta(1.5, 4, rows), n)
    tables += _close_in_the_middle(np.sort(rng.uniform(low, high, n)), high)
    return [{"data": rng.permutation(table).round(2), "low": low, "high": high, "epsilon": epsilon} for table in tables]


def _without_its_middle(drawn: Callable[[int], np.ndarray], n: int) -> list[np.ndarray]:
    """A table drawn by chance, and its neighbour: the middle row is replaced by another of the same law.

    The rows beside the middle are some euros away, so that who rounds to whole ones cannot mix them up.
    """
    half = n // 2
    while True:
        table, other = np.sort(drawn(n)), float(drawn(1)[0])
        if np.diff(table[half - 1 : half + 2]).min() > 3 and abs(other - table[half]) > 3:
            return [table, np.append(np.delete(table, half), other)]


def _close_in_the_middle(ordered: np.ndarray, high: float) -> list[np.ndarray]:
    """A table whose three middle rows are two cents apart, and its neighbour, in which the next row is far."""
    table, half = ordered.copy(), len(ordered) // 2
    table[half - 1 : half + 2] = table[half] + np.array([-0.02, 0, 0.02])
    neighbour = table.copy()
    neighbour[half - 1] = high
    return [table, neighbour]


def _step(low: float, high: float, epsilon: float) -> float:
    """Where the step must be so that a mechanism which spends twice epsilon stays below it half of the time."""
    return low + (high - low) / (1 + math.exp(epsilon))


def rank_error(data: np.ndarray, answers: Any) -> np.ndarray:
    """How many rows lie between an answer and the middle: 0 for a median."""
    ordered, answers = np.sort(data), np.atleast_1d(answers)
    below, up_to = np.searchsorted(ordered, answers, side="left"), np.searchsorted(ordered, answers, side="right")
    return np.asarray(np.maximum(0, np.maximum(below - len(data) / 2, len(data) / 2 - up_to)))


def exponential_median(data: np.ndarray, low: float, high: float, epsilon: float) -> tuple[np.ndarray, np.ndarray]:
    """(probability, rank error) of the gaps between sorted rows, for the exponential mechanism on [low, high].

    Utility: minus the rank error. Replacing a row moves it by at most 1. A gap's weight is its length times
    exp(epsilon u / 2) [Smith 2011, "Privacy-preserving statistical estimation with optimal convergence rates"].
    """
    ends = np.concatenate([[low], np.sort(np.clip(data, low, high)), [high]])
    error = np.abs(np.arange(len(data) + 1) - len(data) / 2)
    weight = np.diff(ends) * np.exp(-epsilon / 2 * (error - error.min()))
    return weight / weight.sum(), error


def _mostly_below(probability: np.ndarray, error: np.ndarray, draws: int, level: float) -> float:
    """What the mean of ``draws`` errors exceeds with probability at most ``level``, by Chernoff's bound, exactly."""
    tilts = np.geomspace(1e-3, 3, 200)
    log_moments = np.log(np.exp(tilts[:, None] * error) @ probability)
    return float(((log_moments + math.log(1 / level) / draws) / tilts).min())


def _judge_median(talk: Interview) -> None:
    level = LEVEL / TESTS
    talk.spent += TESTS * level
    _search(talk, JUMP, [talk.draws(talk.probes[2 * JUMP + side], JUMP_DRAWS) for side in (0, 1)], level)
    found = _ordinary(talk)
    for pair in KNOWN_EVENTS:
        _known_event(talk, pair, [found[2 * pair], found[2 * pair + 1]], level)
    for pair in ORDINARY:
        _search(talk, pair, [found[2 * pair], found[2 * pair + 1]], level)
    _hard_pair(talk, level)
    share, words = _utility(talk, found, level)
    talk.share, talk.wasteful, talk.praise = share, share < 1, words
    talk.noticed = ("wasteful",) if share < 1 else ()


def _ordinary(talk: Interview) -> dict[int, np.ndarray]:
    """The answers to the ordinary tables, by the number of the probe.

    A program that remembers a table could answer its neighbour alike. So it meets one table of each pair, in any order,
    then forgets everything, and meets the others. (Odd tables it knows anyway, by looking at them.)
    """
    found, first = (
        dict[int, np.ndarray](),
        dict(zip(ORDINARY, talk.secret_rng.integers(0, 2, len(ORDINARY)), strict=True)),
    )
    for turn in (0, 1):
        if turn:
            talk.forget()
        for pair in talk.secret_rng.permutation(ORDINARY).tolist():
            number = 2 * pair + (int(first[pair]) ^ turn)
            found[number] = talk.draws(talk.probes[number], PAIR_DRAWS)
    return found


def _hard_pair(talk: Interview, level: float) -> None:
    probes = talk.probes[2 * HARD : 2 * HARD + 2]
    step = float(np.unique(probes[0]["data"])[1])

    def below(draws: int) -> tuple[int, int]:
        one, other = (int(np.count_nonzero(talk.draws(probe, draws) < step)) for probe in probes)
        return one, other

    one, other = below(LOOK_DRAWS)
    if one > LOOK_BELOW or one > other * math.exp(LOOK_LOSS * probes[0]["epsilon"]):
        one, other = below(HARD_DRAWS)
        _audit(talk, HARD, certified(one, HARD_DRAWS, other, HARD_DRAWS, delta=0.0, level=level))


def _known_event(talk: Interview, pair: int, answers: list[np.ndarray], level: float) -> None:
    """Where a common mistake gives a pair away: it needs no search, and so half as many draws.

    Who chooses one of the rows gives the middle one back, to the euro; who chooses a gap without looking at its width
    lands in one of two cents. In the neighbour there is no such row, and no such gap.
    """
    ordered, middle = np.sort(talk.probes[2 * pair]["data"]), len(talk.probes[2 * pair]["data"]) // 2
    left, right = ordered[middle - 1], ordered[middle]
    low, high = (left - 0.005, right - 0.005) if pair == CLOSE else (right - 0.51, right + 0.51)
    one, other = (int(np.count_nonzero((low < side) & (side < high))) for side in answers)
    _audit(talk, pair, certified(one, PAIR_DRAWS, other, PAIR_DRAWS, delta=0.0, level=level))


def _search(talk: Interview, pair: int, answers: list[np.ndarray], level: float) -> None:
    _audit(talk, pair, epsilon_lower_bound(*answers, level=level, rng=talk.secret_rng).epsilon)


def _audit(talk: Interview, pair: int, found: float) -> None:
    probe = talk.probes[2 * pair]
    if found > probe["epsilon"]:
        places = np.unique(probe["data"])
        few = f", all of them at {' and '.join(f'{place:,.0f}' for place in places)}," if len(places) <= 3 else ""
        talk.fail(
            f"I called you on two tables of {len(probe['data'])} rows{few} which differ in one row, and "
            f"could tell them apart better than allowed: your epsilon is at least {found:.2f}; the budget was "
            f"{probe['epsilon']:.2f}."
        )


def _utility(talk: Interview, found: dict[int, np.ndarray], level: float) -> tuple[float, str]:
    """The share of the points: all, where the rows between answer and middle are as few as the exponential's."""
    shares, words = [], []
    for pair in SCORED:
        probe = talk.probes[2 * pair]
        mean = float(rank_error(probe["data"], found[2 * pair]).mean())
        probability, error = exponential_median(**probe)
        usual, limit = float(probability @ error), 1.1 * _mostly_below(probability, error, PAIR_DRAWS, level)
        shares.append(min(1.0, limit / max(mean, 1e-9)))
        words.append(f"{mean:.1f} rows ({usual:.1f})")
    share = float(np.floor(10 * min(shares)) / 10)
    text = f"No pair betrays you. Off the middle by {' and '.join(words)}; in brackets the exponential mechanism."
    if share == 1:
        return share, text
    advice = "Choose a place by its rank: the exponential mechanism with minus the rows to the middle as utility."
    return share, f"{text} Private, as far as I see, but wasteful: {share:.0%} of the points. {advice}"


def _noisy(scale: Any) -> Any:
    """The true median plus Laplace noise of this scale, cut to the range."""

    def median(data: np.ndarray, low: float, high: float, epsilon: float, rng: np.random.Generator) -> float:
        return float(np.clip(np.median(data) + rng.laplace(0, scale(np.sort(data), low, high, epsilon)), low, high))

    return median


def _widest_gap(ordered: np.ndarray, low: float, high: float, epsilon: float) -> float:
    middle = len(ordered) // 2
    return float(max(ordered[middle + 1] - ordered[middle], ordered[middle] - ordered[middle - 1])) / epsilon


def _two_forgotten(data: np.ndarray, low: float, high: float, epsilon: float, rng: np.random.Generator) -> float:
    probability, _ = exponential_median(data, low, high, 2 * epsilon)
    ends = np.concatenate([[low], np.sort(data), [high]])
    gap = int(rng.choice(len(probability), p=probability))
    return float(rng.uniform(ends[gap], ends[gap + 1]))


def _one_of_the_rows(data: np.ndarray, low: float, high: float, epsilon: float, rng: np.random.Generator) -> float:
    error = np.abs(np.arange(len(data)) - (len(data) - 1) / 2)
    weight = np.exp(-epsilon / 2 * error)
    return float(rng.choice(np.sort(data), p=weight / weight.sum()))


def _any_gap(data: np.ndarray, low: float, high: float, epsilon: float, rng: np.random.Generator) -> float:
    ends = np.concatenate([[low], np.sort(data), [high]])
    weight = np.exp(-epsilon / 2 * np.abs(np.arange(len(data) + 1) - len(data) / 2))
    gap = int(rng.choice(len(weight), p=weight / weight.sum()))
    return float(rng.uniform(ends[gap], ends[gap + 1]))


private_median = Task(
    name="private_median",
    see="lecture 1, section 13",
    probes=_median_probes,
    judge=_judge_median,
    mistakes=(
        Mistake(
            "no noise", lambda data, low, high, epsilon: float(np.median(data)),
            "The exact median is one person's value, and it jumps when that person changes it.",
        ),
        Mistake(
            "noise of a mean", _noisy(lambda ordered, low, high, epsilon: (high - low) / len(ordered) / epsilon),
            "The range divided by n is the sensitivity of a mean. A median can jump over the whole range at one row.",
        ),
        Mistake(
            "local sensitivity", _noisy(_widest_gap),
            "The gaps around this table's median are its local sensitivity. They differ from neighbour to neighbour, "
            "and the width of the noise gives them away.",
        ),
        Mistake(
            "two forgotten", _two_forgotten,
            "The exponential mechanism divides by 2 * sensitivity. Replacing a row moves the rank by 1: epsilon u / 2.",
        ),
        Mistake(
            "one of the rows", _one_of_the_rows,
            "You choose among the rows. What comes out is then somebody's exact value, and without that person it "
            "could never have come: the candidates must not depend on the data. Choose among all numbers of the range.",
        ),
        Mistake(
            "gaps without their width", _any_gap,
            "You choose a gap by its rank alone. Two rows that are close then give each other away: a gap of two cents "
            "is as likely as one of two hundred euros. Its weight is its width times exp(epsilon u / 2).",
        ),
        Mistake(
            "wasteful", _noisy(lambda ordered, low, high, epsilon: (high - low) / epsilon),
            "Noise for the whole range hides the median, and everything else with it. Choose a place by its rank "
            "instead: the exponential mechanism with minus the rank error as utility.",
        ),
    ),
)  # fmt: skip
