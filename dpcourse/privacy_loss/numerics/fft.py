"""Sums of many losses: convolution by FFT, with every error on the right side.

Three errors are controlled. *Discretisation*: the parts are put on a grid from above or from below (``lattice``), so
that the result bounds the truth on that side. *Wrap-around*: the FFT works on a window; what lies outside folds back
into it, and Chernoff's inequality on the grid loss itself bounds that mass. *Rounding*: each mass is first tilted by
e^(theta * loss), so that the window is centred on the epsilon in question and its bulk, not its far tail, carries the
answer; delta = 1e-12 or 1e-200 keeps its relative precision (unless bulk and tail of a few rounds lie far apart, where
the bracket is wide). Wrap-around and rounding are added to an upper bound and taken off a lower one. The first two are
bounds; the allowance for rounding, about 2 units in the last place for each round, is a model of it.

References: Koskela, Jaelkoe & Honkela 2020 (FFT accountant); Gopi, Lee & Wutschitz 2021 (error bounds); Alghamdi et al.
2023 (the saddle point of delta, which gives theta); Doroshenko et al. 2022 (connecting the dots).
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from dpcourse.privacy_loss.base import LARGEST_LOSS, Bracket, PrivacyLoss
from dpcourse.privacy_loss.discrete import DiscreteLoss
from dpcourse.privacy_loss.numerics.direct import direct_delta
from dpcourse.privacy_loss.numerics.lattice import Lattice, dominated, dominating, log_mass, total
from dpcourse.privacy_loss.numerics.tilt import Parts, Plan, chernoff, loss_range, plan_for

Grids: TypeAlias = Sequence[tuple[Lattice, int]]
#: Relative error of epsilon (or of delta) that the grid of a dominating loss may cause; the bracket is 3 times as wide.
TOLERANCE = 3e-5
_MOST_NODES = 1_500_000  # of the grid of one loss, and ...
_LONGEST_TRANSFORM = 4_000_000  # ... of a window: together about 300 MB at the peak
_WRAPPED = 23.0  # the window leaves out e^-23 of the tilted mass on each side ...
_WRAPPED_EXACT = 37.0  # ... or less than rounding does, where the grid holds the loss exactly and is small
_LARGEST_OFFSET = 600.0  # from the centre of a window, so that e^offset is a number
_MOMENT_NODES = 40_000  # of a grid whose moments are wanted only
_PRECISE = 0.1  # a bound from above is worth another look unless one from below has this share of it
_ROUNDING = np.finfo(float).eps
_FACTORS = (1.0, 1.5, 0.5, 2.5, 0.2, 5.0, 0.0)  # of the planned tilt: what is tried, in this order


def epsilon(parts: Parts, delta: float, *, lower_too: bool, scale: float = 0.0) -> Bracket:
    """The smallest epsilon of the sum at ``delta``: an upper bound, and a lower bound if asked for."""
    hopeless = sum(times * math.log1p(-min(float(loss.above(LARGEST_LOSS)[0]), 0.999)) for loss, times in parts)
    if -math.expm1(hopeless) >= delta:
        return Bracket(0.0, math.inf)  # delta does not cover the outputs that identify a dataset (odds of e^600)
    plan = _plan(parts, 1e-7 * delta, lambda place, log_delta: -log_delta, -math.log(delta))
    wanted = TOLERANCE * max(plan.epsilon, 0.1 * plan.spread, scale)
    for _ in range(2):
        # With few rounds the loss has not smoothed out and the estimate behind the step is rough: be generous.
        rounds = total(parts) + 30 / total(parts)
        step = _fit_step(parts, math.sqrt(12 * wanted / (rounds * (1 + plan.theta))), plan)
        upper = _search(_grids(parts, dominating, step, plan), plan, lambda sum_: sum_.epsilon(delta, side=1), math.inf)
        # A few heavy-tailed rounds can cost far less than their spread suggests: then once more, finer.
        needed = TOLERANCE * max(upper, 1e-3 * plan.spread, scale)
        if wanted <= 4 * needed:
            break
        wanted = needed
    if not lower_too:
        return Bracket(0.0, upper)
    lower = _lower(
        parts, plan, step, upper, min(4 * wanted, 5e-4 * max(upper, scale)), lambda sum_: sum_.epsilon(delta, side=-1)
    )
    return Bracket(lower, upper)


def delta(parts: Parts, epsilon: float, *, lower_too: bool) -> Bracket:
    """The delta of the sum at ``epsilon``: an upper bound, and a lower bound if asked for.

    Where a single rare loss makes all of delta no window holds the tilted sum, or its errors outweigh the answer. Then
    three other bounds are certain: that by moments, that of a direct sum, and delta at a few smaller epsilons.
    """
    plan, step = _delta_plan(parts, epsilon)
    upper, precise = _upper_delta(parts, plan, step, epsilon)
    if not precise:
        others = [_delta_on_rung(tuple(parts), rung) for rung in _rungs_below(epsilon)]
        upper = min(upper, moment_bound(parts, epsilon), direct_delta(parts, epsilon), *others)
    if not lower_too:
        return Bracket(0.0, upper)
    finest = 6 if precise else 0  # where no window holds the sum, no finer grid helps
    lower = _lower(parts, plan, step, upper, 4 * TOLERANCE * upper, lambda sum_: sum_.delta(epsilon, side=-1), finest)
    return Bracket(lower, upper)


def _delta_plan(parts: Parts, epsilon: float) -> tuple[Plan, float]:
    """Where to look for delta at ``epsilon``, and the step of the grid."""
    plan = _plan(parts, 1e-30, lambda place, log_delta: place, epsilon)
    # The first plan found out how small delta is; the second cuts the tails accordingly.
    tail = 1e-7 * math.exp(max(plan.log_delta, -680.0))
    plan = _plan(parts, tail, lambda place, log_delta: place, epsilon)
    if epsilon < plan.floor:  # nearly all mass lies above: no tilt, and a window around the mean
        plan = replace(plan, theta=0.0)
    bend = total(parts) * max(plan.theta, 0.1) * (1 + plan.theta)
    return plan, _fit_step(parts, math.sqrt(12 * TOLERANCE / bend), plan)


def _upper_delta(parts: Parts, plan: Plan, step: float, epsilon: float) -> tuple[float, bool]:
    """The smallest upper bound of several tilts, as soon as one of them is precise; and whether one is."""
    grids, best = _grids(parts, dominating, step, plan), 1.0
    for factor in _FACTORS if plan.theta > 0 else (1.0,):
        with contextlib.suppress(MemoryError):
            tilted = TiltedSum.of(grids, factor * plan.theta, plan)
            upper, lower = (tilted.delta(epsilon, side=side) for side in (1, -1))
            if math.isnan(upper):  # epsilon is outside this window
                continue
            no_better, best = upper > best / 2, min(upper, best)
            cut = tilted.infinite - _infinite(parts)  # what the grid's range left out
            if lower - cut >= _PRECISE * best:
                return best, True
            if no_better and best < 1:
                break
    return best, False


def _rungs_below(epsilon: float) -> list[int]:
    """A few smaller epsilons, 2^(rung / 2): the same ones for all that lie near each other."""
    top = math.ceil(2 * math.log2(epsilon)) - 1 if epsilon > 0 else 0
    return [top, top - 1, top - 2] if epsilon > 0 else []


@lru_cache(maxsize=256)
def _delta_on_rung(parts: tuple[tuple[PrivacyLoss, int], ...], rung: int) -> float:
    epsilon = 2 ** (rung / 2)
    return _upper_delta(parts, *_delta_plan(parts, epsilon), epsilon)[0]


def moment_bound(parts: Parts, epsilon: float) -> float:
    """delta <= infinite + e^(K(t) - t epsilon) t^t / (1 + t)^(1 + t) for every t > 0, with K the ln E[e^(t L)].

    Canonne, Kamath & Steinke 2020, Proposition 12, in moments (t is the Renyi order less 1). The moments are those of
    a grid that dominates the loss: the bound is certified.
    """
    from scipy.optimize import minimize_scalar

    grids = []
    for loss, times in parts:
        low, high = loss_range(loss, 1e-306)
        grids.append((dominating(loss, (high - low) / _MOMENT_NODES, low, high), times))

    def exponent(log_tilt: float) -> float:
        theta = math.exp(log_tilt)
        return _cumulants(grids, theta)[0] - theta * epsilon + theta * log_tilt - (1 + theta) * math.log1p(theta)

    tilts = np.linspace(math.log(1e-2), math.log(1e4), 30)
    best = int(np.argmin([exponent(tilt) for tilt in tilts]))
    ends = float(tilts[max(best - 1, 0)]), float(tilts[min(best + 1, tilts.size - 1)])
    least = float(minimize_scalar(exponent, bounds=ends, method="bounded", options={"xatol": 1e-4}).fun)
    infinite = _together((grid.infinite, times) for grid, times in grids)
    return min(infinite + math.exp(min(least, 0.0)), 1.0)


def _lower(
    parts: Parts,
    plan: Plan,
    step: float,
    upper: float,
    width: float,
    answer: Callable[[TiltedSum], float],
    finest: int = 6,
) -> float:
    """The best lower bound on grids up to 2^finest finer: where the density is rough, the lower polygon needs one."""
    best = 0.0
    for refinement in (2**power for power in range(finest + 1)):
        finer = _fit_step(parts, step / refinement, plan)
        best = max(best, min(_search(_grids(parts, dominated, finer, plan), plan, answer, 0.0), upper))
        if upper - best <= width or finer > step / refinement:
            break
    return best


def dominating_discrete_loss(parts: Parts) -> DiscreteLoss:
    """The whole distribution of the sum on a grid, never more private than the truth."""
    plan = _plan(parts, 1e-13, lambda place, log_delta: -log_delta, math.log(1e3))
    step = math.sqrt(12 * TOLERANCE / (total(parts) * max(plan.theta, 0.1) * (1 + plan.theta)))
    grids = _grids(parts, dominating, _fit_step(parts, step, plan), plan)
    whole = TiltedSum.of(grids, 0.0, plan)
    masses = np.maximum(whole.masses, 0.0) * math.exp(whole.log_scale)
    # What may have been folded to the wrong place is made infinite on top: too much, by less than 1e-9.
    return DiscreteLoss(whole.losses, masses, only_p=whole.infinite + whole.error, label="upper bound")


@dataclass(frozen=True, eq=False)
class TiltedSum:
    """The T-fold sum of grid losses, tilted by theta, on a window around its tilted mean ``centre``."""

    theta: float
    centre: float
    log_scale: float  # ln of: mass = tilted mass * scale * e^(-theta (loss - centre))
    losses: np.ndarray
    masses: np.ndarray  # tilted
    infinite: float
    error: float  # of any sum of tilted masses: wrap-around and rounding

    @classmethod
    def of(cls, grids: Grids, theta: float, plan: Plan) -> TiltedSum:
        """Tilt, fold, transform, raise to the powers, transform back."""
        from scipy import fft

        step = grids[0][0].step
        log_m, mean, variance = _cumulants(grids, theta)
        spread = math.sqrt(max(variance, step**2))
        right, left = (_chernoff(grids, theta, log_m, sign / spread, plan) for sign in (1, -1))
        # No further than the sum can go.
        right = min(right, step * sum(t * (g.first + g.masses.size - 1) for g, t in grids))
        left = max(left, step * sum(t * g.first for g, t in grids))
        start = math.floor(left / step) - 1
        n = fft.next_fast_len(max(math.ceil(right / step) + 2 - start, 16), real=True)
        if n > 2 * _LONGEST_TRANSFORM:  # a tilt far from the plan's: not worth the memory
            raise MemoryError(f"a window of {n} grid points")
        spectra, loudness = [], np.zeros(n // 2 + 1)
        for grid, times in grids:
            tilted = np.exp(theta * grid.losses + log_mass(grid.masses) - _log_mgf(grid, theta)[0])
            padded = np.zeros(-(-tilted.size // n) * n)
            padded[: tilted.size] = tilted
            spectra.append((fft.rfft(padded.reshape(-1, n).sum(axis=0)), times))
            loudness += times * 0.5 * log_mass(np.abs(spectra[-1][0]) ** 2)
        # Of many rounds only the lowest frequencies can be heard: raise no others to the power.
        audible = np.flatnonzero(loudness > -50)
        spectrum = np.zeros(n // 2 + 1, dtype=complex)
        spectrum[audible] = np.exp(sum(times * np.log(each[audible]) for each, times in spectra))
        offset = sum(times * grid.first for grid, times in grids) - start
        masses = np.roll(fft.irfft(spectrum, n), offset % n)
        rounding = _ROUNDING * (2 * total(grids) + 40 * math.log2(n)) * max(1.0, (theta * spread + 1e-3) ** -0.5)
        return cls(
            theta=theta,
            centre=mean,
            log_scale=log_m - theta * mean,
            losses=step * np.arange(start, start + n),
            masses=masses,
            infinite=_together((grid.infinite, times) for grid, times in grids),
            error=2 * math.exp(-plan.wrapped) + rounding,
        )

    def delta(self, epsilon: float, *, side: int) -> float:
        """sum of mass (1 - e^(epsilon - loss))+, plus (side = 1) or minus (side = -1) the error; NaN if off window."""
        if self.theta > 0 and not self.losses[0] < epsilon:
            return math.nan
        gap = np.maximum(self.losses - epsilon, 0.0)
        value = _dot(self.masses, np.exp(-self.theta * gap) * -np.expm1(-gap))
        log_scale = self.log_scale - self.theta * (epsilon - self.centre)
        if log_scale > 700:
            return math.nan
        return float(self.infinite + max(value + side * self.error, 0.0) * math.exp(log_scale))

    def epsilon(self, delta: float, *, side: int) -> float:
        """Where delta(.), linear in e^epsilon between grid points, passes ``delta``; NaN if not in this window."""
        if delta <= self.infinite:
            return math.inf
        target = math.exp(min(math.log(delta - self.infinite) - self.log_scale, 700.0))
        # Left of the centre the tilt magnifies rounding: look there only a little. Right of it nothing is lost, but
        # e^offset must not overflow: what lies that far beyond an epsilon counts in full (1 - e^-50 is 1).
        offset = self.losses - self.centre
        first, last = np.searchsorted(offset, [-min(12 / max(self.theta, 1e-9), _LARGEST_OFFSET), _LARGEST_OFFSET])
        mass = self.masses[first:] * np.exp(-self.theta * offset[first:])
        beyond = float(np.maximum(mass[last - first :], 0.0).sum())
        mass, offset = mass[: last - first], offset[first:last]
        p_above, q_above = _sum_from_right(mass) + beyond, _sum_from_right(mass * np.exp(-offset))
        curve = p_above - np.exp(offset) * q_above + side * self.error * np.exp(-self.theta * offset)
        curve = curve[offset <= _LARGEST_OFFSET - 50]
        if not curve.size:
            return math.nan
        small_enough = curve <= target
        passed = int(np.argmax(small_enough))
        if passed == 0:
            # Small enough from the start: epsilon = 0 will do, if the window reaches down to it.
            return 0.0 if small_enough[0] and self.centre + offset[0] <= 0 else math.nan
        before, after = curve[passed - 1], curve[passed]
        share = (before - target) / (before - after)
        rise = math.log1p(share * math.expm1(offset[passed] - offset[passed - 1]))
        return float(max(self.centre + offset[passed - 1] + rise, 0.0))


def _together(masses: Iterable[tuple[float, int]]) -> float:
    """The probability that an infinite loss comes at least once."""
    return -math.expm1(sum(times * math.log1p(-min(mass, 1 - 2**-53)) for mass, times in masses)) + 0.0


def _infinite(parts: Parts) -> float:
    return _together((loss.infinite_mass, times) for loss, times in parts)


def _dot(a: np.ndarray, b: np.ndarray) -> float:
    """A dot product without BLAS, whose threads cost more than they bring here, above all on a busy machine."""
    return float(np.einsum("i,i->", a, b))


def _sum_from_right(values: np.ndarray) -> np.ndarray:
    """The sum of everything strictly to the right of each position."""
    return np.append(np.cumsum(values[::-1])[::-1][1:], 0.0)


def _search(grids: Grids, plan: Plan, answer: Callable[[TiltedSum], float], otherwise: float) -> float:
    """Ask the tilted sum at the planned theta; if the answer lies outside its window, tilt more, then less."""
    for factor in _FACTORS if plan.theta > 0 else (1.0,):
        with contextlib.suppress(MemoryError):
            value = answer(TiltedSum.of(grids, factor * plan.theta, plan))
            if not math.isnan(value):
                return value
    return otherwise


def _grids(
    parts: Parts, side: Callable[[PrivacyLoss, float, float, float], Lattice], step: float, plan: Plan
) -> list[tuple[Lattice, int]]:
    return [(side(loss, step, low, high), times) for (loss, times), (low, high) in zip(parts, plan.ranges, strict=True)]


def _exact_step(parts: Parts) -> float | None:
    """The step of a grid that *is* the loss: a single discrete loss whose atoms are multiples of a step."""
    return parts[0][0].natural_step if len(parts) == 1 and isinstance(parts[0][0], DiscreteLoss) else None


def _plan(parts: Parts, tail: float, choose: Callable[..., np.ndarray], target: float) -> Plan:
    wrapped = _WRAPPED_EXACT if _exact_step(parts) else _WRAPPED
    return plan_for(parts, tail=tail, choose=choose, target=target, wrapped=wrapped)


def _fit_step(parts: Parts, step: float, plan: Plan) -> float:
    """Keep the grid within memory, and on the atoms of a loss that has a natural step."""
    step = max(step, plan.window / _LONGEST_TRANSFORM, *((high - low) / _MOST_NODES for low, high in plan.ranges))
    natural = parts[0][0].natural_step if len(parts) == 1 else None
    if natural is None:
        return step
    exact = _exact_step(parts)
    reach = max(plan.window, *(high - low for low, high in plan.ranges))
    if exact is not None:
        return exact if reach / exact <= _MOST_NODES else step
    return natural / math.ceil(natural / step)


def _log_mgf(grid: Lattice, theta: float) -> tuple[float, float, float]:
    """ln sum of mass e^(theta loss), with its first two derivatives in theta."""
    losses = grid.losses
    exponent = theta * losses + log_mass(grid.masses)
    peak = exponent.max()
    weight = np.exp(exponent - peak)
    norm = weight.sum()
    mean = _dot(weight, losses) / norm
    return float(peak + math.log(norm)), float(mean), float(_dot(weight, (losses - mean) ** 2) / norm)


def _cumulants(grids: Grids, theta: float) -> tuple[float, float, float]:
    """The same for the sum: each part's cumulants, times how often it occurs."""
    log_m = mean = variance = 0.0
    for grid, times in grids:
        part = _log_mgf(grid, theta)
        log_m, mean, variance = log_m + times * part[0], mean + times * part[1], variance + times * part[2]
    return log_m, mean, variance


def _chernoff(grids: Grids, theta: float, log_m: float, unit: float, plan: Plan) -> float:
    """A point beyond which lies at most e^-wrapped of the tilted mass: to the right if ``unit`` > 0, else to the left.

    For every t > 0, Pr[S > w] <= e^(K(theta + t) - K(theta) - t w). The best t is looked for on the coarse loss; the
    bound itself is then computed on the grid that is transformed.
    """
    best, _ = chernoff(plan.coarse, theta, unit, plan.wrapped)
    return float((_cumulants(grids, theta + best)[0] - log_m + plan.wrapped) / best)
