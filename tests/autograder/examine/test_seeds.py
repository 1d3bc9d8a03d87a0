"""Seeds: secret ones are long, each student is asked other probes, and none again that feedback may have told."""

import json
import os

import pytest

from autograder.console import Problem
from autograder.course.course import Course, settings_of
from autograder.examine.batch import grade
from autograder.examine.records import Record, records_in
from autograder.examine.runs import Run
from autograder.examine.seeds import any_seed, is_guessable, long_seed, new_seed, probe_seed, seed_of
from testing.classroom import hand_in
from testing.five_tasks import CELLS, HOMEWORK, all_right, notebook
from tests.autograder.outcome import bare
from tests.autograder.small_course import dpcourse, for_machines

LONG = 2**62 + 12_345


def tells_its_probes() -> dict[str, str]:
    """Answers that fail, and say what they were asked. The instructor's message shows it."""
    return {
        name: f"def {name}({arguments}):\n    raise ValueError(str(locals()))"
        for name, (_, arguments, *_) in CELLS.items()
    }


def test_a_secret_seed_is_always_long():
    drawn = [new_seed() for _ in range(500)]
    assert len(set(drawn)) == 500
    assert all(2**62 <= seed < 2**63 and long_seed(str(seed)) == seed for seed in drawn)


@pytest.mark.parametrize("text", ["0", "5", "12345", "9" * 15, "0" * 30 + "5"])
def test_a_short_seed_is_refused_at_the_door(text, tmp_path, capsys):
    code, out, err = dpcourse(capsys, "grade", "--seed", text, "--course", tmp_path)
    assert (code, out) == (2, "")
    assert f"'{text}'" in err
    assert "could try all numbers" in err


@pytest.mark.parametrize("text", ["-1", "1.5", "x", "", "9" * 101])
def test_a_seed_is_a_whole_number(text, capsys):
    for option in ("--seed", "--seed-for-tests"):
        code, _, err = dpcourse(capsys, "grade", f"{option}={text}")
        assert (code, "whole number >= 0" in err, len(err) < 900) == (2, True, True)


def test_what_nbgraders_path_is_told_by_the_environment():
    assert seed_of({}) is None
    assert seed_of({"DPCOURSE_GRADING_SEED": str(LONG)}) == LONG
    assert seed_of({"DPCOURSE_SEED_FOR_TESTS": "1"}) == 1
    for text in ("7", "seven"):
        with pytest.raises(ValueError, match=f"DPCOURSE_GRADING_SEED: .*'{text}'"):
            seed_of({"DPCOURSE_GRADING_SEED": text})
    with pytest.raises(ValueError, match="cannot both be set"):
        seed_of({"DPCOURSE_GRADING_SEED": str(LONG), "DPCOURSE_SEED_FOR_TESTS": "1"})


def test_each_student_and_each_homework_has_a_seed_of_its_own():
    students = ["ada", "bob", "ada ", "Ada", "a", "da", os.fsdecode(b"\xff"), *map(str, range(500))]
    seeds = {probe_seed(secret, hw, who) for secret in (LONG, LONG + 1) for hw in ("hw1", "hw10") for who in students}
    assert len(seeds) == 4 * len(students)
    assert probe_seed(LONG, "hw1", "0ada") != probe_seed(LONG, "hw10", "ada")
    assert probe_seed(LONG, "hw1", "ada") == probe_seed(LONG, "hw1", "ada")
    assert not any(is_guessable(seed) for seed in seeds)


def test_two_students_are_asked_different_probes_and_the_same_run_again_the_same(tmp_path, handed_in, bubblewrap):
    messages = []
    for name, jobs in (("one", 1), ("two", 2)):
        root = handed_in(0, name=name)
        for student in ("ada", "bob"):
            hand_in(root, student, HOMEWORK, notebook(tells_its_probes()))
        ada, bob = grade(Course.find(root), [HOMEWORK], jobs=jobs, seed=LONG)
        for hers, his in zip(ada.tasks, bob.tasks, strict=True):
            assert hers.message != his.message, hers.task
        messages.append([bare(ada), bare(bob)])
    assert messages[0] == messages[1]


def test_trials_are_loud(handed_in, capsys, bubblewrap, tmp_path):
    root = handed_in(2)
    words = ("grade", "--course", root, "--jobs", "1")
    code, out, err = dpcourse(capsys, *words, "--seed-for-tests", "7", "--json", tmp_path / "told.json")
    assert code == 0
    assert "WARNING: --seed-for-tests" in err
    assert "FOR TRIALS: 2 submissions" in out
    assert json.loads((tmp_path / "told.json").read_text())["summary"]["trials"] == 2
    assert [record.is_trial for record in records_in(root / "grading" / HOMEWORK)] == [True, True]
    assert "2 submissions graded FOR TRIALS" in dpcourse(capsys, "report", "--course", root)[1]
    hand_in(root, "late", HOMEWORK, notebook(all_right()))
    code, told = for_machines(capsys, *words)  # a real run does not go on with that seed
    assert (code, told["summary"]["trials"]) == (0, 2)
    code, told = for_machines(capsys, *words, "--regrade")
    assert (code, told["summary"]["trials"], told["summary"]["seed"] > 2**62) == (0, 0, True)
    assert "FOR TRIALS" not in dpcourse(capsys, "report", "--course", root)[1]


def after_two():
    seen = []

    def progress(record: Record) -> None:
        seen.append(record)
        if len(seen) == 2:
            raise KeyboardInterrupt

    return progress


