"""Many simulated surveys side by side: the talk's experiments, where the truth is known and errors can be measured.

What :class:`~dpcourse.adaptive_ldp.survey.AdaptiveSurvey` does one report at a time for one survey is done here for all
surveys (rows of arrays) at once. The people's answers are simulated too, so this module, unlike that one, sees them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse import checks
from dpcourse.adaptive_ldp.estimates import maximum_likelihood, total_variation
from dpcourse.adaptive_ldp.langevin import MINIBATCH, Langevin, chi_square
from dpcourse.adaptive_ldp.rrrr_columns import SHARE, Columns, columns, first_epsilons
from dpcourse.adaptive_ldp.subsets import best_subsets, semi_adaptive_subsets
from dpcourse.adaptive_ldp.survey import UPDATES, AdaptiveSurvey
from dpcourse.adaptive_ldp.utilities import UTILITIES, probability_rows
from dpcourse.randomness import Rng, generator

#: Updates after the last arrival, of which the estimate is the mean, and those before them that are forgotten.
FINAL, BURN = 40_000, 2_000

#: From samples of theta (runs, k) to subsets, as truth values (runs, k).
Rule = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Simulated:
    """What came out of ``runs`` simulated surveys."""

    truth: np.ndarray  # (runs, k)
    estimate: np.ndarray  # (runs, k): the posterior means
    subsets: np.ndarray  # (runs, arrivals): the subset each person was asked with; category x counts 2^x
    reports: np.ndarray  # (runs, arrivals)
    columns: Columns

    @property
    def errors(self) -> np.ndarray:
        """The total variation between estimate and truth of each survey."""
        return np.asarray(total_variation(self.estimate, self.truth))

    def maximum_likelihood(self) -> np.ndarray:
        """The other estimate from the same reports (runs, k): what a posterior mean under a flat prior is held against.

        People who were asked with the same subset and gave the same report count together.
        """
        k = self.truth.shape[1]
        found = np.empty_like(self.truth)
        for run, (subsets, reports) in enumerate(zip(self.subsets, self.reports, strict=True)):
            keys, counts = np.unique(subsets * k + reports, return_counts=True)
            members = (keys[:, None] // k >> np.arange(k)) % 2 == 1
            found[run] = maximum_likelihood(likelihoods(self.columns, members, keys % k), counts)
        return found

    def share_of(self, members: np.ndarray) -> np.ndarray:
        """For each survey, the share of its people who were asked with this subset (truth values (runs, k))."""
        return np.asarray((self.subsets == _numbered(asked_with(members))[:, None]).mean(axis=1))


def adaptive_rule(k: int, epsilon: float, utility: str, share: float = SHARE) -> Rule:
    """The best subset for a utility."""
    firsts = first_epsilons(k, epsilon, share)
    checks.one_of("utility", utility, list(UTILITIES))
    return lambda thetas: best_subsets(thetas, epsilon, firsts, utility)


def semi_adaptive_rule(alpha: float) -> Rule:
    """The smallest subset that holds probability alpha."""
    alpha = checks.probability("alpha", alpha)
    return lambda thetas: semi_adaptive_subsets(thetas, alpha)


def people(truth: Any, arrivals: int, rng: Rng = None) -> np.ndarray:
    """The categories of the people who will arrive (runs, arrivals), drawn from each survey's true shares."""
    rows, rng = probability_rows("truth", truth), generator(rng)
    number = checks.whole_number("arrivals", arrivals)
    return np.stack([rng.choice(rows.shape[1], size=number, p=row / row.sum()) for row in rows])


def asked_with(members: np.ndarray) -> np.ndarray:
    """The subsets, with all but one category written as none: there eps1 = eps, and both are SRR.

    The utilities cannot tell the two apart either, and rounding decides between them; counted as one they stay one.
    """
    return members & (np.count_nonzero(members, axis=1) < members.shape[1] - 1)[:, None]


