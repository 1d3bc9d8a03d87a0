"""Every submission of the banks gets the verdict that it deserves, at every seed tried.

A right one fails with probability at most LEVEL = 5e-8 a time (the judges' own levels, added up and checked below), so
a failure here is a mistake in a judge, or in the submission. How far off a wrong one must be to be seen is said by each
task's verdict; the wrong ones here are missed with probability below 1e-6.
"""

import os
import time
from contextlib import nullcontext
from typing import Any

import pytest

from dpcourse.tasks import HOMEWORKS, LEVEL, Student, Task, Verdict, tasks_of
from dpcourse.tasks.judges.lots import AVOID, HANG_TOGETHER, STICK
from studies.wrong_submissions import wrong_ones
from testing.submissions.bank import bank_of as bank
from testing.submissions.bank import draws_of_mistakes_once, few_draws_to_name

SEEDS = int(os.environ.get("BANK_SEEDS", "1"))  # more of them: BANK_SEEDS=2000, and patience
#: Are mistakes without a name looked at with as many draws as those that have one? It takes ten times as long.
THOROUGH = bool(int(os.environ.get("BANK_THOROUGH", str(int(SEEDS > 1)))))
NAMED = 0.95  # the share of known mistakes that must be called by their name; with one seed, all of a task's


def verdict(task: Task, function: Any, seed: int, public: bool = False) -> Verdict:
    student = Student(function, task.answer, seconds=task.seconds)
    return task.examine(student, task.public_seed() if public else seed, public=public)


EVERY_TASK = [(homework, name) for homework in HOMEWORKS for name in tasks_of(homework)]


@pytest.mark.parametrize(("homework", "name"), EVERY_TASK)
def test_right_ones_pass(homework, name):
    task = tasks_of(homework)[name]
    for style, function in bank(homework).RIGHT[name].items():
        for seed in range(SEEDS):
            found = verdict(task, function, seed)
            assert found.passed, f"{style}, seed {seed}: {found}"
            assert found.share == 1
            assert found.false_fail <= LEVEL * (1 + 1e-9)
    style, function = next(iter(bank(homework).RIGHT[name].items()))
    found = verdict(task, function, 0, public=True)
    assert found.passed, f"{style}, public: {found}"
    assert "grading draws new ones" in str(found)


@pytest.mark.filterwarnings("ignore::RuntimeWarning:testing.submissions.hw3.losses")  # their mistake: they divide by 0
@pytest.mark.filterwarnings("ignore::RuntimeWarning:testing.submissions.hw4.lots")
@pytest.mark.filterwarnings("ignore::RuntimeWarning:testing.submissions.hw4.steps")
@pytest.mark.parametrize(("homework", "name"), EVERY_TASK)
def test_wrong_ones_fail_and_are_called_by_their_name(homework, name):
    with draws_of_mistakes_once():
        _try_wrong_ones(homework, tasks_of(homework)[name])


def _try_wrong_ones(homework, task):
    known, missed = 0, []
    for style, function, expected in wrong_ones(homework, task):
        with nullcontext() if THOROUGH or expected else few_draws_to_name():
            for seed in range(100, 100 + SEEDS):
                found = verdict(task, function, seed)
                assert not found.passed, f"{style}, seed {seed}: {found}"
                assert found.share < 1
                assert found.status != "missing"
                known += expected is not None
                if expected not in (None, found.mistake):
                    missed.append(f"{style}, seed {seed}: called {found.mistake!r}")
    assert len(missed) <= (1 - NAMED) * known, missed


@pytest.mark.parametrize("homework", HOMEWORKS)
def test_the_bank_is_rich_enough(homework):
    tasks = tasks_of(homework)
    assert len(tasks) * LEVEL <= 1e-6  # a right homework loses a point to chance at most once in a million times
    assert set(bank(homework).RIGHT) == set(tasks)
    assert set(bank(homework).WRONG) <= set(tasks)
    for name, task in tasks.items():
        assert len(bank(homework).RIGHT[name]) >= 4, name
        assert len(task.mistakes) >= 4, name
        assert len({one.name for one in task.mistakes}) == len(task.mistakes), name
        named = {expected for _, expected in bank(homework).WRONG.get(name, {}).values() if expected}
        structural = {
            "no noise", "always the same noise", "rounded", "shared noise", "no noise on some", "one-sided noise",
            "cut off", "refuses in other words", "unequal coins", HANG_TOGETHER, AVOID, STICK,
        }  # fmt: skip
        assert named <= {one.name for one in task.mistakes} | structural, name


@pytest.mark.parametrize("homework", HOMEWORKS)
def test_grading_is_cheap(homework):
    """1.5 s of CPU for a plain solution; what trains a model has a longer clock of its own and is left out."""
    tasks = {name: task for name, task in tasks_of(homework).items() if task.seconds <= 10}
    plain = {name: next(iter(bank(homework).RIGHT[name].values())) for name in tasks}
    for name, task in tasks.items():
        verdict(task, plain[name], 0)  # imports, caches
    spent = {}
    for name, task in tasks.items():
        tries = []
        for _ in range(2):  # the better one: what other processes do to the caches is not the task's fault
            start = time.process_time()
            verdict(task, plain[name], 1)
            tries.append(time.process_time() - start)
        spent[name] = round(min(tries), 3)
    assert sum(spent.values()) <= 1.5, spent


@pytest.mark.parametrize(("homework", "name"), EVERY_TASK)
def test_check_answers_at_once(homework, name):
    """2 s of CPU for a plain solution, right or wrong in a way that has a name; training shows its progress."""
    task = tasks_of(homework)[name]
    if task.seconds > 10:
        return
    verdict(task, task.mistakes[-1].wrong, 0, public=True)  # imports, caches
    for function in (next(iter(bank(homework).RIGHT[name].values())), task.mistakes[0].wrong):
        start = time.process_time()
        verdict(task, function, 0, public=True)
        assert time.process_time() - start <= 2
