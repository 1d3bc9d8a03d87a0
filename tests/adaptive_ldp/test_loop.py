"""The survey one report at a time, saved and resumed, and its simulation against the mechanism itself."""

import numpy as np
import pytest

from dpcourse.adaptive_ldp import RestrictedResponse, best_subset, best_subsets, columns, first_epsilons
from dpcourse.adaptive_ldp.simulate import adaptive_rule, people, respond, semi_adaptive_rule, simulate
from dpcourse.adaptive_ldp.survey import AdaptiveSurvey


def run(survey, categories, seed=0):
    rng = np.random.default_rng(seed)
    for x in categories:
        survey.tell(survey.ask().release(int(x), rng=rng))
    return survey


def test_the_mechanism_is_the_best_for_the_present_sample():
    survey = run(AdaptiveSurvey(6, 1.0, utility="fisher", share=0.9, rng=1), [0, 0, 1, 0, 2] * 8)
    mechanism = survey.ask()
    firsts = first_epsilons(6, 1.0, 0.9)
    assert mechanism.subset == tuple(sorted(best_subset(survey.sample, 1.0, firsts, "fisher")))
    assert mechanism.guarantee.epsilon == 1.0
    assert survey.ask() is mechanism  # until a report is told
    assert len(survey.history) == 40


def test_what_is_told_enters_as_the_column_of_the_matrix():
    survey = AdaptiveSurvey(5, 1.5, alpha=0.5, rng=2)
    mechanism = survey.ask()
    survey.tell(3)
    np.testing.assert_allclose(survey._chain.rows[0, 0], mechanism.matrix[:, 3], rtol=1e-6)
    assert survey.history == [(mechanism.subset, 3)]


def test_the_estimate_finds_the_shares_and_changes_nothing():
    """1,000 people at epsilon 4, seeds fixed: the error is about .02; the uniform guess is off by .55."""
    truth = np.array([0.7, 0.2, 0.05, 0.05, 0, 0, 0, 0])
    survey = AdaptiveSurvey(8, 4.0, rng=3)
    assert survey.estimate().tolist() == [1 / 8] * 8
    run(survey, np.random.default_rng(3).choice(8, 1_000, p=truth))
    sample = survey.sample
    assert 0.5 * np.abs(survey.estimate() - truth).sum() < 0.06
    np.testing.assert_array_equal(survey.sample, sample)


