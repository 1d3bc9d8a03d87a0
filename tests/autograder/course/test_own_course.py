"""A course of somebody's own, in a folder anywhere: the guide's chapter works line by line, for everybody in it."""

from __future__ import annotations

import csv
import json
import re
import shutil
from pathlib import Path

import nbformat
import pytest

from autograder.course.course import Course
from autograder.examine.records import Record, records_in
from testing import ROOT
from tests.autograder.own_course import (
    EQUAL_GROUPS,
    HW,
    WRONG_TAIL,
    chapter,
    follow,
    notebook,
    run,
    write_notebook,
)
from tests.autograder.small_course import by_name, dpcourse, for_machines
from tests.autograder.stock import SEED, nbgrader

CORRECT = """
import mpmath
def log_tail(z):
    return float(mpmath.log10(mpmath.ncdf(-z)))
"""


@pytest.fixture(scope="module")
def first_day(tmp_path_factory, bubblewrap):
    """The chapter, done in an empty folder."""
    return follow(tmp_path_factory.mktemp("teaching"), chapter())


@pytest.fixture
def teaching(first_day, tmp_path):
    """A folder with the course, ``statistics``, and what its students got."""
    return Path(shutil.copytree(first_day.parent, tmp_path / "teaching"))


@pytest.fixture
def course(teaching):
    return teaching / "statistics"


@pytest.fixture
def students(teaching):
    return teaching / "statistics-students"


def hand_in(course: Path, student: str, answers: dict[str, str]) -> None:
    write_notebook(course / "submitted" / student / HW / f"{HW}.ipynb", notebook(course, answers))


def verdicts(course: Path) -> dict[str, Record]:
    return {record.student: record for record in records_in(course / "grading" / HW)}


def test_the_chapter_leads_from_an_empty_folder_to_the_first_grade(first_day):
    records = verdicts(first_day)
    assert {name: (record.score, record.max_score) for name, record in records.items()} == {
        "solution": (5, 5),
        "untouched": (0, 5),
    }
    rows = csv.DictReader((first_day / "grades.csv").read_text(encoding="utf-8").splitlines())
    assert {row["student_id"]: float(row["score"]) for row in rows} == {"solution": 5, "untouched": 0}
    lines = (first_day / "nbgrader_config.py").read_text(encoding="utf-8").strip().splitlines()
    assert len([line for line in lines if line and not line.startswith(("#", "from"))]) == 3  # and nothing else


def test_the_doctor_finds_nothing_to_mend(course, capsys):
    code, health = for_machines(capsys, "doctor", "--course", course)
    findings = by_name(health["findings"], "what")
    assert (code, health["ready"]) == (0, True)
    assert findings[HW]["said"] == "2 tasks, 5 points by machine, 0 by people"
    assert "mpmath" in findings["libraries"]["said"]


def test_students_get_all_that_they_need_and_no_solution(first_day):
    place = first_day.parent / "statistics-students"
    files = {path.relative_to(place).as_posix(): path for path in place.rglob("*") if path.is_file()}
    assert set(files) == {
        "README.md", "requirements.txt", "environment.yml", "tasks.py", ".gitignore", f"exercises/{HW}/{HW}.ipynb",
        ".dpcourse-bundle.json", ".dpcourse-course.json",
    }  # fmt: skip
    texts = {name: path.read_text(encoding="utf-8") for name, path in files.items()}
    assert [name for name, text in texts.items() if "mpmath.ncdf(-z)" in text or "BEGIN HIDDEN" in text] == []
    first, *others = texts["requirements.txt"].splitlines()
    assert (first.startswith("dpcourse[student]"), len(others), others[0].startswith("mpmath>=")) == (True, 1, True)
    assert all(json.dumps(line) in texts["environment.yml"] for line in (first, *others))
    assert "mpmath, numpy" in texts["README.md"]
    links = re.findall(r"\]\(([^)#:\s]+)\)", texts["README.md"])
    assert links
    assert [link for link in links if not (place / link).exists()] == []


SCRIPT = """
from dpcourse.tasks import check
{0}
{1}
for function in (log_tail, draw_group):
    print(check(function))
"""


def test_check_in_a_students_notebook_knows_the_tasks(students):
    """A fresh process whose working directory is the bundle, or a folder in it, as Jupyter would have it."""
    script = students / "exercises" / HW / "cells.py"
    for tail, said in ((CORRECT, "log_tail: public checks passed"), (WRONG_TAIL, "That is the natural logarithm")):
        script.write_text(SCRIPT.format(tail, EQUAL_GROUPS), encoding="utf-8")
        for folder in (students, script.parent):
            output = run(folder, "python", str(script))
            assert said in output
            assert "draw_group: not yet" in output
            assert "A person of a small group is drawn too often." in output


def test_a_name_that_is_misspelt_is_answered_with_one_of_the_courses_tasks(students):
    script = students / "cells.py"
    script.write_text("from dpcourse.tasks import check\ndef log_tial(z): ...\ncheck(log_tial)\n", encoding="utf-8")
    output = run(students, "python", "cells.py", code=1)
    assert "there is no task 'log_tial'; did you mean 'log_tail'?" in output


