"""Judging a choice: does each of the possible answers come as often as it should, and independently of the last call?

Exact binomial tests: one for each label, and one for the answers of two calls, at any distance, being the same.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import bdtrc, chdtrc, softmax

from dpcourse.audit import binomial_fit
from dpcourse.tasks.complaints import Complaint
from dpcourse.tasks.interview import LEVEL, Failed, Interview
from dpcourse.tasks.judges.calls import oddest_agreement
from dpcourse.tasks.judges.diagnosis import draws_of
from dpcourse.tasks.judges.fixed_seed import SAME, same_coin
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.pictures import shares as painted
from dpcourse.tasks.probes import Edge
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.wording import arguments

START = 2_000  # of the first look at each probe
DRAWS = 10_000  # of the second look
DOUBTFUL = 0.05  # a p-value below which more is drawn: one right answer in twenty
NAMING = 5_000  # draws of each probe, to find out which mistake it is
NAMED = 2e-3  # a p-value below which no mistake is named
HOPELESS = 1e-12  # a p-value of the first probes that the others cannot mend
CLEARLY = 100  # times less likely than another epsilon must a mistake not be
FAR = 40.0  # an epsilon at which the best answer nearly always comes
PROBABILITY = "a probability for an answer"


class Asked(NamedTuple):
    """A probe, the answers that it may get, how often each should come, and which one is somebody's secret (or -1)."""

    probe: Probe
    labels: list[Any]
    right: np.ndarray
    own: int

    @property
    def likeliest(self) -> int:
        """The place of the answer that should come most often."""
        return int(np.argmax(self.right))

    def counts(self, answers: np.ndarray) -> np.ndarray:
        """How often each label came."""
        return np.array([np.count_nonzero(answers == label) for label in self.labels])


def shares_of(
    shares: Callable[..., Any],
    labels: Callable[..., Any],
    *,
    draws: int | None = None,
    every: bool = False,
    more: int = 0,
    own: Callable[..., Any] | None = None,
) -> Callable[[Interview], None]:
    """The student's answers must be ``labels(**probe)`` with the probabilities ``shares(**probe)``.

    ``draws``: of the second look, at the last probe or at ``every`` one. If the likeliest answer's share is doubtful
    then, ``more`` are drawn, and all of them are judged together: a test of its own with a level of its own. ``own``:
    the label that is somebody's secret; then a wrong share is told what it means for that person.
    """

    def judge(talk: Interview) -> None:
        asked = []
        for probe in talk.probes:
            names = list(labels(**probe))
            secret = names.index(own(**probe)) if own else -1
            asked.append(Asked(probe, names, np.asarray(shares(**probe), dtype=float), secret))
        second = [one for one in asked if not isinstance(one.probe, Edge)] if every else asked[-1:]
        level = LEVEL / (len(asked) + len(second) + bool(more))
        try:
            first, stopped = dict[int, np.ndarray](), None
            for one in asked:
                try:
                    first[id(one)] = talk.draws(one.probe, START)
                except Complaint as complaint:  # at an edge: is it right elsewhere?
                    if not isinstance(one.probe, Edge):
                        raise
                    stopped = stopped or complaint
                    continue
                _look(talk, one, first[id(one)], level)
            for one in second:
                answers = talk.draws(one.probe, draws or DRAWS)
                _look(talk, one, answers, level, first[id(one)])
            if more and _doubtful(one, answers):
                _look(talk, one, np.concatenate([answers, talk.draws(one.probe, more)]), level)
        except Failed as failed:
            if failed.names:
                raise
            raise _diagnosed(talk, asked, failed) from None
        if stopped:
            raise stopped
        talk.praise = f"Your answers to {len(asked)} probes come as often as they should."

    return judge


