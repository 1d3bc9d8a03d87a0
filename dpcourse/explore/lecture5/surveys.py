"""Lecture 5: adaptive surveys of the talk's twenty parties (stored by ``experiments.adaptive_pictures``)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from dpcourse.data import PARTIES
from dpcourse.explore.stored import stored
from dpcourse.scenes import Axis, Bars, Line, Panel, Picture, Points, Rule, choice, dot, panel, picture_of, slider
from dpcourse.scenes.widget import explorer

__all__ = ["adaptive_survey", "langevin", "posterior_narrows"]

K = len(PARTIES)
TICKS = tuple((i, f"{i}") for i in range(0, K, 3))
EPSILONS = (0.5, 1.0, 5.0)
#: The arrivals after which a survey is looked at.
CHECKPOINTS = (*(m * d for d in (1, 10, 100) for m in (10, 13, 16, 20, 25, 32, 40, 50, 63, 80)), 10_000)
LANGEVIN_EPSILON = 1.0
SAMPLERS = ("ours", "the talk's step 0.5/n", "noise γW, as on the slide")
SAMPLER_STYLES = dict(zip(SAMPLERS, (("blue", "solid"), ("green", "dashed"), ("purple", "dotted")), strict=True))
UPDATES = (100, 300, 1_000, 3_000, 10_000, 30_000)
NARROWING_EPSILON = 1.0
MOMENTS = (100, 200, 500, 1_000, 2_000, 5_000, 10_000)
#: The parties whose posteriors are shown, and the edges of their histograms.
FOLLOWED, BINS = (0, 1, 3), np.linspace(0, 0.6, 61)
MIDDLES = 100 * (BINS[1:] + BINS[:-1]) / 2
FOLLOWED_STYLES = (("blue", "solid"), ("red", "dashed"), ("green", "dotted"))


def _nearest(stops: tuple[int, ...], value: float) -> int:
    """Between the stops there is nothing stored: the nearest one stands in."""
    return min(range(len(stops)), key=lambda i: abs(math.log(stops[i] / value)))


def _set(members: list[int]) -> str:
    return "{" + ", ".join(map(str, members)) + "}"


def set_in_words(members: Sequence[int]) -> str:
    """A subset as it is asked with."""
    return _set(list(members)) if len(members) else "no subset (SRR)"


def shares_panel(title: str, estimate: np.ndarray, members: Sequence[int], truth: np.ndarray, highest: float) -> Panel:
    """Estimated shares in percent, those in S told apart from the others, and the truth."""
    categories = np.arange(len(truth))
    asked = np.isin(categories, list(members))
    return panel(
        title,
        Axis("party", -0.6, len(truth) - 0.4, ticks=tuple((i, f"{i}") for i in range(0, len(truth), 3))),
        Axis("share (%)", 0, max(highest, float(truth.max())) * 1.06),
        Bars(categories, np.where(asked, estimate, 0), "estimate, in S", "red", "solid", 0.7),
        Bars(categories, np.where(asked, 0, estimate), "outside S", "blue", "striped", 0.7),
        Points(categories, truth, "truth", "ink", "diamond", 7),
    )


@cache
def highest_estimate() -> float:
    """Of all runs, in percent: their pictures have one scale."""
    return 100 * max(max(map(max, run["estimate"])) for run in stored("surveys").values())


@explorer(
    "A survey that learns whom to ask how",
    "After how many people is it settled?",
    slider("arrival", "arrivals", CHECKPOINTS, 1_000, "{:,}"),
    choice("epsilon", "ε", [f"{e:g}" for e in EPSILONS], "1"),
)
def adaptive_survey(arrival: int, epsilon: str) -> Picture:
    """One real run of ``AdaptiveSurvey`` at each epsilon, looked at after ever more arrivals."""
    run, at = stored("surveys")[epsilon], _nearest(CHECKPOINTS, arrival)
    t, estimate = CHECKPOINTS[at], 100 * np.array(run["estimate"][at])
    subset = set_in_words(run["subset"][at])
    return picture_of(
        f"ε = {epsilon}, arrival {t:,}, asked with {subset}: the estimate is {run['error'][at]:.3f} from the truth "
        f"(total variation), with SRR for the same people {run['srr_error'][at]:.3f}. After all "
        f"{CHECKPOINTS[-1]:,}: {run['error'][-1]:.3f} and {run['srr_error'][-1]:.3f}. One run of each.",
        shares_panel(f"After {t:,} arrivals", estimate, run["subset"][at], 100 * PARTIES, highest_estimate()),
        panel(
            "The error so far",
            Axis("arrivals", CHECKPOINTS[0], CHECKPOINTS[-1], log=True),
            Axis("total variation", 0, 0.85),
            Line(CHECKPOINTS, run["error"], "adaptive", "blue", "solid", 3),
            Line(CHECKPOINTS, run["srr_error"], "SRR for all", "orange", "dashed"),
            dot(t, run["error"][at], colour="blue", size=10),
            dot(t, run["srr_error"][at], colour="orange", marker="square"),
            drag="arrival",
        ),
    )


def interval_lines(shift: float, summary: dict[str, list[float]], colour: str) -> list[Line]:
    """The 90% interval of each share, upright beside its category."""
    spans = zip(summary["low"], summary["high"], strict=True)
    return [Line([x + shift] * 2, [100 * low, 100 * high], colour=colour) for x, (low, high) in enumerate(spans)]


@explorer(
    "A walk that should reach the posterior",
    "Which walk gets there, and how soon?",
    choice("sampler", "sampler", SAMPLERS),
    slider("updates", "updates", UPDATES, 3_000, "{:,}"),
)
def langevin(sampler: str, updates: int) -> Picture:
    """Three ways of Langevin against the exact sampler, on the same 10,000 responses, after ever more updates."""
    at = _nearest(UPDATES, updates)
    samples, categories = stored("langevin"), np.arange(K)
    exact, one, (colour, _) = samples["exact"], samples[sampler][f"{UPDATES[at]}"], SAMPLER_STYLES[sampler]
    apart = {name: [samples[name][f"{u}"]["apart"] for u in UPDATES] for name in SAMPLERS}
    width, wanted = (100 * (np.array(s["high"]) - s["low"]).mean() for s in (one, exact))
    return picture_of(
        f"{sampler[0].upper()}{sampler[1:]}, {UPDATES[at]:,} updates (first half forgotten, 50 chains): the mean "
        f"is {one['apart']:.3f} from the exact one in total variation. Intervals are {width:.1f} points wide on "
        f"average, the exact ones {wanted:.1f}. 10,000 responses to SRR with ε = {LANGEVIN_EPSILON:g}.",
        panel(
            "Mean and 90% interval of each share",
            Axis("party", -0.7, K - 0.3, ticks=TICKS),
            Axis("share (%)", 0, 48),
            interval_lines(-0.2, exact, "ink"),
            interval_lines(0.2, one, colour),
            Points(categories - 0.2, 100 * np.array(exact["mean"]), "exact (Gibbs)", "ink", "square", 6),
            Points(categories + 0.2, 100 * np.array(one["mean"]), "Langevin", colour, "circle", 7),
        ),
        panel(
            "How far the two means are apart",
            Axis("updates", UPDATES[0], UPDATES[-1], log=True),
            Axis("total variation", 0.001, 1, log=True),
            [Line(UPDATES, apart[name], name, *SAMPLER_STYLES[name], 2.5) for name in SAMPLERS],
            dot(UPDATES[at], one["apart"], colour=colour, size=10),
            drag="updates",
        ),
    )


@explorer(
    "Closing in",
    "Does choosing subsets by a guess keep the survey from the truth?",
    slider("arrivals", "arrivals", MOMENTS, 1_000, "{:,}"),
)
def posterior_narrows(arrivals: int) -> Picture:
    """The theory in a picture: the posterior closes in on the truth, and the best subset is chosen ever more often."""
    n = MOMENTS[_nearest(MOMENTS, arrivals)]
    posteriors, run = stored("narrowing"), stored("surveys")[f"{NARROWING_EPSILON:g}"]
    top = max(max(map(max, moment["density"])) for moment in posteriors.values()) / 100
    one, at, often = posteriors[f"{n}"], CHECKPOINTS.index(n), 100 * np.array(run["best_so_far"])
    truth = ", ".join(f"{100 * PARTIES[x]:g}%" for x in FOLLOWED)
    spans = [f"{100 * one['low'][x]:.1f}–{100 * one['high'][x]:.1f}%" for x in FOLLOWED]
    return picture_of(
        f"After {n:,} arrivals, ε = {NARROWING_EPSILON:g}: 90% of the posterior in {spans[0]}, {spans[1]} and "
        f"{spans[2]} (parties 0, 1, 3; truth {truth}). {often[at]:.1f}% were "
        f"asked with the subset that is best for the truth, {_set(run['best'])}; in theory this tends to 100%.",
        panel(
            f"The posterior after {n:,} arrivals; upright: the truth",
            Axis("share (%)", 0, 100 * BINS[-1]),
            Axis("density (per point)", 0, 1.05 * top),
            [
                Line(MIDDLES, np.array(one["density"][i]) / 100, f"party {x}", *FOLLOWED_STYLES[i], 2.5)
                for i, x in enumerate(FOLLOWED)
            ],
            [
                Rule(100 * PARTIES[x], "x", colour=style[0], dash=style[1])
                for x, style in zip(FOLLOWED, FOLLOWED_STYLES, strict=True)
            ],
        ),
        panel(
            "Asked with the best subset so far",
            Axis("arrivals", CHECKPOINTS[0], CHECKPOINTS[-1], log=True),
            Axis("share of arrivals (%)", 0, 102),
            Line(CHECKPOINTS, often, colour="purple", width=3),
            dot(n, often[at], colour="purple", marker="diamond", size=11),
            drag="arrivals",
        ),
    )