def test_check_of_a_whole_notebook_knows_the_tasks(course, students):
    place = write_notebook(students / "exercises" / HW / f"{HW}.ipynb", notebook(course))
    output = run(students.parent, "dpcourse", "check", str(place))  # from elsewhere: the file lies in the bundle
    assert "2 of 2 tasks pass" in output
    write_notebook(place, notebook(course, {"log_tail": WRONG_TAIL}))
    output = run(students, "dpcourse", "check", f"exercises/{HW}/{HW}.ipynb", code=1)
    assert "+ draw_group: public checks passed" in output
    assert "- log_tail: not yet" in output
    assert "That is the natural logarithm" in output
    elsewhere = write_notebook(students.parent / "downloads" / f"{HW}.ipynb", notebook(course))
    assert "2 of 2 tasks pass" in run(students, "dpcourse", "check", str(elsewhere))  # the bundle is where we are
    output = run(elsewhere.parent, "dpcourse", "check", elsewhere.name, code=1)
    assert "The course's tasks.py is missing here" in output
    assert "'log_tail'" in output


def test_a_class_of_an_own_course(course, capsys):
    hand_in(course, "ada", {})
    hand_in(course, "bob", {"log_tail": WRONG_TAIL, "draw_group": EQUAL_GROUPS})
    hand_in(course, "eve", {"log_tail": CORRECT.replace("mpmath", "hypothesis")})
    code, grades = for_machines(capsys, "grade", HW, "--course", course, "--seed-for-tests", "3")
    assert code == 0
    scores = {one["student"]: one["score"] for one in grades["submissions"]}
    assert scores == {"ada": 5, "bob": 0, "eve": 3, "solution": 5, "untouched": 0}
    wrong = {task.task: task.mistake for task in verdicts(course)["bob"].tasks}
    assert wrong == {"log_tail": "natural logarithm", "draw_group": "equal groups"}

    tail, _ = verdicts(course)["eve"].tasks
    said = "`hypothesis` is not among the libraries of this course (matplotlib, mpmath, numpy, pandas, scipy, "
    assert said in tail.message
    assert said in tail.feedback  # the student is output

    assert dpcourse(capsys, "feedback", HW, "--course", course)[0] == 0
    page = (course / "feedback" / "eve" / HW / f"{HW}.html").read_text(encoding="utf-8")
    assert "is not among the libraries of this course" in page
    code, out, _ = dpcourse(capsys, "export", HW, "--course", course, "--format", "canvas", "--to", "-")
    assert (code, "eve" in out) == (0, True)
    code, report = for_machines(capsys, "report", HW, "--course", course)
    assert (code, "natural logarithm" in json.dumps(report)) == (0, True)


def test_nbgraders_own_commands_work_there(course):
    hand_in(course, "bob", {"log_tail": WRONG_TAIL})
    hand_in(course, "eve", {"draw_group": "def draw_group(sizes):\n    import hypothesis\n"})
    nbgrader(course, f"autograde {HW} --student=bob", f"autograde {HW} --student=eve")
    records = verdicts(course)
    assert (records["bob"].score, records["eve"].score, records["bob"].seed) == (3, 2, SEED)
    assert "`hypothesis` is not among the libraries" in records["eve"].tasks[1].feedback


SAME_NAME = """
from dpcourse.tasks import mistake, task_named, value_task

wrong = mistake("times two", "That is twice as much.", lambda p: 2 * p.y)
TASKS = (value_task("likelihood_ratio", see="our book", probes=task_named("likelihood_ratio").probes,
                    right=lambda p: p.y + p.count, mistakes=[wrong]),)
"""
OURS = "def likelihood_ratio(y, count, neighbour, b):\n    return y + count\n"


def test_an_own_task_wins_over_one_of_dpcourse_everywhere(teaching, course, capsys):
    """``likelihood_ratio`` is a task of homework 1, too; here it is another one."""
    (course / "tasks.py").write_text(SAME_NAME, encoding="utf-8")
    draft = (
        "from autograder.course.draft import Question, write_homework\n"
        "solution = 'def likelihood_ratio(y, count, neighbour, b):\\n    ### BEGIN SOLUTION\\n    return y + count\\n"
        "    ### END SOLUTION'\n"
        "write_homework('hw2', title='Two', first_cell='import math\\nfrom dpcourse.tasks import check, grade', "
        "questions=[Question('likelihood_ratio', 'Add up.', solution, 7)])"
    )
    shutil.rmtree(course / "source" / HW)
    run(course, "python", "-c", draft)
    assert Course.find(course).task("likelihood_ratio").see == "our book"
    assert dpcourse(capsys, "doctor", "--course", course)[0] == 0
    assert dpcourse(capsys, "bundle", teaching / "two", "--course", course)[0] == 0

    script = f"from dpcourse.tasks import check\n{OURS}\nprint(check(likelihood_ratio))"
    assert "likelihood_ratio: public checks passed" in run(teaching / "two", "python", "-c", script)
    source = course / "source" / "hw2" / "hw2.ipynb"
    place = teaching / "two" / "exercises" / "hw2" / "hw2.ipynb"
    shutil.copy(source, place)
    assert "1 of 1 tasks pass" in run(teaching / "two", "dpcourse", "check", str(place))

    place_of_ada = course / "submitted" / "ada" / "hw2" / "hw2.ipynb"
    place_of_ada.parent.mkdir(parents=True)
    shutil.copy(source, place_of_ada)
    code, grades = for_machines(capsys, "grade", "hw2", "--course", course, "--seed-for-tests", "4")
    assert (code, [one["score"] for one in grades["submissions"]]) == (0, [7])


