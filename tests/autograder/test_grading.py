"""A class is graded: the same seed, the same grades; a run that was stopped goes on; nothing is lost or doubled."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from autograder.command import main
from autograder.course import Course
from autograder.grading import grade
from autograder.own_notebook import check_notebook
from autograder.records import Record, records_in
from autograder.terminal import Problem
from tests.autograder.classroom import answering, grade_id, hand_in, released, solved
from tests.autograder.five import CELLS, HOMEWORK, POINTS, all_right, all_wrong, five_course, notebook, right, score_of
from tests.conftest import ROOT

pytestmark = pytest.mark.usefixtures("bubblewrap")


def bare(record: Record) -> Record:
    """Without what may differ between two runs: times, and the run's name."""
    return replace(
        record, seconds=0.0, run="", judge="", tasks=tuple(replace(task, seconds=0.0) for task in record.tasks)
    )


def in_gradebook(root: Path) -> dict[str, float]:
    code = (
        "import json, sys\nfrom nbgrader.api import Gradebook\n"
        "with Gradebook(sys.argv[1]) as book:\n"
        "    print(json.dumps([(one.student.id, one.score) for one in book.assignment_submissions(sys.argv[2])]))"
    )
    place = f"sqlite:///{root / 'gradebook.db'}"
    told = subprocess.run([sys.executable, "-c", code, place, HOMEWORK], capture_output=True, text=True, check=True)
    pairs = json.loads(told.stdout.splitlines()[-1])
    assert len(dict(pairs)) == len(pairs), "somebody is in the gradebook twice"
    return dict(pairs)


def test_points_are_given_task_by_task(handed_in):
    root = handed_in(32)
    seen: list[Record] = []
    records = grade(Course.find(root), [HOMEWORK], jobs=2, seed=3, progress=seen.append)
    assert [record.score for record in records] == [score_of(number) for number in range(32)]
    assert {record.status for record in records} == {"graded"}
    assert len(seen) == 32
    assert in_gradebook(root) == {f"s{number:03}": score_of(number) for number in range(32)}
    record = records[0].for_machines()
    assert list(record)[:7] == ["student", "assignment", "status", "score", "max_score", "seconds", "notes"]
    assert list(record["tasks"][0]) == ["task", "points", "max_points", "status", "misconception", "message"]


def test_the_same_seed_gives_the_same_verdicts(tmp_path):
    homework = "hw2_local_dp"
    from tests.autograder.classroom import class_of, course_in

    found = []
    for name, jobs in (("one", 1), ("two", 2)):
        root = course_in(tmp_path / name, homework)
        class_of(root, homework, 6)
        found.append([bare(record) for record in grade(Course.find(root), [homework], jobs=jobs, seed=7)])
    assert found[0] == found[1]
    assert {task.status for record in found[0] for task in record.tasks} >= {"passed", "failed", "error"}


def test_what_was_graded_is_not_graded_again_unless_it_changed(handed_in):
    root = handed_in(4)
    course = Course.find(root)
    first = grade(course, [HOMEWORK], jobs=1)
    again = grade(course, [HOMEWORK], jobs=1)
    assert again == [record for record in records_in(course.records(HOMEWORK))]
    assert [record.run for record in again] == [again[0].run] * 4
    place = root / "submitted" / "s000" / HOMEWORK / f"{HOMEWORK}.ipynb"
    place.write_text(json.dumps(notebook(all_right())), encoding="utf-8")
    changed = grade(course, [HOMEWORK], jobs=1)
    assert [record.score for record in changed] == [POINTS, *(record.score for record in first[1:])]
    assert [one.run == other.run for one, other in zip(again, changed, strict=True)] == [False, True, True, True]
    assert len({record.seed for record in changed}) == 1  # the class is asked the same
    anew = grade(course, [HOMEWORK], jobs=1, regrade=True)
    assert anew[0].seed != changed[0].seed
    assert [record.score for record in anew] == [record.score for record in changed]
    one = grade(course, [HOMEWORK], jobs=1, students=["s001"], regrade=True)
    assert [record.student for record in one] == ["s001"]
    assert grade(course, [HOMEWORK], jobs=1)[0].run == anew[0].run  # and nobody else was


