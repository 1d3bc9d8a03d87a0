"""What a random test fails is looked at a second time: chance has to strike twice, a mistake does so by itself."""

import numpy as np
import pytest

from dpcourse.audit import binomial_fit
from dpcourse.tasks import LEVEL, Student, Task, tasks_of
from dpcourse.tasks.interview import NO_CHANCE, SECOND
from dpcourse.tasks.judges.noise import DRAWS
from dpcourse.tasks.mistake import Mistake
from testing.submissions import hw1


def coin_task(asked):
    """A fair coin is wanted; ``asked`` notes how often somebody was examined."""

    def judge(talk):
        asked.append(type(talk).__name__)
        heads = int(talk.draws({}, 1_000).sum())
        talk.require(binomial_fit(heads, 1_000, 0.5, level=LEVEL), f"{heads} heads of 1,000.")

    nothing = Mistake("no coin", lambda: 1, "There is no coin.")
    return Task(name="coin", see="here", probes=lambda rng: [{}], judge=judge, mistakes=(nothing,))


def unlucky(first, then):
    """A coin that shows heads this often in the first thousand tosses, and that often later."""
    tossed = []

    def coin(rng):
        tossed.append(1)
        return int(rng.random() < (first if len(tossed) <= 1_000 else then))

    return coin


@pytest.mark.parametrize(
    ("coin", "passes", "looks"),
    [
        (unlucky(0.5, 0.5), True, 1),
        (unlucky(0.6, 0.5), True, 2),  # p = 2e-10 at the first look: only chance, says the second
        (unlucky(0.6, 0.6), False, 2),
        (unlucky(0.6, 0.58), False, 2),  # p = 4e-7: would pass a first look, confirms one that has failed
        (unlucky(0.9, 0.5), False, 1),  # no chance does that
    ],
)
def test_a_failure_that_chance_could_explain_is_confirmed_or_forgotten(coin, passes, looks):
    asked = []
    task = coin_task(asked)
    verdict = task.examine(Student(coin, task.answer), 4)
    assert verdict.passed is passes
    assert asked == ["Interview", "SecondLook"][:looks]
    assert verdict.false_fail == pytest.approx(LEVEL)  # no more than the first look allows


def test_the_levels_multiply_and_what_is_certain_is_not_asked_twice():
    assert LEVEL * SECOND < 1e-10
    assert NO_CHANCE < LEVEL * SECOND * 1e-6


def test_the_right_submission_that_chance_failed_once_passes():
    """Two coordinates agree in sign in about 217 of the first 300 answers (p = 1e-14), as chance may have it."""
    task, right = tasks_of("hw1_pure_dp")["noisy_histogram"], hw1.RIGHT["noisy_histogram"]["bincount"]
    calls = []

    def unlucky_at_first(years, bins, epsilon, rng):
        calls.append(1)
        answer, counts = right(years, bins, epsilon, rng), np.array([np.sum(years == year) for year in bins])
        if len(calls) <= 300 and len(calls) % 20 < 9:
            answer[1] = counts[1] + abs(answer[1] - counts[1]) * np.sign(answer[0] - counts[0])
        return answer

    verdict = task.examine(Student(unlucky_at_first, task.answer), 1)
    assert verdict.passed
    assert len(calls) >= 300 + (300 + 300 + DRAWS)  # looked at once, and once more


def test_a_failure_without_a_random_test_is_final():
    asked = []

    def judge(talk):
        asked.append(1)
        np.testing.assert_equal(len(talk.probes), 1)
        talk.fail("Wrong.")

    known = Mistake("wrong", lambda: 1, "Wrong.")
    task = Task(name="value", see="here", probes=lambda rng: [{}], judge=judge, mistakes=(known,))
    assert not task.examine(Student(lambda: 1, task.answer), 0).passed
    assert asked == [1]
