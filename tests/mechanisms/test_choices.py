"""Exponential mechanism, randomized responses and the leaky algorithms: numbers from the slides and their errata."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from dpcourse import Exponential, KaryResponse, LeakRows, LeakTable, RandomizedResponse, ReportNoisyMax, data
from dpcourse.mechanisms import ATTEMPTS, theta


def test_a_million_candidates_stay_normal() -> None:
    scores = np.random.default_rng(1).normal(0, 1_000, 1_000_000)
    mechanism = Exponential(epsilon=5, sensitivity=1, candidates=range(1_000_000))
    probabilities = mechanism.probabilities(scores)
    assert probabilities.sum() == pytest.approx(1, abs=1e-9)
    np.testing.assert_allclose(mechanism.log_probabilities(scores), special.log_softmax(2.5 * scores), rtol=1e-12)
    assert 0 <= mechanism.release(scores, rng=1) < 1_000_000


def test_extreme_scores_neither_overflow_nor_vanish() -> None:
    mechanism = Exponential(epsilon=1, sensitivity=1, candidates=["a", "b"])
    assert mechanism.log_prob("b", [1e6, 0]) == -5e5
    assert mechanism.probabilities([-1e300, 0]).tolist() == [0, 1]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(-20, 20), min_size=2, max_size=8),
    st.lists(st.floats(-1, 1), min_size=8, max_size=8),
    st.floats(0.01, 10),
)
def test_no_pair_of_score_vectors_within_the_sensitivity_breaks_epsilon(
    scores: list[float], moves: list[float], epsilon: float
) -> None:
    mechanism = Exponential(epsilon=epsilon, sensitivity=1, candidates=range(len(scores)))
    neighbour = np.array(scores) + np.array(moves[: len(scores)])
    losses = mechanism.log_probabilities(scores) - mechanism.log_probabilities(neighbour)
    assert np.abs(losses).max() <= epsilon * (1 + 1e-9) + 1e-12


def test_report_noisy_max_is_the_exponential_mechanism() -> None:
    """Chi-square of 60,000 noisy-max winners against the exponential probabilities, level 1e-6; sees w = 0.03."""
    scores, candidates = [1.0, 2.5, 0.0, 2.0, -1.0], list("abcde")
    winners = ReportNoisyMax(epsilon=1.5, sensitivity=1, candidates=candidates).release(scores, size=60_000, rng=4)
    counts = [winners.count(candidate) for candidate in candidates]
    expected = Exponential(epsilon=1.5, sensitivity=1, candidates=candidates).probabilities(scores)
    assert stats.chisquare(counts, 60_000 * expected).pvalue > 1e-6


def test_the_secret_society_meets_in_memphis_as_often_as_the_errata_say() -> None:
    members, cities = data.secret_society(), data.cities()
    for epsilon, expected in ((1, 0.205), (5, 0.485)):
        mechanism = Exponential(
            epsilon=epsilon,
            sensitivity=data.utility_sensitivity(len(members)),
            candidates=list(cities["city"]),
            utility=lambda members, _: data.meeting_utility(members),
        )
        assert math.exp(mechanism.log_prob("Memphis", members)) == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize(
    ("change", "quoted"),
    [
        ({"candidates": []}, r"\[\]"),
        ({"candidates": "abc"}, "abc"),
        ({"sensitivity": 0}, "0"),
        ({"epsilon": math.nan}, "nan"),
    ],
)
def test_bad_exponential_parameters(change: dict, quoted: str) -> None:
    with pytest.raises((ValueError, TypeError), match=quoted):
        Exponential(**{"epsilon": 1, "sensitivity": 1, "candidates": [1, 2], **change})


def test_wrong_utilities_are_told() -> None:
    mechanism = Exponential(epsilon=1, sensitivity=1, candidates=[1, 2])
    with pytest.raises(ValueError, match="one score for each of 2"):
        mechanism.release([1, 2, 3])
    with pytest.raises(ValueError, match="inf"):
        mechanism.release([1, math.inf])
    with pytest.raises(ValueError, match="7"):
        mechanism.log_prob(7, [0, 0])


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1, 3, 10])
def test_three_thetas_all_private_only_one_tight(epsilon: float) -> None:
    ratios = {attempt: theta(epsilon, attempt) / (1 - theta(epsilon, attempt)) for attempt in ATTEMPTS}
    assert ratios["first"] == pytest.approx(1 + epsilon)
    assert ratios["quadratic"] == pytest.approx(1 + epsilon + epsilon**2 / 2)
    assert ratios["tight"] == pytest.approx(math.exp(epsilon))
    assert ratios["first"] < ratios["quadratic"] < ratios["tight"]
    first = RandomizedResponse(epsilon=epsilon, attempt="first")
    assert first.plrv().max_loss == pytest.approx(math.log1p(epsilon), rel=1e-12)


def test_the_erratas_counterexample_of_tail_against_delta() -> None:
    """theta = .75 is (ln 2, .25)-DP although every output's loss exceeds ln 2."""
    response = RandomizedResponse(epsilon=math.log(3))
    assert response.theta == pytest.approx(0.75)
    assert response.plrv().delta(math.log(2)) == pytest.approx(0.25, rel=1e-12)
    assert np.abs(response.plrv().losses).min() > math.log(2)