def test_every_broken_submission_ends_with_a_verdict(tmp_path):
    root = five_course(tmp_path)
    good = notebook(all_right())
    without = notebook(all_right())
    without["cells"] = [
        cell for cell in without["cells"] if cell["metadata"]["nbgrader"]["grade_id"] != "clip-solution"
    ]
    dies = notebook({**all_right(), "add_up": "import os\ndef add_up(values): os._exit(3)"})
    hangs = notebook({**all_right(), "add_up": "def add_up(values):\n    while True: pass"})
    copies = notebook(all_right())
    copies["cells"].append(json.loads(json.dumps(copies["cells"][3])))
    loud = "\nimport warnings, sys\nwarnings.warn('x')\nprint('y' * 10**6, file=sys.stderr)"
    noisy = notebook({**all_right(), "add_up": right("add_up") + loud})
    for name, book in {
        "good": good,
        "without": without,
        "dies": dies,
        "hangs": hangs,
        "copies": copies,
        "noisy": noisy,
    }.items():
        hand_in(root, name, HOMEWORK, book)
    for name, content in {
        "empty": b"",
        "no_json": b"{",
        "binary": bytes(range(256)) * 50,
        "other": b'{"a": 1}',
    }.items():
        hand_in(root, name, HOMEWORK, good).write_bytes(content)
    hand_in(root, "utf16", HOMEWORK, good).write_bytes(json.dumps(good).encode("utf-16"))
    records = {record.student: record for record in grade(Course.find(root), [HOMEWORK], jobs=2, seed=1)}
    scores = {name: record.score for name, record in records.items()}
    assert scores == {
        "good": 10, "without": 9, "dies": 8, "hangs": 8, "copies": 10, "noisy": 10, "utf16": 10,
        "empty": 0, "no_json": 0, "binary": 0, "other": 0,
    }  # fmt: skip
    statuses = {name: record.status for name, record in records.items()}
    assert {name for name, status in statuses.items() if status == "rejected"} == {
        "empty",
        "no_json",
        "binary",
        "other",
    }
    assert statuses["without"] == statuses["dies"] == "partial"
    assert [task.status for task in records["hangs"].tasks] == ["passed", "timeout", "passed", "passed", "passed"]
    assert [task.status for task in records["dies"].tasks] == ["passed", "error", "passed", "passed", "passed"]
    assert "clip-solution" in records["without"].tasks[2].message
    assert all(record.notes for name, record in records.items() if statuses[name] != "graded")
    assert set(in_gradebook(root)) == set(records)


