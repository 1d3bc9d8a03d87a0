"""Every competitor against its full matrix, written out report by report for few categories."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from dpcourse.adaptive_ldp.estimates import to_simplex, total_variation
from dpcourse.adaptive_ldp.frequency_oracles import COMPETITORS
from dpcourse.adaptive_ldp.matrices import true_epsilon

SETTINGS = [(k, epsilon) for k in (2, 5, 8) for epsilon in (0.3, 1.0, 3.0)]


def all_reports(name, oracle):
    """Everything that can be reported. OLH is conditioned on its seed, which says nothing: one seed, all buckets."""
    if name == "SRR":
        return np.arange(oracle.k)
    if name == "OUE":
        return np.array(list(itertools.product([False, True], repeat=oracle.k)))
    if name == "subset selection":
        chosen = itertools.combinations(range(oracle.k), oracle.d)
        return np.array([np.isin(np.arange(oracle.k), subset) for subset in chosen])
    if name == "OLH":
        seeds = np.arange(100)
        seed = seeds[np.ptp(oracle.buckets(seeds), axis=1) > 0][0]  # not all categories in one bucket
        return np.array([(seed, bucket) for bucket in range(oracle.g)])
    return np.arange(oracle.blocks * oracle.width)


@pytest.mark.parametrize(("k", "epsilon"), SETTINGS)
@pytest.mark.parametrize("name", COMPETITORS)
def test_the_true_epsilon_is_the_claimed_one(name, k, epsilon):
    oracle = COMPETITORS[name](k=k, epsilon=epsilon)
    matrix = np.exp(oracle.log_prob(all_reports(name, oracle))).T
    np.testing.assert_allclose(matrix.sum(axis=1), 1)
    assert true_epsilon(matrix)[0] == pytest.approx(epsilon, abs=1e-9)


@pytest.mark.parametrize(("k", "epsilon"), SETTINGS)
@pytest.mark.parametrize("name", [name for name in COMPETITORS if name != "OLH"])
def test_the_estimate_is_exactly_unbiased(name, k, epsilon):
    """The mean of the estimate from one report over all reports of x is x's unit vector: no sampling."""
    oracle = COMPETITORS[name](k=k, epsilon=epsilon)
    reports = all_reports(name, oracle)
    matrix = np.exp(oracle.log_prob(reports)).T
    each = np.array([oracle.estimate(reports[i : i + 1]) for i in range(len(reports))])
    np.testing.assert_allclose(matrix @ each, np.eye(k), atol=1e-9)
    np.testing.assert_allclose(np.diag(matrix @ oracle.support(reports)), oracle.own)
    if name != "Hadamard" or oracle.blocks == 1:
        others = (matrix @ oracle.support(reports))[~np.eye(k, dtype=bool)]
        np.testing.assert_allclose(others, oracle.other)


@pytest.mark.parametrize("name", COMPETITORS)
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_reports_have_the_stated_probabilities(name, epsilon):
    """20,000 reports of category 2 of 5, chi-square over what can be reported. Seed fixed; a correct sampler fails
    with probability 1e-4, one whose truth probability is off by .04 with more than .99."""
    oracle = COMPETITORS[name](k=5, epsilon=epsilon)
    reports = oracle.release(np.full(20_000, 2), rng=4)
    if name == "OLH":  # each with its own seed: count whether the own bucket was told
        own = oracle.support(reports)[:, 2].sum()
        assert stats.binomtest(int(own), 20_000, oracle.own).pvalue > 1e-4
        return
    possible = all_reports(name, oracle)
    chances = np.exp(oracle.log_prob(possible))[:, 2]
    weights = 2 ** np.arange(possible.shape[-1]) if possible.ndim == 2 else 1
    number = lambda table: (table * weights).sum(axis=1) if possible.ndim == 2 else table  # noqa: E731
    seen = (number(reports)[:, None] == number(possible)).sum(axis=0)
    assert seen.sum() == 20_000
    assert stats.chisquare(seen, chances * 20_000).pvalue > 1e-4


def test_hashing_spreads_categories():
    """200,000 seeds: each pair of categories shares a bucket 1/g of the time, within 5 standard errors (1e-6 for all
    ten pairs together); a hash that is off by .006 is caught."""
    oracle = COMPETITORS["OLH"](k=5, epsilon=1.0)
    buckets = oracle.buckets(np.random.default_rng(5).integers(0, 1 << 62, 200_000))
    for a, b in itertools.combinations(range(5), 2):
        share = (buckets[:, a] == buckets[:, b]).mean()
        assert abs(share - 1 / oracle.g) < 5 * math.sqrt(0.25 * 0.75 / 200_000)


@pytest.mark.parametrize("name", COMPETITORS)
def test_both_estimates_find_the_shares(name):
    """20,000 people, K = 10, epsilon 3, seed fixed: the errors are .012 to .02, their sd below .005; .06 fails by
    chance in fewer than 1e-6 of seeds, while the uniform guess is off by .4."""
    oracle, truth = COMPETITORS[name](k=10, epsilon=3.0), np.arange(10) / 45
    truth = truth**2 / (truth**2).sum()
    people = np.random.default_rng(6).choice(10, 20_000, p=truth)
    reports = oracle.release(people, rng=7)
    assert total_variation(to_simplex(oracle.estimate(reports)), truth) < 0.06
    likely = oracle.maximum_likelihood(reports)
    assert total_variation(likely, truth) < 0.06
    rows = oracle.rows(reports)
    assert np.log(rows @ likely).sum() >= np.log(rows @ to_simplex(oracle.estimate(reports))).sum() - 1e-3


@pytest.mark.parametrize("name", COMPETITORS)
def test_bad_input_is_quoted(name):
    with pytest.raises(ValueError, match="-1"):
        COMPETITORS[name](k=5, epsilon=-1)
    oracle = COMPETITORS[name](k=5, epsilon=1)
    with pytest.raises(ValueError, match="5"):
        oracle.release([0, 5])
    with pytest.raises(ValueError, match="empty"):
        oracle.estimate(oracle.release([]))


@pytest.mark.parametrize("name", COMPETITORS)
def test_a_large_epsilon_works_or_is_refused_at_the_door(name):
    oracle = COMPETITORS[name](k=6, epsilon=30)
    reports = oracle.release(np.arange(6), rng=1)
    assert np.isfinite(oracle.log_prob(reports)).all()
    assert oracle.maximum_likelihood(reports).sum() == pytest.approx(1)
    with pytest.raises(ValueError, match=r"epsilon must be at most 30 .*got 37"):
        COMPETITORS[name](k=6, epsilon=37)


def test_reports_that_are_never_made_are_refused():
    with pytest.raises(ValueError, match="each report must hold 2 of 6 categories"):
        COMPETITORS["subset selection"](k=6, epsilon=0.5).estimate(np.ones((3, 6)))
    for name in ("SRR", "Hadamard"):
        with pytest.raises(ValueError, match="one number each"):
            COMPETITORS[name](k=6, epsilon=0.5).estimate([[1, 2, 3]])
