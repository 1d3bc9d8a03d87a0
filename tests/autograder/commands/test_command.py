"""The command line: quick, helpful, and never a traceback."""

import json
import subprocess
import sys
import time

import pytest

from autograder import cli
from autograder.commands import grade
from autograder.console import Problem
from autograder.examine.records import Record, TaskRecord
from testing import ROOT
from tests.autograder.small_course import HW, answered, dpcourse, make_course


def test_help_is_quick_and_loads_nothing_heavy():
    heavy = ("numpy", "nbgrader", "traitlets", "matplotlib", "torch", "rich", "autograder.commands")
    probe = (
        "import sys; from autograder.cli import main; assert main(['--help']) == 0;"
        f"print([m for m in {heavy} if m in sys.modules])"
    )
    best = 9.0
    for _ in range(3):
        start = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=False)
        best = min(best, time.perf_counter() - start)
        *shown, last = done.stdout.splitlines()
        assert (last, done.stderr) == ("[]", "")
        assert all(any(line.split()[:1] == [name] for line in shown) for name in cli.COMMANDS)
    assert best < 1  # 0.1 s on a quiet machine


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_shows_an_example(name, capsys):
    code, out, _ = dpcourse(capsys, name, "--help")
    assert code == 0
    assert f"example:\n  dpcourse {name}" in out
    assert "--json FILE" in out
    assert ("--course DIR" in out) == (name != "check")


@pytest.mark.parametrize(
    "words",
    [(), ("brew",), ("grade", "--jobs", "0"), ("grade", "--seed", "-1"), ("grade", "--no"),
     ("export", "--format", "xls"), ("report", "--similar", "nan"),
     ("grade", "--seed-for-tests", "12", "--seed", "1234567890123456")],
)  # fmt: skip
def test_what_is_not_understood_ends_with_2(words, capsys):
    code, out, err = dpcourse(capsys, *words)
    assert (code, out) == (2, "")
    assert "Usage: dpcourse" in err
    assert "".join(words[-1:]) in err.partition("Error: ")[2]  # the value is quoted


@pytest.mark.parametrize(
    ("words", "said"),
    [(("grade", "hw9"), "'hw9'"), (("grade",), "nothing was handed in"), (("grade", "--student", "eve"), "'eve'"),
     (("feedback",), "dpcourse grade"), (("report",), "dpcourse grade"), (("release", "hw9"), "'hw9'")],
)  # fmt: skip
def test_a_mistake_is_one_sentence(words, said, tmp_path, capsys):
    code, out, err = dpcourse(capsys, *words, "--course", make_course(tmp_path))
    assert (code, out, len(err.splitlines())) == (1, "", 1)
    assert said in err
    assert err.startswith(f"dpcourse {words[0]}: ")


def test_no_course_here(tmp_path, capsys):
    for name in ("release", "grade", "feedback", "export", "report"):
        code, _, err = dpcourse(capsys, name, "--course", tmp_path)
        assert (code, "nbgrader_config.py" in err, "--course" in err) == (1, True, True)


def task(name: str, status: str, points: float) -> TaskRecord:
    return TaskRecord(task=name, points=points, max_points=2, status=status)


def records(sandbox: str = "bubblewrap") -> list[Record]:
    tasks = (task("a", "passed", 2), task("b", "failed", 0))
    more = {"seed": 5, "sandbox": sandbox}
    return [
        Record(student="ada", assignment=HW, status="graded", tasks=tasks, seconds=0.5, **more),
        Record(student="bob", assignment=HW, status="rejected", notes=("It is empty.",), **more),
    ]


def test_the_summary_counts():
    summary = grade.summarize(records(), 4.0, 2)
    assert summary == {
        "submissions": 2, "new": 2, "graded": 1, "partial": 0, "rejected": 1, "tasks": {"failed": 1, "passed": 1},
        "seconds": 4.0, "throughput": 0.5, "seed": 5, "trials": 2, "sandbox": "bubblewrap",
    }  # fmt: skip
    assert "WITHOUT A SANDBOX" not in grade.describe(summary)
    assert "WITHOUT A SANDBOX" in grade.describe(grade.summarize(records("none"), 4.0, 2))


def test_every_seed_is_told():
    from dataclasses import replace

    ada, bob = records()
    other = replace(bob, assignment="hw2")
    for found, seed, words in [
        ([ada, bob], 5, "seed: 5\n"),
        ([ada, replace(bob, seed=3)], {HW: [3, 5]}, f"seed: several ({HW}: 3, 5)\n"),
        ([ada, replace(bob, seed=3), other], {HW: [3, 5], "hw2": 5}, f"seed: several ({HW}: 3, 5; hw2: 5)\n"),
        ([ada, replace(other, seed=8)], {HW: 5, "hw2": 8}, f"seed: several ({HW}: 5; hw2: 8)\n"),
    ]:
        summary = grade.summarize(found, 4.0, 2)
        assert summary["seed"] == seed
        assert words in grade.describe(summary)


@pytest.mark.parametrize(
    ("words", "said", "not_said"),
    [((), "The same command goes on from here", "--regrade"),
     (("--student", "ada"), "The same command goes on from here", "--regrade"),
     (("--regrade",), "The same command goes on from here", "earlier grade"),
     (("--regrade", "--student", "ada"), "keeps the earlier grade; the same command starts again", "goes on")],
)  # fmt: skip
def test_how_to_go_on_after_ctrl_c_is_true(words, said, not_said, small_course, capsys, monkeypatch):
    (small_course / "submitted" / "ada" / HW).mkdir(parents=True)

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("autograder.examine.batch.grade", stopped)
    code, out, err = dpcourse(capsys, "grade", HW, *words, "--course", small_course)
    assert (code, out, said in err, not_said in err) == (1, "", True, False)


