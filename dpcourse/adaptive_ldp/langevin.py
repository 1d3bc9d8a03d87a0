"""Posterior sampling by stochastic gradient Langevin dynamics, for many surveys side by side.

The model: theta = phi / sum(phi) with phi_k ~ Gamma(rho, 1), so theta ~ Dirichlet(rho, ..., rho); a response y_i to
the mechanism P_i has probability p_i = sum_x P_i(y_i | x) theta_x. Of a response only its *row* is kept, the K numbers
P_i(y_i | x). An update (Welling & Teh 2011; Aydin & Yildirim 2025) takes a minibatch u of m of the n rows and moves

    phi <- | phi + (gamma/2) grad + sqrt(gamma) W |,    W standard normal,
    grad_k = (rho - 1)/phi_k - 1 + (n/m) sum_{i in u} (row_i[k] / p_i - 1) / sum(phi).

The slide's gamma W would be far too little noise. That is ``plain=True``; its prior term explodes near 0 for rho < 1,
where phi is floored at ``FLOOR``, at a price (below). By default the same dynamics run in the metric diag(phi)
(Patterson & Teh 2013, "expanded mean"), where nothing explodes and the posterior is the same:

    phi <- | phi + (gamma/2) (rho + phi * grad') + sqrt(gamma phi) W |,    grad' = grad without (rho - 1)/phi.

The step. The talk takes gamma = 0.5/n. In its formula n counts the responses that the posterior is given, so while
they arrive it is gamma_t = 0.5/t (``step=0.5``; the authors' code keeps 0.5/T, T the final number, throughout).
Without ``step`` gamma is as large as two limits allow: ``LARGEST``, and the gamma at which the minibatch itself adds
``SHARE`` of the variance of the injected noise (at the uniform theta, by the mechanism's chi-square divergence).

How far the mean of 50 chains is from the exact posterior mean (total variation; K = 20, 10,000 SRR responses, epsilon
1, 3,000 updates forgotten and 8,000 used, the population drawn with rho = 1, .1, .01; prior 1): .008, .007, .006.
With the talk's step, plain: .14, .15, .08, because that is too few updates for so small a step. With our step, plain:
.019, .032, .038: reflection at 0 errs more than the metric. The chains' variance is 1.2 to 1.5 times the exact
one: the minibatches' share. With a prior of .1 or .01 (twice the updates, population
rho = .1) the metric errs by .054 and .10, the plain one by .21 and .27: use ``gibbs`` there, with many sweeps (it mixes
slowly where little is told: compare its chains before you believe their mean).
"""

from __future__ import annotations

import math

import numpy as np

from dpcourse import checks
from dpcourse.randomness import Rng, generator

MINIBATCH = 50  # as in the talk
SHARE = 0.25
LARGEST = 0.1
FLOOR = 1e-3


def chi_square(k: int, epsilon: float) -> float:
    """sum_y P(y|x)^2 / (1/k) - 1 of standard response: what one report tells about a uniform theta."""
    # (k - 1) (P(x|x) - P(y|x))^2, without the difference that would cancel for a small epsilon.
    return (k - 1) * (-math.expm1(-epsilon) / (1 + (k - 1) * math.exp(-epsilon))) ** 2


def langevin_step(
    phi: np.ndarray, rows: np.ndarray, count: int, prior: float, gamma: float, noise: np.ndarray, plain: bool = False
) -> np.ndarray:
    """One update of one survey's phi, as the formula says it: the reference that :class:`Langevin` is tested against.

    ``rows`` is the minibatch (m, K) of ``count`` responses in all, ``noise`` standard normal.
    """
    total = phi.sum()
    chances = rows @ (phi / total)
    likelihood = count / len(rows) * ((rows / chances[:, None]).sum(axis=0) - len(rows)) / total
    if plain:
        slope = (prior - 1) / np.maximum(phi, FLOOR) - 1 + likelihood
        return np.abs(phi + gamma / 2 * slope + math.sqrt(gamma) * noise)
    slope = prior + phi * (likelihood - 1)
    return np.abs(phi + gamma / 2 * slope + np.sqrt(gamma * phi) * noise)