def respond(c: Columns, members: np.ndarray, x: np.ndarray, uniform: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """RRRR's report of person x with the subset ``members``, for each run, and the likelihood row of that report.

    ``uniform`` picks the report from its distribution P(. | x), written out: it is the simulation's own draw.
    """
    runs, size = np.arange(len(x)), np.count_nonzero(members, axis=1)
    told, inside, crossed = c.told[size], c.inside[size, None], c.crossed[size, None]
    found, missed = c.found[size], c.missed[size, None]
    x_in = members[runs, x]
    chances = np.where(members, inside, np.where(x_in[:, None], crossed, missed))
    chances[runs, x] = np.where(x_in, told, found)
    sums = chances.cumsum(axis=1)
    y = np.count_nonzero(sums < (uniform * sums[:, -1])[:, None], axis=1)
    return y, likelihoods(c, members, y)


def likelihoods(c: Columns, members: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The row P(y | x), over x, of each report y to RRRR with the subset ``members``."""
    each, size = np.arange(len(y)), np.count_nonzero(members, axis=1)
    y_in = members[each, y]
    rows = np.where(y_in[:, None], c.inside[size, None], np.where(members, c.crossed[size, None], c.missed[size, None]))
    rows[each, y] = np.where(y_in, c.told[size], c.found[size])
    return rows


def simulate(
    truth: Any, arriving: Any, epsilon: float, rule: Rule | None, *, share: float = SHARE, updates: int = UPDATES,
    minibatch: int = MINIBATCH, prior: float = 1.0, final: int = FINAL, burn: int = BURN, rng: Rng = None,
) -> Simulated:  # fmt: skip
    """Run a survey for each row of ``truth`` (runs, k) on its people ``arriving`` (runs, arrivals).

    ``rule`` chooses each person's subset from the present samples; None asks everybody with SRR. All end with the same
    estimate, the posterior mean over ``final`` updates; the non-adaptive ones need no updates before that.
    """
    thetas = probability_rows("truth", truth)
    x = checks.integer_array("arriving", arriving)
    runs, k = thetas.shape
    if k > 62:
        raise ValueError(f"truth must have at most 62 categories (subsets are kept as bits of a number), got {k}")
    if x.ndim != 2 or len(x) != runs or x.shape[1] == 0 or x.min() < 0 or x.max() >= k:
        raise ValueError(f"arriving must be categories 0..{k - 1} in {runs} rows, got {arriving!r}")
    rng, c = generator(rng), columns(k, epsilon, first_epsilons(k, epsilon, share))
    chains = Langevin(runs, k, information=chi_square(k, epsilon), prior=prior, minibatch=minibatch, rng=rng)
    subsets, told = np.zeros(x.shape, dtype=np.int64), np.zeros(x.shape, dtype=np.int64)
    if rule is None:
        nobody = np.zeros((runs, k), dtype=bool)
        reports, rows = zip(*(respond(c, nobody, who, rng.random((runs,))) for who in x.T), strict=True)
        chains.fill(np.stack(rows, axis=1))
        told = np.stack(reports, axis=1)
    else:
        for t, who in enumerate(x.T):
            members = asked_with(rule(chains.theta))
            subsets[:, t] = _numbered(members)
            told[:, t], rows = respond(c, members, who, rng.random((runs,)))
            chains.add(rows)
            chains.update(updates)
    return Simulated(thetas, chains.mean(final, burn), subsets, told, c)


def _numbered(members: np.ndarray) -> np.ndarray:
    return np.asarray(members @ (1 << np.arange(members.shape[1], dtype=np.int64)))


def microseconds_per_arrival(
    runs: int = 50, k: int = 20, epsilon: float = 1.0, utility: str = "honest", before: int = 5_000,
    arrivals: int = 40, repeats: int = 9,
) -> tuple[float, float]:  # fmt: skip
    """The time of one arrival in one survey: side by side, and in the plain loop over single surveys.

    Both start from ``before`` responses, the middle of the talk's 10,000, subset selection included; the median of
    ``repeats``. The peer is :class:`AdaptiveSurvey`: ask, let the person answer, tell.
    """
    rng = np.random.default_rng(1)
    truth = rng.dirichlet(np.ones(k), size=runs)
    rule, c = adaptive_rule(k, epsilon, utility), columns(k, epsilon, first_epsilons(k, epsilon))
    chains = Langevin(runs, k, information=chi_square(k, epsilon), rng=rng)
    nobody, x = np.zeros((runs, k), dtype=bool), people(truth, before, rng)
    chains.fill(np.stack([respond(c, nobody, who, rng.random((runs,)))[1] for who in x.T], axis=1))
    survey = AdaptiveSurvey(k, epsilon, utility=utility, rng=rng)
    survey._chain.restore(chains.rows[:1], chains.phi[:1])

    def together() -> None:
        for who in x.T[:arrivals]:
            chains.add(respond(c, rule(chains.theta), who, rng.random((runs,)))[1])
            chains.update(UPDATES)

    def alone() -> None:
        for who in x[0, :arrivals].tolist():
            survey.tell(survey.ask().release(who, rng=rng))

    times: list[list[float]] = [[], []]
    for _ in range(repeats):  # in turns, so that a busy moment hits both
        for call, record in zip((together, alone), times, strict=True):
            start = time.perf_counter()
            call()
            record.append((time.perf_counter() - start) / arrivals * 1e6)
    return float(np.median(times[0])) / runs, float(np.median(times[1]))
