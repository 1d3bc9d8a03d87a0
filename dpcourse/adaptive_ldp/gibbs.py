"""The exact reference: Gibbs sampling by data augmentation, whose only error is that of finitely many sweeps.

Given theta, the person behind a response was of category x with probability row[x] theta_x / sum(row theta); given how
many there were of each, theta is Dirichlet(rho + counts) (Tanner & Wong 1987). Responses to the same mechanism with the
same report have the same row and are drawn together, so 10,000 of them cost as much as the few different ones. And a
row is a flat part, which tells nothing (those people are drawn from theta, all together), plus a rest, which for SRR is
one peak. Little privacy budget means slow mixing: at epsilon = 1 and K = 20 a sweep forgets about one per cent of the
last one, so use several ``chains`` and thousands of sweeps for a mean to three digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcourse import checks
from dpcourse.adaptive_ldp.estimates import likelihood_rows, maximum_likelihood
from dpcourse.randomness import Rng, generator


def gibbs(
    rows: Any, counts: Any = None, *, prior: float = 1.0, sweeps: int = 2_000, burn: int = 300, chains: int = 1,
    rng: Rng = None,
) -> np.ndarray:  # fmt: skip
    """Samples of theta given responses: an array (chains, sweeps, K). ``rows``: see ``grouped`` in estimates.

    Every chain starts at the maximum-likelihood estimate, a little inside the simplex, and forgets ``burn`` sweeps.
    """
    rows, numbers = likelihood_rows(rows, counts)
    prior, rng = checks.positive("prior", prior), generator(rng)
    sweeps, chains = checks.whole_number("sweeps", sweeps), checks.whole_number("chains", chains)
    burn, k = checks.whole_number("burn", burn, at_least=0), rows.shape[1]
    start = 0.9 * maximum_likelihood(rows, numbers) + 0.1 / k
    theta = np.tile(start, (chains, 1))
    samples = np.empty((chains, sweeps, k))
    flat = rows.min(axis=1)
    rest = rows - flat[:, None]
    peaked = (np.count_nonzero(rest, axis=1) <= 1).all()
    peak = np.eye(k)[rest.argmax(axis=1)]  # (groups, K), used where that is all there is
    for sweep in range(-burn, sweeps):
        informed = theta @ rest.T
        told = rng.binomial(numbers, informed / (informed + flat))  # (chains, groups): those whom the rest decided
        people = rng.multinomial(numbers.sum() - told.sum(axis=1), theta)
        if peaked:
            people = people + told @ peak
        else:
            belongs = rest * theta[:, None, :]
            belongs /= np.maximum(belongs.sum(axis=2, keepdims=True), 1e-300)
            people = people + rng.multinomial(told, belongs).sum(axis=1)
        theta = rng.standard_gamma(prior + people)
        theta /= theta.sum(axis=1, keepdims=True)
        if sweep >= 0:
            samples[:, sweep] = theta
    return samples
