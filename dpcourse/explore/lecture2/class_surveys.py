"""Lecture 2: surveys of a class: randomized response, local Laplace noise, and the price of local privacy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from dpcourse import data
from dpcourse.mechanisms import LocalLaplace, RandomizedResponse, survey_planning
from dpcourse.scenes import Axis, Band, Bars, Label, Line, Mark, Picture, Points, Rule, dot, panel, picture_of
from dpcourse.scenes.controls import again, slider
from dpcourse.scenes.widget import explorer

__all__ = ["classroom", "local_against_central", "skipped_lectures"]

SHOWN = 20  # students who are drawn one by one
PEOPLE = np.arange(1, SHOWN + 1)


def percent(share: float) -> str:
    """A share as a percentage that fits a picture."""
    return f"{100 * share:g}%"


def interval_marks(value: float, low: float, high: float, at: float, ends: tuple[float, float]) -> Sequence[Mark]:
    """An estimate with its interval, cut where the picture ends."""
    cut = np.clip([low, high, value], *ends)
    return (
        Line(cut[:2], [at, at], colour="blue", width=4),
        Points(cut[2:], [at], colour="blue", marker="square", size=10),
    )


PERCENT_ENDS = (-60.0, 160.0)


@lru_cache(maxsize=512)
def secret_bits(share: float, n: int, run: int) -> np.ndarray:
    """A class of n, of whom this share has the secret."""
    return (np.random.default_rng([run, n]).permutation(n) < round(share * n)).astype(int)


@explorer(
    "The embarrassing question",
    "Can a class be known when no student is?",
    slider("share", "true share", np.arange(0, 11) / 20, 0.2, percent),
    slider("n", "students", [20, 100, 1_000, 10_000], 100, "{:,}"),
    slider("epsilon", "ε", [0.25, 0.5, 1, 1.5, 2, 2.5, 3, 4, 5], 1, "{:g}"),
    again("Ask again", 3, "run"),
)
def classroom(share: float, n: int, epsilon: float, run: int) -> Picture:
    """The slides' secret bit, asked of a whole class: the reports, the class's share, each student's deniability."""
    response, secret = RandomizedResponse(epsilon=epsilon), secret_bits(share, n, run)
    reports = response.release(secret, rng=np.random.default_rng([run, n, 1]))
    estimate, true = response.estimate(reports), float(secret.mean())
    value, low, high = (round(100 * end, 1) + 0.0 for end in (estimate.value, *estimate.interval()))  # no "-0.0"
    flipped = int((secret != reports).sum())
    yes, no = response.posterior(1, true), response.posterior(0, true)
    beyond = " (wider than the picture)" if low < PERCENT_ENDS[0] or high > PERCENT_ENDS[1] else ""
    names = ('after "no"', 'after "yes"', "estimate", "said yes", "true share")
    return picture_of(
        f"{flipped:,} of {n:,} reports are flipped; {100 * reports.mean():.1f}% say yes. Corrected for the coins: "
        f"{value:.1f}%, 95% interval {low:.1f} to {high:.1f}{beyond}; the truth is "
        f'{100 * true:.1f}%. One student\'s "yes" is true with a probability of {100 * yes:.0f}%.',
        panel(
            f"{SHOWN} of the students",
            Axis("student", 0, SHOWN + 1),
            Axis("", -0.4, 1.6, ticks=((0.1, "no"), (1.1, "yes"))),
            Points(PEOPLE, secret[:SHOWN] + 0.0, "secret", "grey", "circle", 9),
            Points(PEOPLE, reports[:SHOWN] + 0.2, "report", "red", "cross", 8),
        ),
        panel(
            "The class, and what is believed of one student",
            Axis("percent", *PERCENT_ENDS, ticks=((-50, "−50"), (0, "0"), (50, "50"), (100, "100"), (150, "150"))),
            Axis("", -0.6, 4.6, ticks=tuple(enumerate(names))),
            Rule(100 * true, "x", f"{100 * true:g}%", "grey"),
            dot(100 * true, 4, colour="grey", size=10),
            dot(100 * reports.mean(), 3, colour="red", marker="cross"),
            interval_marks(value, low, high, 2, PERCENT_ENDS),
            Bars([0, 1], [100 * no, 100 * yes], colour="purple", width=0.5, lying=True),
        ),
    )


LOWEST_REPORT, HIGHEST_REPORT = -45.0, 60.0  # that are seen in the picture


@lru_cache(maxsize=16)
def secret_numbers(n: int) -> np.ndarray:
    """How many lectures each of n students skipped."""
    return data.lectures_skipped(n)["lectures_skipped"].to_numpy(float)