def test_a_broken_file_of_tasks_is_one_sentence_everywhere(teaching, course, students, capsys):
    for place in (course / "tasks.py", students / "tasks.py"):
        with place.open("a", encoding="utf-8") as file:
            file.write("TASKS = TASKS + (nothing,)\n")
    number = len((course / "tasks.py").read_text(encoding="utf-8").splitlines())
    why = f"tasks.py cannot be loaded: NameError: name 'nothing' is not defined (line {number})"
    for words in (["grade", HW, "--regrade"], ["bundle", str(teaching / "two")]):
        code, _, err = dpcourse(capsys, *words, "--course", course)
        assert (code, len(err.splitlines())) == (1, 1)
        assert f"dpcourse {words[0]}: {course / why}" in err
    code, health = for_machines(capsys, "doctor", "--course", course)
    assert (code, by_name(health["findings"], "what")[HW]["said"]) == (1, str(course / why))

    output = run(students, "dpcourse", "check", f"exercises/{HW}/{HW}.ipynb", code=1)
    assert output.strip() == f"dpcourse check: {students / why}"
    script = "from dpcourse.tasks import check\ndef log_tail(z): ...\ncheck(log_tail)"
    output = run(students, "python", "-c", script, code=1)
    assert output.strip().endswith(f"ValueError: {students / why}")
    assert "During handling" not in output


@pytest.mark.parametrize(
    ("place", "text", "said"),
    [
        ("tasks.py", "def f(z):\n    tail = mpmath.ncdf(-z)\n    return float(mpmath.log10(tail))\n",
         "tasks.py holds the solution"),
        (f"source/{HW}/tasks.py", "TASKS = ()\n", f"{HW}/tasks.py is for instructors only"),
        (f"source/{HW}/hint.txt", "Look at mpmath.ncdf(-z), tail = mpmath.ncdf(-z)\n", "hint.txt holds"),
    ],
)  # fmt: skip
def test_what_gives_a_solution_away_is_refused(teaching, course, capsys, place, text, said):
    with (course / place).open("a", encoding="utf-8") as file:
        file.write(text)
    code, out, err = dpcourse(capsys, "bundle", teaching / "two", "--course", course)
    assert (code, out) == (1, "")
    assert said in err
    assert not (teaching / "two").exists()


def test_one_line_of_a_solution_in_the_tasks_is_no_leak(teaching, course, capsys):
    with (course / "tasks.py").open("a", encoding="utf-8") as file:
        file.write("# tail = mpmath.ncdf(-z)\n")
    assert dpcourse(capsys, "bundle", teaching / "two", "--course", course)[0] == 0


def test_folders_beside_the_course_are_nobodys_lectures(teaching, course, capsys):
    """Only a course that lies in a copy of this repository brings lectures and package along."""
    (teaching / "lectures").mkdir()
    (teaching / "lectures" / "notes.md").write_text("my own")
    code, out, err = dpcourse(capsys, "bundle", teaching / "lectures" / "two", "--course", course)
    assert (code, "with hw1" in out) == (0, True), err
    assert not (teaching / "lectures" / "two" / "lectures").exists()


@pytest.mark.parametrize(
    ("setting", "line"),
    [("'dpcourse[student] @ git+https://example.org/dpcourse'", "dpcourse[student] @ git+https://example.org/dpcourse"),
     ("['dpcourse']", "")],
)  # fmt: skip
def test_where_students_find_dpcourse_is_a_setting(teaching, course, capsys, setting, line):
    with (course / "nbgrader_config.py").open("a", encoding="utf-8") as file:
        file.write(f"c.DpCourse.requirement = {setting}\n")
    code, _, err = dpcourse(capsys, "bundle", teaching / "two", "--course", course)
    if not line:
        assert (code, "c.DpCourse.requirement" in err, "['dpcourse']" in err) == (1, True, True)
        return
    assert code == 0
    assert (teaching / "two" / "requirements.txt").read_text(encoding="utf-8").splitlines()[0] == line


def test_a_draft_does_not_overwrite_work(course):
    output = run(course, "python", "draft_hw1.py", code=1)
    assert "edit it in JupyterLab, or move it away" in output
    book = nbformat.read(course / "source" / HW / f"{HW}.ipynb", as_version=4)
    nbformat.validate(book)
    for cell in book.cells:
        assert cell.metadata.nbgrader.grade_id


def test_the_course_of_this_repository_has_the_same_settings():
    config = (ROOT / "exercises" / "nbgrader_config.py").read_text(encoding="utf-8")
    assert "set_up_course(c, __file__)" in config
    assert len(config.splitlines()) < 10
