"""The stored runs that lecture 5's explorers show, about 10 minutes: ``python -m experiments.adaptive_pictures``.

Names after it (surveys, langevin, narrowing) make only those. They go to
dpcourse/explore/results/, where the explorers find them. Every run is seeded.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from dpcourse.adaptive_ldp import AdaptiveSurvey, Langevin, best_subset, first_epsilons, gibbs, grouped
from dpcourse.adaptive_ldp.estimates import total_variation
from dpcourse.adaptive_ldp.langevin import MINIBATCH, chi_square, langevin_step
from dpcourse.adaptive_ldp.rrrr_columns import columns
from dpcourse.adaptive_ldp.simulation import likelihoods
from dpcourse.data import PARTIES
from dpcourse.explore.lecture5 import surveys as shown
from dpcourse.mechanisms import KaryResponse
from experiments.results import RESULTS, write_result

K, ARRIVALS = len(PARTIES), shown.CHECKPOINTS[-1]
CHAINS, EVERY, SEED = 50, 10, 5


def one_survey(
    epsilon: float, alpha: float | None = None, looks: tuple[int, ...] = ()
) -> tuple[AdaptiveSurvey, list[np.ndarray]]:
    """A survey of the twenty parties, and its estimate after so many arrivals (looking changes nothing)."""
    people = np.random.default_rng(SEED).choice(K, size=ARRIVALS, p=PARTIES)  # the same for every method
    survey, coins = AdaptiveSurvey(K, epsilon, alpha=alpha, rng=SEED + 1), np.random.default_rng(SEED + 2)
    estimates = []
    for t, x in enumerate(people.tolist(), 1):
        survey.tell(survey.ask().release(x, rng=coins))
        if t in looks:
            estimates.append(survey.estimate(20_000))
    return survey, estimates


def surveys() -> dict[str, Any]:
    """For ``explore.adaptive_survey``: adaptive surveys, and surveys that ask everybody with SRR, at three epsilons."""
    results: dict[str, Any] = {}
    for epsilon in shown.EPSILONS:
        best = sorted(best_subset(PARTIES, epsilon, first_epsilons(K, epsilon)))
        survey, estimates = one_survey(epsilon, looks=shown.CHECKPOINTS)
        _, plain = one_survey(epsilon, 0.0, shown.CHECKPOINTS)  # no subset is needed to hold probability 0: SRR
        asked = [sorted(subset) for subset, _ in survey.history]
        hits = np.cumsum([subset == best for subset in asked])
        results[f"{epsilon:g}"] = {
            "best": best,
            "estimate": [estimate.round(4).tolist() for estimate in estimates],
            "error": [round(float(total_variation(estimate, PARTIES)), 4) for estimate in estimates],
            "srr_error": [round(float(total_variation(estimate, PARTIES)), 4) for estimate in plain],
            "subset": [asked[t - 1] for t in shown.CHECKPOINTS],
            "best_so_far": [round(float(hits[t - 1] / t), 4) for t in shown.CHECKPOINTS],
        }
    return results


def summary(samples: np.ndarray) -> dict[str, Any]:
    """Mean and 90% interval of each share."""
    low, high = np.quantile(samples, [0.05, 0.95], axis=0)
    return {"mean": samples.mean(0).round(5).tolist(), "low": low.round(5).tolist(), "high": high.round(5).tolist()}


def without_noise(rows: np.ndarray, step: float, updates: int, rng: np.random.Generator) -> np.ndarray:
    """The slide's formula as written, noise gamma W in place of sqrt(gamma) W: (records, chains, k)."""
    gamma, phi = step / len(rows), np.ones((CHAINS, K))
    record = np.empty((updates // EVERY, CHAINS, K))
    for update in range(updates):
        for chain in range(CHAINS):
            batch = rows[rng.integers(0, len(rows), MINIBATCH)]
            weak = np.sqrt(gamma) * rng.standard_normal(K)  # the step multiplies it by sqrt(gamma) once more
            phi[chain] = langevin_step(phi[chain], batch, len(rows), 1.0, gamma, weak, plain=True)
        if (update + 1) % EVERY == 0:
            record[update // EVERY] = phi / phi.sum(axis=1, keepdims=True)
    return record


def langevin() -> dict[str, Any]:
    """For ``explore.langevin``: three ways of Langevin against Gibbs, on the same 10,000 responses to SRR."""
    rng, epsilon = np.random.default_rng(7), shown.LANGEVIN_EPSILON
    response = KaryResponse(epsilon=epsilon, k=K)
    reports = response.release(rng.choice(K, size=ARRIVALS, p=PARTIES), rng=rng)
    rows = response.matrix.T[reports]
    exact = gibbs(*grouped(rows), sweeps=6_000, burn=1_000, chains=8, rng=rng).reshape(-1, K)
    updates = shown.UPDATES[-1]
    records: dict[str, np.ndarray] = {}
    for name, way in zip(shown.SAMPLERS, ({}, {"step": 0.5, "plain": True}), strict=False):
        chains = Langevin(CHAINS, K, information=chi_square(K, epsilon), rng=rng, **way)  # type: ignore[arg-type]
        chains.fill(rows)
        thetas = []
        for _ in range(updates // EVERY):
            chains.update(EVERY)
            thetas.append(chains.theta)
        records[name] = np.array(thetas)
    records[shown.SAMPLERS[2]] = without_noise(rows, 0.5, updates, rng)
    results: dict[str, Any] = {"exact": summary(exact)}
    for name, record in records.items():
        results[name] = {}
        for u in shown.UPDATES:  # of u updates the first half is forgotten
            samples = record[u // EVERY // 2 : u // EVERY].reshape(-1, K)
            apart = float(total_variation(samples.mean(0), exact.mean(0)))
            results[name][f"{u}"] = {**summary(samples), "apart": round(apart, 4)}
    return results


def narrowing() -> dict[str, Any]:
    """For ``explore.posterior_narrows``: the exact posterior of the first parties as the adaptive survey goes on."""
    epsilon = shown.NARROWING_EPSILON
    subsets, reports = zip(*one_survey(epsilon)[0].history, strict=True)
    members = np.array([[x in subset for x in range(K)] for subset in subsets])
    rows = likelihoods(columns(K, epsilon, first_epsilons(K, epsilon)), members, np.array(reports))
    results: dict[str, Any] = {}
    for n in shown.MOMENTS:
        samples = gibbs(*grouped(rows[:n]), sweeps=5_000, burn=500, chains=8, rng=n).reshape(-1, K)
        bins = [np.histogram(samples[:, x], shown.BINS, density=True)[0].round(3).tolist() for x in shown.FOLLOWED]
        results[f"{n}"] = {**summary(samples), "density": bins}
    return results


MAKERS = {"surveys": surveys, "langevin": langevin, "narrowing": narrowing}


def main(names: list[str]) -> None:
    """Write the named results, or all."""
    for name in names or list(MAKERS):
        start = time.monotonic()
        target = RESULTS / f"{name}.json"
        write_result(target, MAKERS[name]())
        print(f"{name}.json: {target.stat().st_size:,} bytes in {time.monotonic() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
