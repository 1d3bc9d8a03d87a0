"""Whatever a student's function does, it gets one clear sentence, soon, and nothing else is harmed."""

import signal
import sys
import time
from functools import partial

import numpy as np
import pytest

from dpcourse.accounting import dp_sgd_epsilon
from dpcourse.tasks import Answer, Answers, Complaint, Student, Task, check, grade, tasks_of
from dpcourse.tasks.coins import Coins
from dpcourse.tasks.complaints import Late, Unwritten, received
from dpcourse.tasks.interview import LEVEL, Interview
from dpcourse.tasks.judges.values import values_of
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.wording import shown


def total(values):
    return float(np.sum(values))


TOTAL = Task(
    name="total", see="nowhere", seconds=1.0,
    probes=lambda rng: [{"values": rng.uniform(1, 2, 5)} for _ in range(2)],
    judge=values_of(lambda values: values.sum()),
    mistakes=(Mistake("the mean", lambda values: values.mean(), "That is the mean."),),
)  # fmt: skip


def said(function, task=TOTAL, seed=1):
    return task.examine(Student(function, task.answer, seconds=task.seconds), seed)


def crashes(values):
    return 1 / int(values[0] * 0)


def forgets(values):
    values.sum()


def mutates(values):
    values *= 2
    return values.sum() / 2


def never_returns(values):
    while True:
        pass


def sleeps(values):
    time.sleep(60)


def catches_everything(values):
    while True:
        try:
            while True:
                time.sleep(0.01)
        except:  # noqa: E722
            pass


def catches_exceptions(values):
    while True:
        try:  # noqa: SIM105
            sum(range(1000))
        except Exception:
            pass


def prints(values):
    for _ in range(20_000):
        print("a line that nobody will read")
        print("another one", file=sys.stderr)
    return float(np.sum(values))


def leaves(values):
    sys.exit(0)


def recurses(values):
    return recurses(values)


class Strange:
    def __repr__(self):
        raise RuntimeError("no name")


@pytest.mark.parametrize(
    ("function", "status", "words"),
    [
        (total, "passed", "probes are answered right"),
        (lambda values: np.array([values.sum()]), "passed", ""),
        (lambda values: np.float32(0) + values.sum(), "passed", ""),
        (lambda values: complex(values.sum()), "passed", ""),
        (crashes, "error", "ZeroDivisionError"),
        (crashes, "error", "int(values[0] * 0)"),
        (crashes, "error", "I called you with values = [1."),
        (lambda values: np.nan, "error", "I called you with values = [1."),
        (forgets, "error", "return"),
        (lambda values: values, "error", "I expected one number, but got 5"),
        (lambda values: np.nan, "error", "nan"),
        (lambda values: np.inf, "error", "inf"),
        (lambda values: "seven", "error", "I expected numbers, but got 'seven'"),
        (lambda values: 1j + values.sum(), "error", "complex"),
        (lambda values: Strange(), "error", "something of the type Strange"),
        (lambda values: np.zeros(2_000_000), "error", "2,000,000 numbers"),
        (lambda: 1.0, "error", "unexpected keyword"),
        (
            lambda numbers: 1.0,
            "error",
            "argument 'values'; keep the names of the arguments: values.",
        ),
        (lambda values, more: 1.0, "error", "'more'; keep the names of the arguments: values."),
        (lambda values: sorted(values, by=1), "error", "sort() got an unexpected keyword argument 'by', at `"),
        (lambda values: {3}, "error", "I expected numbers, but got {3}: for a set give a list, list(...)."),
        (mutates, "error", "changes its argument `values`"),
        (leaves, "error", "SystemExit"),
        (recurses, "error", "RecursionError"),
        (never_returns, "timeout", "did not finish"),
        (sleeps, "timeout", "did not finish"),
        (catches_everything, "timeout", "did not finish"),
        (catches_exceptions, "timeout", "did not finish"),
        (prints, "passed", ""),
        (lambda values: values.mean(), "failed", "That is the mean."),
        (lambda values: values.sum() * 1.001, "failed", "right is"),
    ],
)
def test_one_clear_sentence(function, status, words, capsys):
    start, handler, alarm = time.monotonic(), signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)
    tracing = sys.gettrace()
    found = said(function)
    assert (found.status, found.share) == (status, 1.0 if status == "passed" else 0.0)
    assert words in found.message
    assert time.monotonic() - start < 5
    assert capsys.readouterr() == ("", "")
    assert signal.getsignal(signal.SIGALRM) is handler  # pytest's own, which watches over this test
    took = time.monotonic() - start
    assert signal.getitimer(signal.ITIMER_REAL)[0] == pytest.approx(max(alarm[0] - took, 0), abs=0.5)
    assert sys.gettrace() is tracing


