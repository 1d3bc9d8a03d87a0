"""Homework 2: a student's own number, between 0 and 15, with Laplace noise of the student's own."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence

import numpy as np

from dpcourse.mechanisms import LocalLaplace
from dpcourse.tasks.complaints import Complaint
from dpcourse.tasks.interview import Failed, Interview
from dpcourse.tasks.judges.noise import noise_of
from dpcourse.tasks.judges.noise_law import Noise
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.task import Task
from dpcourse.tasks.wording import arguments, shown

LECTURES = 15  # nobody can skip more
DRAWS = 28_000  # of the last look: enough to tell 16/epsilon from 15/epsilon with probability 1 - 1e-6
NARROW = (20, 30)  # an epsilon whose noise, of scale 0.5 to 0.75, shows with 300 draws if the number is moved by 1
NEAR = 0.02  # a scale that is so near to 16/epsilon is called so; of 20,000 draws its relative deviation is 0.007
SIXTEEN, ENDS = "sixteen values", "ends off by one"


def _skipped_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """One who claims far more lectures than there are, one who mistypes a number below 0, and two inside the range.

    The noise of the first three is narrow: few draws see whether the number is brought to the end, and not next to it.
    """
    return [
        {"skipped": float(rng.integers(25, 40)), "epsilon": float(rng.uniform(*NARROW))},
        {"skipped": -float(rng.integers(10, 25)), "epsilon": float(rng.uniform(*NARROW))},
        {"skipped": float(rng.integers(9, 13)), "epsilon": float(rng.uniform(*NARROW))},
        {"skipped": float(rng.integers(3, 8)), "epsilon": float(rng.uniform(0.3, 0.7))},
    ]


def _skipped_law(skipped: float, epsilon: float) -> Noise:
    right = LocalLaplace(epsilon=epsilon, low=0, high=LECTURES)
    return Noise(min(max(skipped, 0), LECTURES), right.scale)


def _judge_local_laplace(talk: Interview) -> None:
    """Reports cut to 0..15 are a mistake of their own: private, but no longer right on average."""
    seen, spreads = [], []
    for probe in talk.probes:
        reports = talk.draws(probe, talk.few)
        seen.append((probe, reports))
        spreads.append(float(np.ptp(reports)))
        ends = int(np.count_nonzero((reports == 0) | (reports == LECTURES)))
        if 0 < ends < talk.few and reports.min() >= 0 and reports.max() <= LECTURES:
            talk.fail(
                f"I called you {talk.few} times with {arguments(probe)}: {ends} of your reports are exactly 0 or 15.",
                name="report clipped",
            )
        if probe["skipped"] < 0 < spreads[0] and not spreads[-1]:
            talk.fail(
                f"I called you {talk.few} times with {arguments(probe)}: every report was {shown(reports[0])}.",
                name="scale from the own value",
            )
    try:
        noise_of(_skipped_law, draws=DRAWS)(talk)
    except Failed as failed:
        if failed.name:  # no noise, the same noise, rounded
            raise
        words, name = _moved(seen)
        failed.names = (name,) if name else ()
        if words:
            failed.text, failed.possible = f"{failed.text} {words}", lambda known: False
        else:
            _only_if_sixteen(talk, failed)
        raise


def _moved(seen: Sequence[tuple[Probe, np.ndarray]]) -> tuple[str, str]:
    """Where the numbers of the narrow probes are brought to, if that is a little beside the right place; and the name.

    Only to choose the words. The median of 300 reports has a standard deviation of 0.04.
    """
    wrong = []
    for probe, reports in seen:
        right, middle = _skipped_law(**probe), float(np.median(reports))
        # Laplace noise of the right scale: 1, give or take 0.06. One-sided noise has 0.7, and another middle.
        width = float(np.abs(reports - middle).mean()) / right.scale
        if probe["epsilon"] >= NARROW[0] and 0.8 < width < 1.25 and 0.3 < abs(middle - right.center) < 3.5:
            place = round(middle) if abs(middle - round(middle)) < 0.2 else round(middle, 1)
            wrong.append((probe, place, right.center))
    if not wrong:
        return "", ""
    inside = [one for one in wrong if 0 < one[0]["skipped"] < LECTURES]
    probe, place, center = (inside or wrong)[0]
    if inside:
        words = f"Your noise does not lie around the number: {shown(probe['skipped'])} is reported as about {place}"
        return f"{words}, plus noise.", ""
    ends = all(abs(place - center) == 1 for _, place, center in wrong)
    return f"You bring {shown(probe['skipped'])} to about {place}, not to {shown(center)}.", ENDS if ends else ""


def _only_if_sixteen(talk: Interview, failed: Failed) -> None:
    """Many scales are not far from 16/epsilon: it is called so only where the measured one is."""
    asked, before, possible = talk.recorded[-1], list(talk.recorded), failed.possible
    reports = asked.found
    if len(reports) < talk.many:
        with contextlib.suppress(Complaint):
            reports = talk.draws(asked.probe, talk.many)
        talk.recorded[:] = before  # asked aside
    width = float(np.abs(reports - _skipped_law(**asked.probe).center).mean()) * asked.probe["epsilon"]
    near = abs(width / (LECTURES + 1) - 1) < NEAR
    failed.possible = lambda known: (near or known.name != SIXTEEN) and (possible is None or possible(known))


local_laplace = Task(
    name="local_laplace",
    see="lecture 2, section 3 (A database of one person)",
    probes=_skipped_probes,
    judge=_judge_local_laplace,
    mistakes=(
        Mistake(
            "sensitivity 1",
            lambda skipped, epsilon, rng: min(max(skipped, 0), LECTURES) + rng.laplace(0, 1 / epsilon),
            "That is the scale for a count, where one person changes the answer by 1. Here the neighbour is any other "
            "student, and the number may change by 15.",
        ),
        Mistake(
            "scale upside down",
            lambda skipped, epsilon, rng: min(max(skipped, 0), LECTURES) + rng.laplace(0, LECTURES * epsilon),
            "It looks like 15 * epsilon: a larger epsilon, less privacy, must mean less noise. The scale is "
            "15/epsilon.",
        ),
        Mistake(
            "value not clipped", lambda skipped, epsilon, rng: skipped + rng.laplace(0, LECTURES / epsilon),
            "Noise for a range of 15 hides nobody who is further away: bring the number into 0..15 before the noise.",
        ),
        Mistake(
            "no lower end", lambda skipped, epsilon, rng: min(skipped, LECTURES) + rng.laplace(0, LECTURES / epsilon),
            "Numbers above 15 are brought in, those below 0 are not: noise for a range of 15 does not hide them.",
        ),
        Mistake(
            "no upper end", lambda skipped, epsilon, rng: max(skipped, 0) + rng.laplace(0, LECTURES / epsilon),
            "Numbers below 0 are brought in, those above 15 are not: noise for a range of 15 does not hide them.",
        ),
        Mistake(
            "sign dropped",
            lambda skipped, epsilon, rng: min(abs(skipped), LECTURES) + rng.laplace(0, LECTURES / epsilon),
            "A number below 0 becomes 0, the nearest that is possible; you take its absolute value.",
        ),
        Mistake(
            SIXTEEN,
            lambda skipped, epsilon, rng: (
                min(max(skipped, 0), LECTURES) + rng.laplace(0, (LECTURES + 1) / epsilon)
            ),
            "Is it 16/epsilon? 0..15 are 16 values, but from one end to the other it is 15: the sensitivity is the "
            "largest difference, not the number of values.",
        ),
        Mistake(
            ENDS, lambda skipped, epsilon, rng: min(max(skipped, 0), LECTURES - 1) + rng.laplace(0, LECTURES / epsilon),
            "The ends are off by one: of 15 lectures one can skip none, and all 15. So the range begins at 0 and ends "
            "at 15.",
        ),
        Mistake(
            "report clipped",
            lambda skipped, epsilon, rng: min(max(skipped + rng.laplace(0, LECTURES / epsilon), 0), LECTURES),
            "Clipping the report is post-processing, so it is as private; but the noise no longer averages out, and "
            "the mean of the class is pulled towards the middle. Clip the number, then add noise.",
        ),
        Mistake(
            "scale from the own value",
            lambda skipped, epsilon, rng: (
                min(max(skipped, 0), LECTURES) + rng.laplace(0, min(max(skipped, 0), LECTURES) / epsilon)
            ),
            "The spread of your report depends on the secret: somebody who skipped nothing reports exactly 0. The "
            "scale must come from what is possible, 15, not from what is true.",
        ),
        Mistake(
            "Gaussian noise",
            lambda skipped, epsilon, rng: (
                min(max(skipped, 0), LECTURES) + rng.normal(0, math.sqrt(2) * LECTURES / epsilon)
            ),
            "Gaussian noise of the same variance: its tails are too light, so the ratio has no bound.",
        ),
    ),
)  # fmt: skip

TASKS: tuple[Task, ...] = (local_laplace,)
