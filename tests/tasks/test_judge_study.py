"""The studies of the judges: what was done is kept, changed code starts anew, and failures are told."""

from studies import right_submissions, wrong_submissions
from studies.right_submissions import Graded, Study, graded, submissions

THETA = [one for one in submissions() if one.task == "theta"]


def test_a_study_goes_on_where_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(judge_study, "KEPT", tmp_path / "kept" / "results.json")
    first = Study(THETA, 2)
    for one in THETA:
        first.add(one, graded(one, 0, 2))
    assert first.next(set()) is None
    again = Study(THETA, 3)
    assert {found.seeds for found in again.known.values()} == {2}
    job = again.next(set(THETA[1:]))
    assert job == (THETA[0], 2, 1)
    monkeypatch.setattr(judge_study, "code_version", lambda: "other")
    assert {found.seeds for found in Study(THETA, 3).known.values()} == {0}


def test_two_studies_keep_each_others_results(tmp_path, monkeypatch):
    monkeypatch.setattr(judge_study, "KEPT", tmp_path / "results.json")
    one, other = Study(THETA, 9), Study(THETA, 9)
    one.add(THETA[0], Graded(4))
    other.add(THETA[1], Graded(5))
    assert [found.seeds for found in Study(THETA[:2], 9).known.values()] == [4, 5]


def test_a_summary_tells_what_failed_and_what_was_seldom_tried(tmp_path, monkeypatch):
    monkeypatch.setattr(judge_study, "KEPT", tmp_path / "results.json")
    study = Study(THETA[:2], 9)
    study.add(THETA[0], Graded(9, (3,), 1.0, 2e-8))
    study.add(THETA[1], Graded(4, (), 1.0, 1e-8))
    text = study.summary()
    assert "probability at most 2e-08" in text
    assert f"fewer than 9 seeds: {'|'.join(THETA[1])} 4" in text
    assert f"13 gradings, failed: {{'{'|'.join(THETA[0])}': (3,)}}" in text


def test_wrong_ones_are_counted_and_so_are_their_names(monkeypatch):
    from testing.submissions import hw2

    found = wrong_submissions.misses("hw2_local_dp", range(2), ["theta"])
    assert found.gradings == 2 * found.submissions
    assert (found.passed, found.unnamed.total()) == ([], 0)
    wrong = {
        "theta": {
            "right": (hw2.shared.theta_plain, None),
            "misnamed": (hw2.values.theta_sign_wrong, "another"),
        }
    }
    monkeypatch.setattr(bank_hw2, "WRONG", wrong)
    text = str(wrong_submissions.misses("hw2_local_dp", range(1), ["theta"]))
    assert "theta, right: passed with seed 0" in text
    assert "1 times theta, misnamed: called " in text
