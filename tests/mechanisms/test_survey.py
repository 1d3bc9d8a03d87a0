"""The planning formulas of a private survey, against the definitions and against simulation."""

import math

import numpy as np
import pytest

from dpcourse import KaryResponse, Laplace, RandomizedResponse
from dpcourse.mechanisms import survey_planning, theta


@pytest.mark.parametrize("epsilon", [0.1, 1, 4])
def test_the_series_gives_the_attempts(epsilon):
    for degree, attempt in ((1, "first"), (2, "quadratic"), (60, "tight")):
        odds = survey_planning.odds_from_series(epsilon, degree)
        assert odds / (1 + odds) == pytest.approx(theta(epsilon, attempt), rel=1e-12)
    rising = [survey_planning.odds_from_series(epsilon, degree) for degree in range(1, 12)]
    assert rising == sorted(rising)
    assert rising[-1] <= math.exp(epsilon)


def test_epsilon_of_undoes_theta():
    for epsilon in (0.01, 1, 5):
        assert survey_planning.epsilon_of(theta(epsilon)) == pytest.approx(epsilon, rel=1e-12)
        assert survey_planning.epsilon_of(1 - theta(epsilon)) == pytest.approx(
            epsilon, rel=1e-9
        )  # lying as often tells as much
    assert survey_planning.epsilon_of(0.5) == 0
    assert survey_planning.epsilon_of(1) == survey_planning.epsilon_of(0) == math.inf


@pytest.mark.parametrize("attempt", ["first", "quadratic", "tight"])
@pytest.mark.parametrize("epsilon", [0.3, 1, 3])
def test_the_local_error_is_that_of_the_estimate(epsilon, attempt):
    response = RandomizedResponse(epsilon=epsilon, attempt=attempt)
    reports = response.release(np.arange(50) % 3 == 0, rng=1)
    assert survey_planning.local_error(response, 50) == pytest.approx(
        response.estimate(reports).standard_error, rel=1e-12
    )
    t = response.theta
    assert survey_planning.local_error(response, 50) == pytest.approx(
        math.sqrt(t * (1 - t) / 50) / (2 * t - 1), rel=1e-12
    )


def test_the_errors_are_those_of_simulated_surveys():
    response, runs = RandomizedResponse(epsilon=1), 4000
    bits = (np.arange(100) < 20).astype(int)
    local = [response.estimate(reports).value for reports in response.release(bits, size=runs, rng=2)]
    assert np.std(local) == pytest.approx(survey_planning.local_error(response, 100), rel=0.05)
    central = Laplace(epsilon=1, sensitivity=1 / 100, neighbours="replace").release(0.2, size=40_000, rng=3)
    assert np.std(central) == pytest.approx(survey_planning.central_error(1, 100), rel=0.05)


def test_people_needed_is_the_smallest_number_that_suffices():
    for epsilon, error in ((1, 0.05), (0.5, 0.01), (5, 0.3)):
        response = RandomizedResponse(epsilon=epsilon)
        n = survey_planning.people_needed(response, error)
        assert survey_planning.local_error(response, n) <= error * (1 + 1e-9)
        assert n == 1 or survey_planning.local_error(response, n - 1) > error
    response = RandomizedResponse(epsilon=1)
    assert survey_planning.people_needed(response, survey_planning.local_error(response, 777)) == 777


@pytest.mark.parametrize("bad", [-0.1, 1.1, math.nan])
def test_what_is_no_probability_is_refused(bad):
    with pytest.raises(ValueError, match="theta"):
        survey_planning.epsilon_of(bad)


def test_an_estimate_of_one_number_is_made_of_plain_numbers():
    one = RandomizedResponse(epsilon=1).estimate([1, 0, 0, 1])
    assert {type(x) for x in (one.value, one.standard_error, *one.interval())} == {float}
    many = KaryResponse(epsilon=1, k=3).estimate([0, 1, 2, 2])
    assert many.standard_error.shape == many.interval()[0].shape == (3,)


@pytest.mark.parametrize(
    "call",
    [
        lambda: survey_planning.odds_from_series(1e200, 2),
        lambda: survey_planning.people_needed(RandomizedResponse(epsilon=1), 1e-300),
        lambda: survey_planning.local_error("a", 10),
    ],
)
def test_what_cannot_be_computed_is_refused_in_words(call):
    with pytest.raises((ValueError, TypeError), match=r"1e\+200|1e-300|'a'"):
        call()


def test_extremes_that_can_be_computed_are():
    assert survey_planning.odds_from_series(1, 171) == math.e
    assert survey_planning.local_error(RandomizedResponse(epsilon=3000), 10) == 0
