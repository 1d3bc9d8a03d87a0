"""Lecture 2: randomized response for one secret bit, from a bent coin to the three choices of theta(eps)."""

from __future__ import annotations

import math
from functools import cache, lru_cache

import numpy as np

from dpcourse.mechanisms import ATTEMPTS, RandomizedResponse, survey_planning, theta
from dpcourse.scenes import Axis, Band, Bars, Label, Line, Mark, Picture, Rule, again, dot, panel, picture_of, slider
from dpcourse.scenes.widget import explorer

__all__ = ["bernoulli_trial", "exp_from_below", "theta_attempts", "two_extremes"]

EPSILONS = np.round(np.arange(0.1, 5.01, 0.1), 1)
FORMULAS = {"first": "first: 1 + ε", "quadratic": "quadratic: 1 + ε + ε²/2", "tight": "tight: e^ε"}
STYLES = {"first": ("orange", "dotted"), "quadratic": ("green", "dashed"), "tight": ("blue", "solid")}
MARKERS = {"first": "triangle", "quadratic": "square", "tight": "circle"}
CLASS = 100  # students, in the picture of the estimator's spread
WIDEST = 60.0  # percentage points, where that picture ends


LOOKS = np.unique(np.round(np.geomspace(1, 1000, 90)))  # the numbers of draws after which the share is drawn


@explorer(
    "A bent coin",
    "How many draws until the share of ones shows the coin's θ?",
    slider("theta", "θ, the chance of a 1", np.round(np.arange(0, 1.01, 0.05), 2), 0.75, "{:.2f}"),
    again("Draw again", 8, "run"),
)
def bernoulli_trial(theta: float, run: int) -> Picture:
    """The refresher's indicator variable: Pr(Y = 1) = theta, and the share of ones that a thousand draws settle on."""
    ones = np.random.default_rng(run).random(1000) < theta
    share = np.cumsum(ones)[LOOKS.astype(int) - 1] / LOOKS
    hope = "Every draw is known beforehand" if theta in (0, 1) else "Nobody can foretell one draw"
    return picture_of(
        f"θ = {theta:g}: {ones[:10].sum()} of the first 10 draws are 1, {ones[:100].sum()} of the first 100, "
        f"{ones.sum():,} of all 1,000. {hope}; the share settles near {100 * theta:g}%.",
        panel(
            "One trial",
            Axis("outcome k", -0.6, 1.6, ticks=((0, "0: failure"), (1, "1: success"))),
            Axis("Pr(Y = k)", 0, 1.05),
            Bars([0, 1], [1 - theta, theta], colour="blue", width=0.6),
        ),
        panel(
            "Many trials",
            Axis("number of trials", 1, 1000, log=True),
            Axis("share of ones so far", 0, 1.05),
            Line(LOOKS, share, "what these draws gave", "purple"),
            Rule(theta, "y", f"θ = {theta:g}"),
            share=2,
        ),
    )


@lru_cache(maxsize=4096)
def _posteriors(theta: float, prior: float) -> tuple[float, float]:
    """What somebody believes after "yes" and after "no", at the extremes too, which no finite epsilon > 0 describes."""
    epsilon = survey_planning.epsilon_of(theta)
    if epsilon in (0, math.inf):
        return (prior, prior) if epsilon == 0 else (1.0, 0.0)
    response = RandomizedResponse(epsilon=epsilon)
    return response.posterior(1, prior), response.posterior(0, prior)


@lru_cache(maxsize=4096)
def _spread(theta: float) -> float:
    """Standard error of the estimated share of a class, in percentage points."""
    epsilon = survey_planning.epsilon_of(theta)
    if epsilon in (0, math.inf):
        return math.inf if epsilon == 0 else 0.0
    return 100 * survey_planning.local_error(RandomizedResponse(epsilon=epsilon), CLASS)


THETAS = np.round(np.arange(0.5, 1.001, 0.01), 2)
PRIORS = (0.01, *(k / 20 for k in range(1, 20)), 0.99)


@lru_cache(maxsize=64)
def belief_curves(prior: float) -> np.ndarray:
    """What is believed after "yes" and after "no", in percent, over theta."""
    return 100 * np.array([_posteriors(float(t), prior) for t in THETAS]).T