@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize("told", [0, 3, 130])
def test_a_resumed_survey_goes_on_exactly(tmp_path, told, asked):
    survey = run(
        AdaptiveSurvey(6, 1.0, utility="entropy", minibatch=20, rng=4), [0, 1] * (told // 2) + [2] * (told % 2)
    )
    if asked:
        survey.ask()
    survey.save(tmp_path / "survey")
    resumed = AdaptiveSurvey.load(tmp_path / "survey")
    assert resumed.history == survey.history
    for one in (survey, resumed):
        run(one, [0, 2, 1, 3] * 10, seed=9)
    np.testing.assert_array_equal(resumed.sample, survey.sample)
    np.testing.assert_array_equal(resumed.estimate(200), survey.estimate(200))
    assert resumed.history == survey.history
    resumed.save(tmp_path / "survey")  # its own older file


def test_a_foreign_file_is_never_overwritten(tmp_path):
    survey, target = AdaptiveSurvey(4, 1.0, rng=5), tmp_path / "results.npz"
    for content in (b"my thesis", b""):
        target.write_bytes(content)
        with pytest.raises(ValueError, match=r"results\.npz"):
            survey.save(target)
        assert target.read_bytes() == content
        with pytest.raises(ValueError, match=r"results\.npz"):
            AdaptiveSurvey.load(target)
    np.savez(target, rows=np.ones(3))
    with pytest.raises(ValueError, match=r"results\.npz"):
        survey.save(target)
    other = tmp_path / "other"
    AdaptiveSurvey(4, 1.0, rng=5).save(other)
    with pytest.raises(ValueError, match="other"):
        survey.save(other)
    with pytest.raises(ValueError, match="nothing"):
        AdaptiveSurvey.load(tmp_path / "nothing")


@pytest.mark.parametrize(("report", "error"), [(4, ValueError), (-1, ValueError), (1.5, ValueError), ("1", TypeError)])
def test_bad_reports_are_quoted(report, error):
    survey = AdaptiveSurvey(4, 1.0, rng=6)
    with pytest.raises(ValueError, match="nobody"):
        survey.tell(0)
    survey.ask()
    with pytest.raises(error, match=str(report)):
        survey.tell(report)
    assert survey.history == []


@pytest.mark.parametrize("subset", [(), (1,), (0, 2, 3), (0, 1, 2, 3)])
def test_simulated_reports_have_the_mechanisms_probabilities(subset):
    """Evenly spaced in place of random numbers: the shares are right to 1/4,000, and no luck is involved."""
    firsts = first_epsilons(5, 1.2, 0.9)
    mechanism = RestrictedResponse(5, subset, epsilon=1.2, first=float(firsts[len(subset)]))
    spaced = (np.arange(4_000) + 0.5) / 4_000
    members = np.tile(mechanism.member, (4_000, 1))
    for x in range(5):
        y, rows = respond(columns(5, 1.2, firsts), members, np.full(4_000, x), spaced)
        np.testing.assert_allclose(np.bincount(y, minlength=5) / 4_000, mechanism.matrix[x], atol=1.01 / 4_000)
        np.testing.assert_allclose(rows, mechanism.matrix.T[y], rtol=1e-12)


@pytest.mark.parametrize("rule", [None, adaptive_rule(6, 3.0, "squared_error"), semi_adaptive_rule(0.9)])
def test_simulated_surveys_find_their_truths(rule):
    """Four surveys of 1,500 people at epsilon 3, seeds fixed. Errors are about .05; with the surveys mixed up, or with
    no information at all, they are above .3."""
    truth = np.random.default_rng(7).dirichlet(np.full(6, 0.3), size=4)
    arriving = people(truth, 1_500, rng=8)
    found = simulate(truth, arriving, 3.0, rule, final=4_000, burn=1_000, rng=9)
    assert found.errors.max() < 0.12
    assert 0.5 * np.abs(found.estimate - truth[[1, 2, 3, 0]]).sum(axis=1).min() > 0.15
    assert 0.5 * np.abs(found.maximum_likelihood() - truth).sum(axis=1).max() < 0.12
    if rule is None:
        assert (found.share_of(np.zeros((4, 6), dtype=bool)) == 1).all()


def test_the_share_of_a_subset_is_counted():
    truth = np.full((2, 4), 0.25)
    subset = np.array([[True, False, False, True], [False] * 4])
    found = simulate(truth, people(truth, 50, rng=1), 1.0, lambda thetas: subset, final=10, burn=1, rng=1)
    assert found.share_of(subset).tolist() == [1, 1]
    assert found.share_of(subset[::-1]).tolist() == [0, 0]
    all_but_one = np.array([[True, True, False, True]] * 2)  # with eps1 = eps it is SRR, as is no subset at all
    assert found.share_of(all_but_one).tolist() == [0, 1]
    srr = RestrictedResponse(4, [0, 1, 3], epsilon=1.0, first=1.0).matrix
    np.testing.assert_allclose(srr, RestrictedResponse(4, [], epsilon=1.0).matrix)
    assert found.subsets[0, 0] == 0b1001


def test_the_best_subset_is_chosen_more_often_as_time_goes_on():
    """The talk's second theorem in small: 16 surveys of 600 people at epsilon 1, seeds fixed. The best subset, {0}, is
    used by .2 of the first hundred and .7 of the last; a loop that learns nothing has equal shares."""
    truth = np.tile([0.5, 0.25, 0.15, 0.06, 0.04], (16, 1))
    rule = adaptive_rule(5, 1.0, "tv_posterior")
    found = simulate(truth, people(truth, 600, rng=2), 1.0, rule, final=10, burn=1, rng=2)
    best = best_subsets(truth, 1.0, first_epsilons(5, 1.0), "tv_posterior") @ (1 << np.arange(5))
    chosen = found.subsets == best[:, None]
    assert chosen[:, -100:].mean() > chosen[:, :100].mean() + 0.2
