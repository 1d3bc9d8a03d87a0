"""A course is found, its settings are read as nbgrader reads them, and its own tasks come first."""

import pytest

from autograder.console import Problem
from autograder.course.course import Course
from testing import ROOT
from tests.autograder.small_course import HW, answered, make_course

OWN = """
from dataclasses import replace
from dpcourse.tasks import task_named
TASKS = (replace(task_named("noisy_count"), see="here"), replace(task_named("noisy_count"), name="my_count"))
"""


def test_the_course_of_this_repository():
    course = Course.find(ROOT)
    assert course == Course.find(ROOT / "exercises")
    assert (course.root, course.name) == (ROOT / "exercises", "dpcourse")
    assert course.db_url == f"sqlite:///{ROOT / 'exercises' / 'gradebook.db'}"
    assert course.assignments() == sorted(path.name for path in (ROOT / "exercises" / "source").iterdir())
    assert all(course.source(name).is_file() for name in course.assignments())


def test_settings_are_those_of_nbgrader(tmp_path):
    (tmp_path / "nbgrader_config.py").write_text(
        "c = get_config()\nc.CourseDirectory.db_url = 'postgresql://host/db'\n"
    )
    assert Course.find(tmp_path).db_url == "postgresql://host/db"
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    assert Course.find(tmp_path).db_url == f"sqlite:///{tmp_path / 'gradebook.db'}"
    (tmp_path / "nbgrader_config.py").write_text("c = get_config(\n")
    with pytest.raises(Problem, match="SyntaxError"):
        Course.find(tmp_path)


def test_no_course_is_said_with_both_places(tmp_path):
    with pytest.raises(Problem) as said:
        Course.find(tmp_path)
    assert str(tmp_path) in str(said.value)
    assert "exercises/nbgrader_config.py" in str(said.value)


def test_who_handed_in(tmp_path):
    course = Course.find(make_course(tmp_path))
    assert course.students_of(HW) == []
    for student in ("zoe", "ada", ".hidden"):
        course.submitted(student, HW).mkdir(parents=True)
    (course.submitted("zoe", HW) / f"{HW}.ipynb").write_bytes(answered())
    course.submitted("bob", "hw2").mkdir(parents=True)
    assert course.students_of(HW) == ["ada", "zoe"]


def test_homeworks_are_chosen_by_name(tmp_path):
    course = Course.find(make_course(tmp_path))
    assert course.chosen([]) == course.chosen(None) == course.chosen([HW, HW]) == [HW]
    with pytest.raises(Problem, match=r"'hw9'.*hw1_small"):
        course.chosen(["hw9"])


def test_the_courses_own_tasks_come_first(tmp_path):
    course = Course.find(make_course(tmp_path))
    assert course.task("noisy_count").see != "here"
    (course.root / "tasks.py").write_text(OWN)
    assert course.task("noisy_count").see == "here"
    assert course.task("my_count").name == "my_count"
    assert course.task("likelihood_ratio").name == "likelihood_ratio"
    with pytest.raises(ValueError, match="no_such_task"):
        course.task("no_such_task")


@pytest.mark.parametrize(
    ("text", "said"),
    [("TASKS = (1,)", r"TASKS is \(1,\)"), ("", "TASKS is None"), ("import nothing_there", "ModuleNotFoundError"),
     ("from dpcourse.tasks import task_named\nTASKS = (task_named('noisy_count'),) * 2", "two tasks of one name")],
)  # fmt: skip
def test_a_broken_tasks_file_is_said(tmp_path, text, said):
    course = Course.find(make_course(tmp_path))
    (course.root / "tasks.py").write_text(text)
    with pytest.raises(Problem, match=said):
        course.task("noisy_count")