def test_an_empty_function_is_missing_and_not_wrong():
    def empty(values):
        # YOUR CODE HERE
        raise NotImplementedError()

    found = said(empty)
    assert (found.status, found.share) == ("missing", 0.0)
    assert "write your function first" in found.message
    assert issubclass(Unwritten, Complaint)
    assert issubclass(Late, Complaint)


def test_ctrl_c_is_the_users():
    def interrupted(values):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        said(interrupted)


def test_prints_are_kept_up_to_a_limit():
    student = Student(prints, Answer())
    student.value({"values": np.ones(3)})
    assert 0 < len(student.printed) <= 10_000


def test_nan_in_the_data_is_no_mutation():
    assert Student(lambda values: 1.0, Answer()).value({"values": np.array([1.0, np.nan])}) == 1.0


def test_the_same_seed_gives_the_same_verdict():
    import random

    def dice(count):
        return count + random.random() + np.random.random()  # noqa: NPY002

    student = Student(dice, Answer())
    assert student.draws({"count": 1}, 5, seed=3).tolist() == student.draws({"count": 1}, 5, seed=3).tolist()
    assert student.draws({"count": 1}, 5, seed=3).tolist() != student.draws({"count": 1}, 5, seed=4).tolist()


def test_a_result_that_is_given_instead_of_the_function_is_explained():
    with pytest.raises(TypeError, match="not check"):
        check(3.0)
    with pytest.raises(ValueError, match="did you mean 'noisy_count'"):
        check(lambda count: count, "noisy_cuont")


def test_a_judge_may_not_spend_more_than_its_level():
    from dpcourse.audit import binomial_fit

    talk = Interview(TOTAL, Student(total, Answer()), Coins(0, "total"), False)
    talk.require(binomial_fit(500, 1000, 0.5, level=LEVEL), "")
    with pytest.raises(RuntimeError, match="split LEVEL"):
        talk.require(binomial_fit(500, 1000, 0.5, level=LEVEL), "")


@pytest.mark.parametrize(
    ("form", "raw", "read"),
    [
        (Answer((2,)), [1, 2], [1.0, 2.0]),
        (Answer((None,)), (1,), [1.0]),
        (Answer(choices=("a", "b")), np.str_("a"), "a"),
        (Answer(choices=(0, 1)), np.array([1]), 1),
        (Answer(choices=(0, 1)), True, 1),
        (Answer((None,), choices=(0, 1)), [True, 0], [1.0, 0.0]),
        (Answers({"x": Answer(), "y": Answer()}), (1, 2), {"x": 1.0, "y": 2.0}),
        (Answers({"x": Answer(), "y": Answer()}), {"y": 2, "x": 1, "z": 3}, {"x": 1.0, "y": 2.0}),
        (Answer(optional=True), None, None),
    ],
)
def test_answers_are_made_plain(form, raw, read):
    found = form.read(raw)
    assert (found.tolist() if isinstance(found, np.ndarray) else found) == read


def test_a_table_of_two_rows_is_two_lists():
    found = Answers({"x": Answer((2,)), "y": Answer((None,))}).read(np.array([[1, 2], [3, 4]]))
    assert {name: part.tolist() for name, part in found.items()} == {"x": [1, 2], "y": [3, 4]}


