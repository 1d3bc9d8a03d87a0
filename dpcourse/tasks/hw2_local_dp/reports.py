"""Homework 2, second part: randomized response for one bit and for k categories, judged by the reports' shares."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from scipy.special import chdtrc

from dpcourse.audit import binomial_fit
from dpcourse.mechanisms import KaryResponse, theta
from dpcourse.tasks.complaints import Complaint
from dpcourse.tasks.interview import LEVEL, Failed, Interview
from dpcourse.tasks.judges.diagnosis import LIKELY, draws_of
from dpcourse.tasks.judges.fixed_seed import SAME_COIN, is_constant, same_coin
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.pictures import shares
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.task import Task
from dpcourse.tasks.wording import arguments

right_theta = lru_cache(maxsize=64)(theta)  # asked thousands of times with the same epsilon
START = 2_000  # a report is one digit: it takes more of them than of noisy numbers to tell two mistakes apart
MOST = 20_000  # of the last look: enough to tell k from k - 1 in the share of the truth
FAR = 30.0  # an epsilon at which the truth is nearly certain
NAMING = 6_000  # reports to each probe, to find out which mistake it is
PROBABILITY, SWAPPED = "probability for a report", "keep and lie swapped"


def responses_of(own: str) -> Callable[[Interview], None]:
    """The reports on the category ``probe[own]`` must be those of k-ary response (k = 2 if the probe names no k).

    Two exact binomial tests: is the truth told as often as e^eps/(e^eps + k - 1), and, given a lie, is each of the
    other categories as likely as the next one?
    """

    def judge(talk: Interview) -> None:
        level = LEVEL / (len(talk.probes) + 1) / 2  # looks, and two tests in each
        try:
            for probe in talk.probes:
                _look(talk, probe, int(probe[own]), START, level)
            _look(talk, talk.probes[-1], int(talk.probes[-1][own]), MOST, level)
        except Failed as failed:
            if failed.possible is not None:  # no category was reported: not a matter of shares
                raise
            asked = talk.recorded[-1]
            if is_constant(asked.found) and same_coin(talk, asked.probe, far=FAR):
                raise Failed(failed.text, ("always the same coin",)) from None
            name = failed.name or _known(talk) or ("another coin" if own == "bit" else "")
            wasteful = failed.wasteful and name != SWAPPED  # that one may be private here, and is not everywhere
            raise Failed(
                failed.text, (name,) if name else (), wasteful, lambda known: False
            ) from None  # all have been compared
        talk.praise = f"Your reports to {len(talk.probes)} probes come as often as they should."

    return judge


def _look(talk: Interview, probe: Probe, own: int, draws: int, level: float) -> None:
    right = KaryResponse(epsilon=probe["epsilon"], k=probe.get("k", 2))
    about = f"I called you {draws:,} times with {arguments(probe)}."
    reports = talk.draws(probe, draws)
    strange = reports[~np.isin(reports, np.arange(right.k))]
    if strange.size:
        allowed = f"which is no category: they are 0 to {right.k - 1}" if "k" in probe else "but a report is 0 or 1"
        chance = is_constant(reports) and 0 < reports[0] < 1
        text = f"{about} You reported {strange[0]:g}, {allowed}."
        raise Failed(text, (PROBABILITY,) if chance else (), possible=lambda known: False)
    counts = np.bincount(reports.astype(int), minlength=right.k)
    if talk.public:
        talk.picture = shares(talk.task.name, list(map(str, range(right.k))), counts / draws, right.matrix[own])
    told, lies = int(counts[own]), np.delete(counts, own)
    words, wasteful = _on_the_truth(told, lies, right)
    talk.require(binomial_fit(told, draws, right.truth, level=level), f"{about} {words}", wasteful=wasteful)
    if right.k > 2:
        for category, lie in zip(np.delete(np.arange(right.k), own), lies, strict=True):
            talk.require(
                binomial_fit(int(lie), int(lies.sum()), 1 / len(lies), level=level / len(lies)),
                f"{about} Of your {lies.sum():,} lies {lie / lies.sum():.1%} are {category}; each of the {len(lies)} "
                f"others should get {1 / len(lies):.1%}. A lie that comes more often than another betrays something.",
            )


def _known(talk: Interview) -> str:
    """The mistake whose function reports each category as often, at all probes together, or "".

    A chi-square of two samples: two coins that differ by 0.04 are told apart. Kolmogorov-Smirnov would be far too lax
    for so few different answers; and at a single probe two mistakes may have the same shares.
    """
    try:
        found = [talk.draws(probe, NAMING) for probe in talk.probes]
    except Complaint:  # a later probe stops the function: no known mistake does
        return ""
    likely = {known.name: _alike(talk, known, found) for known in talk.task.mistakes}
    name = max(likely, key=lambda one: likely[one])
    return name if likely[name] > LIKELY else ""


def _alike(talk: Interview, known: Mistake, found: list[np.ndarray]) -> float:
    """How likely is it that these reports and those of the wrong function have the same law?"""
    statistic, freedom = 0.0, 0
    for number, (probe, reports) in enumerate(zip(talk.probes, found, strict=True)):
        theirs = draws_of(known, talk.task.answer, probe, NAMING, 1_000_003 + number)
        k = probe.get("k", 2)
        ours, others = ([np.count_nonzero(sample == one) for one in range(k)] for sample in (reports, theirs))
        if sum(ours) < NAMING or sum(others) < NAMING:  # something else than a category
            return 0.0
        statistic += sum(
            (one - other) ** 2 / (one + other) for one, other in zip(ours, others, strict=True) if one + other
        )
        freedom += k - 1
    return float(chdtrc(freedom, statistic))


def _on_the_truth(told: int, lies: np.ndarray, right: KaryResponse) -> tuple[str, bool]:
    """What to say if the truth is told too often or too seldom, and whether that is only wasteful."""
    share = told / (told + lies.sum())
    text = f"You told the truth in {share:.1%} of them; {right.truth:.1%} is right."
    if share > right.truth:
        odds = f"{told / lies.mean():.3g}" if lies.any() else "infinite"
        bound = f"e^epsilon = {math.exp(right.epsilon):.3g}"
        return f"{text} Against any one other answer its odds are {odds}, more than {bound}: no promise kept.", False
    even = lies.sum() >= 100 and all(  # fewer lies say nothing on how they are spread
        binomial_fit(int(lie), int(lies.sum()), 1 / len(lies), level=0.01).passed for lie in lies if len(lies) > 1
    )
    if not even or told < lies.max():
        return text, False
    spent = f"epsilon = {math.log(told / lies.mean()):.2g} of the {right.epsilon:.3g} that are allowed"
    return f"{text} Your reports spend only about {spent}: private, but wasteful.", True


def _bit_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """A "yes" before a "no", so that who never says "no" by chance is known by it; a large epsilon last.

    At a large epsilon the three attempts differ most, and the last probe is drawn most often.
    """
    sides = ((0.8, 1.1), (1.2, 1.7), (2, 2.6), (2, 2.6))
    bits = (1, 0, *rng.permutation([0, 1]))
    return [{"bit": int(bit), "epsilon": float(rng.uniform(*ends))} for bit, ends in zip(bits, sides, strict=True)]


def _flipping(bit: int, truth: float, rng: np.random.Generator) -> int:
    return bit if rng.random() < truth else 1 - bit


randomized_response = Task(
    name="randomized_response",
    see="lecture 2, section 7 (Randomized response)",
    probes=_bit_probes,
    judge=responses_of("bit"),
    mistakes=(
        Mistake(
            "always the truth", lambda bit, epsilon: bit,
            "No coin is tossed: the report is the secret.",
        ),
        Mistake(
            "deaf to the bit", lambda bit, epsilon: 1,
            "Whatever the bit is, the report is yes: perfectly private, and nobody learns anything.",
        ),
        Mistake(
            "flipped too often", lambda bit, epsilon, rng: _flipping(bit, 1 - right_theta(epsilon), rng),
            "Keep and flip are swapped: theta is the probability of the truth. It would be as private, but whoever "
            "counts the answers takes every yes for a no.",
        ),
        Mistake(
            "fair coin", lambda bit, epsilon, rng: _flipping(bit, 0.5, rng),
            "A fair coin is perfectly private and tells nothing, about the class neither. Use the epsilon you are "
            "given.",
        ),
        Mistake(
            "first attempt", lambda bit, epsilon, rng: _flipping(bit, right_theta(epsilon, "first"), rng),
            "It looks like theta = (eps + 1)/(eps + 2), the first attempt. It keeps the promise, and wastes budget.",
        ),
        Mistake(
            "quadratic attempt", lambda bit, epsilon, rng: _flipping(bit, right_theta(epsilon, "quadratic"), rng),
            "It looks like the odds 1 + eps + eps^2/2. They keep the promise, and e^epsilon would still keep it.",
        ),
        Mistake(
            "coin instead of the flip",
            lambda bit, epsilon, rng: bit if rng.random() < right_theta(epsilon) else int(rng.random() < 0.5),
            "If the first coin says so, report the flipped bit. You toss a second coin, which gives the truth half of "
            "the time again; the odds grow beyond e^epsilon.",
        ),
        Mistake(
            "no instead of the flip", lambda bit, epsilon, rng: bit if rng.random() < right_theta(epsilon) else 0,
            'Instead of flipping, "no" is reported. Then every "yes" is true, and nobody who says it can deny it.',
        ),
        Mistake(
            "epsilon not used", lambda bit, epsilon, rng: _flipping(bit, 0.75, rng),
            "The truth comes with 75% whatever epsilon is: the two-coin version, which has the budget ln 3 built in.",
        ),
        Mistake(
            PROBABILITY, lambda bit, epsilon: right_theta(epsilon) if bit else 1 - right_theta(epsilon),
            "That is a probability. Toss a coin that has it, and report what the coin says.",
        ),
        Mistake(
            "always the same coin",
            lambda bit, epsilon: _flipping(bit, right_theta(epsilon), np.random.default_rng(0)),
            SAME_COIN,
        ),
    ),
)  # fmt: skip


def _category_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """The first category, the last one, and one between them: a response may be right for one and not for another.

    And one of two categories, before the last probe: there it must be randomized response.
    """
    sizes = rng.permutation(np.arange(4, 7)).tolist()
    own = (0, sizes[1] - 1, int(rng.integers(1, sizes[2] - 1)))
    asked = list(zip(own, sizes, strict=True))
    asked.insert(2, (int(rng.integers(2)), 2))
    return [{"category": category, "k": k, "epsilon": float(rng.uniform(1.2, 2))} for category, k in asked]


@lru_cache(maxsize=64)
def _truth(k: int, epsilon: float) -> float:
    return KaryResponse(epsilon=epsilon, k=k).truth


def _other(category: int, k: int, rng: np.random.Generator) -> int:
    return (category + 1 + int((k - 1) * rng.random())) % k


def _seeded(category: int, k: int, epsilon: float, rng: np.random.Generator) -> int:
    return category if rng.random() < _truth(k, epsilon) else _other(category, k, rng)


kary_response = Task(
    name="kary_response",
    see="lecture 2, section 9 (k-ary response)",
    probes=_category_probes,
    judge=responses_of("category"),
    mistakes=(
        Mistake(
            "theta of one bit",
            lambda category, k, epsilon, rng: (
                category if rng.random() < right_theta(epsilon) else _other(category, k, rng)
            ),
            "That is theta for two categories. Here each single lie gets only a (k-1)-th of 1 - theta, and the odds "
            "grow to (k - 1) e^epsilon: the truth stands out too much.",
        ),
        Mistake(
            "a lie may be the truth",
            lambda category, k, epsilon, rng: (
                category if rng.random() < _truth(k, epsilon) else int(k * rng.random())
            ),
            "Your lies are drawn from all k categories, the true one included: then the truth comes too often.",
        ),
        Mistake(
            "always the truth", lambda category, k, epsilon: category,
            "No coin is tossed: the report is the secret.",
        ),
        Mistake(
            "any category", lambda category, k, epsilon, rng: int(k * rng.random()),
            "Every category is equally likely whatever the truth is: perfectly private, and no use to anybody.",
        ),
        Mistake(
            "always the same lie",
            lambda category, k, epsilon, rng: (
                category if rng.random() < _truth(k, epsilon) else (category + 1) % k
            ),
            "Your lie is always the next category, so the remaining ones never come: who reports one of those cannot "
            "have your secret. No epsilon covers that.",
        ),
        Mistake(
            "k for k - 1",
            lambda category, k, epsilon, rng: (
                category if rng.random() < 1 / (1 + k * math.exp(-epsilon)) else _other(category, k, rng)
            ),
            "There are k - 1 other categories, not k: theta = e^eps / (e^eps + k - 1).",
        ),
        Mistake(
            SWAPPED,
            lambda category, k, epsilon, rng: (
                _other(category, k, rng) if rng.random() < _truth(k, epsilon) else category
            ),
            "Keep and lie are swapped: e^eps / (e^eps + k - 1) is the probability of your own category. As it is, the "
            "truth comes more often the smaller epsilon is, and for a small one the promise is broken.",
        ),
        Mistake(
            PROBABILITY, lambda category, k, epsilon: _truth(k, epsilon),
            "That is a probability. Toss a coin that has it, and report a category.",
        ),
        Mistake(
            "always the same coin",
            lambda category, k, epsilon: _seeded(category, k, epsilon, np.random.default_rng(0)),
            SAME_COIN,
        ),
    ),
)  # fmt: skip


TASKS: tuple[Task, ...] = (randomized_response, kary_response)
