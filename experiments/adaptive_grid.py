"""The experiments of lecture 5 anew, about 25 minutes on two free cores: ``python -m experiments.adaptive_grid``.

Nine settings (epsilon, rho) of the talk; in each, 50 surveys of 10,000 people for every method, on the same people. The
population is drawn from Dirichlet(rho, ..., rho); the surveyor does not know rho and has a flat prior, as in the
authors' code. A finished part (one setting, one method) is kept under build/ and not computed again, so the grid can be
interrupted at any time. The result goes to dpcourse/explore/results/adaptive.json.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from experiments.results import RESULTS, write_result

ROOT = Path(__file__).resolve().parents[1]
K, SEED = 20, 2025
EPSILONS, RHOS = (0.5, 1.0, 5.0), (0.01, 0.1, 1.0)
UTILITY_NAMES = ("fisher", "entropy", "tv_posterior", "tv_marginal", "squared_error", "honest")
SHARES, ALPHAS = (0.8, 0.9), (0.8, 0.9, 0.95)
ORACLES = ("SRR", "OUE", "subset selection", "OLH", "Hadamard")


@dataclass(frozen=True)
class Job:
    """One method in one setting. ``kind``: adaptive, semi-adaptive, known (the best fixed subset), competitor."""

    kind: str
    method: str
    epsilon: float
    rho: float
    share: float
    alpha: float
    runs: int
    arrivals: int
    seed: int = SEED
    version: int = 2  # raise it when what a job computes changes: older parts are then computed again

    @property
    def name(self) -> str:
        """The method, as the result lists it."""
        return {
            "adaptive": f"{self.method}, eps1 = {self.share:g} eps",
            "semi-adaptive": f"semi-adaptive, alpha = {self.alpha:g}",
            "known": "RRRR for the true shares",
        }.get(self.kind, self.method)

    @property
    def file(self) -> str:
        """The name of its part."""
        words = f"{self.name} epsilon {self.epsilon:g} rho {self.rho:g}".replace("=", "")
        return "_".join(words.replace(",", "").split()) + ".json"


def jobs(runs: int, arrivals: int) -> list[Job]:
    """All parts, the long ones first."""
    methods: list[tuple[str, str, float, float]] = [
        *(("adaptive", utility, share, 0.0) for utility in UTILITY_NAMES for share in SHARES),
        *(("semi-adaptive", "semi-adaptive", SHARES[0], alpha) for alpha in ALPHAS),
        ("known", "fisher", SHARES[0], 0.0),
        *(("competitor", name, 1.0, 0.0) for name in ORACLES),
    ]
    return [
        Job(kind, method, epsilon, rho, share, alpha, runs, arrivals)
        for kind, method, share, alpha in methods
        for epsilon in EPSILONS
        for rho in RHOS
    ]


def population(seed: int, epsilon: float, rho: float, runs: int) -> tuple[Any, Any]:
    """The generator of a setting's people, and their true shares (runs, K)."""
    import numpy as np

    crowd = np.random.default_rng([seed, EPSILONS.index(epsilon), RHOS.index(rho)])
    return crowd, crowd.dirichlet(np.full(K, rho), size=runs)


