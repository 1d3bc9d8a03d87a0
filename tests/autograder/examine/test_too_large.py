"""What a student handed in is larger than a message can hold: it costs that student the task, and nobody a worker."""

import json

from autograder.course.course import Course
from autograder.examine.batch import grade
from autograder.intake.notebook import LONGEST_SOURCE
from testing.five_tasks import HOMEWORK, POINTS, all_right, notebook


def test_cells_that_are_joined_have_a_limit(handed_in, bubblewrap, capfd):
    """Once the grader was lost 20 times over it, with as many tracebacks at the instructor's terminal."""
    root = handed_in(0)
    book = notebook(all_right())
    place = next(
        i for i, cell in enumerate(book["cells"]) if cell["metadata"]["nbgrader"]["grade_id"] == "double-solution"
    )
    for number in range(3):
        cell = json.loads(json.dumps(book["cells"][place]))
        cell["source"], cell["id"] = "#" + "[" * (LONGEST_SOURCE - 50_000), f"more-{number}"
        book["cells"].insert(place, cell)
    folder = root / "submitted" / "eve" / HOMEWORK
    folder.mkdir(parents=True)
    (folder / f"{HOMEWORK}.ipynb").write_text(json.dumps(book), encoding="utf-8")
    (record,) = grade(Course.find(root), [HOMEWORK], jobs=1, seed=2**62)
    assert record.score == POINTS
    assert "Traceback" not in capfd.readouterr().err