@pytest.mark.parametrize(
    ("form", "raw", "words"),
    [
        (Answer((2,)), [1, 2, 3], "I expected a list of 2 numbers, but got shape"),
        (Answer((None,)), 1.0, "I expected a list of numbers, but got shape"),
        (Answer((2, None)), [1, 2], r"a table of numbers \(2 rows x any number of columns\)"),
        (Answer(choices=("a", "b")), "c", "one of 'a', 'b'"),
        (Answer((None,), choices=(0, 1)), [0, 2], "only the numbers 0, 1"),
        (Answers({"x": Answer(), "y": Answer()}), 1.0, "2 things, x and y"),
        (Answers({"x": Answer(), "y": Answer()}), {"x": 1}, "'y' is missing"),
        (Answers({"x": Answer(), "y": Answer()}), (1, None), "About y: "),
        (Answers({"x": Answer(), "y": Answer()}), map(abs, (1, 2)), r"a `map`, .* write list\(...\) around it"),
        (Answer((None,)), (one for one in (1, 2)), r"a `generator`, .* write list\(...\) around it"),
        (Answers({"x": Answer(), "y": Answer()}), np.ones((2, 2)), "About x: I expected one number, but got 2"),
    ],
)
def test_wrong_forms_are_explained(form, raw, words):
    with pytest.raises(Complaint, match=words):
        form.read(raw)


def test_grading_writes_nothing_to_stderr_and_draws_new_probes_each_time(monkeypatch, capsys):
    import warnings

    seen = []

    def noisy_count(count, epsilon, rng):
        seen.append(count)
        sys.stderr.write(warnings.formatwarning("nbgrader would take all points for this", UserWarning, "a cell", 1))
        print("this one, too", file=sys.stderr)
        return count + rng.laplace(0, 1 / epsilon)

    monkeypatch.delenv("DPCOURSE_GRADING_SEED", raising=False)
    assert grade(noisy_count) is None  # nbgrader gives such a cell all its points
    first, seen[:] = set(seen), []
    assert grade(noisy_count) is None  # nbgrader gives such a cell all its points
    assert first != set(seen)
    out, err = capsys.readouterr()
    assert err == ""
    assert out.count("noisy_count: passed") == 2
    monkeypatch.setenv("DPCOURSE_GRADING_SEED", "seven")
    with pytest.raises(ValueError, match="seven"):
        grade(noisy_count)


def test_what_grade_gives_back_is_what_nbgrader_takes_for_the_score(capsys):
    """Nothing: all points. A number: so many. The points themselves stand in the cell's mark only."""

    def steps_in_budget(epsilon, delta, sigma, q):
        """Private, but wasteful: half of the steps that fit."""
        steps = 0
        while dp_sgd_epsilon(sigma, q, steps + 1, delta) <= epsilon:
            steps += 1
        return steps // 2

    assert 15 < grade(steps_in_budget, seed=1, points=100) < 30
    capsys.readouterr()
    assert grade(steps_in_budget, seed=1) == 0
    assert "to give them, the graded cell must say grade(steps_in_budget, points=...)" in capsys.readouterr().out

    def noisy_count(count, epsilon, rng):
        return count

    assert grade(noisy_count, seed=1) == 0


class TooMuch(ValueError):
    """A student's own type of error."""

    def __str__(self):
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("error", "errors"),
    [
        (ValueError("stopped with AssertionError: no"), ("ValueError",)),
        (TooMuch(), ("TooMuch", "ValueError")),
        (TypeError("`f` stopped with ValueError: no"), ("TypeError",)),
        (np.linalg.LinAlgError("singular"), ("LinAlgError", "ValueError")),
    ],
)
def test_a_complaint_knows_the_type_of_the_error_whatever_its_words_say(error, errors):
    def stops(values):
        raise error

    verdict = said(stops)
    assert (verdict.status, verdict.layer, verdict.errors) == ("error", "code", errors)
    with pytest.raises(Complaint) as caught:
        Student(stops, Answer()).value({"values": 1.0})
    again = received(caught.value.sent())
    assert (again.errors, again.layer, str(again)) == (errors, "code", str(caught.value))
    assert Complaint("`f` stopped with ValueError: no").errors == ()


