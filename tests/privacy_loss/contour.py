"""A slow, independent oracle for composed losses: delta(eps) as a contour integral of the moment generating function.

With K(z) = ln E_P[(P/Q)^z] summed over all rounds, and any theta > 0,

    delta(eps) = 1/(2 pi i) * integral over Re z = theta of e^(K(z) - eps z) / (z (1 + z)) dz.

K comes from quadrature over the *output* of the mechanism, so neither a loss grid nor an FFT is involved. The
trapezoidal rule converges geometrically here; its step is halved until nothing changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy import optimize

LogMoment = Callable[[np.ndarray], np.ndarray]


class TooSlow(Exception):
    """The integrand decays too slowly for this oracle (few rounds of a very rough loss)."""


def gaussian(mu: float) -> LogMoment:
    return lambda z: z * (1 + z) * mu**2 / 2


def laplace(shift: float) -> LogMoment:
    def log_moment(z: np.ndarray) -> np.ndarray:
        # E[e^(zL)] = (e^(zs) + e^(-s - zs))/2 + e^(zs) (1 - e^(-(1+2z)s)) / (2 (1 + 2z)), all divided by e^(zs).
        back = np.exp(-shift * (1 + 2 * z))
        return z * shift + np.log(0.5 * (1 + back) + (1 - back) / (2 * (1 + 2 * z)))

    return log_moment


def atoms(losses: Sequence[float], masses: Sequence[float]) -> LogMoment:
    top = float(np.max(losses))
    gaps = np.asarray(losses) - top
    return lambda z: z * top + np.log(np.exp(np.multiply.outer(z, gaps)) @ np.asarray(masses))


def sampled_gaussian(mu: float, q: float, *, added: bool, most: float = 2e7) -> LogMoment:
    """ln E_Q[R^s] with R = 1 - q + q P/Q and s = 1 + z (removed: under the mixture) or s = -z (added: under Q)."""

    def log_moment(z: np.ndarray) -> np.ndarray:
        s = np.atleast_1d(-z if added else 1 + z).astype(complex)
        reach = mu * float(np.abs(s.real).max())
        fastest = mu * float(np.abs(s.imag).max())
        h = min(0.04, 0.4 / mu, 1.5 / (fastest + 1e-9))
        t = np.arange(-11.0 - (reach if added else 0.0), 11.0 + mu + (0.0 if added else reach), h)
        if t.size * s.size > most:
            raise TooSlow(f"{t.size} x {s.size} evaluations")
        extra = q * np.expm1(mu * t - mu * mu / 2)
        loss, log_weight = np.log1p(extra), -t * t / 2 + math.log(h / math.sqrt(2 * math.pi))
        out = np.empty(s.size, dtype=complex)
        for block in np.array_split(np.arange(s.size), min(s.size, 1 + t.size * s.size // 500_000)):
            out[block] = _log_mean_power(s[block], loss, extra, log_weight)
        return out.reshape(np.shape(z))

    return log_moment


def _log_mean_power(s: np.ndarray, loss: np.ndarray, extra: np.ndarray, log_weight: np.ndarray) -> np.ndarray:
    exponent = np.multiply.outer(s, loss)
    peak = (exponent.real + log_weight).max()
    if exponent.real.max() < 30:
        # E[R - 1] = 0, so E[R^s] - 1 = E[R^s - 1 - s (R - 1)]: what cancels over many rounds is taken off first.
        rest = np.expm1(exponent) - np.multiply.outer(s, extra)
        return np.log1p(rest @ np.exp(log_weight))
    return peak + np.log(np.exp(exponent + (log_weight - peak)).sum(axis=1))


class Composition:
    """The sum of independent losses, each given by its log moment and how often it occurs."""

    def __init__(self, *parts: tuple[LogMoment, int]) -> None:
        self.parts = parts

    def log_moment(self, z: np.ndarray) -> np.ndarray:
        return sum(times * part(z) for part, times in self.parts)  # type: ignore[return-value]

    def cumulants(self, theta: float) -> tuple[float, float, float]:
        """K, K' and K'' at a real theta, by central differences (they only choose the contour)."""
        h = 1e-3 * theta
        low, middle, high = self.log_moment(np.array([theta - h, theta, theta + h], dtype=complex)).real
        return float(middle), float((high - low) / (2 * h)), float((high - 2 * middle + low) / h**2)

    def saddle(self, *, epsilon: float | None = None, delta: float | None = None) -> tuple[float, float]:
        """The theta > 0 where the integrand's modulus is smallest, hence does not cancel; and epsilon there."""

        def excess(log_theta: float) -> float:
            theta = math.exp(log_theta)
            k0, k1, k2 = self.cumulants(theta)
            here = k1 - 1 / theta - 1 / (1 + theta)
            if delta is None:
                return here - float(epsilon or 0.0)
            spread = max(k2, 0.0) + 1 / theta**2 + 1 / (1 + theta) ** 2
            log_delta = k0 - theta * here - math.log(theta) - math.log1p(theta) - math.log(2 * math.pi * spread) / 2
            return math.log(delta) - log_delta

        low, high = 0.0, 0.0
        while excess(low) > 0 and low > -25:
            low -= 1.0
        while excess(high) < 0 and high < 20:
            high += 1.0
        theta = math.exp(optimize.brentq(excess, low, high, xtol=1e-2) if excess(low) < 0 < excess(high) else low)
        return theta, self.cumulants(theta)[1] - 1 / theta - 1 / (1 + theta)

    def curve(self, theta: float, near: float, precision: float = 1e-12) -> Callable[[float], float]:
        """delta(.) along one line of the contour, resolved for values of epsilon around ``near``."""
        at_zero = float(self.log_moment(np.array([theta + 0j]))[0].real)

        def integrand(y: np.ndarray) -> np.ndarray:
            z = theta + 1j * y
            return np.exp(self.log_moment(z) - at_zero) / (z * (1 + z))

        def sum_up(y: np.ndarray, f: np.ndarray, h: float, epsilon: float) -> float:
            return float(h / math.pi * (f * np.exp(-1j * y * epsilon)).real.sum()) * math.exp(at_zero - theta * epsilon)

        reach, peak = theta, abs(integrand(np.zeros(1))[0])
        while np.abs(integrand(reach * np.array([0.71, 0.8, 0.9, 1.0, 1.13, 1.31]))).max() > precision * peak:
            reach *= 1.4
            if reach > 1e7:
                raise TooSlow("the integrand does not decay")
        h = theta / 2
        y = np.arange(0.0, reach, h)
        f = integrand(y)
        f[0] /= 2
        while True:
            between = np.arange(h / 2, reach, h)
            finer_y, finer_f = np.append(y, between), np.append(f, integrand(between))
            coarse, fine = sum_up(y, f, h, near), sum_up(finer_y, finer_f, h / 2, near)
            y, f, h = finer_y, finer_f, h / 2
            if abs(fine - coarse) <= 1e-8 * abs(fine):  # and fine is closer still
                return lambda epsilon: sum_up(y, f, h, epsilon)
            if y.size > 50_000:
                raise TooSlow(f"{y.size} points do not resolve the contour")

    def delta(self, epsilon: float, agreement: float = 5e-8) -> float:
        """Along two lines: the integral does not depend on theta, its numerical errors do.

        Where one rare, large loss competes with many small ones the saddle is a poor line (the curve to its right falls
        hardly faster than e^(-theta eps)); lines closer to 0 converge sooner there.
        """
        theta = self.saddle(epsilon=epsilon)[0]
        for factors in ((1.0, 0.85), (0.7, 0.6), (0.5, 0.4)):
            try:
                one, other = (self.curve(factor * theta, epsilon)(epsilon) for factor in factors)
            except TooSlow:
                continue
            if abs(one - other) <= agreement * abs(one):
                return one
        raise TooSlow(f"no two lines near {theta!r} agree")

    def epsilon(self, delta: float) -> float:
        """The root of delta(eps) = delta; 0 where even delta(0) is smaller."""
        theta, guess = self.saddle(delta=delta)
        if guess < 1 / theta and self.delta(0.0) <= delta:
            return 0.0
        curve = self.curve(theta, guess)
        low, high = guess, guess
        while curve(low) < delta:
            low -= 0.3 / theta
        while curve(high) > delta:
            high += 0.3 / theta
        root = max(float(optimize.brentq(lambda e: curve(e) - delta, low, high, xtol=1e-14, rtol=1e-13)), 0.0)
        if not abs(self.delta(root) - delta) <= 1e-7 * delta:
            raise TooSlow("the root on one line is none on another")
        return root
