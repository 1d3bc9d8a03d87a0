"""Homework 4, the whole thing: train a classifier within (epsilon, delta) that is right often enough.

The student's function gets the training data and gives back the log of its run: the noisy average of every step, who
was in each lot, and the settings. From that the judge computes everything else itself: the weights (plain descent from
0), the epsilon (by the exact accountant), the accuracy (on people whom the function has never seen), and whether it was
DP-SGD at all. For at the weights of each step every clipped gradient of the lot is known, so what the published sum has
beyond them must be Gaussian noise of deviation sigma C: no noise, too little of it, a forgotten C or a clipped batch do
not fit. (The lots are for the judge only. Who publishes them loses the amplification by sampling.)

The function trains twice: on patients from whom something can be learnt, and on a table of very long rows whose labels
contradict each other (``hard_to_learn``). There every sensible C clips, the sum of a lot hardly ever becomes small, and
the budget is large, so that a missing or another clipping and the drawn size as divisor show. What is learnt there does
not count.

What is trusted: that coins and noise are fresh. A function that trains many times and hands in its luckiest run is not
found out, nor is one that writes other lots and noise into its log than it has used. With lots so large that they
hardly vary, dividing by the drawn size leaves too small a trace; the task of a single step sees that.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dpcourse.accounting import dp_sgd_epsilon, sigma_for
from dpcourse.audit import Fit, binomial_fit
from dpcourse.sensitivity.rows import clipped
from dpcourse.tasks.answers import NUMBER, Answer, Answers
from dpcourse.tasks.complaints import Complaint
from dpcourse.tasks.declare import judged_task
from dpcourse.tasks.hw4_dp_sgd.step import batch_clipped, mean_clipped
from dpcourse.tasks.hw4_dp_sgd.training_log import (
    Published,
    came_back,
    hard_to_learn,
    measured,
    noise_of_steps,
    points_of,
    trained,
    true_weights,
    turned_pairs,
)
from dpcourse.tasks.hw4_dp_sgd.training_noise import (
    USED_TWICE,
    heavy_within_steps,
    look_at_evenness,
    look_at_log,
    look_at_logs,
)
from dpcourse.tasks.interview import LEVEL, Failed, Interview
from dpcourse.tasks.judges.lots import SAME_LOT, in_a_row
from dpcourse.tasks.mistake import mistake
from dpcourse.tasks.respondent import Probe

PATIENTS, HELD_OUT, FEWEST_STEPS, MOST_STEPS = 2_000, 20_000, 20, 500  # fewer steps tell too little about the noise
LARGE = 3.0  # the budget for the second table: with little noise the drawn size as divisor shows
#: The share of new patients to be right about (the true weights reach .91), and from where on there are points.
REQUIRED, NOTHING = 0.85, 0.60


def _probes(rng: np.random.Generator, truth: np.ndarray) -> Sequence[Probe]:
    """Patients who come back by the true weights, which are drawn elsewhere: only these labels tell of them."""
    x = measured(rng, PATIENTS)
    first = {"x": x, "y": came_back(rng, x, truth), "epsilon": float(rng.uniform(0.4, 0.6)), "delta": 1e-5}
    return [first, {**hard_to_learn(rng, PATIENTS), "epsilon": LARGE, "delta": 1e-5}]


def _judge(talk: Interview) -> None:
    logs = [_log_of(talk, probe, 0.8 * LEVEL / len(talk.probes)) for probe in talk.probes]
    look_at_logs(talk, [log.noise for log in logs], lambda: _noise_again(talk), 0.2 * LEVEL)
    _accurate(talk, talk.probes[0], logs[0])


def _noise_again(talk: Interview) -> np.ndarray:
    """The noise of one more run, on the second table: it is cheap to learn nothing."""
    probe = talk.probes[1]
    published = talk.value(probe)
    _sensible(talk, probe, published)
    return noise_of_steps(probe, published)[0]


class _Log(NamedTuple):
    """What a student has published, its cost, and its noise in units of what it should be."""

    published: Published
    spent: float
    noise: np.ndarray


def _log_of(talk: Interview, probe: Probe, level: float) -> _Log:
    """A log that is one of DP-SGD within the budget."""
    published = talk.value(probe)
    _sensible(talk, probe, published)
    steps = len(published["released"])
    spent = dp_sgd_epsilon(published["sigma"], published["q"], steps, probe["delta"])
    if spent > probe["epsilon"] * (1 + 1e-6):
        talk.fail(
            f"{steps} steps with sigma = {published['sigma']:.3g} and q = {published['q']:.3g} cost epsilon = "
            f"{spent:.3g} at delta = {probe['delta']:g}; the budget is {probe['epsilon']:.3g}.",
            name=_overspent(probe, published),
        )
    _lots(talk, published, level / 8)
    return _Log(published, spent, _like_dp_sgd(talk, probe, published, level))


def _sensible(talk: Interview, probe: Probe, published: Published) -> None:
    (steps, width), features = published["released"].shape, probe["x"].shape[1]
    if width != features or not FEWEST_STEPS <= steps <= MOST_STEPS:
        talk.fail(
            f"`released` must be {FEWEST_STEPS} to {MOST_STEPS} rows of {features} numbers, got {steps} x {width}."
        )
    if published["lots"].shape != (steps, len(probe["y"])):
        talk.fail(f"`lots` must be {steps} rows of {len(probe['y']):,} truth values, got {published['lots'].shape}.")
    if not 0 < published["q"] <= 1:
        talk.fail(f"q must be above 0 and at most 1, got {published['q']:g}.")
    for name in ("sigma", "clip", "rate"):
        if not 1e-6 <= published[name] <= 1e6:
            talk.fail(f"{name} must lie between a millionth and a million, got {published[name]:g}.")
    if np.abs(published["released"]).max() > 1e6 or np.abs(points_of(published)).max() > 1e6:
        talk.fail("Your weights run away (beyond a million): the rate is far too large.")


def _overspent(probe: Probe, published: Published) -> str:
    one = dp_sgd_epsilon(published["sigma"], published["q"], 1, probe["delta"])
    return "one step's budget" if 0.95 <= one / probe["epsilon"] <= 1.05 else ""


def _lots(talk: Interview, published: Published, level: float) -> None:
    """Coins of probability q; sizes that are all the same are no coins (but where q is nearly 0 or 1)."""
    lots, q = published["lots"], float(published["q"])
    sizes, n = lots.sum(axis=1), lots.shape[1]
    likeliest = float(np.exp(-0.5 * math.log(2 * math.pi * n * q * (1 - q)))) if 0.5 < n * q < n - 0.5 else 1.0
    if n * q * (1 - q) > 50 and (repeats := len(lots) - len(np.unique(lots, axis=0))):  # a right one: less than e^-88
        talk.fail(f"{repeats} of your {len(lots)} lots came before, person by person.", name=SAME_LOT)
    if (sizes == sizes[0]).all() and (1.1 * likeliest) ** (len(sizes) - 1) < level:
        talk.fail(f"All your lots have exactly {sizes[0]:g} members.", name="fixed-size lots")
    talk.require(
        binomial_fit(int(sizes.sum()), lots.size, q, level=level / 3),
        f"Somebody is in your lots with probability {sizes.mean() / n:.3g}; you account for q = {q:.3g}.",
    )
    for start in (0, 1):  # the first lot of each two, or the second, and the next one
        one, other = lots[start : len(lots) - 1 : 2], lots[start + 1 :: 2]
        share = float((one * other).mean())
        talk.require(
            binomial_fit(int((one * other).sum()), one.size, q * q, level=level / 3),
            f"Somebody is in one of your lots and in the next with probability {share:.3g}; {q * q:.3g} is right for "
            f"fresh coins in every step.",
            name=in_a_row(one, other, q),
        )


def _like_dp_sgd(talk: Interview, probe: Probe, published: Published, level: float) -> np.ndarray:
    """The noise of a log, which is judged by itself. Spends 7/8 of ``level``."""
    z, gradients = noise_of_steps(probe, published)
    factor = math.sqrt(float((z**2).mean()))
    where = "" if probe is talk.probes[0] else "On the table with the long rows: "
    unlike = (
        f"{where}This is not what DP-SGD with sigma = {published['sigma']:.3g}, C = {published['clip']:.3g} and q = "
        f"{published['q']:.3g} publishes: I know the clipped gradients of each of your lots"
    )
    spreads = f"{unlike}, and what your sums have beyond them spreads {factor:.3g} times as much as noise of sigma C."
    if factor < 1e-3:  # a right one: never
        talk.fail(spreads, name="no noise")
    readings = _readings(probe, published, z)
    ratio = max(reading.ratio for reading in readings.values())
    fit = Fit(  # the likelihood under a mistake over that under DP-SGD is 1 on average: above 1 / p with probability p
        name="likelihood of known mistakes", statistic=ratio,
        p_value=math.exp(min(0.0, math.log(len(readings)) - ratio)),
        level=level / 8, power=0.0, draws=len(z), smallest_error=math.inf, unit="",
    )  # fmt: skip
    name = "" if fit.passed else _likeliest(talk, probe, readings)
    if name in ("", LAPLACE) and not (name and heavy_within_steps(z)):
        look_at_evenness(talk, z, unlike, level / 8)
    plausible = bool(name) and abs(math.log(max(readings[name].spread, 1e-300))) < 0.12
    talk.require(
        fit,
        f"{unlike}, and your averages are not these with noise of sigma C over q n." if plausible else spreads,
        name=name if plausible else "wrong noise",
    )
    look_at_log(talk, z, gradients, unlike, spreads, 5 * level / 8)
    return z


LAPLACE = "Laplace noise"
#: Mistakes under which a log would be right: how the rows are clipped, how the noise is scaled, and the divisor.
_Reading = tuple[Callable[..., np.ndarray], Callable[..., np.ndarray | float], bool]
READINGS: dict[str, _Reading] = {
    "C forgotten": (clipped, lambda sizes, clip: 1 / clip, False),
    "noise per example": (clipped, lambda sizes, clip: np.sqrt(np.maximum(sizes, 1)), False),
    "not clipped": (lambda rows, clip: rows, lambda sizes, clip: 1.0, False),
    "batch clipped": (batch_clipped, lambda sizes, clip: 1.0, False),
    "average clipped": (mean_clipped, lambda sizes, clip: 1.0, False),
    "each coordinate clipped": (lambda rows, clip: np.clip(rows, -clip, clip), lambda sizes, clip: 1.0, False),
    "divided by the drawn lot": (clipped, lambda sizes, clip: 1.0, True),
}


class Reading(NamedTuple):
    """How much likelier a log is under a mistake than under DP-SGD (a logarithm), and the spread of its noise then."""

    ratio: float
    spread: float


def _readings(probe: Probe, published: Published, z: np.ndarray) -> dict[str, Reading]:
    """The log, read as that of each mistake."""
    sizes = published["lots"].sum(axis=1)
    by_size = np.maximum(sizes, 1)[:, None] / (published["q"] * published["lots"].shape[1])
    readings: dict[str, Reading] = {}
    for name, (clip_rows, scale, by_drawn) in READINGS.items():
        times = np.broadcast_to(np.asarray(scale(sizes, published["clip"]), dtype=float), sizes.shape)[:, None]
        by = by_size if by_drawn else np.ones_like(times)
        other = noise_of_steps(probe, published, clip_rows, by)[0] / times
        ratio = float((np.log(by / times) + z**2 / 2 - other**2 / 2).sum())
        readings[name] = Reading(ratio, math.sqrt(float((other**2).mean())))
    laplace = float((z**2 / 2 - math.sqrt(2) * np.abs(z)).sum()) + z.size * math.log(math.pi) / 2
    readings[LAPLACE] = Reading(laplace, math.sqrt(float((z**2).mean())))
    return readings


def _likeliest(talk: Interview, probe: Probe, readings: Mapping[str, Reading]) -> str:
    """The mistake under which the log is likeliest. Where several are the same, the second table tells them apart."""
    best = max(reading.ratio for reading in readings.values())
    names = [name for name, reading in readings.items() if reading.ratio >= best - 1e-6 * (1 + abs(best))]
    if len(names) == 1 or probe is not talk.probes[0]:
        return names[0]
    with contextlib.suppress(Complaint, Failed):
        there = talk.probes[1]
        published = talk.value(there)
        _sensible(talk, there, published)
        others = _readings(there, published, noise_of_steps(there, published)[0])
        return max(names, key=lambda name: others[name].ratio)
    return names[0]


def _accurate(talk: Interview, probe: Probe, log: _Log) -> None:
    published, spent = log.published, log.spent
    x = measured(talk.secret_rng, HELD_OUT)
    y = came_back(talk.secret_rng, x, np.asarray(talk.secret))
    share = float(np.mean((x @ points_of(published)[-1] > 0) == y))
    talk.praise = (
        f"Your {len(published['released'])} steps cost epsilon = {spent:.3g} of {probe['epsilon']:.3g}, and your "
        f"weights are right about {share:.1%} of {HELD_OUT:,} new patients; {REQUIRED:.0%} is required."
    )
    if share < REQUIRED:
        talk.share = max(0.0, min(1.0, (share - NOTHING) / (REQUIRED - NOTHING)))
        wasted = spent < 0.5 * probe["epsilon"]
        talk.noticed, talk.wasteful = (("budget left over",) if wasted else ()), wasted
        known = {m.name: m.message for m in talk.task.mistakes}
        talk.praise += f" {known['budget left over']}" if wasted else ""


train_private = judged_task(
    "train_private",
    see="lecture 4, The obvious application: supervised training",
    secret=true_weights,
    probes=_probes,
    judge=_judge,
    form=Answers(
        {
            "released": Answer((None, None), most=MOST_STEPS * 100),
            "lots": Answer((None, None), choices=(0, 1), most=MOST_STEPS * PATIENTS),
            **dict.fromkeys(("q", "sigma", "clip", "rate"), NUMBER),
        }
    ),
    mistakes=[
        mistake(
            "one step's budget",
            "One step fits into the budget, but you take many: choose sigma for all steps together "
            "(accounting.sigma_for with steps=...).",
            draw=trained(sigma_of=lambda epsilon, delta, q, steps: sigma_for(epsilon, delta, q=q)),
        ),
        mistake(
            "no noise",
            "There is no noise in your averages, whatever sigma says.",
            draw=trained(noise=lambda size, clip, sigma: 0.0),
        ),
        mistake(
            "C forgotten",
            "The noise on the sum must be sigma C, not sigma.",
            draw=trained(noise=lambda size, clip, sigma: sigma),
        ),
        mistake(
            "noise per example",
            "It looks like noise for each example of the lot. Add it once, to the sum.",
            draw=trained(noise=lambda size, clip, sigma: sigma * clip * math.sqrt(size)),
        ),
        mistake(
            "not clipped",
            "The gradients in your sums are longer than C: clip each of them.",
            draw=trained(clip_rows=lambda rows, clip: rows),
        ),
        mistake(
            "batch clipped",
            "You clip the sum of the lot, not each gradient: one odd patient can turn all of it.",
            draw=trained(clip_rows=batch_clipped),
        ),
        mistake(
            "average clipped",
            "You clip the average of the lot, not each gradient: one odd patient can turn all of it.",
            draw=trained(clip_rows=mean_clipped),
        ),
        mistake(
            "each coordinate clipped",
            "Clipping every coordinate to [-C, C] leaves lengths up to C sqrt(d). Shorten each gradient as a whole.",
            draw=trained(clip_rows=lambda rows, clip: np.clip(rows, -clip, clip)),
        ),
        mistake(
            "divided by the drawn lot",
            "You divide by the size of the lot that was drawn, which is private. Divide by q n.",
            draw=trained(divisor=lambda size, expected: max(size, 1)),
        ),
        mistake(
            "fixed-size lots",
            "Toss a coin for each example; then the lot's size varies, and the accountant's formula holds.",
            draw=trained(lot=lambda n, q, rng: rng.permutation(n) < round(q * n)),
        ),
        mistake(
            SAME_LOT,
            "The accountant counts on fresh coins in every step: draw the lot inside the loop.",
            draw=trained(lot=lambda n, q, rng: np.random.default_rng(0).random(n) < q),
        ),
        mistake(
            LAPLACE,
            "It looks like Laplace noise. The accountant counts on Gaussian noise: rng.normal(0, sigma * C, ...).",
            draw=trained(law=lambda rng, size: rng.laplace(0, math.sqrt(0.5), size)),
        ),
        mistake(
            USED_TWICE,
            "The accountant counts on fresh noise in every step and coordinate. Whoever knows that a draw came before "
            "(turned, permuted or with another sign) subtracts one step from the other.",
            draw=trained(law=turned_pairs()),
        ),
        mistake(
            "budget left over",
            "Much of the budget is left over: private, but wasteful. Less noise or more steps would learn more.",
            draw=trained(sigma_of=lambda epsilon, delta, q, steps: 60.0),
        ),
    ],
    seconds=60.0,
)  # fmt: skip