@pytest.mark.parametrize(
    "errors",
    [
        None,
        "ValueError",
        7,
        {"ValueError": 1},
        ["Value Error"],
        ["x" * 61],
        ["a", "b", "c"],
        [1],
        [["ValueError"]],
        [""],
    ],
    ids=repr,
)
def test_names_of_errors_that_come_from_elsewhere_are_names_or_nothing(errors):
    assert received({"status": "error", "text": "no", "errors": errors}).errors == ()


@pytest.mark.parametrize("reply", [{}, {"status": []}, {"status": "passed", "layer": [], "text": 3, "errors": {}}])
def test_a_reply_of_any_other_form_is_a_complaint_about_the_border(reply):
    complaint = received(reply)
    assert (type(complaint), complaint.status, complaint.layer) == (Complaint, "error", "border")
    assert "no answer that I could read" in str(complaint)


def test_a_refusal_is_a_refusal_by_whichever_value_error():
    task = tasks_of("hw3_approximate_dp")["textbook_sigma"]

    def sigma(epsilon, delta, sensitivity, error):
        if epsilon >= 1:
            raise error
        return sensitivity / epsilon * np.sqrt(2 * np.log(1.25 / delta))

    for error, status in ((TooMuch(), "passed"), (TypeError("not a ValueError: no"), "error")):
        assert said(partial(sigma, error=error), task).status == status


def test_a_verdict_escapes_what_a_student_wrote():
    def noisy_count(count, epsilon):
        raise ValueError("<script>alert(1)</script>")

    seen = check(noisy_count)._repr_html_()
    assert "<script>" not in seen
    assert "&lt;script&gt;" in seen
    assert "data:image/png" not in seen


def test_a_picture_shows_the_answers_beside_their_law():
    def noisy_count(count, epsilon, rng):
        return count + rng.laplace(0, 1 / epsilon)

    found = check(noisy_count)
    assert found.picture.says.startswith("Bars: your answers")
    assert "data:image/png;base64," in found._repr_html_()


@pytest.mark.parametrize("factor", [1.25, 1.35, 1.45])
def test_laplace_noise_that_is_too_wide_is_not_called_gaussian(factor):
    task = tasks_of("hw1_pure_dp")["noisy_count"]
    for seed in range(4):
        found = said(lambda count, epsilon, rng: count + rng.laplace(0, factor / epsilon), task, seed)
        assert (found.status, found.mistake, found.wasteful) == ("failed", "", True)


def test_thousands_have_no_commas_inside_a_list():
    assert shown(np.array([-1_142_000.0, 21_220.0])) == "[-1142000, 21220]"
    assert shown(21_220.0) == "21,220"


def test_slow_calls_that_came_back_are_no_endless_loop():
    def slow(values):
        end = time.process_time() + 0.1
        while time.process_time() < end:
            pass
        return 1.0

    with pytest.raises(
        Late, match=r"5 calls within 0 s of computing: it took \d+ ms a call for the first [23], and \d+"
    ):
        Student(slow, Answer(), seconds=0.3).draws({"values": 1.0}, 5)


def test_slowness_is_foreseen_before_the_time_is_over():
    def slow(values):
        end = time.process_time() + 0.01
        while time.process_time() < end:
            pass
        return 1.0

    start = time.process_time()
    with pytest.raises(Late, match=r"20,000 calls .* it took 1\d\S* ms a call"):
        Student(slow, Answer(), seconds=10).draws({"values": 1.0}, 20_000)
    assert time.process_time() - start < 3


def test_a_busy_machine_costs_no_time_but_sleep_has_an_end():
    """The limit is one of computing: waiting counts a third of it."""

    def waits(values):
        time.sleep(1.0)
        return 1.0

    assert Student(waits, Answer(), seconds=0.5).value({"values": 1.0}) == 1.0
    with pytest.raises(Late):
        Student(waits, Answer(), seconds=0.2).value({"values": 1.0})
