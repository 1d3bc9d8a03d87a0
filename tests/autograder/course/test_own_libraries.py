"""``c.DpCourse.libraries``: what a course's students may import, and who is told what."""

import json
import shlex
import sys

import pytest

from autograder.console import Problem
from autograder.course import libraries
from autograder.course.course import Course
from autograder.course.libraries import absent_libraries, libraries_in_settings, libraries_of
from autograder.examine.batch import grade, packages_of, setting_of
from autograder.examine.runs import Run
from testing.classroom import hand_in
from testing.five_tasks import CELLS, HOMEWORK, POINTS, all_right, five_course, notebook
from tests.autograder.small_course import HW, dpcourse, for_machines, make_course

DEFAULT = {"numpy", "scipy", "pandas", "torch", "sympy", "matplotlib", "sklearn", "tqdm"}
USES = "import {0}\n\ndef double(x):\n    return {0}.{1} and 2 * x"


def course_with(folder, setting: str) -> Course:
    root = make_course(folder)
    with (root / "nbgrader_config.py").open("a", encoding="utf-8") as config:
        config.write(f"{setting}\n")
    return Course.find(root)


@pytest.mark.parametrize(
    ("setting", "names"),
    [("", ()), ("c.DpCourse.libraries = ['mpmath']", ("mpmath",)),
     ("c.DpCourse.libraries = ('mpmath',) * 2", ("mpmath",)),
     ("c.DpCourse.libraries.append('mpmath')\nc.DpCourse.libraries.extend(['psutil'])", ("mpmath", "psutil"))],
)  # fmt: skip
def test_the_setting_is_a_list_of_names(tmp_path, setting, names):
    course = course_with(tmp_path, setting)
    assert libraries_in_settings(course) == names
    assert set(libraries_of(course)) == DEFAULT.union(names)


@pytest.mark.parametrize(
    ("value", "said"),
    [("'mpmath'", "'mpmath'"), ("[1]", "1"), ("['mp math']", "'mp math'"), ("['--user']", "'--user'"),
     ("['dpcourse']", "'dpcourse'"), ("['autograder']", "'autograder'"), ("None", "None")],
)  # fmt: skip
def test_a_setting_that_cannot_be_meant_is_refused(tmp_path, capsys, value, said):
    course = course_with(tmp_path, f"c.DpCourse.libraries = {value}")
    with pytest.raises(Problem, match=r"c\.DpCourse\.libraries") as problem:
        libraries_in_settings(course)
    assert said in str(problem.value)
    code, health = for_machines(capsys, "doctor", "--course", course.root)
    assert (code, [one["state"] for one in health["findings"] if one["what"] == "libraries"]) == (1, ["missing"])


def test_a_library_that_is_not_installed_is_told_with_the_line_that_installs_it(tmp_path, capsys):
    course = course_with(tmp_path, "c.DpCourse.libraries = ['no_such_library', 'mpmath']")
    line = shlex.join([sys.executable, "-m", "pip", "install", "no_such_library"])
    code, health = for_machines(capsys, "doctor", "--course", course.root)
    (finding,) = [one for one in health["findings"] if one["what"] == "libraries"]
    assert (code, health["ready"], finding["how"]) == (1, False, line)
    assert "'no_such_library', which is not installed" in finding["said"]
    hand_in(course.root, "ada", HW, json.loads(course.source(HW).read_text(encoding="utf-8")))
    code, _, err = dpcourse(capsys, "grade", "--course", course.root)
    assert (code, len(err.splitlines())) == (1, 1)
    assert f"c.DpCourse.libraries names 'no_such_library', which is not installed: {line}" in err


def test_a_library_without_files_to_copy_is_told(tmp_path, monkeypatch):
    course = course_with(tmp_path, "c.DpCourse.libraries = ['mpmath']")
    assert absent_libraries(course) == {}
    monkeypatch.setattr(libraries, "is_copied", lambda *_: False)
    assert "pip install -e" in absent_libraries(course)["mpmath"]


def test_what_a_homework_imports_and_is_not_there_is_told(tmp_path, capsys):
    course = Course.find(make_course(tmp_path))
    text = course.source(HW).read_text(encoding="utf-8").replace("import math", "import no_such_library, math")
    course.source(HW).write_text(text, encoding="utf-8")
    _, health = for_machines(capsys, "doctor", "--course", course.root)
    (finding,) = [one for one in health["findings"] if one["what"] == "imports"]
    assert (finding["state"], "'no_such_library'" in finding["said"]) == ("optional", True)


def test_the_list_is_the_same_for_every_homework(tmp_path):
    """What homework 2 imports may be used in homework 1, whichever of them are graded together."""
    course = Course.find(make_course(tmp_path))
    other = course.root / "source" / "hw2" / "hw2.ipynb"
    other.parent.mkdir()
    text = course.source(HW).read_text(encoding="utf-8").replace("import math", "import mpmath\\nimport math")
    other.write_text(text, encoding="utf-8")
    assert "mpmath" in libraries_of(course)
    first = Run(course, HW, seed=1, regrade=False, whole=True)
    hand_in(course.root, "ada", HW, json.loads(text))
    assert "mpmath" in packages_of(course, [first.assignment])
    assert "mpmath" in setting_of(course, [], {HW: first}, unsafe=False).libraries
    (other.parent / "hw2.ipynb").write_text("{")  # which is nothing to hw1
    assert set(libraries_of(course)) == DEFAULT


@pytest.fixture
def five(tmp_path, bubblewrap):
    """A class in which some import what is not allowed. ``mpmath`` is in no box unless it is."""
    root = five_course(tmp_path)
    answers = {
        "allowed": {"double": USES.format("mpmath", "mpf")},
        "foreign": {"double": USES.format("hypothesis", "seed")},
        "inside": {"double": "def double(x):\n    import hypothesis\n    return 2 * x"},
        "unknown": {"double": "import no_such_library as lib\ndef double(x):\n    return 2 * x",
                    "clip": "def clip(x, low, high):\n    return lib.clip(x, low, high)"},
    }  # fmt: skip
    for student, cells in answers.items():
        hand_in(root, student, HOMEWORK, notebook({**all_right(), **cells}))
    return root


@pytest.mark.parametrize("unsafe", [False, True])
def test_who_imports_what_is_not_allowed_is_told_so(five, unsafe):
    course = Course.find(five)
    assert len(CELLS) == 5
    before = {record.student: record for record in grade(course, [HOMEWORK], jobs=1, seed=1, unsafe=unsafe)}
    names = ", ".join(sorted(DEFAULT, key=str.lower))
    for student, name in (("allowed", "mpmath"), ("foreign", "hypothesis"), ("inside", "hypothesis")):
        task = before[student].tasks[0]
        assert (task.status, before[student].score) == ("error", POINTS - 1)
        for words in (task.message, task.feedback):
            assert f"`{name}` is not among the libraries of this course ({names})." in words, student
    for task in (before["unknown"].tasks[0], before["unknown"].tasks[2]):  # a later cell misses the name
        assert "`no_such_library` is not among the libraries" in task.feedback
    with (five / "nbgrader_config.py").open("a", encoding="utf-8") as config:
        config.write("c.DpCourse.libraries = ['mpmath']\n")
    after = {
        record.student: record for record in grade(course, [HOMEWORK], jobs=1, seed=1, regrade=True, unsafe=unsafe)
    }
    assert {name: record.score for name, record in after.items()} == {
        "allowed": POINTS, "foreign": POINTS - 1, "inside": POINTS - 1, "unknown": POINTS - 2,
    }  # fmt: skip
    assert "mpmath, numpy" in after["foreign"].tasks[0].feedback