def test_a_run_killed_at_any_time_goes_on(handed_in):
    """SIGKILL of everything, three times; then the grades are those of an undisturbed run, each recorded once."""
    slow = "\nimport time\ntime.sleep(0.15)"
    quiet, disturbed = (handed_in(24, slow, name) for name in ("quiet", "disturbed"))
    expected = [bare(record) for record in grade(Course.find(quiet), [HOMEWORK], jobs=2, seed=5)]
    command = [
        sys.executable,
        "-m",
        "autograder",
        "grade",
        HOMEWORK,
        "--course",
        str(disturbed),
        "--seed",
        "5",
        "--jobs",
        "2",
    ]
    folder = disturbed / "grading" / HOMEWORK
    before = 0
    for _ in range(3):
        process = subprocess.Popen(
            command, cwd=ROOT, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        end = time.monotonic() + 60
        while len(list(folder.glob("*.json"))) < before + 4 and process.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        before = len(list(folder.glob("*.json")))
    assert 12 <= before < 24, "the run was to be killed in between"
    kept = {path.name: path.read_bytes() for path in folder.glob("*.json")}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {name: (folder / name).read_bytes() for name in kept} == kept  # graded once
    found = [bare(record) for record in records_in(folder)]
    assert found == expected
    assert in_gradebook(disturbed) == in_gradebook(quiet)
    assert not (folder / ".run").exists()


def test_an_interrupted_regrade_goes_on_too(handed_in):
    root = handed_in(6)
    course = Course.find(root)
    grade(course, [HOMEWORK], jobs=1)

    def stop_after_two(record: Record, seen: list[Record] = []) -> None:  # noqa: B006
        seen.append(record)
        if len(seen) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grade(course, [HOMEWORK], jobs=1, seed=77, regrade=True, progress=stop_after_two)
    partly = [record.seed == 77 for record in records_in(course.records(HOMEWORK))]
    assert 2 <= sum(partly) < 6
    finished = grade(course, [HOMEWORK], jobs=1)
    assert [record.seed for record in finished] == [77] * 6
    assert in_gradebook(root) == {f"s{number:03}": score_of(number) for number in range(6)}


def test_two_graders_do_not_work_in_one_course(handed_in):
    root = handed_in(3)
    errors = []

    def second(record: Record) -> None:
        try:
            grade(Course.find(root), [HOMEWORK], jobs=1)
        except Problem as problem:
            errors.append(str(problem))

    grade(Course.find(root), [HOMEWORK], jobs=1, progress=second)
    assert len(errors) == 3
    assert "another grading is at work" in errors[0]


def test_workers_that_are_killed_lose_nothing(handed_in):
    """kill -9 of a random worker every two seconds during 200 submissions: all recorded once, with the same grades."""
    number = 200
    slow = "\nimport time\ntime.sleep(0.08)"
    root = handed_in(number, slow)
    rng, stop, killed = np.random.default_rng(1), threading.Event(), []

    def killer() -> None:
        while not stop.wait(2.0):
            listed = subprocess.run(
                ["ps", "-o", "pid=", "--ppid", str(os.getpid())], capture_output=True, text=True, check=False
            )
            import multiprocessing

            workers = {child.pid for child in multiprocessing.active_children()} & set(map(int, listed.stdout.split()))
            if workers:
                victim = int(rng.choice(sorted(workers)))
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)

    thread = threading.Thread(target=killer)
    thread.start()
    try:
        records = grade(Course.find(root), [HOMEWORK], jobs=2, seed=2)
    finally:
        stop.set()
        thread.join()
    assert len(killed) >= 4
    assert [record.score for record in records] == [score_of(student % 32) for student in range(number)]
    assert {record.status for record in records} == {"graded"}
    assert in_gradebook(root) == {record.student: record.score for record in records}


def test_a_graded_cell_without_a_task_is_told_at_once(handed_in):
    root = handed_in(1)
    (root / "tasks.py").unlink()
    with pytest.raises(Problem, match="'double' of five has no task"):
        grade(Course.find(root), [HOMEWORK])


def test_unsafe_is_recorded(handed_in):
    root = handed_in(2)
    records = grade(Course.find(root), [HOMEWORK], jobs=1, unsafe=True)
    assert [record.sandbox for record in records] == ["none", "none"]
    assert [record.score for record in records] == [score_of(0), score_of(1)]


def test_students_check_their_own_notebook(tmp_path):
    source = ROOT / "exercises" / "source" / "hw2_local_dp" / "hw2_local_dp.ipynb"
    book = answering(solved(source), {"theta-solution": "def theta(epsilon, attempt):\n    return 0.5"})
    place = tmp_path / "mine.ipynb"
    place.write_text(json.dumps(book), encoding="utf-8")
    verdicts = {verdict.task: verdict for verdict in check_notebook(place)}
    assert not verdicts["theta"].passed
    assert all(verdict.passed for name, verdict in verdicts.items() if name != "theta")
    assert all(verdict.public for verdict in verdicts.values())
    place.write_text(json.dumps(released(source)), encoding="utf-8")
    assert {verdict.status for verdict in check_notebook(place)} == {"missing"}