@explorer(
    "Lectures skipped",
    "Does the average survive when most reports are absurd?",
    slider("epsilon", "ε", [0.5, 1, 2, 3, 5, 8], 1, "{:g}"),
    slider("n", "students", [30, 100, 300, 1_000, 3_000, 10_000], 100, "{:,}"),
    again("Ask again", 6, "run"),
)
def skipped_lectures(epsilon: float, n: int, run: int) -> Picture:
    """The slides' numeric query on a database of one: lectures skipped, 0 to 15, with each student's own noise."""
    noise, skipped = LocalLaplace(epsilon=epsilon, low=0, high=data.MAX_SKIPPED), secret_numbers(n)
    reports = noise.release(skipped, rng=np.random.default_rng([run + 24, n]))
    estimate, true = noise.estimate(reports), float(skipped.mean())
    low, high = estimate.interval()
    reach = 24 * (30 / n) ** 0.25  # the axis zooms in with n, but more slowly than the interval shrinks
    ends = (4 - reach, 4 + reach)
    shown = reports[:SHOWN]
    beyond = int(((shown < LOWEST_REPORT) | (shown > HIGHEST_REPORT)).sum())
    hidden = f" ({beyond} of the {SHOWN} drawn lie beyond the picture)" if beyond else ""
    absurd = float(((reports < 0) | (reports > data.MAX_SKIPPED)).mean())
    rows = ((2, "true mean"), (0, "estimate"))
    return picture_of(
        f"ε = {epsilon:g} needs noise of scale {noise.scale:g}: {100 * absurd:.0f}% of the reports are no possible "
        f"answer{hidden}. The mean of all {n:,} is {estimate.value:.2f} ± {estimate.standard_error:.2f} (standard "
        f"error; the bar is the 95% interval), the truth {true:.2f}: off by {abs(estimate.value - true):.2f}.",
        panel(
            f"{SHOWN} of the students",
            Axis("student", 0, SHOWN + 1),
            Axis("lectures skipped", LOWEST_REPORT, HIGHEST_REPORT),
            Band(np.array([0, SHOWN + 1]), np.zeros(2), np.full(2, data.MAX_SKIPPED), "possible answers", "sky"),
            Points(PEOPLE, skipped[:SHOWN], "secret", "grey", "circle", 8),
            Points(PEOPLE, np.clip(shown, LOWEST_REPORT, HIGHEST_REPORT), "report", "red", "cross", 7),
            share=1.4,
        ),
        panel(
            "The class (the axis zooms in as it grows)",
            Axis("mean number of lectures skipped", *ends),
            Axis("", -1, 3, ticks=rows),
            Rule(true, "x", f"{true:.2f}", "grey"),
            dot(true, 2, colour="grey", size=11),
            interval_marks(estimate.value, low, high, 0, ends),
            Label(4 - 0.95 * reach, 0.35, "bar: 95% interval", "blue", "start"),
        ),
    )


LOCAL_SIZES, CENTRAL_SIZES = (np.round(np.geomspace(10, most, 30)).astype(int) for most in (1e8, 1e5))

ERROR_TICKS = tuple((float(tick), tick) for tick in ["0.001", "0.01", "0.1", "1", "10", "100"])


@explorer(
    "The price of trusting nobody",
    "How many students replace one trusted curator?",
    slider("n", "students", [30, 100, 300, 1_000, 3_000, 10_000], 100, "{:,}"),
    slider("epsilon", "ε", [0.1, 0.25, 0.5, 1, 2, 3, 4, 5], 1, "{:g}"),
)
def local_against_central(n: int, epsilon: float) -> Picture:
    """The price that the slides announce: the error of a share with and without a trusted curator, at equal eps."""
    response = RandomizedResponse(epsilon=epsilon)
    local, central = survey_planning.local_error(response, n), survey_planning.central_error(epsilon, n)
    needed = survey_planning.people_needed(response, central)
    slow = [100 * survey_planning.local_error(response, m) for m in LOCAL_SIZES]
    quick = [100 * survey_planning.central_error(epsilon, m) for m in CENTRAL_SIZES]
    return picture_of(
        f"ε = {epsilon:g}, {n:,} students: local errs by {100 * local:.3g} points, central by {100 * central:.3g}, "
        f"{local / central:.3g} times less. To be as good as central, local needs {needed:,} students.",
        panel(
            "Standard error of the class's share",
            Axis("number of students", 10, 1e8, log=True),
            Axis("error (percentage points)", 1e-4, 1e3, log=True, ticks=ERROR_TICKS),
            Line(LOCAL_SIZES, slow, "local: nobody is trusted", "red"),
            Line(CENTRAL_SIZES, quick, "central: a trusted curator", "blue", "dashed"),
            Rule(n, "x", f"{n:,} students", "grey", "dotted"),
            dot(n, 100 * local, colour="red", size=10),
            dot(n, 100 * central, colour="blue", marker="square"),
            Line([n, needed], [100 * central, 100 * central], colour="grey", dash="dotted"),
            dot(needed, 100 * central, "local, as good as central", colour="purple", marker="diamond", size=10),
            height=320,
        ),
    )