def compute(job: Job) -> dict[str, Any]:
    """The errors of all runs of one part, by estimate, and for adaptive ones how often the best subset was used."""
    import numpy as np

    from dpcourse.adaptive_ldp import best_subsets, first_epsilons
    from dpcourse.adaptive_ldp.estimates import to_simplex, total_variation
    from dpcourse.adaptive_ldp.frequency_oracles import COMPETITORS
    from dpcourse.adaptive_ldp.langevin import Langevin
    from dpcourse.adaptive_ldp.simulation import adaptive_rule, people, semi_adaptive_rule, simulate

    start = time.monotonic()
    setting = [job.seed, EPSILONS.index(job.epsilon), RHOS.index(job.rho)]
    crowd, truth = population(job.seed, job.epsilon, job.rho, job.runs)  # the same people for every method
    arriving = people(truth, job.arrivals, crowd)
    coins = np.random.default_rng([*setting, *job.name.encode()])
    outcome: dict[str, Any] = {"job": asdict(job)}
    if job.kind == "competitor":
        oracle = COMPETITORS[job.method](k=K, epsilon=job.epsilon)
        estimates: dict[str, list[Any]] = {"unbiased, projected": [], "maximum likelihood": []}
        rows = np.empty((job.runs, job.arrivals, K), np.float32)
        for run, x in enumerate(arriving):
            reports = oracle.release(x, rng=coins)
            estimates["unbiased, projected"].append(to_simplex(oracle.estimate(reports)))
            estimates["maximum likelihood"].append(oracle.maximum_likelihood(reports))
            rows[run] = oracle.rows(reports)
        information = float(((rows / rows.mean(axis=2, keepdims=True)) ** 2).mean()) - 1  # the chi-square, as seen
        chains = Langevin(job.runs, K, information=information, rng=coins)
        chains.fill(rows)
        estimates["posterior mean"] = list(chains.mean(4 * job.arrivals, job.arrivals // 5))
        outcome["errors"] = {
            how: total_variation(np.array(simulated), truth).tolist() for how, simulated in estimates.items()
        }
    else:
        if job.kind == "adaptive":
            rule = adaptive_rule(K, job.epsilon, job.method, job.share)
        elif job.kind == "semi-adaptive":
            rule = semi_adaptive_rule(job.alpha)
        else:
            best = best_subsets(truth, job.epsilon, first_epsilons(K, job.epsilon, job.share), job.method)
            rule = lambda thetas: best  # noqa: E731
        updates = {} if job.kind in ("adaptive", "semi-adaptive") else {"updates": 0}
        simulated = simulate(
            truth, arriving, job.epsilon, rule, share=job.share, final=4 * job.arrivals, burn=job.arrivals // 5,
            rng=coins, **updates,
        )  # fmt: skip
        outcome["errors"] = {
            "posterior mean": simulated.errors.tolist(),
            "maximum likelihood": total_variation(simulated.maximum_likelihood(), truth).tolist(),
        }
        if job.kind in ("adaptive", "semi-adaptive"):
            outcome["best at truth"] = simulated.share_of(rule(truth)).tolist()
            outcome["best at end"] = simulated.share_of(rule(simulated.estimate)).tolist()
            outcome["size"] = np.bitwise_count(simulated.subsets).mean(axis=1).tolist()
    outcome["seconds"] = time.monotonic() - start
    return outcome


def read_part(part: Path, job: Job) -> dict[str, Any] | None:
    """A finished part of this very job, or nothing."""
    try:
        outcome = json.loads(part.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return outcome if isinstance(outcome, dict) and outcome.get("job") == asdict(job) else None


def work(task: tuple[Job, Path]) -> float:
    """Compute a part and keep it; its seconds."""
    job, part = task
    outcome = compute(job)
    write_result(part, outcome)
    return float(outcome["seconds"])


def leave_interrupts_to_the_parent() -> None:
    """Ctrl-C reaches every process of a terminal; the parent alone ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def box(values: list[float]) -> dict[str, Any]:
    """A boxplot: median, quartiles, whiskers (the last values within 1.5 quartile distances), and the values."""
    import numpy as np

    low, median, high = np.quantile(values, [0.25, 0.5, 0.75])
    near = [v for v in values if low - 1.5 * (high - low) <= v <= high + 1.5 * (high - low)]
    return {
        "median": round(float(median), 4),
        "quartiles": [round(float(low), 4), round(float(high), 4)],
        "whiskers": [round(min(near), 4), round(max(near), 4)],
        "values": [round(v, 4) for v in values],
    }


def collect(parts: list[tuple[Job, dict[str, Any]]]) -> dict[str, Any]:
    """The stored result: settings in order, in each the methods with their boxes."""
    settings: list[dict[str, Any]] = []
    for epsilon in EPSILONS:
        for rho in RHOS:
            methods = []
            for job, outcome in parts:
                if (job.epsilon, job.rho) != (epsilon, rho):
                    continue
                for how, errors in outcome["errors"].items():
                    entry = {"kind": job.kind, "name": job.name, "estimate": how, "error": box(errors)}
                    entry["seconds"] = round(outcome["seconds"], 1)
                    for extra in ("best at truth", "best at end", "size"):
                        if extra in outcome:
                            entry[extra] = {key: value for key, value in box(outcome[extra]).items() if key != "values"}
                    methods.append(entry)
            top = population(parts[0][0].seed, epsilon, rho, parts[0][0].runs)[1].max(axis=1)
            shares = [round(float(share), 4) for share in top]
            settings.append({"epsilon": epsilon, "rho": rho, "largest share": shares, "methods": methods})
    first = parts[0][0]
    return {
        "k": K, "runs": first.runs, "arrivals": first.arrivals, "seed": first.seed, "prior": 1.0,
        "seconds": round(sum(outcome["seconds"] for _, outcome in parts)), "settings": settings,
    }  # fmt: skip


def bar(done: int, total: int, start: float, fresh: int) -> None:
    """One line that is written over: how far, how long, how long still (from the parts computed in this run)."""
    spent = time.monotonic() - start
    left = f", about {spent / fresh * (total - done) / 60:.0f} min left" if fresh else ""
    filled = "#" * (40 * done // total)
    print(f"\r[{filled:<40}] {done}/{total} parts, {spent / 60:.1f} min{left}   ", end="", file=sys.stderr, flush=True)


def main(arguments: list[str]) -> None:
    """Compute what is missing, then write the result."""
    asked = argparse.ArgumentParser(description="The experiments of lecture 5.")
    asked.add_argument("--runs", type=int, default=50)
    asked.add_argument("--arrivals", type=int, default=10_000)
    asked.add_argument("--processes", type=int, default=2)
    options = asked.parse_args(arguments)
    everything = jobs(options.runs, options.arrivals)
    folder = ROOT / "build" / "adaptive_grid" / f"{options.runs}x{options.arrivals}"
    folder.mkdir(parents=True, exist_ok=True)
    missing = [job for job in everything if read_part(folder / job.file, job) is None]
    start, done = time.monotonic(), len(everything) - len(missing)
    os.environ["OMP_NUM_THREADS"] = "1"  # the processes share the cores; read when they import numpy
    tasks = [(job, folder / job.file) for job in missing]
    bar(done, len(everything), start, 0)
    try:
        with get_context("spawn").Pool(options.processes, leave_interrupts_to_the_parent) as pool:
            for fresh, _ in enumerate(pool.imap_unordered(work, tasks), 1):
                bar(done + fresh, len(everything), start, fresh)
    except KeyboardInterrupt:  # leaving the block has ended the processes
        sys.exit(f"\ninterrupted; finished parts are in {folder.relative_to(ROOT)}, run it again to go on")
    print(file=sys.stderr)
    parts = [(job, read_part(folder / job.file, job)) for job in everything]
    whole = (options.runs, options.arrivals) == (50, 10_000)
    target = (
        RESULTS / "adaptive.json" if whole else folder / "result.json"
    )  # a trial does not replace what the lecture shows
    write_result(target, collect([(job, outcome) for job, outcome in parts if outcome is not None]))
    size, seconds = target.stat().st_size, time.monotonic() - start
    print(f"{target.relative_to(ROOT)}: {size:,} bytes in {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
