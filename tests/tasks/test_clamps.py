"""No probe stays in half of its range: an answer that is right on one side of 1 only, or where no edge is, fails.

``max(1, sigma)`` and ``min(1, epsilon)`` stand in many a solution. Each is tried in front of each argument, and behind
each answer, of every task of homeworks 3 and 4.
"""

import numpy as np
import pytest

from dpcourse.tasks import Student, tasks_of
from testing.submissions.bank import bank_of, few_draws_to_name

CLAMPS = {"at least 1": lambda x: np.maximum(x, 1.0), "at most 1": lambda x: np.minimum(x, 1.0)}
#: Where a clamp changes nothing that may be asked: probabilities, numbers of people, arguments that are not data.
HARMLESS = {
    "laplace_loss_sample": {"at least 1 data", "at least 1 neighbour"},
    "loss_mean": {"at most 1 p", "at most 1 q"},
    "leaks": {"at most 1 delta", "at least 1 n", "at most 1 risk", *(f"at most 1 answer {part}" for part in range(3))},
    "heavy_tail": {"at most 1 delta", "at most 1 answer 0", "at most 1 answer 1"},
    "textbook_sigma": {"at most 1 epsilon", "at most 1 delta"},
    "gaussian_release": {"at least 1 sums", "at most 1 epsilon", "at most 1 delta"},
    "exact_delta": {"at most 1 answer"},
    "smallest_sigma": {"at most 1 delta"},
    "delta_after": {"at most 1 p", "at most 1 q", "at most 1 answer"},
    "group_guarantee": {"at most 1 delta", "at least 1 k", "at most 1 answer 1"},
    "ledger": {"at most 1 delta", "at most 1 answer 0", "at most 1 answer 2"},
    "amplified_budget": {"at most 1 delta", "at most 1 q", "at most 1 answer 1"},
    "composed_budget": {"at most 1 delta", "at least 1 k", "at most 1 slack", "at most 1 answer 1"},
    "steps_in_budget": {"at most 1 delta", "at most 1 q"},
    "canary_exposure": {"at least 1 canary"},
    "dp_sgd_step": {"at most 1 q"},
}
RANDOM = ("laplace_loss_sample", "gaussian_release", "noisy_average", "dp_sgd_step", "user_level_average")
TASKS = [
    (homework, name)
    for homework in ("hw3_approximate_dp", "hw4_dp_sgd")
    for name in tasks_of(homework)
    if not name.startswith("proof") and name not in ("train_private", "poisson_lot")
]


def changed(clamp, value):
    """A number or an array of them; lists, truth values and numbers of people stay as they are."""
    if isinstance(value, np.ndarray):
        return clamp(value) if value.dtype.kind == "f" else value
    return type(value)(clamp(value)) if isinstance(value, int | float) else value


def clamped(right, clamp, argument=None, part=None):
    def answer(**asked):
        if argument is not None:
            asked[argument] = changed(clamp, asked[argument])
        raw = right(**asked)
        if argument is not None:
            return raw
        if part is None:
            return clamp(np.asarray(raw, dtype=float))
        return tuple(np.asarray(clamp(np.asarray(one, dtype=float))) if i == part else one for i, one in enumerate(raw))

    return answer


@pytest.mark.parametrize(("homework", "name"), TASKS)
def test_what_is_right_on_one_side_of_1_fails(homework, name):
    task = tasks_of(homework)[name]
    right = next(iter(bank_of(homework).RIGHT[name].values()))
    probe = task.probes(np.random.default_rng(0))[0]
    rng = {"rng": np.random.default_rng(0)} if Student(right, task.answer)._takes_rng else {}
    raw = right(**probe, **rng)
    parts = range(len(raw)) if isinstance(raw, tuple) else (None,)

    def asks(function):
        return (lambda rng, **asked: function(rng=rng, **asked)) if rng else function

    for label, clamp in CLAMPS.items():
        wrong = {
            f"{label} {name}": clamped(right, clamp, argument=name)
            for name, value in probe.items()
            if np.ndim(value) == 0 or np.asarray(value).dtype.kind == "f"
        } | {f"{label} answer {'' if one is None else one}".strip(): clamped(right, clamp, part=one) for one in parts}
        for what, function in wrong.items():
            if what in HARMLESS.get(name, ()):
                continue
            for seed in range(1 if name in RANDOM else 8):
                with few_draws_to_name():
                    verdict = task.examine(Student(asks(function), task.answer, seconds=task.seconds), seed)
                assert not verdict.passed, f"{what}, seed {seed}"