def _look(talk: Interview, asked: Asked, answers: np.ndarray, level: float, before: Any = ()) -> None:
    """One look at one probe. Half of the level goes to the likeliest answer, which sees most.

    ``before``: earlier answers to the same probe, for what hangs together.
    """
    draws, about = len(answers), f"I called you {len(answers):,} times with {arguments(asked.probe)}."
    talk.failing = asked.probe
    seen = np.unique(answers).tolist()
    strange = [one for one in seen if one not in asked.labels]
    if strange:
        some = ", ".join(map(repr, asked.labels[:6])) + (", ..." if len(asked.labels) > 6 else "")
        text = f"{about} You answered {_as_label(strange[0])}, which is none of {some}."
        chance = len(seen) == 1 and isinstance(strange[0], float) and 0 < strange[0] < 1
        talk.fail(text, name=PROBABILITY if chance and _known(talk, PROBABILITY) else "")
    if len(seen) == 1 and 2 * asked.right.max() ** draws <= level / 4:  # the binomials below would say so, too
        same = f"{about} Every answer was {_as_label(seen[0])}"
        if same_coin(talk, asked.probe, far=FAR):
            talk.fail(f"{same}.", name=SAME)
        talk.fail(f"{same}: no coin is tossed.")
    if len(asked.labels) == 1:
        return
    counts = asked.counts(answers)
    if talk.public:
        talk.picture = painted(talk.task.name, list(map(str, asked.labels)), counts / draws, asked.right, what="answer")
    likeliest = asked.likeliest
    order = [likeliest, *(place for place in np.argsort(-np.abs(counts / draws - asked.right)) if place != likeliest)]
    for place in order:
        label, hits, share = asked.labels[place], int(counts[place]), float(asked.right[place])
        secret = ", the truth," if place == asked.own else ""
        talk.require(
            binomial_fit(hits, draws, share, level=level / 2 if place == likeliest else level / 4 / (len(counts) - 1)),
            f"{about} You answered {label!r}{secret} in {hits / draws:.1%} of them; {share:.1%} is right.",
        )
    _look_at_calls(talk, asked, np.concatenate([before, answers]) if len(before) else answers, level / 4)


def _look_at_calls(talk: Interview, asked: Asked, answers: np.ndarray, level: float) -> None:
    """Two calls at a distance give the same answer as often as two that know nothing of each other.

    Wrong shares change that, too: then it is the shares that are told.
    """
    places = np.argmax([answers == label for label in asked.labels], axis=0)
    odd = oddest_agreement(places, asked.right, level)
    shares = asked.counts(answers) / len(answers)
    about, expected = f"I called you {len(answers):,} times with {arguments(asked.probe)}.", np.square(shares).sum()
    if abs(odd.share - expected) > 4 * np.sqrt(expected * (1 - expected) / odd.pairs):
        how = "in a row" if odd.distance == 1 else f"at a distance of {odd.distance:,}"
        text = (
            f"Two calls {how} gave the same answer in {odd.share:.1%} of the pairs; {np.square(asked.right).sum():.1%} "
            f"is right: one call must not depend on another."
        )
        talk.require(odd.fit, f"{about} {text}", name="calls that hang together")
        return
    most = int(np.argmax(np.abs(shares - asked.right)))
    text = f"You answered {asked.labels[most]!r} in {shares[most]:.1%} of them; {asked.right[most]:.1%} is right."
    talk.require(odd.fit, f"{about} {text}")


def _as_label(answer: Any) -> str:
    """An answer as a student wrote it: 4, and not 4.0, which numpy made of it."""
    return f"{answer:g}" if isinstance(answer, float) else repr(answer)


def _doubtful(asked: Asked, answers: np.ndarray) -> bool:
    """Does the likeliest answer come a little too often, or too seldom?"""
    place = asked.likeliest
    hits = int(asked.counts(answers)[place])
    return not binomial_fit(hits, len(answers), float(asked.right[place]), level=DOUBTFUL).passed


def _known(talk: Interview, name: str) -> bool:
    return any(one.name == name for one in talk.task.mistakes)


def _diagnosed(talk: Interview, asked: Sequence[Asked], failed: Failed) -> Failed:
    """The failure with the name of its mistake, and what it means for whoever answers."""
    inner, edges = ([one for one in asked if isinstance(one.probe, Edge) is edge] for edge in (False, True))
    samples = list[np.ndarray]()
    failing = [one for one in edges if one.probe is failed.probe]  # a mistake must explain it, too
    with contextlib.suppress(Complaint):  # a later probe stops the function: no known mistake does
        for one in [*inner, *failing]:
            samples.append(talk.draws(one.probe, NAMING))
    if len(samples) < len(inner) + len(failing):
        return Failed(failed.text, probe=failed.probe, diagnosed=True)
    likely = {known.name: _likely(talk, known, [*inner, *failing], samples) for known in talk.task.mistakes}
    name = max(likely, key=lambda one: likely[one])  # the first of several
    names = (name,) if likely[name] > max(NAMED, _rescaled(inner, samples[: len(inner)]) / CLEARLY) else ()
    wasteful, note = _meaning(inner, samples[: len(inner)])
    with contextlib.suppress(Complaint):
        wasteful = wasteful and not any(_says_too_much(one, talk.draws(one.probe, START)) for one in edges)
        note = note if wasteful or not note.startswith("That is private") else ""
    known = next((one for one in talk.task.mistakes if names and one.name == name), None)
    if known is not None and known.hides is not None:
        wasteful, note = known.hides and (wasteful or any(one.own < 0 for one in asked)), ""
    return Failed(failed.text, names, wasteful=wasteful, note=note, probe=failed.probe, diagnosed=True)


