"""No right answer is lost, whatever an editor or a student does to a notebook; or a person is asked."""

import copy
import json

import nbformat
import pytest

from autograder.course.homework import Assignment
from autograder.intake.answers import likeliest_homeworks, match_answers
from autograder.intake.notebook import cells_of
from tests.autograder.desk import RIGHT, Desk
from tests.autograder.small_course import HW, make_course

STUB = "    raise NotImplementedError()"
OTHER = RIGHT.replace("1 / epsilon", "2 / epsilon")
COUNT = "noisy_count-solution"


@pytest.fixture
def desk(tmp_path):
    return Desk(make_course(tmp_path))


def place(book, name=COUNT):
    return book.cells.index(Desk.cell(book, name))


def added(source, kind="code", **metadata):
    cell = getattr(nbformat.v4, f"new_{kind}_cell")(source)
    cell.metadata.update(metadata)
    return cell


def without_marks(book):
    for cell in book.cells:
        cell.metadata.pop("nbgrader", None)


def without_marks_and_ids(book):
    without_marks(book)
    for number, cell in enumerate(book.cells):
        cell.id = f"new-{number}"


def with_new_marks(book):
    for number, cell in enumerate(book.cells):
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader.grade_id = f"cell-{number:016x}"


def with_marks_of_cells_copied(book):
    """The student copied the cell of the first answer for the second, and changed its source."""
    Desk.cell(book, COUNT).metadata.nbgrader.grade_id = "likelihood_ratio-solution"


def with_the_answer_below(book):
    book.cells.insert(place(book) + 1, added(RIGHT))
    Desk.cell(
        book, COUNT
    ).source = "def noisy_count(count, epsilon, rng):\n    # YOUR CODE HERE\n    raise NotImplementedError()"


def with_the_answer_at_the_end(book):
    book.cells.append(added(RIGHT))
    book.cells.remove(Desk.cell(book, COUNT))


def with_the_answer_twice(book):
    cell = copy.deepcopy(Desk.cell(book, COUNT))
    cell.id = "copy"
    book.cells.insert(place(book), cell)


def with_a_helper_in_its_cell(book):
    """What the cell holds is needed; the function stands below it."""
    Desk.cell(book, COUNT).source = "width = 1"
    book.cells.insert(place(book) + 1, added(RIGHT.replace("1 /", "width /")))


def with_a_lambda(book):
    without_marks(book)
    book.cells[4].source = "noisy_count = lambda count, epsilon, rng: count + rng.laplace(0, 1 / epsilon)"


