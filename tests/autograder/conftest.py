"""What the tests of the autograder share."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.course.course import Course
from testing.classroom import hand_in
from testing.five_tasks import HOMEWORK, five_course, notebook, some_right
from tests.autograder.small_course import make_course, record, write_grades

WHY = "Because <b>one</b> person counts once."


@pytest.fixture(scope="session")
def empty_gradebook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new gradebook, to be copied: nbgrader takes seconds to make one."""
    from nbgrader.api import Gradebook

    place = tmp_path_factory.mktemp("gradebook") / "gradebook.db"
    course = Course.find(make_course(place.parent))  # its settings tell nbgrader where alembic is
    Gradebook(f"sqlite:///{place}", course.name).close()
    return place


@pytest.fixture
def handed_in(empty_gradebook: Path, tmp_path: Path) -> Callable[..., Path]:
    """``handed_in(12)``: the folder of a course of five trivial tasks in which so many students handed in."""

    def course(number: int, more: str = "", name: str = "") -> Path:
        root = five_course(tmp_path / name)
        shutil.copy(empty_gradebook, root)
        for student in range(number):
            answers = some_right(student % 32)
            answers["double"] += more
            hand_in(root, f"s{student:03}", HOMEWORK, notebook(answers))
        return root

    return course


@pytest.fixture
def small_course(empty_gradebook: Path, tmp_path: Path) -> Path:
    """The folder of a small course, with an empty gradebook."""
    root = make_course(tmp_path)
    shutil.copy(empty_gradebook, root)
    return root


@pytest.fixture(scope="session")
def _graded_once(empty_gradebook: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = make_course(tmp_path_factory.mktemp("graded"))
    shutil.copy(empty_gradebook, root)
    answers = {"noisy_count-solution": "def noisy_count(count, epsilon, rng):\n    return 1", "why-written": WHY}
    write_grades(
        root,
        [
            record("ada", ("passed", 1), ("passed", 2), answers=answers),
            record("bob", ("passed", 1), ("failed", 0), answers=answers),
            record("=cmd()", ("missing", 0), ("missing", 0), answers=answers),
        ],
    )
    return root


@pytest.fixture
def graded_course(_graded_once: Path, tmp_path: Path) -> Path:
    """The folder of a small course with three graded submissions; the gradebook is nbgrader's own."""
    return Path(shutil.copytree(_graded_once, tmp_path / "repository" / "exercises"))