def _likely(talk: Interview, known: Mistake, asked: Sequence[Asked], samples: Sequence[np.ndarray]) -> float:
    """How likely is it that these answers and those of the wrong function have one law? A chi-square of two samples.

    Over all labels of all probes together, and at the oddest probe: at a single one two mistakes may be the same.
    """
    statistic, freedom, least = 0.0, 0, 1.0
    for number, (one, answers) in enumerate(zip(asked, samples, strict=True)):
        try:
            theirs = one.counts(draws_of(known, talk.task.answer, one.probe, len(answers), 1_000_003 + number))
        except Complaint:
            return 0.0
        ours = one.counts(answers)
        if ours.sum() < len(answers) or theirs.sum() < len(answers):  # something else than a label
            return 0.0
        came = (ours + theirs) > 0
        here = float(((ours - theirs)[came] ** 2 / (ours + theirs)[came]).sum()), int(np.count_nonzero(came)) - 1
        statistic, freedom = statistic + here[0], freedom + here[1]
        least = min(least, float(chdtrc(max(here[1], 1), here[0])))
        if chdtrc(max(freedom, 1), statistic) < HOPELESS:
            return 0.0
    return min(1.0, len(asked) * least, float(chdtrc(freedom, statistic)) if freedom else 1.0)


def _says_too_much(asked: Asked, answers: np.ndarray) -> bool:
    """Is the truth told more often than it may be?"""
    if asked.own < 0:
        return False
    return bool(bdtrc(asked.counts(answers)[asked.own] - 1, len(answers), asked.right[asked.own]) < 1e-5)


def _rescaled(asked: Sequence[Asked], samples: Sequence[np.ndarray]) -> float:
    """How likely are these answers if all odds are right but for one power, as with another epsilon?"""
    counts = [one.counts(answers) for one, answers in zip(asked, samples, strict=True)]
    logs = [np.log(np.maximum(one.right, 1e-300)) for one in asked]

    def statistic(power: float) -> float:
        total = 0.0
        for ours, log in zip(counts, logs, strict=True):
            expected = ours.sum() * softmax(power * log)
            total += float(((ours - expected) ** 2 / np.maximum(expected, 1)).sum())
        return total

    best = minimize_scalar(statistic, bounds=(-3, 5), method="bounded")
    return float(chdtrc(sum(map(len, counts)) - len(counts) - 1 or 1, best.fun))


def _meaning(asked: Sequence[Asked], samples: Sequence[np.ndarray]) -> tuple[bool, str]:
    """Is the secret told less often than it may be, at all probes, and no other answer favoured? And the words."""
    if any(one.own < 0 for one in asked):
        return False, ""
    ratios, own = [], []
    for one, answers in zip(asked, samples, strict=True):
        counts = one.counts(answers).astype(float)
        if counts.sum() < len(answers):  # something else than a label: no share says what it means
            return False, ""
        own.append((counts[one.own], one.right[one.own]))
        others = np.delete(counts, one.own)
        expected = np.delete(one.right, one.own)
        truth = counts[one.own] / max(counts.sum(), 1)
        odds = counts[one.own] / np.maximum(others, 0.5) / (one.right[one.own] / expected)  # 1 where all is right
        if odds.max() > 1.25 and truth > one.right[one.own]:
            return False, "The truth stands out more than epsilon allows: that promise is not kept."
        even = others.sum() > 0 and all(
            binomial_fit(int(count), int(others.sum()), float(share / expected.sum()), level=1e-3).passed
            for count, share in zip(others, expected, strict=True)
            if len(others) > 1
        )
        ratios.append(truth / one.right[one.own] if even and truth >= others.max() / max(counts.sum(), 1) else np.inf)
    hits, right = (np.array(one) for one in zip(*own, strict=True))
    draws = len(samples[0])
    seldom = (hits - draws * right).sum() < -4.5 * math.sqrt(draws * (right * (1 - right)).sum())
    if max(ratios) < 1.03 and (min(ratios) < 0.97 or seldom):
        return True, "That is private, but wasteful: epsilon allows the truth more often."
    return False, ""