CHANGES = [
    without_marks, without_marks_and_ids, with_new_marks, with_marks_of_cells_copied, with_the_answer_below,
    with_the_answer_at_the_end, with_the_answer_twice, with_a_helper_in_its_cell, with_a_lambda,
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_right_answer_is_found(desk, change):
    book = desk.book()
    Desk.cell(book, "why-written").source = "One person moves the count by one."
    change(book)
    desk.write(book)
    read = desk.read()
    assert not read.rejected
    scope = {}
    exec(read.answers[COUNT], scope)
    assert "laplace" in read.answers[COUNT]
    assert callable(scope["noisy_count"])
    assert read.answers["why-written"] == "One person moves the count by one."
    assert read.doubts == {}
    assert not any("rng.laplace" in source for source in read.extra)


@pytest.mark.parametrize("order", [(RIGHT, OTHER), (OTHER, RIGHT)])
@pytest.mark.parametrize("marked", [True, False])
def test_of_two_answers_the_last_one_counts_and_a_person_is_asked(desk, order, marked):
    book = desk.book()
    cell = Desk.cell(book, COUNT)
    cell.source = order[0]
    second = copy.deepcopy(cell) if marked else added("")
    second.source, second.id = order[1], "second"
    book.cells.insert(place(book) + 1, second)
    desk.write(book)
    read = desk.read()
    assert read.answers[COUNT] == order[1]
    assert read.extra[-1] == order[0]  # whoever decides sees both
    assert read.doubts == {
        COUNT: "The answer 'noisy_count-solution' stands in the cells 5 and 6 of the notebook. Cell 6 counts: it is "
        "the last one when all cells run from top to bottom."
    }
    assert read.doubts[COUNT] in read.notes


def test_a_text_without_a_mark_is_known_by_the_question_above(desk):
    book = desk.book()
    without_marks_and_ids(book)
    book.cells[-1].source = "One person counts once."
    book.cells.append(added("And no more than once.", "markdown"))
    desk.write(book)
    assert desk.read().answers["why-written"] == "One person counts once.\n\nAnd no more than once."


def test_a_text_below_its_empty_cell_is_read(desk):
    book = desk.book()
    book.cells.append(added("One person counts once.", "markdown"))
    desk.write(book)
    assert desk.read().answers["why-written"] == "One person counts once."


def test_the_homework_is_known_by_its_cells(desk):
    """Not by marks only: every answer is looked for as it is when a submission is read."""
    book = desk.book()
    without_marks_and_ids(book)
    other = Assignment("other", tuple(cell for cell in desk.assignment.cells if cell.role == "given"))
    cells, _ = cells_of(nbformat.writes(book).encode())
    assert likeliest_homeworks(cells, [other, desk.assignment]) == [HW]
    assert likeliest_homeworks(cells[:1], [other, desk.assignment]) == []


def test_many_cells_take_no_time(desk):
    """A notebook of 5,000 cells that all define the function."""
    import time

    book = json.loads(nbformat.writes(desk.book()))
    extra = {"cell_type": "code", "metadata": {}, "source": RIGHT + "\n# " + "x = 1\n" * 200, "outputs": []}
    book["cells"] += [extra] * 4_900
    cells, _ = cells_of(json.dumps(book).encode())
    start = time.process_time()
    answers = match_answers(cells, desk.assignment)
    assert time.process_time() - start < 5
    assert COUNT in answers.cells


def change_count(source, kind="code", **metadata):
    def change(book):
        book.cells.append(added(source, kind, **metadata))

    return change


def split(book):
    """The helper stands in the lower half, which has the mark, too."""
    cell = Desk.cell(book, COUNT)
    lower = copy.deepcopy(cell)
    cell.source, lower.source = (
        RIGHT.replace("1 / epsilon", "width(epsilon)"),
        "def width(epsilon):\n    return 1 / epsilon",
    )
    lower.id = "lower"
    book.cells.insert(place(book) + 1, lower)


def into_given(name):
    """The function was typed into a cell that is not the student's to write."""

    def change(book):
        Desk.cell(book, COUNT).source = f"def noisy_count(count, epsilon, rng):\n    # YOUR CODE HERE\n{STUB}"
        target = book.cells[1] if name == "imports" else Desk.cell(book, name)
        target.source = f"{target.source}\n{RIGHT}"

    return change


#: What was added or changed -> the answer still works, as it does when all cells of the notebook run.
AS_IN_THE_KERNEL = {
    "wrapped": change_count("noisy_count = (lambda f: lambda *values: f(*values))(noisy_count)"),
    "needs the first": change_count(RIGHT.replace("1 / epsilon", "noisy_count.__code__.co_argcount / 3 / epsilon")),
    "a draft in a string": change_count(f'"""\n{RIGHT.replace("1 /", "9 /")}\n"""'),
    "written to a file": change_count(f"%%writefile mine.py\n{RIGHT.replace('1 /', '9 /')}"),
    "a number of that name": change_count("likelihood = 1\nnoisy_count_value = 2"),
    "its own result": change_count("noisy_count_result = dict(\nnoisy_count=\n3)"),
    "split": split,
    "in the imports": into_given("imports"),
    "in the graded cell": into_given("noisy_count"),
    "in a try": change_count(f"try:\n    {RIGHT.replace(chr(10), chr(10) + '    ')}\nexcept NameError:\n    pass"),
}


@pytest.mark.parametrize("kind", AS_IN_THE_KERNEL)
def test_what_works_in_the_students_kernel_works_here(desk, kind):
    book = desk.book()
    AS_IN_THE_KERNEL[kind](book)
    desk.write(book)
    scope = {"check": lambda function: None}
    exec(desk.read().answers[COUNT], scope)

    class Generator:
        def laplace(self, center, scale):
            return scale

    assert scope["noisy_count"](0, 2.0, Generator()) == 0.5


def test_a_number_in_another_answer_is_no_function(desk):
    """`theta = 0.75`, tried out at the end of a later answer, does not take the function's place."""
    book = desk.book()
    other = Desk.cell(book, "likelihood_ratio-solution")
    other.source = "def likelihood_ratio(y, count, neighbour, b):\n    return 1\n\nnoisy_count = 3"
    book.cells.append(added("noisy_count = noisy_count(1, 2, None)"))
    desk.write(book)
    assert desk.read().answers[COUNT] == RIGHT


def test_many_texts_are_no_endless_answer(desk):
    book = desk.book()
    text = Desk.cell(book, "why-written")
    for number in range(40):
        more = copy.deepcopy(text)
        more.source, more.id = f"{number} " * 60_000, f"more-{number}"
        book.cells.append(more)
    desk.write(book)
    assert len(desk.read().answers["why-written"]) <= 250_000


@pytest.mark.parametrize(
    "elsewhere",
    [added("Here.", "markdown"), added("Here.", "raw"), added("# Here.")],
    ids=["markdown", "raw", "code"],
)
def test_an_empty_text_is_read_by_a_person_where_something_stands_elsewhere(desk, elsewhere):
    book = desk.book()
    desk.write(book)
    assert not desk.read().is_odd
    book.cells.insert(1, elsewhere)
    desk.write(book)
    assert desk.read().is_odd
    del book.cells[1]
    book.cells[0].source += "\n\nMy answer, typed into the question."
    desk.write(book)
    assert desk.read().is_odd


def test_a_picture_in_the_text_is_a_picture(desk):
    """However large: base64 is no text, and takes no room of it."""
    import base64

    book = desk.book()
    png = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"x" * 300_000).decode()
    Desk.cell(book, "why-written").source = f"See ![my proof](data:image/png;base64,{png}). That is all."
    desk.write(book)
    read = desk.read()
    assert read.answers["why-written"] == "See ![my proof](picture). That is all."
    assert read.pictures["why-written"] == (("image/png", png),)
    assert not read.is_odd
