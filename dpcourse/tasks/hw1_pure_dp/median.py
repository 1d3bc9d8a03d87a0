"""Homework 1, the open task: the best private median, audited on hard pairs and scored on its error."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpcourse.audit import epsilon_lower_bound
from dpcourse.audit.epsilon import certified
from dpcourse.tasks.declare import judged_task
from dpcourse.tasks.interview import LEVEL, Interview
from dpcourse.tasks.judges.diagnosis import Recorded, explaining, first_and_sum
from dpcourse.tasks.mistake import mistake
from dpcourse.tasks.respondent import Probe

Draw = Callable[[Any, np.random.Generator], float]

PAIR_DRAWS, EXACT_DRAWS = 1_500, 30_000
#: Draws of a hard pair so far, for its two tables, at each look. All the other tables get equally many: how often it
#: is called must not tell a program whether it is watched for privacy or paid for accuracy.
HARD_LOOKS = ((8_000, 4_000), (20_000, 20_000), (100_000, 100_000))
#: Below the step lies this share of the answers of the exponential mechanism that spends 1.25 epsilon, and 0.13 of the
#: right one's, which is let go at the first look. 1.5 epsilon are convicted at the second look with probability
#: 1 - 1e-6, and 1.25 epsilon at the third one.
DOUBTFUL_SHARE, SURE = 1 / 6, 5.2
FEW_EXACT = 5  # of PAIR_DRAWS answers: the exact median in 2% of all answers comes more often, but for 1e-7
ALMOST, NEAR = 0.9, 0.5  # of the points, for who is private and one rank off; with fewer it is another mistake
CHUNK = 20_000  # draws of one request, within the time of a slow program
# Pair i: the probes 2i and 2i + 1; of a scored one the first is scored.
JUMP, RANGE, HARD, TORN, SCORED, CLOSE = 0, 1, (2, 3), 4, (5, 6), 7
ORDINARY = (TORN, *SCORED, CLOSE)
KNOWN_EVENTS = (*SCORED, CLOSE)
# Random tests: searches, known events, the exact median, the looks at the hard pair, the errors, and one rank off.
TESTS = 2 + len(ORDINARY) + len(KNOWN_EVENTS) + len(SCORED) + len(HARD) * len(HARD_LOOKS) + len(SCORED) + 2


def _median_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Eight pairs of neighbours (one row replaced) that are hard to hide.

    The second one has a few rows, of which the smallest becomes the largest: who takes the table's own ends for the
    range is found out. Four of the pairs look like any other table, no two rows alike: who is careful only with odd
    ones is found out, too. Two of these are scored, by the very answers that the audit reads: who is accurate there
    must be private there. They are drawn by chance, and so is what is replaced: nothing in a table tells which it is.
    Of the scored ones, and of the hard ones, one has an even number of rows; of the hard ones one is small, and in one
    no two rows are alike. The range is some thousand euros, so that a choice among all whole euros takes seconds.
    """
    low, high, epsilon = 0.0, float(rng.integers(20, 31) * 100), float(rng.uniform(2.0, 2.2))
    n = int(rng.integers(90, 113))
    tables = [np.repeat([low, high], [zeros, n - zeros]) for zeros in (n // 2 + 1, n // 2)]  # the median jumps
    middle = high * (rng.uniform(0.35, 0.6) + np.cumsum(rng.uniform(0.003, 0.006, int(rng.integers(4, 6)))))
    tables += [np.append(middle, high * end) for end in rng.uniform((0.005, 0.985), (0.015, 0.995))]
    step, small, apart = round(_step(low, high, epsilon), 2), int(rng.integers(2)), int(rng.integers(2))
    for odd in (1, 0):
        half = int(rng.integers(4, 6)) if odd == small else int(rng.integers(45, 56))
        tables += _torn_at(step, high, 2 * half + odd, 0.01 * (odd == apart))
    half, odd = int(rng.integers(45, 56)), int(rng.integers(2))
    n = 2 * half + odd
    below, above = np.sort(rng.uniform(low, 0.05 * high, n)), np.sort(rng.uniform(0.9 * high, high, n))
    tables += [np.concatenate([below[:few], above[few:]]) for few in (half + odd + 1, half + odd)]  # its neighbours do
    tables += _without_its_middle(lambda rows: rng.uniform(low, high, rows), n)
    tables += _without_its_middle(lambda rows: high * rng.beta(1.5, 4, rows), n + 1)
    tables += _close_in_the_middle(np.sort(rng.uniform(low, high, n)), high)
    return [{"data": rng.permutation(table).round(2), "low": low, "high": high, "epsilon": epsilon} for table in tables]


def _torn_at(step: float, high: float, n: int, apart: float) -> list[np.ndarray]:
    """Half of the rows at 0, one or two at the step, the others at the right end; the neighbour moves one there.

    So a place below the step is one rank nearer to the middle than one above it, and in the neighbour one rank further.
    """
    tables, at = [], 1 + n % 2
    for left in (n // 2, n // 2 - 1):
        right = np.arange(n - left - at)
        tables.append(np.concatenate([apart * np.arange(left), step + apart * np.arange(at), high - apart * right]))
    return tables


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
    """Where the step must be so that who spends 1.25 epsilon stays below it in the doubtful share of the answers."""
    odds = (1 - DOUBTFUL_SHARE) / DOUBTFUL_SHARE
    return low + (high - low) / (1 + odds * math.exp(0.625 * epsilon))


def rank_error(data: np.ndarray, answers: Any) -> np.ndarray:
    """How many rows lie between an answer and the middle: 0 for a median."""
    ordered, answers = np.sort(data), np.atleast_1d(answers)
    below, up_to = np.searchsorted(ordered, answers, side="left"), np.searchsorted(ordered, answers, side="right")
    return np.asarray(np.maximum(0, np.maximum(below - len(data) / 2, len(data) / 2 - up_to)))


def exponential_median(
    data: np.ndarray, low: float, high: float, epsilon: float, shift: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """(probability, rank error) of the gaps between sorted rows, for the exponential mechanism on [low, high].

    ``shift``: so many ranks off, by mistake.

    Utility: minus the rank error. Replacing a row moves it by at most 1. A gap's weight is its length times
    exp(epsilon u / 2) [Smith 2011, "Privacy-preserving statistical estimation with optimal convergence rates"].
    """
    ends = np.concatenate([[low], np.sort(np.clip(data, low, high)), [high]])
    error = np.abs(np.arange(len(data) + 1) + shift - len(data) / 2)
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
    for pair in (JUMP, RANGE):
        _search(talk, pair, [talk.draws(talk.probes[2 * pair + side], PAIR_DRAWS) for side in (0, 1)], level)
    answers = _ordinary(talk)
    for pair in KNOWN_EVENTS:
        _known_event(talk, pair, answers[pair], level)
    for pair in SCORED:
        _exact_median(talk, pair, answers[pair][0], level)
    for pair in ORDINARY:
        _search(talk, pair, answers[pair], level)
    for pair in HARD:
        _hard_pair(talk, pair, level)
    _utility(talk, {pair: answers[pair][0] for pair in SCORED}, level)


def _ordinary(talk: Interview) -> dict[int, list[np.ndarray]]:
    """The answers to the two tables of each ordinary pair.

    A program that remembers a table could answer its neighbour alike. So it meets one table of each pair, in any order,
    then forgets everything, and meets the others. (Odd tables it knows anyway, by looking at them.)
    """
    answers = {pair: [np.empty(0)] * 2 for pair in ORDINARY}
    first = dict(zip(ORDINARY, talk.secret_rng.integers(0, 2, len(ORDINARY)).tolist(), strict=True))
    for turn in (0, 1):
        if turn:
            talk.forget()
        for pair in talk.secret_rng.permutation(ORDINARY).tolist():
            side = first[pair] ^ turn
            answers[pair][side] = talk.draws(talk.probes[2 * pair + side], PAIR_DRAWS)
    return answers


def _hard_pair(talk: Interview, pair: int, level: float) -> None:
    """How often do the answers lie below the step? More is drawn only for who may do so too often."""
    probes = talk.probes[2 * pair : 2 * pair + 2]
    step, below, drawn = float(np.sort(probes[0]["data"])[len(probes[0]["data"]) // 2]), [0, 0], [0, 0]
    for draws in HARD_LOOKS:
        for side in (0, 1):
            while drawn[side] < draws[side]:
                more = min(CHUNK, draws[side] - drawn[side])
                below[side] += int(np.count_nonzero(talk.draws(probes[side], more) < step))
                drawn[side] += more
        _audit(talk, pair, certified(below[0], drawn[0], below[1], drawn[1], delta=0.0, level=level))
        if _is_harmless(below, drawn, math.exp(probes[0]["epsilon"])):
            return


def _is_harmless(below: Sequence[int], draws: Sequence[int], allowed: float) -> bool:
    """Too few lie below the step for 1.25 epsilon, and not far fewer in the neighbour; or there nearly as many may."""
    mean = draws[0] * DOUBTFUL_SHARE
    few = below[0] < mean - SURE * math.sqrt(mean * (1 - DOUBTFUL_SHARE))
    one, other = below[0] / draws[0], below[1] / draws[1] * allowed
    return other > 1.5 * one or (few and other > 0.4 * one)


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


def _exact_median(talk: Interview, pair: int, answers: np.ndarray, level: float) -> None:
    """Does the exact median come out now and then? Somebody's value then does, and never in the neighbour.

    Of an even number of rows that is the mean of the two in the middle, or the upper one.
    """
    probes = talk.probes[2 * pair : 2 * pair + 2]
    exact = [float(median(probes[0]["data"])) for median in (np.median, statistics.median_high)]

    def exact_ones(answers: np.ndarray) -> int:
        return int(np.count_nonzero(np.abs(answers[:, None] - exact).min(axis=1) < 1e-6))

    if exact_ones(answers) < FEW_EXACT:
        return
    talk.forget()
    hits = []
    for probe in probes:
        hits.append(exact_ones(talk.draws(probe, EXACT_DRAWS)))
        talk.forget()
    _audit(talk, pair, certified(hits[0], EXACT_DRAWS, hits[1], EXACT_DRAWS, delta=0.0, level=level))


def _search(talk: Interview, pair: int, answers: Sequence[np.ndarray], level: float) -> None:
    _audit(talk, pair, epsilon_lower_bound(*answers, level=level, rng=talk.secret_rng).epsilon)


def _audit(talk: Interview, pair: int, bound: float) -> None:
    probe = talk.probes[2 * pair]
    if bound > probe["epsilon"]:
        talk.failing = probe
        places = np.unique(probe["data"])
        few = f", all of them at {' and '.join(f'{place:,.0f}' for place in places)}," if len(places) <= 3 else ""
        talk.fail(
            f"I called you on two tables of {len(probe['data'])} rows{few} which differ in one row, and "
            f"could tell them apart better than allowed: your epsilon is at least {bound:.2f}; the budget was "
            f"{probe['epsilon']:.2f}."
        )


def _utility(talk: Interview, answers: dict[int, np.ndarray], level: float) -> None:
    """The share of the points: all, where the rows between answer and middle are as few as the exponential's."""
    shares, words, worse = [], [], 0.0
    for pair in SCORED:
        probe = talk.probes[2 * pair]
        mean = float(rank_error(probe["data"], answers[pair]).mean())
        probability, error = exponential_median(**probe)
        limit = 1.1 * _mostly_below(probability, error, PAIR_DRAWS, level)
        shares.append(min(1.0, limit / max(mean, 1e-9)))
        worse += mean - float(probability @ error)
        words.append(f"{mean:.1f} rows ({float(probability @ error):.1f})")
    off = worse > 0 and any(_is_off(talk, answers, shift, level) for shift in (1, -1))
    talk.share = float(np.floor(10 * min(*shares, ALMOST if off else 1)) / 10)
    text = "No pair betrays you (in the last digits I see nothing). "
    text += f"Off the middle by {' and '.join(words)}; in brackets the exponential mechanism."
    if talk.share == 1:
        talk.praise = text
        return
    records = [Recorded(talk.probes[2 * pair], PAIR_DRAWS, answers[pair]) for pair in SCORED]
    private = {one.name: one for one in talk.task.mistakes if one.hides}
    name = explaining(private.values(), records, talk.task.answer, first_and_sum)
    if off and not name and talk.share > NEAR:
        name = "rank from 0"
    advice = "Choose a place by its rank: the exponential mechanism with minus the rows to the middle as utility."
    talk.wasteful, talk.noticed = True, (name or "wasteful",)
    talk.praise = (
        f"{text} Private, but wasteful: {talk.share:.0%} of the points. {private[name].message if name else advice}"
    )


def _is_off(talk: Interview, answers: dict[int, np.ndarray], shift: int, level: float) -> bool:
    """Are the answers likelier, by a factor of 1 / level, for who is so many ranks off than for the right mechanism?

    The right one's answers are so with probability at most ``level`` (Markov's inequality).
    """
    evidence = 0.0
    for pair, some in answers.items():
        probe = talk.probes[2 * pair]
        gaps = np.searchsorted(np.sort(probe["data"]), some)
        right, wrong = (np.maximum(exponential_median(**probe, shift=by)[0], 1e-12) for by in (0, shift))
        evidence += float(np.log(wrong[gaps] / right[gaps]).sum())
    return evidence > math.log(1 / level)


def _noisy(scale: Callable[[Any], float], center: Callable[[Any], float] = np.median) -> Draw:
    """The true median (or another ``center`` of the rows) plus Laplace noise of this scale, cut to the range."""
    return lambda p, rng: float(np.clip(center(p.data) + rng.laplace(0, scale(p)), p.low, p.high))


def _widest_gap(p: Any) -> float:
    """The wider one of the two gaps beside the median."""
    middle = len(p.data) // 2
    return float(np.diff(np.sort(p.data)[middle - 1 : middle + 2]).max())


def _by_gap(factor: float = 0.5, shift: int = 0, widths: bool = True, own_range: bool = False) -> Draw:
    """A gap by e^(-factor epsilon (rows to the middle)) and its width, then a place in it; right as it stands."""

    def draw(p: Any, rng: np.random.Generator) -> float:
        ordered = np.sort(p.data)
        ends = ordered if own_range else np.concatenate([[p.low], ordered, [p.high]])
        below = np.arange(len(ends) - 1) + own_range + shift  # so many rows lie below the gap, or one more by mistake
        weight = np.exp(-factor * p.epsilon * np.abs(below - len(ordered) / 2))
        if widths:
            weight = weight * np.diff(ends)
        if not weight.sum() > 0:
            return float(ends[0])
        gap = int(rng.choice(len(weight), p=weight / weight.sum()))
        return float(rng.uniform(ends[gap], ends[gap + 1]))

    return draw


def _one_of_the_rows(p: Any, rng: np.random.Generator) -> float:
    weight = np.exp(-p.epsilon / 2 * np.abs(np.arange(len(p.data)) - (len(p.data) - 1) / 2))
    return float(rng.choice(np.sort(p.data), p=weight / weight.sum()))


private_median = judged_task(
    "private_median",
    see="lecture 1, section 13",
    probes=_median_probes,
    judge=_judge_median,
    mistakes=[
        mistake(
            "no noise",
            "The exact median is one person's value, and it jumps when that person changes it.",
            lambda p: float(np.median(p.data)),
        ),
        mistake(
            "noise of a mean",
            "The range divided by n is the sensitivity of a mean. A median can jump over the whole range at one row.",
            draw=_noisy(lambda p: (p.high - p.low) / len(p.data) / p.epsilon),
        ),
        mistake(
            "local sensitivity",
            "The gaps around this table's median are its local sensitivity. They differ from neighbour to neighbour, "
            "and the width of the noise gives them away.",
            draw=_noisy(lambda p: _widest_gap(p) / p.epsilon),
        ),
        mistake(
            "two forgotten",
            "The exponential mechanism divides by 2 * sensitivity. Replacing a row moves the rank by 1: epsilon u / 2.",
            draw=_by_gap(factor=1),
        ),
        mistake(
            "one of the rows",
            "You choose among the rows. What comes out is then somebody's exact value, and without that person it "
            "could never have come: the candidates must not depend on the data. Choose among all numbers of the range.",
            draw=_one_of_the_rows,
        ),
        mistake(
            "gaps without their width",
            "You choose a gap by its rank alone. Two rows that are close then give each other away: a gap of two cents "
            "is as likely as one of two hundred euros. Its weight is its width times exp(epsilon u / 2).",
            draw=_by_gap(widths=False),
        ),
        mistake(
            "range of the table",
            "You choose between the smallest and the largest row. Those are two people's values: no answer lies beyond "
            "them, and that tells them. Choose among all numbers from low to high.",
            draw=_by_gap(own_range=True),
        ),
        mistake(
            "rank from 0",
            "You are one rank off: below the first row lie 0 rows, so gap i, counted from 0, has i rows below it, and "
            "n - i above.",
            draw=_by_gap(shift=1), hides=True,
        ),
        mistake(
            "four instead of two",
            "It looks like epsilon u / 4. Replacing a row moves the rank by 1: epsilon u / 2 is private, too.",
            draw=_by_gap(factor=0.25), hides=True,
        ),
        mistake(
            "mean for median",
            "It looks like the mean. A few large incomes draw it far from the middle row; asked for is the median.",
            draw=_noisy(lambda p: (p.high - p.low) / len(p.data) / p.epsilon, np.mean), hides=True,
        ),
        mistake(
            "data not looked at",
            "It looks like any place of the range, whatever the rows are.",
            draw=lambda p, rng: float(rng.uniform(p.low, p.high)), hides=True,
        ),
        mistake(
            "wasteful",
            "Noise for the whole range hides the median, and everything else with it. Choose a place by its rank "
            "instead: the exponential mechanism with minus the rank error as utility.",
            draw=_noisy(lambda p: (p.high - p.low) / p.epsilon), hides=True,
        ),
    ],
)  # fmt: skip
