"""Lecture 2: what its explorers say, against values computed by hand or known from the literature."""

from __future__ import annotations

import re

import numpy as np
import pytest

from dpcourse import explore
from dpcourse.explore.lecture2.private_sentence import VOCABULARY
from dpcourse.scenes import Band, Line


def says(name: str, **values: object) -> str:
    return explore.CATALOGUE[name]().scene.picture(**values).says


def test_theta_attempts_leave_what_the_logarithm_says():
    """At eps = 1: theta = 2/3, 5/7, e/(e+1); spent ln 2 and ln 2.5 of 1."""
    text = says("theta_attempts", epsilon=1.0)
    assert [f"{x:.3f}" for x in (2 / 3, 5 / 7, np.e / (1 + np.e))] == re.findall(r"0\.\d{3}", text)[:3]
    assert f"{1 - np.log(2):.3f}" in text
    assert f"{1 - np.log(2.5):.3f}" in text


def test_no_attempt_enters_what_epsilon_forbids():
    """The shaded region starts at e^eps; the tight coin runs along its edge, the others stay below it."""
    marks = explore.theta_attempts().scene.picture(epsilon=3.0).panels[1].marks
    (band,) = [mark for mark in marks if isinstance(mark, Band)]
    np.testing.assert_allclose(band.low, np.exp(band.x), rtol=1e-12)
    first, quadratic, tight = [mark for mark in marks if isinstance(mark, Line)]
    np.testing.assert_allclose(tight.y, np.exp(tight.x), rtol=1e-12)
    assert (first.y < np.exp(first.x)).all()
    assert (quadratic.y < np.exp(quadratic.x)).all()


@pytest.mark.parametrize(("theta", "yes", "no"), [(0.5, 20, 20), (0.75, 43, 8), (1.0, 100, 0)])
def test_two_extremes_by_bayes(theta, yes, no):
    """Prior 20%: .2 t / (.2 t + .8 (1 - t)) after "yes"."""
    text = says("two_extremes", theta=theta, prior=0.2)
    assert f'{yes}% after "yes" and {no}% after "no"' in text


def test_a_coin_estimates_nothing_and_the_truth_errs_by_nothing():
    assert "cannot be estimated" in says("two_extremes", theta=0.5)
    assert "± 0 points" in says("two_extremes", theta=1.0)


def test_the_series_of_degree_one_and_two():
    assert "odds 3.000 of at most e^ε = 7.389" in says("exp_from_below", degree=1, epsilon=2.0)
    assert "odds 5.000" in says("exp_from_below", degree=2, epsilon=2.0)


def test_the_bent_coin_at_its_ends():
    assert " 0 of all 1,000" in says("bernoulli_trial", theta=0.0)
    assert "1,000 of all 1,000" in says("bernoulli_trial", theta=1.0)


def test_the_classroom_corrects_for_its_coins():
    """The estimate is (said yes - (1 - theta)) / (2 theta - 1), with theta = e/(e+1)."""
    text = says("classroom", share=0.2, n=10_000, epsilon=1.0)
    said = float(re.search(r"([\d.]+)% say yes", text).group(1)) / 100  # type: ignore[union-attr]
    estimate = float(re.search(r"coins: ([\d.]+)%", text).group(1)) / 100  # type: ignore[union-attr]
    theta = np.e / (np.e + 1)
    assert estimate == pytest.approx((said - (1 - theta)) / (2 * theta - 1), abs=0.002)
    assert estimate == pytest.approx(0.2, abs=4 * 0.0096)


def test_the_classroom_interval_holds_the_truth_about_as_often_as_it_says():
    scene = explore.CATALOGUE["classroom"]().scene
    held = []
    for run in range(200):
        text = scene.picture(share=0.2, n=100, epsilon=1.0, run=run).says
        low, high = map(float, re.search(r"interval (-?[\d.]+) to (-?[\d.]+)", text).groups())  # type: ignore[union-attr]
        held.append(low <= 20 <= high)
    assert np.mean(held) > 0.88


def test_skipped_lectures_scale_and_error():
    text = says("skipped_lectures", epsilon=1.0, n=100)
    assert "scale 15" in text
    assert f"± {15 * np.sqrt(2) / 10:.2f} (standard error" in text


def test_local_needs_thousands_for_what_central_does_with_a_hundred():
    """eps = 1, n = 100: sqrt(2)% against 1/(2 sinh(1/2) 10) = 9.6%; ratio squared times n = 4,604 students."""
    text = says("local_against_central", n=100, epsilon=1.0)
    assert "9.6 points" in text
    assert "1.41" in text
    assert "4,604 students" in text


def test_words_of_a_large_vocabulary_are_lost():
    text = says("private_words", epsilon=1.0)
    assert f"{100 * np.e / (np.e + 63):.1f}% of 64" in text
    assert f"{100 * np.e / (np.e + 49_999):.3g}% of 50,000" in text
    assert "9 × 1 = 9" in text
    assert len(set(VOCABULARY)) == 64
