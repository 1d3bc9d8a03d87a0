"""Is what a training log has beyond its clipped gradients fresh Gaussian noise? Exact tests of a table of z, (T, d).

One log by itself: its width in all, in every coordinate and in every few steps in a row; whether all steps, and all
coordinates, are equally wide; its signs; its shape. Both logs together: that again; numbers, and lengths of blocks of
coordinates, that come again (noise that is copied, permuted or turned from one place to another keeps them);
coordinates that depend on each other; and, where the noise looks narrow, its width in as many further runs as tell 8%
too little from chance.

Of sixty steps with 8% too little noise once in 100,000 times no more is asked. What passes: half the noise in three of
sixty steps, or three quarters of it in one coordinate; copies of a handful of blocks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import special

from dpcourse.audit import Fit, binomial_fit, ks_fit
from dpcourse.tasks.interview import Interview
from dpcourse.tasks.judges.scale_tests import NORMAL_SIZES, width_fit

WRONG_NOISE, USED_TWICE, SIGNED = "wrong noise", "noise used twice", "noise with a sign"
BLOCKS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 21)  # so many coordinates side by side, from the first one on
NEAR = (1e-9, 1e-5)  # numbers so close are one and the same, in double precision and in single
NARROW, MISSED = 0.92, 1e-5  # of noise 8% too narrow, so much is not looked at again
ENOUGH = 9_000  # numbers that tell it from the right width with probability 1 - 1e-6


def look_at_log(talk: Interview, z: np.ndarray, gradients: np.ndarray, unlike: str, spreads: str, level: float) -> None:
    """The noise of one log; ``gradients`` are the sums that it was added to."""
    narrow = " That is too little to hide one patient." if (z**2).mean() < 1 else ""
    talk.require(width_fit(z.ravel(), NORMAL_SIZES, level=2 * level / 6), spreads + narrow, name=WRONG_NOISE)
    for what, several in (("coordinate", z.T), ("step", z)):
        _look_at_parts(talk, several, what, unlike, level / 6)
    _look_at_signs(talk, z, gradients, level / 6)
    far, share = int(np.count_nonzero(np.abs(z) > 2)), 2 * float(special.ndtr(-2))
    for fit in (ks_fit(z.ravel(), special.ndtr, level=level / 12), binomial_fit(far, z.size, share, level=level / 12)):
        talk.require(
            fit,
            f"What your sums have beyond the clipped gradients is not Gaussian noise: {far / z.size:.1%} of it are "
            f"beyond two standard deviations, and {share:.1%} should be.",
        )


def _look_at_parts(talk: Interview, rows: np.ndarray, what: str, unlike: str, level: float) -> None:
    """The width of every row, and of 2, 4, 8, ... rows side by side: the oddest one, at the price of all."""
    longest = int(math.log2(len(rows)))
    parts = [
        (first, first + length)
        for length in (2**power for power in range(longest + 1))
        for first in range(0, len(rows) - length + 1, max(1, length // 2))
    ]
    until = np.append(0.0, np.cumsum((rows**2).sum(axis=1)))
    first, last = np.array(parts).T
    shape, total = (last - first) * rows.shape[1] / 2, (until[last] - until[first]) / 2
    one, other = parts[int(np.argmin(np.minimum(special.gammainc(shape, total), special.gammaincc(shape, total))))]
    fit = width_fit(rows[one:other].ravel(), NORMAL_SIZES, level=level / len(parts))
    where = f"{what} {one}" if other - one == 1 else f"{what}s {one} to {other - 1}"
    talk.require(
        replace(fit, level=level, p_value=min(1.0, len(parts) * fit.p_value)),
        f"{unlike}. In {where} what is beyond the clipped gradients spreads {fit.statistic:.3g} times as much as noise "
        f"of sigma C: every {what} needs its own.",
        name=WRONG_NOISE,
    )


def _look_at_signs(talk: Interview, z: np.ndarray, gradients: np.ndarray, level: float) -> None:
    """Noise that knows nothing of the gradients, of the step before or of another coordinate: fair coins, exactly."""
    signs = np.where(z > 0, 1.0, -1.0)
    together = np.abs(np.triu(signs.T @ signs, 1))
    one, other = (int(place) for place in np.unravel_index(int(np.argmax(together)), together.shape))
    alike, pairs = int(np.count_nonzero(signs[:, one] == signs[:, other])), z.shape[1] * (z.shape[1] - 1) // 2
    if len(z) * math.log(2) > math.log(8 * pairs / level):  # fewer steps say nothing about so many pairs
        fit = binomial_fit(alike, len(z), 0.5, level=level / 4 / pairs)
        talk.require(
            replace(fit, level=level / 4, p_value=min(1.0, pairs * fit.p_value)),
            f"What your sums have beyond the clipped gradients has the same sign in coordinates {one} and {other} in "
            f"{alike} of {len(z)} steps: every coordinate needs noise of its own.",
            name=SIGNED,
        )
    for what, same in (
        ("the sum of these gradients", (z > 0) == (gradients > 0)),
        ("in the step before", (z[1:] > 0) == (z[:-1] > 0)),
        ("in the coordinate before", (z[:, 1:] > 0) == (z[:, :-1] > 0)),
    ):
        agree = int(np.count_nonzero(same))
        talk.require(
            binomial_fit(agree, same.size, 0.5, level=level / 4),
            f"What your sums have beyond the clipped gradients should be noise. It has the same sign as {what} in "
            f"{agree / same.size:.0%} of all cases, and should in half of them. Clip each gradient as asked; draw the "
            f"noise afresh for every step and coordinate, and add it as it is.",
            name=SIGNED,
        )


def look_at_evenness(talk: Interview, z: np.ndarray, unlike: str, level: float) -> None:
    """Are all steps as wide, and all coordinates? Whatever is narrow now and wide then, is as wide as asked in all."""
    for what, rows in (("step", z), ("coordinate", z.T)):
        widths = np.sqrt((rows**2).mean(axis=1))
        low, high = np.quantile(widths, (0.1, 0.9))
        talk.require(
            evenness_fit(rows, level / 2),
            f"{unlike}. What is beyond them is not as wide in every {what}: it spreads from {low:.2g} to {high:.2g} "
            f"times as much as noise of sigma C, in a fifth of them beyond. Where it is narrow it hides too little.",
            name=WRONG_NOISE,
        )


def evenness_fit(rows: np.ndarray, level: float) -> Fit:
    """Have all rows of normal numbers one width, whichever? Bartlett's product of their mean squares is small if not.

    Over the power of their mean it is that of Dirichlet's law. Markov's inequality for its power -s, at the best s,
    bounds the p-value.
    """
    number, half = len(rows), rows.shape[1] / 2
    shares = (rows**2).sum(axis=1) / (rows**2).sum()
    log_product, best = float(np.log(np.maximum(shares, 1e-300)).sum()), 0.0
    for s in np.linspace(0, half, 60)[1:-1]:
        of_parts = number * float(special.gammaln(half - s) - special.gammaln(half))
        of_whole = float(special.gammaln(number * half) - special.gammaln(number * (half - s)))
        best = min(best, of_parts + of_whole + s * log_product)
    return Fit(
        name="evenness of the widths", statistic=log_product, p_value=math.exp(best), level=level,
        power=0.0, draws=number, smallest_error=math.inf, unit="",
    )  # fmt: skip


def heavy_within_steps(z: np.ndarray) -> bool:
    """Is it Laplace noise, and not Gaussian noise whose width changes from step to step?

    A mean size over the root of the mean square of each step: .80 for Gaussian noise, .72 to .75 for Laplace noise.
    """
    return float((np.abs(z) / np.sqrt((z**2).mean(axis=1, keepdims=True))).mean()) < 0.767


def look_at_logs(talk: Interview, logs: list[np.ndarray], further: Callable[[], np.ndarray], level: float) -> None:
    """The noise of all logs together; ``further()`` gives that of one more run."""
    for block in BLOCKS:
        lengths = np.concatenate([_squares(z, block) for z in logs])
        for near in NEAR:
            fit = repeats_fit(special.gammainc(block / 2, lengths / 2), near, level / 4 / (len(BLOCKS) + 1) / len(NEAR))
            _refuse_copies(talk, fit, f"the noise of {block} coordinates is as long as")
    for near in NEAR:
        numbers = special.gammainc(0.5, np.concatenate([z.ravel() for z in logs]) ** 2 / 2)
        fit = repeats_fit(numbers, near, level / 4 / (len(BLOCKS) + 1) / len(NEAR))
        _refuse_copies(talk, fit, "a number of your noise has the same size as")
    look_at_evenness(talk, np.vstack(logs), "These are no logs of DP-SGD", level / 8)
    talk.require(
        independence_fit(np.vstack(logs), level / 8),
        "The coordinates of your noise depend on each other: draw one number for each of them in every step.",
        name=USED_TWICE,
    )
    _look_at_parts(talk, np.vstack(logs).T, "coordinate", "These are no logs of DP-SGD", level / 4)
    both = np.concatenate([z.ravel() for z in logs])
    if both @ both > NARROW**2 * special.chdtri(both.size, MISSED):
        return
    again = list[np.ndarray]()
    while sum(one.size for one in again) < ENOUGH:
        again.append(further().ravel())
    numbers = np.concatenate(again)
    spread = math.sqrt(float((numbers**2).mean()))
    talk.require(
        width_fit(numbers, NORMAL_SIZES, level=level / 4),
        f"I have let you train {len(again)} times more: what your sums have beyond the clipped gradients spreads "
        f"{spread:.3g} times as much as noise of sigma C. That is too little to hide one patient.",
        name=WRONG_NOISE,
    )


def _squares(z: np.ndarray, block: int) -> np.ndarray:
    """The squared lengths of blocks of so many coordinates."""
    number = z.shape[1] // block
    return np.asarray((z[:, : number * block].reshape(len(z), number, block) ** 2).sum(axis=2).ravel())


def _refuse_copies(talk: Interview, fit: Fit, words: str) -> None:
    times = int(fit.statistic)
    text = f"In {times} cases {words} one before, to the last digit: it is copied, permuted or turned. Draw it afresh."
    talk.require(fit, text, name=USED_TWICE)


def repeats_fit(uniform: np.ndarray, near: float, level: float) -> Fit:
    """How many neighbours, of uniform numbers that are sorted, lie closer than ``near``?

    One spacing of n numbers is that short with probability 1 - (1 - near)^n. Spacings are negatively associated, so
    Chernoff's bound for independent ones holds for their number, too.
    """
    n = len(uniform)
    times, share = int(np.count_nonzero(np.diff(np.sort(uniform)) < near)), -math.expm1(n * math.log1p(-near))
    mean = times / max(n - 1, 1)
    exponent = float(special.rel_entr(mean, share) + special.rel_entr(1 - mean, 1 - share)) if mean > share else 0.0
    return Fit(
        name="numbers that come again", statistic=float(times), p_value=math.exp(-(n - 1) * exponent), level=level,
        power=0.0, draws=n, smallest_error=math.inf, unit="",
    )  # fmt: skip


def independence_fit(z: np.ndarray, level: float) -> Fit:
    """Are the columns independent? A small determinant of the covariance, whatever its width, says no.

    The determinant of Wishart's matrix is a product of chi-squares with n - i degrees, and over the d-th power of the
    trace it does not depend on the trace. Markov's inequality for its power -s, at the best s, bounds the p-value.
    """
    n, d = z.shape
    freedoms, covariance = n - np.arange(d), z.T @ z
    log_ratio = float(np.linalg.slogdet(covariance)[1]) - d * math.log(float(np.trace(covariance)) / d)
    best = 0.0
    for s in np.linspace(0, max(n - d, 0) / 2, 60)[1:-1]:
        of_det = float((special.gammaln(freedoms / 2 - s) - special.gammaln(freedoms / 2)).sum())
        of_trace = float(special.gammaln(n * d / 2 - d * s) - special.gammaln(n * d / 2)) + d * s * math.log(d)
        best = min(best, of_det - of_trace + s * log_ratio)
    return Fit(
        name="determinant of the covariance", statistic=log_ratio, p_value=math.exp(best), level=level,
        power=0.0, draws=n, smallest_error=math.inf, unit="",
    )  # fmt: skip