class Langevin:
    """The chains of ``runs`` surveys of k categories: they grow by one response each at a time.

    Responses lie in blocks of ``minibatch`` rows; a minibatch is the block that holds a random response (the last block
    is as large as it is so far), which keeps the gradient unbiased and copies nothing. The order is random: every new
    response changes places with a random one. All surveys take the same block at a time (not the same responses, nor
    the same noise), so that an update is two small matrix products for each of them.
    """

    def __init__(
        self, runs: int, k: int, *, information: float, prior: float = 1.0, minibatch: int = MINIBATCH,
        step: float | None = None, plain: bool = False, rng: Rng = None,
    ) -> None:  # fmt: skip
        self.runs, self.k = checks.whole_number("runs", runs), checks.whole_number("k", k, at_least=2)
        self.prior = checks.positive("prior", prior)
        self.minibatch = checks.whole_number("minibatch", minibatch)
        self.information = checks.positive("information", information)
        self.step = None if step is None else checks.positive("step", step)
        self.plain, self.rng = plain, generator(rng)
        self.count = 0
        self._blocks = self._empty_blocks(1)
        # The prior's mean; for a small prior not below one step's noise, from where nothing would move.
        self.phi = np.full((self.runs, self.k), max(self.prior, 0.05), np.float32)

    @property
    def theta(self) -> np.ndarray:
        """The present sample of every survey (runs, k)."""
        phi = self.phi.astype(float)
        return phi / phi.sum(axis=1, keepdims=True)

    @property
    def rows(self) -> np.ndarray:
        """The likelihood rows of the responses so far (runs, count, k), in their shuffled order."""
        responses = self._blocks[..., : self.minibatch]
        return responses.transpose(1, 0, 3, 2).reshape(self.runs, -1, self.k)[:, : self.count]

    def _empty_blocks(self, number: int) -> np.ndarray:
        """Room for ``number`` minibatches (number, runs, k, minibatch + 1). The last column stays 1, see ``_move``."""
        return np.ones((number, self.runs, self.k, self.minibatch + 1), np.float32)

    @property
    def gamma(self) -> float:
        """The size of the next update."""
        if self.step is not None:
            return self.step / max(self.count, 1)
        if self.count <= self.minibatch:  # the minibatch is everything: it adds no noise
            return LARGEST
        return min(LARGEST, 4 * SHARE * self.minibatch * self.k**2 / (self.information * self.count**2))

    def add(self, rows: np.ndarray) -> None:
        """One more response of every survey: its likelihood row (runs, k)."""
        if rows.shape != (self.runs, self.k):
            raise ValueError(f"rows must have the shape {(self.runs, self.k)}, got {rows.shape}")
        if self.count == len(self._blocks) * self.minibatch:
            self._blocks = np.concatenate([self._blocks, self._empty_blocks(len(self._blocks))])
        random = divmod(int(self.rng.integers(self.count + 1)), self.minibatch)
        last = divmod(self.count, self.minibatch)
        self._blocks[last[0], :, :, last[1]] = self._blocks[random[0], :, :, random[1]]
        self._blocks[random[0], :, :, random[1]] = rows
        self.count += 1

    def fill(self, rows: np.ndarray) -> None:
        """Give the chains their responses at once: rows (count, k) for all, or (runs, count, k) for each its own.

        Each gets them in a random order of its own: chains that share responses *and* minibatches would err alike, and
        their mean with them.
        """
        count, k = rows.shape[-2:]
        if self.count or k != self.k or count == 0:
            raise ValueError(f"fill an empty sampler with rows of length {self.k}, got {rows.shape} after {self.count}")
        mixed = [given[self.rng.permutation(count)] for given in np.broadcast_to(rows, (self.runs, count, k))]
        self.restore(np.stack(mixed), self.phi)

    def restore(self, rows: np.ndarray, phi: np.ndarray) -> None:
        """Take up saved chains: ``rows`` in the order in which they lay, and ``phi``."""
        self.count = rows.shape[1]
        blocks = max(1, -(-self.count // self.minibatch))
        padded = np.ones((self.runs, blocks * self.minibatch, self.k), np.float32)
        padded[:, : self.count] = rows
        self._blocks = self._empty_blocks(blocks)
        self._blocks[..., :-1] = padded.reshape(self.runs, blocks, self.minibatch, self.k).transpose(1, 0, 3, 2)
        self.phi = phi.astype(np.float32)

    def mean(self, updates: int, burn: int) -> np.ndarray:
        """The posterior mean of every survey (runs, k): the average over ``updates`` further updates after ``burn``."""
        self.update(checks.whole_number("burn", burn, at_least=0))
        average = self.update(checks.whole_number("updates", updates), average=True)
        assert average is not None
        return average

    def update(self, updates: int, average: bool = False) -> np.ndarray | None:
        """Move every chain ``updates`` times; with ``average`` return the mean of theta on the way (runs, k)."""
        if self.count == 0:
            raise ValueError("there is no response yet: add one before the first update")
        total = np.zeros((self.runs, self.k)) if average else None
        for first in range(0, updates, 64):  # the noise of 64 updates at a time
            few = min(64, updates - first)
            places = self.rng.integers(0, self.count, few)
            noise = self.rng.standard_normal((few, self.runs, self.k), dtype=np.float32)
            self._move(places, noise, total)
        return None if total is None else total / updates

    def _move(self, places: np.ndarray, noise: np.ndarray, total: np.ndarray | None) -> None:
        """One update for each of ``places``. An update takes microseconds, so nothing is allocated on the way.

        The column of ones at the end of a block is one more response, of probability sum(phi), and does two things: the
        first product gives sum(phi) too, and the second adds its weight, all that does not depend on x, to the slope.
        """
        count, gamma, phi, m = self.count, self.gamma, self.phi, self.minibatch
        noise *= np.float32(math.sqrt(gamma))
        half, added = np.float32(gamma / 2), np.float32(gamma / 2 * self.prior)
        chances, slope = np.empty((self.runs, 1, m + 1), np.float32), np.empty((self.runs, self.k, 1), np.float32)
        column, weights, moved = chances.transpose(0, 2, 1), chances[:, 0], slope[:, :, 0]
        spread, phi_row, ones = np.empty_like(phi), phi[:, None, :], np.ones((self.k, 1), np.float32)
        # In diag(phi) the update is phi * (1 + slope) + ...: the one goes with the constant part, too.
        constant = np.float32(-gamma / 2 if self.plain else 1 - gamma / 2)
        last, size = divmod(count, m)
        factors = np.full((2, m + 1), gamma / 2 * count / m, np.float32)  # of a whole block, and of the last one
        factors[1, :m] = [gamma / 2 * count / max(size, 1)] * size + [0] * (m - size)
        factors[:, m] = -gamma / 2 * count
        whole, partly = factors
        for place, shake in zip(places.tolist(), noise, strict=True):
            block = place // m
            rows = self._blocks[block]
            np.matmul(phi_row, rows, out=chances)  # p_i sum(phi), and sum(phi)
            np.divide(whole if block < last else partly, chances, out=chances)
            weights[:, m] += constant
            np.matmul(rows, column, out=slope)
            if self.plain:
                if self.prior != 1:
                    moved += half * np.float32(self.prior - 1) / np.maximum(phi, np.float32(FLOOR))
                moved += shake
                phi += moved
            else:
                np.sqrt(phi, out=spread)
                spread *= shake
                phi *= moved
                phi += spread
                phi += added
            np.abs(phi, out=phi)
            if total is not None:
                total += phi / (phi @ ones)
