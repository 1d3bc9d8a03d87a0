"""A function that is right for what `check` has asked, and for nothing else, passes the check and fails the grading."""

import numpy as np
import pytest

from dpcourse.tasks import Student
from dpcourse.tasks.registry import tasks_of
from tests.tasks.test_bank import EVERY_TASK, bank


def key(given):
    return tuple(value.tobytes() if isinstance(value, np.ndarray) else repr(value) for value in given.values())


@pytest.mark.parametrize(("homework", "name"), [one for one in EVERY_TASK if not one[1].startswith("proof_")])
def test_knowing_the_public_probes_is_not_enough(homework, name):
    task, asked = tasks_of(homework)[name], set()
    right, wrong = next(iter(bank(homework).RIGHT[name].values())), task.mistakes[0].wrong
    takes_rng = {function: Student(function, task.answer)._takes_rng for function in (right, wrong)}

    def call(function, rng, given):
        return function(**given, rng=rng) if takes_rng[function] else function(**given)

    def honest(rng=None, **given):
        asked.add(key(given))
        return call(right, rng, given)

    def remembers(rng=None, **given):
        return call(right if key(given) in asked else wrong, rng, given)

    def passes(function, seed, public):
        return task.examine(Student(function, task.answer, seconds=task.seconds), seed, public=public).passed

    assert passes(honest, task.public_seed(), public=True)
    assert passes(remembers, task.public_seed(), public=True)
    assert not passes(remembers, 0, public=False)
