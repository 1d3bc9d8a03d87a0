"""``check`` in a real notebook says what grading would: no mechanisms of dpcourse, no old function, no lost helper."""

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from dpcourse import Laplace, accounting, data
from dpcourse.tasks import check
from dpcourse.tasks.notebook import refused

RIGHT = "def noisy_count(count, epsilon, rng):\n    return count + rng.laplace(0, 1 / epsilon)"


def said(*cells):
    """What the last cell of a notebook shows, run by a real kernel."""
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in ("from dpcourse.tasks import check", *cells)])
    nbformat.validate(notebook)
    NotebookClient(notebook, timeout=120, allow_errors=True).execute()
    outputs = notebook.cells[-1].outputs
    return "".join(out.get("text", "") or out.get("data", {}).get("text/plain", "") for out in outputs)


def test_after_a_syntax_error_the_old_function_is_not_judged():
    broken = RIGHT.replace("1 / epsilon)", "2 / epsilon")
    assert "passed" in said(RIGHT, "print(check(noisy_count))")
    text = said(RIGHT, broken, "print(check(noisy_count))")
    assert "stopped with an error when it was run last" in text
    assert "passed" not in text
    assert "passed" in said(RIGHT, broken, RIGHT + "\n", "print(check(noisy_count))")


def test_a_helper_from_a_cell_of_ones_own_is_named():
    helper, uses = "def width(epsilon):\n    return 1 / epsilon", RIGHT.replace("1 / epsilon", "width(epsilon)")
    text = said(helper, uses, "print(check(noisy_count))")
    assert "Your function uses `width` from another cell" in text
    assert "another cell" not in said(helper + "\n\n" + uses, "print(check(noisy_count))")
    beside_a_task = helper + "\n\n" + "def total_debt(debts, maximum, epsilon, rng):\n    return 1.0"
    assert "another cell" not in said(beside_a_task, uses, "print(check(noisy_count))")  # graded, too


def test_a_line_number_is_one_of_the_students_cell():
    text = said(
        RIGHT.replace("count + rng", "count +\\\n        rng").replace("0, 1", "0, -1"), "print(check(noisy_count))"
    )
    assert "(line 3)" in text
    assert "scale" in text


def by_class(count, epsilon, rng):
    return Laplace(epsilon=epsilon, sensitivity=1).release(count, rng)


def by_import(count, epsilon, rng):
    from dpcourse.mechanisms import Laplace as Mechanism

    return Mechanism(epsilon=epsilon, sensitivity=1).release(count, rng)


def by_helper(count, epsilon, rng):
    return by_class(count, epsilon, rng)


def by_room(sigma, q, steps, delta):
    return accounting.steps_within(sigma, q, steps, delta)


def by_open_rooms(sigma, q, steps, delta):
    data.cities()
    return accounting.dp_sgd_epsilon(sigma, q, steps, delta)


@pytest.mark.parametrize(
    ("function", "missing"),
    [
        (by_class, "dpcourse.Laplace"),
        (by_import, "dpcourse.mechanisms"),
        (by_helper, "dpcourse.Laplace"),
        (by_room, "dpcourse.accounting.steps_within"),
        (by_open_rooms, ""),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_what_grading_refuses_check_refuses(function, missing):
    assert refused(function) == (
        f"`{missing}` cannot be used while a homework is graded: write it yourself." if missing else ""
    )
    verdict = check(function, "noisy_count") if "count" in function.__code__.co_varnames else None
    if verdict is not None:
        assert (verdict.status, verdict.passed) == ("error", False)


def test_the_input_of_a_failing_probe_can_be_had():
    def noisy_histogram(years, bins, epsilon, rng):
        return [0.0 for _ in bins]

    verdict = check(noisy_histogram)
    assert set(verdict.probe) == {"years", "bins", "epsilon"}
    assert len(verdict.probe["years"]) > 6
    assert "`check(noisy_histogram).probe` has all of the arguments" in verdict.message


def test_what_takes_over_a_second_shows_that_it_is_alive(capsys):
    import time

    def likelihood_ratio(y, count, neighbour, b):
        end = time.process_time() + 0.3
        while time.process_time() < end:
            pass
        return 1.0

    check(likelihood_ratio)
    assert "\rchecking likelihood_ratio ... 1 s" in capsys.readouterr().out