def test_ctrl_c_is_told_in_a_word(tmp_path, capsys, monkeypatch):
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("autograder.course.course.Course.find", interrupt)
    assert dpcourse(capsys, "release", "--course", tmp_path) == (1, "", "\nstopped\n")


def test_a_traceback_is_shown_only_if_one_asks_for_it(tmp_path, capsys, monkeypatch):
    assert dpcourse(capsys, "release", "--course", tmp_path)[2].startswith("dpcourse release: there is no course in")
    monkeypatch.setenv(cli.DEBUG, "1")
    with pytest.raises(Problem, match="there is no course in"):
        dpcourse(capsys, "release", "--course", tmp_path)


def test_a_seed_that_can_be_guessed_is_warned_of(capsys):
    told = " ".join(dpcourse(capsys, "grade", "--help")[1].split())
    assert "without it a secret one is drawn" in told
    assert "never one that students could guess" in told


def test_what_a_person_should_look_at_is_named():
    assert grade.to_look_at(records()) == [f"rejected: bob, {HW}: It is empty."]
    odd = Record(student="eve\x1b[2J", assignment=HW, status="partial", notes=("Two\nlines.", "More."))
    assert grade.to_look_at([odd]) == [f"partial: eve\ufffd[2J, {HW}: Two lines."]
    many = grade.to_look_at([odd] * 23)
    assert (len(many), many[-1]) == (21, "and 3 more: see --json or report")
    assert "1 submission (" in grade.describe(grade.summarize(records()[:1], 4.0, 1))


def test_what_the_system_refuses_is_one_sentence(tmp_path, capsys):
    course = make_course(tmp_path)
    (course / "release").write_text("a file in the way")
    code, out, err = dpcourse(capsys, "release", HW, "--course", course)
    assert (code, out, len(err.splitlines())) == (1, "", 1)
    assert f"'{course}/release" in err
    assert "Errno" not in err


def test_a_folder_that_is_read_only_is_named(tmp_path, bubblewrap):
    course = make_course(tmp_path)
    (tmp_path / "box" / "ada").mkdir(parents=True)
    (tmp_path / "box" / "ada" / f"{HW}.ipynb").write_bytes(answered())
    readable = [bubblewrap, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    words = [sys.executable, "-m", "autograder", "collect", str(tmp_path / "box"), "--course", str(course)]
    done = subprocess.run([*readable, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)
    assert f"'{course}' may not be read or written (read-only file system)" in done.stderr


@pytest.mark.parametrize("words", [("grade", "--json"), ("report", "--html"), ("export", "--to"), ("doctor", "--json")])
def test_a_folder_that_is_not_there_is_not_made(words, graded_course, tmp_path, capsys):
    target = tmp_path / "nowhere" / "out"
    code, out, err = dpcourse(capsys, *words, target, "--course", graded_course)
    assert (code, out, len(err.splitlines())) == (1, "", 1)
    assert f"there is no folder '{target.parent}'" in err
    assert not target.parent.exists()


def test_grade_for_machines(small_course, tmp_path, capsys, bubblewrap):
    course = small_course
    for student, content in {"ada": answered(), "bob": b"{", "cyd": answered("return 1", "return count")}.items():
        (course / "submitted" / student / HW).mkdir(parents=True)
        (course / "submitted" / student / HW / f"{HW}.ipynb").write_bytes(content)
    target = tmp_path / "grades.json"
    words = ("grade", "--seed-for-tests", "3", "--jobs", "1", "--json", target, "--course", course)
    code, out, err = dpcourse(capsys, *words)
    assert code == 0, err
    assert "3 submissions" in out
    assert f"rejected: bob, {HW}: " in err
    result = json.loads(target.read_text())
    assert (result["summary"]["submissions"], result["summary"]["seed"]) == (3, 3)
    found = {one["student"]: (one["status"], one["score"], one["max_score"]) for one in result["submissions"]}
    assert found["ada"] == ("graded", 3, 3)
    assert found["bob"][:2] == ("rejected", 0)
    assert found["cyd"] == ("graded", 0, 3)
    assert result["summary"]["new"] == 3
    dpcourse(capsys, "grade", "--json", target, "--course", course)
    again = json.loads(target.read_text())
    assert (again["summary"]["new"], again["submissions"]) == (0, result["submissions"])
    keys = {"student", "assignment", "status", "score", "max_score", "seconds", "tasks", "notes"}
    assert set(result["submissions"][0]) == keys


def test_check_for_students(tmp_path, capsys, bubblewrap):
    path = tmp_path / f"{HW}.ipynb"
    path.write_bytes(answered())
    code, out, err = dpcourse(capsys, "check", path)
    assert (code, "2 of 2 tasks" in out) == (0, True), err
    path.write_bytes(answered(count="return count"))
    code, out, _ = dpcourse(capsys, "check", path)
    assert (code, "1 of 2 tasks" in out, "noisy_count: not yet" in out) == (1, True, True)


def test_what_a_notebook_says_cannot_write_on_the_terminal(tmp_path, capsys, bubblewrap):
    path = tmp_path / f"{HW}.ipynb"
    path.write_bytes(answered(ratio=r"raise ValueError('here:\x1b[2J\x9b\r\u202egood')"))
    code, out, err = dpcourse(capsys, "check", path)
    assert (code, "here:" in out, "good" in out) == (1, True, True), err
    assert all(letter.isprintable() or letter == "\n" for letter in out + err)


@pytest.mark.parametrize("name", ["nothing.ipynb", "text.txt"])
def test_check_needs_a_notebook(name, tmp_path, capsys):
    (tmp_path / "text.txt").write_text("x")
    code, out, err = dpcourse(capsys, "check", tmp_path / name)
    assert (code, out, name in err) == (1, "", True)