@cache
def spread_curve() -> Line:
    """The standard error over theta, where it lies in the picture."""
    thetas = [theta for theta in np.linspace(0.5, 1, 251).tolist() if _spread(theta) <= WIDEST]
    return Line(thetas, [_spread(theta) for theta in thetas], colour="green")


@explorer(
    "Between the truth and a coin",
    "Which θ hides a person and still shows the class?",
    slider("theta", "θ, the chance of the truth", THETAS, 0.75, "{:.2f}"),
    slider("prior", "belief before", PRIORS, 0.2, lambda p: f"{100 * p:g}%"),
)
def two_extremes(theta: float, prior: float) -> Picture:
    """Between the slides' extremes, the truth (theta = 1) and a fair coin (1/2): what one report and what all tell."""
    yes, no = _posteriors(theta, prior)
    after_yes, after_no = belief_curves(prior)
    spread = _spread(theta)
    if spread == math.inf:
        cost = f"the share of {CLASS} students cannot be estimated at all"
    else:
        cost = f"the share of {CLASS} students is estimated to ± {spread:.0f} points (one standard error)"
    return picture_of(
        f"θ = {theta:g}: who believed {100 * prior:g}% believes {100 * yes:.0f}% "
        f'after "yes" and {100 * no:.0f}% after "no"; {cost}.',
        panel(
            "What does one report give away?",
            Axis("θ, the chance of reporting the truth", 0.5, 1),
            Axis("belief in the secret (%)", 0, 105),
            Line(THETAS, after_yes, 'after "yes"', "red"),
            Line(THETAS, after_no, 'after "no"', "blue", "dashed"),
            Rule(theta, "x", colour="ink", dash="dotted"),
            dot(theta, 100 * yes, colour="red"),
            dot(theta, 100 * no, colour="blue", marker="square"),
            Rule(100 * prior, "y", colour="grey"),
            Label(0.99, 100 * prior + (0 if prior < 0.5 else -11), f"before: {100 * prior:g}%", "grey", "end"),
            drag="theta",
        ),
        panel(
            f"What do {CLASS} reports tell together?",
            Axis("θ, the chance of reporting the truth", 0.5, 1),
            Axis("standard error of the share (points)", 0, WIDEST * 1.05),
            spread_curve(),
            Rule(theta, "x", colour="ink", dash="dotted"),
            dot(theta, min(spread, WIDEST), colour="green", marker="diamond", size=10),
            Label(0.72, WIDEST * 0.8, _off_the_picture(spread), "ink", "start"),
            drag="theta",
        ),
    )


def _off_the_picture(spread: float) -> str:
    if spread <= WIDEST:
        return " "
    return "infinite: only coins" if spread == math.inf else f"off the picture: {spread:.0f}"


GRID = np.round(np.arange(0, 3.01, 0.05), 2)
CEILING = Line(GRID, np.exp(GRID), "e^ε: the most that ε-DP allows", "ink", width=3.5)
DEGREES = np.arange(1, 8)


@cache
def polynomial(degree: int) -> np.ndarray:
    """The odds of the series that ends at this degree."""
    return np.array([survey_planning.odds_from_series(float(e), degree) for e in GRID])


