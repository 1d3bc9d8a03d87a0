"""A class is graded: points task by task, the same seed the same grades, whatever was handed in."""

import json
import os
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.console import Problem
from autograder.course.course import Course
from autograder.examine.batch import grade, setting_of
from autograder.examine.records import Record
from autograder.examine.runs import Run
from testing.classroom import hand_in
from testing.five_tasks import CELLS, HOMEWORK, all_right, all_wrong, five_course, notebook, right, score_of
from tests.autograder.outcome import bare, in_gradebook

pytestmark = pytest.mark.usefixtures("bubblewrap")


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
    assert list(record["tasks"][0]) == ["task", "points", "max_points", "status", "mistake", "message"]


def test_the_same_seed_gives_the_same_verdicts(tmp_path):
    homework = "hw2_local_dp"
    from testing.classroom import class_of, course_in

    found = []
    for name, jobs in (("one", 1), ("two", 2)):
        root = course_in(tmp_path / name, homework)
        class_of(root, homework, 6)
        found.append([bare(record) for record in grade(Course.find(root), [homework], jobs=jobs, seed=7)])
    assert found[0] == found[1]
    assert {task.status for record in found[0] for task in record.tasks} >= {"passed", "failed", "error"}


def test_what_the_given_cells_import_is_loaded_once_for_a_whole_class(tmp_path):
    """hw1 gives a pandas table. In a class of 25 its one mention was outvoted, and each student loaded pandas anew."""
    from testing.classroom import class_of, course_in

    root = course_in(tmp_path, "hw1_pure_dp")
    names = class_of(root, "hw1_pure_dp", 25)
    run = Run(Course.find(root), "hw1_pure_dp", seed=1, regrade=False, whole=True)
    setting = setting_of(Course.find(root), [(run, name) for name in names], {run.name: run}, unsafe=False)
    assert "pandas" in setting.preload
    assert "torch" not in setting.preload  # nobody needs it


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
                "from autograder.box.inside import child\ndef double(x):\n"
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


def test_how_a_process_ends_tells_the_student_nothing(handed_in, capsys):
    """Its exit code, or the length that it gives a message, could be a fresh probe: two of them look the same."""
    root = handed_in(0)
    sends = (
        "import struct\nfrom autograder.box.inside import child\ndef double(x):\n"
        "    child.channel._socket.sendall(struct.pack('>II', 0, 2**31 + {}))\n    return 1.0"
    )
    ends = "import os\ndef double(x):\n    os._exit({})"
    for name, source in {"ends": ends, "sends": sends}.items():
        for number in (57, 58):
            hand_in(root, f"{name}{number}", HOMEWORK, notebook({**all_right(), "double": source.format(number)}))
    records = {one.student: one for one in grade(Course.find(root), [HOMEWORK], jobs=1, seed=3)}
    assert "57" in " ".join(records["ends57"].notes)  # the instructor sees it
    assert main(["feedback", HOMEWORK, "--course", str(root)]) == 0
    capsys.readouterr()
    for name in ("ends", "sends"):
        pages = [
            (root / "feedback" / f"{name}{number}" / HOMEWORK / f"{HOMEWORK}.html").read_text().replace(str(number), "")
            for number in (57, 58)
        ]
        assert pages[0] == pages[1]
        assert "its process was lost" in pages[0]
        assert "2,147" not in pages[0]


def test_a_number_too_large_for_any_float_gets_a_sentence(handed_in):
    root = handed_in(0)
    hand_in(root, "huge", HOMEWORK, notebook({**all_right(), "double": "def double(x):\n    return 10**400"}))
    (record,) = grade(Course.find(root), [HOMEWORK], jobs=1, seed=3)
    assert record.status == "graded"
    assert "cannot be sent" in next(task.message for task in record.tasks if task.task == "double")


def test_a_folder_with_an_impossible_name_stops_nobody(handed_in, tmp_path, capsys):
    root = handed_in(1)
    for name in (b"M\xfcller", b"<img src=x onerror=alert(1)>", b"a\nb", b"x" * 200):
        (Path(os.fsdecode(os.fsencode(root) + b"/submitted/" + name)) / HOMEWORK).mkdir(parents=True)
    told = tmp_path / "told.json"
    assert main(["grade", "--course", str(root), "--seed-for-tests", "1", "--jobs", "1", "--json", str(told)]) == 0
    found = json.loads(told.read_text(encoding="utf-8"))
    assert [one["student"] for one in found["submissions"]] == ["s000"]
    assert len(found["summary"]["left_out"]) == 4
    assert capsys.readouterr().err.count("left out") == 4
