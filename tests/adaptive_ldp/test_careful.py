"""Nobody is counted twice, nothing told is lost, and what a mechanism never says is refused."""

import json

import numpy as np
import pytest

from dpcourse.adaptive_ldp import COMPETITORS, AdaptiveSurvey, RestrictedResponse
from dpcourse.adaptive_ldp.langevin import Langevin, chi_square
from dpcourse.adaptive_ldp.simulate import simulate


def told(number, seed=1):
    survey, coins = AdaptiveSurvey(5, epsilon=1, rng=seed), np.random.default_rng(2)
    for _ in range(number):
        survey.tell(survey.ask().release(0, rng=coins))
    return survey


def test_an_interrupted_report_counts_once(monkeypatch):
    survey, report = told(10), 3

    def interrupted(*_):
        raise KeyboardInterrupt

    survey.ask()
    with monkeypatch.context() as patched:
        patched.setattr(Langevin, "update", interrupted)
        with pytest.raises(KeyboardInterrupt):
            survey.tell(report)
    assert len(survey.history) == survey._chain.count == 11
    with pytest.raises(ValueError, match="ask"):
        survey.tell(report)


def test_an_older_copy_does_not_replace_a_newer_save(tmp_path):
    survey, path = told(3), tmp_path / "survey.npz"
    survey.save(path)
    older = AdaptiveSurvey.load(path)
    survey.tell(survey.ask().release(1, rng=1))
    survey.save(path)
    with pytest.raises(ValueError, match="has 4 reports, this survey 3"):
        older.save(path)
    assert len(AdaptiveSurvey.load(path).history) == 4


@pytest.mark.parametrize("damage", [{"reports": np.array([0, 1, 9])}, {"members": np.zeros((2, 5), bool)}])
def test_a_damaged_save_is_refused(tmp_path, damage):
    path = tmp_path / "survey.npz"
    told(3).save(path)
    with np.load(path) as parts:
        kept = dict(parts)
    np.savez(path, **{**kept, **damage})
    with pytest.raises(ValueError, match=r"damaged|0\.\.4"):
        AdaptiveSurvey.load(path)


def test_the_promise_cannot_be_changed_on_the_way():
    survey = told(1)
    with pytest.raises(AttributeError):
        survey.epsilon = 9
    assert json.dumps(survey.ask().guarantee.epsilon) == "1.0"


def test_eps1_is_one_number():
    with pytest.raises(TypeError, match="first"):
        RestrictedResponse(5, [0], epsilon=1, first=[0.1, 0.9, 0.9, 0.9, 1.0])


def test_a_tiny_epsilon_tells_a_tiny_bit():
    assert chi_square(5, 1e-8) == pytest.approx(4 * (1e-8 / 5) ** 2)
    assert chi_square(20, 1.0) == pytest.approx(20 * (np.e**2 + 19) / (np.e + 19) ** 2 - 1)
    AdaptiveSurvey(5, epsilon=1e-8, rng=1)


def test_more_categories_than_bits_are_refused():
    with pytest.raises(ValueError, match="70"):
        simulate(np.full((1, 70), 1 / 70), np.zeros((1, 3), int), 1.0, None)


@pytest.mark.parametrize(
    ("name", "reports"),
    [
        ("SRR", [77, -1]),
        ("OUE", [[True, False]]),
        ("OUE", [[3, 0, 0, 0, 0]]),
        ("subset selection", [0, 1]),
        ("OLH", [[12, 99]]),
        ("OLH", [5]),
        ("Hadamard", [1000]),
    ],
)
def test_impossible_reports_are_refused(name, reports):
    oracle = COMPETITORS[name](k=5, epsilon=1)
    for use in (oracle.estimate, oracle.rows, oracle.maximum_likelihood):
        with pytest.raises(ValueError, match="reports"):
            use(reports)
