"""What the tests of the autograder share."""

import shutil
from pathlib import Path

import pytest

from tests.autograder.small_course import make_course, record, write_grades

WHY = "Because <b>one</b> person counts once."


@pytest.fixture(scope="session")
def _graded_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = make_course(tmp_path_factory.mktemp("graded"))
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
