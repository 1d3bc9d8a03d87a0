"""One contract for every mechanism (the design's list): mass, samples, the bound and that it is attained, closed forms.

Statistical tests here use fixed seeds. Each compares n = 40,000 draws with the mechanism's own distribution by an exact
Kolmogorov-Smirnov or a chi-square test at level 1e-6: that is the probability that a right sampler would fail on a new
seed. Kolmogorov-Smirnov at this level notices any cdf that is off by more than 0.025 somewhere (noise 10% too wide).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from scipy import integrate, stats

from dpcourse import (
    DiscreteLaplace,
    Exponential,
    Gaussian,
    KaryResponse,
    Laplace,
    LeakRows,
    LeakTable,
    LocalLaplace,
    Mechanism,
    Neighbours,
    RandomizedResponse,
    ReportNoisyMax,
)
from dpcourse.adaptive_ldp import RestrictedResponse

DRAWS, LEVEL = 40_000, 1e-6


class Case(NamedTuple):
    """A mechanism, a true answer, and its outputs (a list if finite, None if real-valued)."""

    mechanism: Mechanism
    data: object
    outputs: list | None


CASES = {
    "laplace": Case(Laplace(epsilon=0.5, sensitivity=1.5), 51.0, None),
    "laplace, strong": Case(Laplace(epsilon=4, sensitivity=0.1, neighbours=Neighbours.REPLACE), -3.0, None),
    "local laplace": Case(LocalLaplace(epsilon=2, low=0, high=15), 4.0, None),
    "gaussian": Case(Gaussian(sigma=1.3, sensitivity=1), 10.0, None),
    "gaussian, analytic": Case(Gaussian.analytic(epsilon=3, delta=1e-6, sensitivity=2), 0.0, None),
    "gaussian, classical": Case(Gaussian.classical(epsilon=0.7, delta=1e-4), 0.0, None),
    "discrete laplace": Case(DiscreteLaplace(epsilon=0.7), 51, list(range(51 - 80, 51 + 81))),
    "discrete laplace, wide": Case(DiscreteLaplace(epsilon=2, sensitivity=5), 7, list(range(7 - 130, 7 + 131))),
    "randomized response": Case(RandomizedResponse(epsilon=1.2), 1, [0, 1]),
    "randomized response, first": Case(RandomizedResponse(epsilon=1.2, attempt="first"), 0, [0, 1]),
    "randomized response, quadratic": Case(RandomizedResponse(epsilon=2, attempt="quadratic"), 1, [0, 1]),
    "k-ary response": Case(KaryResponse(epsilon=1, k=7), 3, list(range(7))),
    "standard response": Case(KaryResponse(epsilon=1.5, categories=list("abcd")), "c", list("abcd")),
    "restricted response": Case(RestrictedResponse(6, [1, 4], epsilon=1, first=0.8), 3, list(range(6))),
    "restricted response, loose": Case(RestrictedResponse(4, [0, 1, 2], epsilon=1, first=0.8), 0, list(range(4))),
    "exponential": Case(Exponential(epsilon=2, sensitivity=1, candidates=list("abcd")), [3, 1, 2, 0], list("abcd")),
    "noisy max": Case(ReportNoisyMax(epsilon=2, sensitivity=1, candidates=list("abcd")), [3, 1, 2, 0], list("abcd")),
    "leaky table": Case(LeakTable(delta=0.1), ("Alice", "Bob"), [None, ("Alice", "Bob")]),
    "leaky rows": Case(LeakRows(delta=0.2), ("Alice", "Bob"), [(), ("Alice",), ("Bob",), ("Alice", "Bob")]),
}


PURE = [name for name, case in CASES.items() if case.mechanism.guarantee.delta == 0]
SAME_SUPPORT = [name for name in CASES if not name.startswith("leaky")]


@pytest.fixture(params=list(CASES), ids=list(CASES))
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


def spread(mechanism: Mechanism) -> float:
    return getattr(mechanism, "sigma", None) or mechanism.scale


def log_probs(case: Case) -> np.ndarray:
    assert case.outputs is not None
    return np.array([case.mechanism.log_prob(output, case.data) for output in case.outputs])


def test_total_mass_is_one(case: Case) -> None:
    if case.outputs is not None:
        assert np.exp(log_probs(case)).sum() == pytest.approx(1, abs=1e-12)
        return
    width = 60 * spread(case.mechanism)
    mass, _ = integrate.quad(
        lambda y: math.exp(case.mechanism.log_prob(y, case.data)),
        case.data - width,
        case.data + width,
        points=[case.data],
        limit=200,
        epsabs=1e-13,
    )
    assert mass == pytest.approx(1, abs=1e-10)


def test_samples_fit_the_density(case: Case) -> None:
    samples = case.mechanism.release(case.data, size=DRAWS, rng=20_261_116)
    if case.outputs is None:
        kind = stats.norm if isinstance(case.mechanism, Gaussian) else stats.laplace
        cdf = kind(case.data, spread(case.mechanism)).cdf
        assert stats.kstest(samples, cdf, method="exact").pvalue > LEVEL
        return
    expected = DRAWS * np.exp(log_probs(case))
    index = {output: i for i, output in enumerate(case.outputs)}
    counts = np.bincount([index[y] for y in samples], minlength=len(index))
    rare = expected < 20  # pooled, so that the chi-square approximation holds
    if rare.any() and expected[rare].sum() > 0:
        expected = np.append(expected[~rare], expected[rare].sum())
        counts = np.append(counts[~rare], counts[rare].sum())
    assert stats.chisquare(counts, expected * counts.sum() / expected.sum()).pvalue > LEVEL


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.outputs is None])
def test_noise_is_not_shifted(name: str) -> None:
    """A million draws at level 1e-6 (4.9 standard errors), where Kolmogorov-Smirnov above sees a shift of 0.06 only.

    A right sampler fails on a new seed with that probability; a shift of 0.01 scales is 7 standard errors or more for
    every one of them: seen with probability 0.98.
    """
    mechanism, data = CASES[name].mechanism, CASES[name].data
    noise = (mechanism.release(data, size=1_000_000, rng=20_261_120) - data) / spread(mechanism)
    assert 2 * stats.norm.sf(abs(noise.mean()) / stats.sem(noise)) > LEVEL


def test_a_seed_reproduces_and_different_seeds_differ(case: Case) -> None:
    first, again, other = (case.mechanism.release(case.data, size=60, rng=seed) for seed in (1, 1, 2))
    assert list(first) == list(again)
    assert list(first) != list(other)


@pytest.mark.parametrize("case", PURE, indirect=True)
def test_pure_dp_bounds_the_loss_and_attains_it(case: Case) -> None:
    guarantee = case.mechanism.guarantee
    data, neighbour = case.mechanism.worst_case()
    outputs = case.outputs
    if outputs is None:
        outputs = list(np.linspace(-50, 50, 401) * spread(case.mechanism))
    if isinstance(case.mechanism, DiscreteLaplace):
        outputs = list(range(-100, 100))
    losses = [case.mechanism.privacy_loss(y, data, neighbour) for y in outputs]
    assert max(np.abs(losses)) <= guarantee.epsilon * (1 + 1e-12)
    if guarantee.tight:
        assert max(np.abs(losses)) == pytest.approx(guarantee.epsilon, rel=1e-9)
    else:
        assert max(np.abs(losses)) < guarantee.epsilon * 0.999


def test_the_claimed_delta_is_the_exact_one_or_above(case: Case) -> None:
    guarantee, loss = case.mechanism.guarantee, case.mechanism.plrv()
    exact = loss.delta(guarantee.epsilon)
    assert exact <= guarantee.delta * (1 + 1e-9)
    if guarantee.tight:
        assert exact == pytest.approx(guarantee.delta, rel=1e-8, abs=1e-15)


def test_a_tight_claim_could_not_be_smaller(case: Case) -> None:
    guarantee, loss = case.mechanism.guarantee, case.mechanism.plrv()
    if guarantee.tight:
        assert loss.epsilon(guarantee.delta * (1 + 1e-9)) == pytest.approx(guarantee.epsilon, rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("case", SAME_SUPPORT, indirect=True)
def test_the_loss_averages_to_one_when_exponentiated(case: Case) -> None:
    """E_P[e^-L] is Q's mass on P's support: 1 where the supports coincide."""
    loss = case.mechanism.plrv()
    if hasattr(loss, "masses"):
        assert np.sum(loss.masses * np.exp(-loss.losses)) == pytest.approx(1, abs=1e-12)
        return
    p, q = loss.above(-1e3)
    assert p == pytest.approx(1, abs=1e-12)
    assert q == pytest.approx(1, abs=1e-12)


def test_the_plrv_is_the_loss_of_the_outputs(case: Case) -> None:
    """delta(eps) of the PLRV equals the hockey stick computed from log_prob, output by output."""
    if isinstance(case.mechanism, Exponential):  # plrv() dominates every pair; take one pair's own
        data, neighbour = case.mechanism.worst_case()
    else:
        data, neighbour = (1, 0) if case.outputs and isinstance(case.data, int) else case.mechanism.worst_case()
    loss = case.mechanism.plrv(data, neighbour)
    outputs = case.outputs
    if isinstance(case.mechanism, DiscreteLaplace):
        outputs = list(range(-140, 141))
    for epsilon in (0.0, 0.1, 0.5):
        if outputs is None:
            width = 60 * spread(case.mechanism)

            def gain(y: float, epsilon: float = epsilon) -> float:
                here, there = (math.exp(case.mechanism.log_prob(y, x)) for x in (data, neighbour))
                return max(here - math.exp(epsilon) * there, 0.0)

            # The integrand has corners at the answers and where the loss passes epsilon: integrate in many pieces.
            edges = np.linspace(neighbour - width, data + width, 4_001)
            nodes, weights = np.polynomial.legendre.leggauss(8)
            half = np.diff(edges)[:, None] / 2
            points = edges[:-1, None] + half * (1 + nodes)
            expected = sum(gain(y) * w for y, w in zip(points.ravel(), (half * weights).ravel(), strict=True))
            assert loss.delta(epsilon) == pytest.approx(expected, rel=1e-4)
        else:
            pairs = [(case.mechanism.log_prob(y, data), case.mechanism.log_prob(y, neighbour)) for y in outputs]
            expected = sum(max(math.exp(a) - math.exp(epsilon + b), 0.0) for a, b in pairs)
            assert loss.delta(epsilon) == pytest.approx(expected, rel=1e-9, abs=1e-13)


def test_frozen_and_keyword_only(case: Case) -> None:
    field = "delta" if isinstance(case.mechanism, LeakTable | LeakRows) else "epsilon"
    field = "sigma" if isinstance(case.mechanism, Gaussian) else field
    with pytest.raises(AttributeError):
        setattr(case.mechanism, field, 1.0)
    with pytest.raises(TypeError):
        type(case.mechanism)(1.0)


@pytest.mark.parametrize("bad", [0, -1, -0.5, math.nan, math.inf, "1", None, True])
def test_a_bad_first_parameter_raises_at_construction_and_is_quoted(case: Case, bad: object) -> None:
    field = "delta" if isinstance(case.mechanism, LeakTable | LeakRows) else "epsilon"
    field = "sigma" if isinstance(case.mechanism, Gaussian) else field
    with pytest.raises((ValueError, TypeError)) as raised:
        replace(case.mechanism, **{field: bad})
    assert repr(bad) in str(raised.value)
    assert field in str(raised.value)


def test_only_one_of_a_pair_is_refused(case: Case) -> None:
    with pytest.raises(TypeError, match="both data and neighbour"):
        case.mechanism.plrv(case.data)