def test_the_students_check_runs_what_grading_runs(tmp_path, handed_in):
    """A helper in a cell of one's own is not there when it is graded, and a deleted test cell is asked all the same."""
    source = ROOT / "exercises" / "source" / "hw2_local_dp" / "hw2_local_dp.ipynb"
    book = answering(solved(source), {"spent_epsilon-solution": "def spent_epsilon(theta):\n    return mine(theta)"})
    helper = {"cell_type": "code", "id": "mine", "metadata": {}, "outputs": [], "execution_count": None}
    book["cells"].insert(
        1, {**helper, "source": "import math\ndef mine(theta):\n    return math.log(theta / (1 - theta))"}
    )
    book["cells"] = [cell for cell in book["cells"] if grade_id(cell) != "theta"]
    place = tmp_path / "mine.ipynb"
    place.write_text(json.dumps(book), encoding="utf-8")
    verdicts = {verdict.task: verdict for verdict in check_notebook(place)}
    assert "Cells that you added are not graded" in verdicts["spent_epsilon"].message
    assert verdicts["theta"].passed
    assert "missing in your notebook" in verdicts["theta"].message
    assert sum(verdict.passed for verdict in verdicts.values()) == len(verdicts) - 1

    root = handed_in(0)
    hand_in(root, "five", HOMEWORK, notebook({**all_right(), "double": "def double(x):\n    return mine(x)"}))
    place = root / "submitted" / "five" / HOMEWORK / f"{HOMEWORK}.ipynb"
    book = json.loads(place.read_text(encoding="utf-8"))
    book["cells"].insert(1, {**helper, "source": "def mine(x):\n    return 2 * x"})
    place.write_text(json.dumps(book), encoding="utf-8")
    (record,) = grade(Course.find(root), [HOMEWORK], jobs=1, seed=1)
    assert record.score == POINTS - 1
    assert "Cells that you added are not graded" in record.tasks[0].feedback


def test_a_file_that_is_no_homework_is_told(tmp_path):
    place = tmp_path / "x.ipynb"
    place.write_text("{", encoding="utf-8")
    with pytest.raises(Problem, match=r"'x.ipynb' cannot be read"):
        check_notebook(place)
    place.write_text(json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), encoding="utf-8")
    with pytest.raises(Problem, match="no cell of a homework"):
        check_notebook(place)


def test_feedback_never_shows_a_fresh_probe(handed_in):
    """Also if the program that met them would tell: in errors, in complaints that it forges, in later cells."""
    root = handed_in(0)
    remember = "SEEN = []\n"
    tell = "    SEEN.append(str(locals()))\n"
    books = {
        "wrong": all_wrong(),
        "crash": {name: f"def {name}(*given, **named):\n    return 1 / 0" for name in CELLS},
        "tells": {
            name: (remember if name == "double" else "")
            + f"def {name}({CELLS[name][1]}):\n{tell}    raise ValueError(SEEN[0])"
            for name in CELLS
        },
        "later": {
            **all_wrong(), "double": f"{remember}def double(x):\n{tell}    return 1.0",
            "add_up": "raise ValueError(SEEN[0] if SEEN else 'nothing')",
        },
        "forges": {
            **all_wrong(), "double": (
                "from autograder.inside import child\ndef double(x):\n"
                "    child.channel.send({'number': 3, 'status': 'missing', 'text': f'fresh: {x}'})\n    return 1.0"
            ),
        },
    }  # fmt: skip
    for name, answers in books.items():
        hand_in(root, name, HOMEWORK, notebook(answers))
    hidden: dict[tuple[str, str], set[str]] = {}
    shown: dict[tuple[str, str], set[str]] = {}
    for seed in (1, 2):
        for record in grade(Course.find(root), [HOMEWORK], jobs=1, seed=seed):
            for task in record.tasks:
                hidden.setdefault((record.student, task.task), set()).add(task.message)
                shown.setdefault((record.student, task.task), set()).add(" ".join([task.feedback, *record.notes]))
    assert sum(len(words) == 2 for words in hidden.values()) >= 15  # the instructor reads of the fresh probes
    assert {key: words for key, words in shown.items() if len(words) > 1} == {}  # the student does not


def test_a_folder_with_an_impossible_name_stops_nobody(handed_in, tmp_path, capsys):
    root = handed_in(1)
    for name in (b"M\xfcller", b"<img src=x onerror=alert(1)>", b"a\nb", b"x" * 200):
        (Path(os.fsdecode(os.fsencode(root) + b"/submitted/" + name)) / HOMEWORK).mkdir(parents=True)
    told = tmp_path / "told.json"
    assert main(["grade", "--course", str(root), "--seed", "1", "--jobs", "1", "--json", str(told)]) == 0
    found = json.loads(told.read_text(encoding="utf-8"))
    assert [one["student"] for one in found["submissions"]] == ["s000"]
    assert len(found["summary"]["left_out"]) == 4
    assert capsys.readouterr().err.count("left out") == 4
