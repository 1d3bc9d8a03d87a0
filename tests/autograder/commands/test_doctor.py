"""The doctor says what is missing and how to get it, and whether grading can start."""

import nbformat
import pytest

from tests.autograder.small_course import HW, by_name, dpcourse, for_machines, make_course, source_notebook


@pytest.fixture
def course(tmp_path):
    return make_course(tmp_path)


def test_all_is_well(course, capsys, bubblewrap):
    code, found = for_machines(capsys, "doctor", "--course", course)
    findings = by_name(found["findings"], "what")
    assert (code, found["ready"]) == (0, True), found
    assert findings["sandbox"]["said"] == "starts"
    assert findings["bubblewrap"]["said"] == bubblewrap
    assert findings[HW]["said"] == "2 tasks, 3 points by machine, 3 by people"
    assert "first grading" in findings["gradebook"]["said"]
    assert not (course / "gradebook.db").exists()


def test_without_bubblewrap_grading_cannot_start(course, capsys, monkeypatch):
    monkeypatch.setenv("PATH", str(course))
    code, out, _ = dpcourse(capsys, "doctor", "--course", course)
    assert code == 1
    assert "! bubblewrap: is not installed\n    sudo apt-get install bubblewrap" in out
    assert "grading cannot start: bubblewrap" in out
    assert "- chromium: is not installed" in out  # which is no reason
    (course / "submitted" / "ada" / HW).mkdir(parents=True)
    code, out, err = dpcourse(capsys, "grade", "--course", course)
    assert (code, out, len(err.splitlines())) == (1, "", 1)
    assert "sudo apt-get install bubblewrap" in err
    assert "DPCOURSE_DEBUG" not in err


def states(found: dict) -> dict[str, tuple[str, str]]:
    return {one["what"]: (one["state"], one["said"]) for one in found["findings"]}


def test_a_cell_without_a_task_and_points_that_differ(course, capsys):
    place = course / "source" / HW / f"{HW}.ipynb"
    book = source_notebook()
    book.cells[5].source = book.cells[5].source.replace("grade(noisy_count)", "grade(noisy_count, points=5)")
    nbformat.write(book, place)
    code, found = for_machines(capsys, "doctor", "--course", course)
    assert (code, states(found)[HW]) == (
        0, ("caution", "noisy_count is worth 2 points, but its cell says points=5"),
    )  # fmt: skip
    book.cells[5].metadata.nbgrader.grade_id = "nosy_count"
    nbformat.write(book, place)
    code, found = for_machines(capsys, "doctor", "--course", course)
    assert (code, states(found)[HW][0], "nosy_count" in states(found)[HW][1]) == (1, "missing", True)
    place.write_text("{")
    code, found = for_machines(capsys, "doctor", "--course", course)
    assert (code, states(found)[HW][0]) == (1, "missing")


def test_a_gradebook_that_cannot_be_reached(course, capsys):
    with (course / "nbgrader_config.py").open("a") as config:
        config.write("\nc.CourseDirectory.db_url = 'nosuchdatabase://me:password@host/db'\n")
    code, found = for_machines(capsys, "doctor", "--course", course)
    assert (code, states(found)["gradebook"][0]) == (1, "missing")
    assert "password" not in str(found)


def test_no_course(tmp_path, capsys):
    code, found = for_machines(capsys, "doctor", "--course", tmp_path)
    assert (code, found["ready"], states(found)["course"][0]) == (1, False, "missing")