@explorer(
    "A ceiling reached from below",
    "Which degree leaves nothing to gain?",
    slider("degree", "degree", DEGREES, 2, "{:d}"),
    slider("epsilon", "ε", np.round(np.arange(0.2, 3.01, 0.2), 1), 2, "{:g}"),
)
def exp_from_below(degree: int, epsilon: float) -> Picture:
    """The slides' power series: e^eps and its polynomials, all of them below it, each closer than the one before."""
    odds, most = survey_planning.odds_from_series(epsilon, degree), math.exp(epsilon)
    shares = [100 * survey_planning.odds_from_series(epsilon, int(d)) / most for d in DEGREES]
    return picture_of(
        f"Degree {degree} at ε = {epsilon:g}: odds {odds:.3f} of at most e^ε = {most:.3f}, "
        f"{100 * odds / most:.1f}% of what ε-DP allows. Each further term comes closer and none goes above.",
        panel(
            "Odds of the truth, θ/(1 − θ)",
            Axis("ε", 0, 3),
            Axis("odds", 0, 21),
            CEILING,
            Line(GRID, polynomial(1), "1 + ε", "orange", "dotted"),
            Line(GRID, polynomial(degree), "your polynomial", "blue", "dashed"),
            Rule(epsilon, "x", f"ε = {epsilon:g}", "grey", "dotted"),
            dot(epsilon, odds, colour="blue"),
            drag="epsilon",
            share=2,
        ),
        panel(
            "How much of the ceiling is used?",
            Axis("degree of the polynomial", 0.4, 7.6, ticks=tuple((d, str(d)) for d in DEGREES.tolist())),
            Axis("odds / e^ε (%)", 0, 105),
            Bars(DEGREES, shares),
            Bars([degree], [100 * odds / most], colour="ink", texture="outline", width=0.9),
        ),
    )


WIDE_GRID = np.linspace(0, 5.1, 52)
FORBIDDEN = Band(WIDE_GRID, np.exp(WIDE_GRID), np.full(WIDE_GRID.size, 300.0), "more than ε allows", "red")


@cache
def theta_curves() -> dict[str, np.ndarray]:
    """Each attempt's theta over epsilon."""
    return {a: np.array([theta(float(e), a) for e in EPSILONS]) for a in ATTEMPTS}


@cache
def odds_curves() -> dict[str, np.ndarray]:
    """Each attempt's odds of the truth over epsilon."""
    responses = {a: [RandomizedResponse(epsilon=float(e), attempt=a) for e in EPSILONS] for a in ATTEMPTS}
    return {a: np.exp([response.spent_epsilon for response in responses[a]]) for a in ATTEMPTS}


def curves_and_dots(values: dict[str, np.ndarray], here: dict[str, float], epsilon: float) -> list[Mark]:
    """A curve for each attempt, and where the slider stands on it."""
    lines = [Line(EPSILONS, values[a], FORMULAS[a], *STYLES[a]) for a in ATTEMPTS]
    points = [dot(epsilon, here[a], colour=STYLES[a][0], marker=MARKERS[a]) for a in ATTEMPTS]
    return [*lines, Rule(epsilon, "x", colour="grey", dash="dotted"), *points]


@explorer(
    "Three ways from ε to θ",
    "Which attempt uses all of the privacy that ε allows?",
    slider("epsilon", "ε", EPSILONS, 1, "{:.1f}"),
)
def theta_attempts(epsilon: float) -> Picture:
    """The slides' attempts at theta(eps): the curves, their odds under the ceiling e^eps, and the budget each uses."""
    responses = {a: RandomizedResponse(epsilon=epsilon, attempt=a) for a in ATTEMPTS}
    unused = {a: epsilon - r.spent_epsilon for a, r in responses.items()}
    thetas = {a: r.theta for a, r in responses.items()}
    ratios = {a: math.exp(r.spent_epsilon) for a, r in responses.items()}
    most = math.exp(epsilon)
    return picture_of(
        f"ε = {epsilon:g}: θ = {thetas['first']:.3f}, {thetas['quadratic']:.3f} and {thetas['tight']:.3f}; ratios "
        f"{ratios['first']:.2f}, {ratios['quadratic']:.2f} and {ratios['tight']:.2f} of at most {most:.2f}. All "
        f"three are private; the first leaves {unused['first']:.3f} of ε unused, the quadratic "
        f"{unused['quadratic']:.3f}, the tight one nothing.",
        panel(
            "How often the truth?",
            Axis("ε", 0, 5.1),
            Axis("θ", 0.5, 1.02),
            curves_and_dots(theta_curves(), thetas, epsilon),
            drag="epsilon",
        ),
        panel(
            "The ratio, and the region above e^ε that ε-DP forbids",
            Axis("ε", 0, 5.1),
            Axis("ratio θ/(1 − θ)", 1, 300, log=True),
            FORBIDDEN,
            curves_and_dots(odds_curves(), ratios, epsilon),
            drag="epsilon",
        ),
    )