def give_feedback(root, how):
    if how == "ours":
        from autograder.cli import main

        assert main(["feedback", HOMEWORK, "--course", str(root)]) == 0
    else:  # as nbgrader's generate_feedback leaves it, here in a folder that its settings name
        with (root / "nbgrader_config.py").open("a") as config:
            config.write("\nc.CourseDirectory.feedback_directory = 'returned'\n")
        (root / "returned" / "s000" / HOMEWORK).mkdir(parents=True)


@pytest.mark.parametrize("how", ["ours", "nbgrader's"])
def test_after_feedback_nobody_is_asked_the_same_again(how, handed_in, capsys, bubblewrap):
    root = handed_in(4)
    course = Course.find(root)

    def graded(**settings):
        return {one.student: one.seed for one in grade(course, [HOMEWORK], jobs=1, **settings)}

    first = graded(seed=LONG)
    assert graded(seed=LONG, regrade=True) == first  # as often as one likes, while nobody was told anything
    with pytest.raises(KeyboardInterrupt):
        grade(course, [HOMEWORK], jobs=1, seed=LONG + 1, regrade=True, progress=after_two())
    identity = json.loads((course.records(HOMEWORK) / ".run").read_text())["run"]
    give_feedback(root, how)
    hand_in(root, "new", HOMEWORK, notebook(all_right()))
    before = {one.student: one.seed for one in records_in(course.records(HOMEWORK))}
    resumed = graded()  # goes on with the regrade, but not with its seed
    assert {one.run for one in records_in(course.records(HOMEWORK))} == {identity}
    done = {who for who, seed in before.items() if seed == LONG + 1}
    assert 2 <= len(done) < 4
    assert {who: resumed[who] for who in done} == {who: before[who] for who in done}
    assert len({resumed[who] for who in resumed.keys() - done}) == 1
    assert not {resumed[who] for who in resumed.keys() - done} & {LONG, LONG + 1}
    for settings in ({}, {"regrade": True}, {"students": ["s000"]}, {"students": ["s000"], "regrade": True}):
        with pytest.raises(Problem, match=f"the seed {LONG} is refused.*feedback about {HOMEWORK}.*--repeat-probes"):
            graded(seed=LONG, **settings)
    assert {one.student: one.seed for one in records_in(course.records(HOMEWORK))} == resumed
    again = graded(regrade=True)
    assert not set(again.values()) & {LONG, LONG + 1, *resumed.values()}
    with pytest.raises(KeyboardInterrupt):
        grade(course, [HOMEWORK], jobs=1, regrade=True, progress=after_two())
    assert len(set(graded().values())) == 2  # killed and resumed: a second seed, and no third one
    insisted = graded(seed=LONG, repeat_probes=True)
    assert set(insisted.values()) == {LONG}


def test_the_command_says_why_a_seed_is_refused(handed_in, capsys):
    root = handed_in(1)
    (root / "feedback" / "s000" / HOMEWORK).mkdir(parents=True)
    words = ("grade", "--course", root, "--seed", str(LONG), "--unsafe-no-sandbox", "--jobs", "1")
    code, out, err = dpcourse(capsys, *words)
    assert (code, out, str(LONG) in err, "may have told them" in err) == (1, "", True, True)
    assert not list((root / "grading").glob("*/*.json"))
    assert dpcourse(capsys, *words, "--repeat-probes")[0] == 0
    code, _, err = dpcourse(capsys, "grade", "--course", root, "--repeat-probes")
    assert (code, "--repeat-probes needs the --seed" in err) == (1, True)


def test_a_run_with_a_chosen_seed_that_was_stopped_is_finished(handed_in, bubblewrap):
    """Who has another seed is graded again, also by whoever finishes the run."""
    root = handed_in(4)
    course = Course.find(root)
    grade(course, [HOMEWORK], jobs=1)
    with pytest.raises(KeyboardInterrupt):
        grade(course, [HOMEWORK], jobs=1, seed=LONG, progress=after_two())
    assert {record.seed for record in grade(course, [HOMEWORK], jobs=1)} == {LONG}


def test_every_start_of_nbgraders_path_draws_a_seed(handed_in, monkeypatch):
    """Formgrader's server runs for days: what it remembers of a homework is not the seed."""
    from nbgrader.converters import Autograde
    from nbgrader.converters.base import NbGraderException
    from nbgrader.coursedir import CourseDirectory

    from autograder.gradebook.nbgrader_plugin import TrustedExporter

    root = handed_in(1)
    monkeypatch.setattr("autograder.box.sandbox.check", lambda: None)
    for name in ("DPCOURSE_GRADING_SEED", "DPCOURSE_SEED_FOR_TESTS"):
        monkeypatch.delenv(name, raising=False)
    settings = settings_of(root)

    def started() -> Run:
        settings.CourseDirectory.assignment_id = HOMEWORK
        place = CourseDirectory(config=settings)
        return TrustedExporter(parent=Autograde(coursedir=place, config=settings), config=settings).run

    seeds = {started().seed for _ in range(3)}
    assert len(seeds) == 3
    assert all(seed >= 2**62 for seed in seeds)
    monkeypatch.setenv("DPCOURSE_SEED_FOR_TESTS", "4")
    assert started().seed == 4
    monkeypatch.setenv("DPCOURSE_SEED_FOR_TESTS", "")
    monkeypatch.setenv("DPCOURSE_GRADING_SEED", "4")
    with pytest.raises(NbGraderException, match="'4' is too short"):
        started()
    monkeypatch.setenv("DPCOURSE_GRADING_SEED", str(LONG))
    assert started().seed == LONG
    (root / "feedback" / "s000" / HOMEWORK).mkdir(parents=True)
    with pytest.raises(NbGraderException, match="feedback about"):
        started()


def test_any_seed_reads_what_is_written():
    assert any_seed("007") == 7