def test_the_share_of_a_population_is_unbiased_with_the_stated_variance() -> None:
    response = RandomizedResponse(epsilon=1)
    bits = (np.arange(400) < 120).astype(int)
    estimates = [response.estimate(reports) for reports in response.release(bits, size=5_000, rng=6)]
    values, variance = np.array([e.value for e in estimates]), estimates[0].variance
    # Mean of 5,000: 5 standard errors, fails 6e-7; sees a bias of 0.006. Variance: 11% is 5.5 sd of a chi-square.
    assert abs(values.mean() - 0.3) < 5 * math.sqrt(variance / 5_000)
    assert values.var() / variance == pytest.approx(1, abs=0.11)


def test_k_ary_shares_are_unbiased_with_the_stated_variance() -> None:
    response = KaryResponse(epsilon=1.5, k=4)
    truth = np.repeat(np.arange(4), [400, 300, 200, 100])
    shares = np.array([response.estimate(r).value for r in response.release(truth, size=3_000, rng=7)])
    t, o, n = response.truth, response.other, 1_000
    exact = [(s * t * (1 - t) + (1 - s) * o * (1 - o)) / (n * (t - o) ** 2) for s in (0.4, 0.3, 0.2, 0.1)]
    # Four means at 5.5 standard errors each: fails 1.5e-7; sees a bias of 0.004.
    assert np.abs(shares.mean(axis=0) - [0.4, 0.3, 0.2, 0.1]).max() < 5.5 * math.sqrt(max(exact) / 3_000)
    assert shares.var(axis=0) / exact == pytest.approx(np.ones(4), abs=0.15)
    assert shares.sum(axis=1) == pytest.approx(np.ones(3_000))


def test_deniability_is_bayes_rule() -> None:
    response = RandomizedResponse(epsilon=1)
    prior, odds = 0.1, 0.1 / 0.9
    posterior = response.posterior(1, prior)
    assert posterior / (1 - posterior) == pytest.approx(odds * math.e)  # never more than e^eps
    assert response.posterior(0, 0.0) == 0
    with pytest.raises(ValueError, match=r"1\.5"):
        response.posterior(1, 1.5)


@pytest.mark.parametrize("bad", [2, -1, 0.5])
def test_a_value_that_is_no_category_is_quoted(bad: float) -> None:
    with pytest.raises(ValueError, match=str(bad)):
        RandomizedResponse(epsilon=1).release(bad)
    with pytest.raises(ValueError, match="empty"):
        RandomizedResponse(epsilon=1).estimate([])


@pytest.mark.parametrize("k", [0, 1, 2.5])
def test_k_must_be_a_whole_number_of_at_least_two(k: float) -> None:
    with pytest.raises(ValueError, match=str(k)):
        KaryResponse(epsilon=1, k=k)


def test_leaks() -> None:
    assert LeakRows(delta=1e-6).probability_somebody_leaks(10**6) == pytest.approx(0.632, abs=5e-4)
    assert LeakTable(delta=1e-6).probability_somebody_leaks(10**6) == 1e-6
    for mechanism in (LeakRows(delta=0.01), LeakTable(delta=0.01)):
        assert mechanism.plrv().delta(0) == pytest.approx(0.01, rel=1e-12)
        assert mechanism.plrv().epsilon(0.0099) == math.inf
        assert mechanism.plrv().epsilon(0.01) == 0
    # Two runs: a table leaks unless both keep it.
    assert LeakTable(delta=0.01).plrv().compose(2).delta(0) == pytest.approx(1 - 0.99**2, rel=1e-9)


def test_leaky_tables_take_data_frames_and_refuse_what_is_no_table() -> None:
    hospital = data.hospital()
    assert LeakTable(delta=0.999999).release(hospital, rng=1)[0][0] == "Alice"
    assert len(LeakRows(delta=0.999999).release(hospital, rng=1)) == len(hospital)
    with pytest.raises(TypeError, match="table"):
        LeakTable(delta=0.5).release(3)
