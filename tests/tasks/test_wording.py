"""Whatever a student's function gives back, the words about it are short, and made in a moment.

The times are bounds with much room: each takes a few milliseconds on an idle machine of 2020.
"""

import linecache
import time
import tracemalloc

import numpy as np
import pytest

from dpcourse.tasks import Answer, Answers, Complaint, Student, tasks_of
from dpcourse.tasks.complaints import stopped
from dpcourse.tasks.proofs.steps import Steps
from dpcourse.tasks.wording import LINE, arguments, described, error_text, shown

MOMENT = 0.5  # seconds; `repr` of the first of these takes a quarter of a minute


class Loud:
    def __repr__(self):
        raise RuntimeError("no")


def endless():
    inner: list = []
    inner.append(inner)
    return inner


def deep():
    inner: list = []
    for _ in range(100_000):
        inner = [inner]
    return inner


MANY = [np.array(1.0)] * 480_000
LARGE = {
    "480,000 0-d arrays": lambda: MANY,
    "a tuple of them": lambda: tuple(MANY),
    "a dict of them": lambda: {str(number): one for number, one in enumerate(MANY)},
    "a dict with long keys": lambda: {"x" * 5_000_000: 1},
    "lists in lists": lambda: [[MANY] * 50] * 50,
    "a list that holds itself": endless,
    "very deep": deep,
    "ten million letters": lambda: "\u00e9" * 10_000_000,
    "ten million bytes": lambda: b"\x00" * 10_000_000,
    "a number of a million digits": lambda: 10**1_000_000,
    "a negative one in a list": lambda: [-(10**1_000_000)],
    "a large array": lambda: np.zeros(5_000_000),
    "a large table": lambda: np.zeros((3, 1_000_000)),
    "an array of long texts": lambda: np.array(["x" * 100_000] * 10),
    "an array of anything": lambda: np.array([{"a": MANY}], dtype=object),
    "a large set": lambda: set(range(500_000)),
    "no words": Loud,
    "no words in a list": lambda: [1, Loud()],
}


@pytest.mark.parametrize("make", LARGE.values(), ids=LARGE)
def test_words_about_anything_are_short_and_quick(make):
    value = make()
    start = time.perf_counter()
    assert 0 < len(described(value)) <= LINE
    assert len(described(value, 30)) <= 30
    assert time.perf_counter() - start < MOMENT


@pytest.mark.parametrize(
    "form", [Answer(), Answer((None,)), Answer(choices=("a", 1)), Answers({"a": Answer()}), Steps()]
)
@pytest.mark.parametrize("make", LARGE.values(), ids=LARGE)
def test_reading_anything_ends_soon_and_with_a_short_sentence(form, make):
    value = make()
    start = time.perf_counter()
    with pytest.raises(Complaint) as caught:
        form.read(value)
    assert len(str(caught.value)) < 500
    assert time.perf_counter() - start < 4 * MOMENT


@pytest.mark.parametrize(
    "value",
    [3, -2.5, None, True, "it's", b"no", [1, "a"], (1,), (), [], {}, {"a": [1]}, set(), {3}, frozenset({1}),
     np.arange(3.0), np.array(2), [np.array(1.0), None], 10**50, float("nan")],
    ids=repr,
)  # fmt: skip
def test_short_things_are_described_as_python_does(value):
    assert described(value) == repr(value)


def test_long_things_are_described_by_their_beginning():
    assert described(list(range(1_000))).startswith("[0, 1, 2, ")
    assert described("x" * 1_000) == f"'{'x' * 116}..."
    assert described(np.zeros((40, 50))) == "an array of shape (40, 50) that begins [0.0, 0.0, 0.0, 0.0, 0.0]"
    assert described(10**70) == "a whole number of about 71 digits"
    assert described([1] * 45, 1_000) == f"[{', '.join('1' * 40)}, ...]"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("no"), "no"), (ValueError(), ""), (ValueError(1, 2), "(1, 2)"), (KeyError("a"), "'a'"),
        (ValueError(3), "3"), (OSError(2, "no file"), "[Errno 2] no file"), (RuntimeError(Loud()), "something of the"),
    ],
)  # fmt: skip
def test_the_words_of_an_error_are_pythons(error, text):
    assert error_text(error, 300) == text or (text and error_text(error, 300).startswith(text))


@pytest.mark.parametrize("make", LARGE.values(), ids=LARGE)
def test_an_error_that_carries_anything_is_told_in_a_moment(make):
    error = ValueError(make())
    start = time.perf_counter()
    assert len(str(stopped("f" * 10_000_000, error))) < 600
    assert time.perf_counter() - start < MOMENT


def test_an_errors_type_may_have_any_name():
    strange = type("X" * 1_000_000, (ValueError,), {"__module__": "builtins"})("no")
    complaint = stopped("f", strange)
    assert len(str(complaint)) < 300
    assert complaint.errors == ("X" * 60,)


def test_a_long_line_is_not_quoted_whole():
    scope: dict = {}
    source = f"def f(v):\n    return 1 / 0 + {'1' * 4_000}\n"
    linecache.cache["<long>"] = (len(source), None, source.splitlines(keepends=True), "<long>")
    exec(compile(source, "<long>", "exec"), scope)
    with pytest.raises(Complaint, match="ZeroDivisionError") as caught:
        Student(scope["f"], Answer()).value({"v": 1})
    assert len(str(caught.value)) < 600


def test_words_about_answers_and_probes_are_short_too():
    assert len(shown({"a": np.zeros(1_000_000), "b": "x" * 1_000_000})) < 300
    assert len(arguments({"data": np.zeros(1_000_000), "words": ["x" * 1_000] * 1_000})) < 300


def test_a_table_of_texts_never_has_room_for_the_longest_in_each():
    """numpy would give each of these 20,000 texts room for 100,000 letters: eight gigabytes."""
    texts = ["1" * 100_000, *(["1"] * 20_000)]
    tracemalloc.start()
    with pytest.raises(Complaint):
        Answer((None,)).read(texts)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 50_000_000
    assert Answer((None,)).read(["1", "2.5"]).tolist() == [1.0, 2.5]  # as before


def test_an_answer_has_no_more_numbers_than_its_task_needs():
    task = tasks_of("hw1_pure_dp")["break_naive"]
    rows = np.arange(1_000_000.0)
    start = time.perf_counter()
    verdict = task.examine(Student(lambda maximum, epsilon: (rows % maximum, rows[:-1] % maximum, 1.0), task.answer), 1)
    assert (verdict.status, verdict.layer) == ("error", "answer")
    assert "1,000,000 numbers" in verdict.message
    assert time.perf_counter() - start < 4 * MOMENT  # to compare such tables takes half a minute
