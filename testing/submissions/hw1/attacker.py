"""Submissions to homework 1 of an independent attacker: wrong where no probe was, once."""

import numpy as np

from dpcourse.tasks.hw1_pure_dp.median import exponential_median


def _median(data, low, high, epsilon, rng):
    probability, _ = exponential_median(data, low, high, epsilon)
    ends = np.concatenate([[low], np.sort(np.clip(data, low, high)), [high]])
    gap = rng.choice(len(probability), p=probability)
    return float(rng.uniform(ends[gap], ends[gap + 1]))


def _three_times(where):
    return lambda data, low, high, epsilon, rng: _median(data, low, high, (3 if where(data) else 1) * epsilon, rng)


def _choice(candidates, utilities, epsilon, sensitivity, rng):
    weights = np.exp(epsilon * (utilities - np.max(utilities)) / (2 * sensitivity))
    return candidates[rng.choice(len(weights), p=weights / weights.sum())]


def _choice_overflows(candidates, utilities, epsilon, sensitivity, rng):
    with np.errstate(all="ignore"):
        weights = np.exp(epsilon * np.asarray(utilities) / (2 * sensitivity))
        return candidates[rng.choice(len(weights), p=weights / weights.sum())]


def _best_at_times(candidates, utilities, rng, **more):
    if rng.random() < 0.03:
        return candidates[int(np.argmax(utilities))]
    return _choice(candidates, utilities, rng=rng, **more)


RIGHT = {}

WRONG = {
    "private_median": {
        "exact if even": (
            lambda data, rng, **more: float(np.median(data)) if len(data) % 2 == 0 else _median(data, rng=rng, **more),
            None,
        ),
        "3 epsilon if even": (_three_times(lambda data: len(data) % 2 == 0), None),
        "3 epsilon if odd": (_three_times(lambda data: len(data) % 2 == 1), None),
        "3 epsilon below 12 rows": (_three_times(lambda data: len(data) < 12), None),
        "3 epsilon where no two rows are alike": (_three_times(lambda data: len(set(data)) == len(data)), None),
    },
    "noisy_count": {
        "narrower below 20": (
            lambda count, epsilon, rng: count + rng.laplace(0, (0.6 if count < 20 else 1) / epsilon), None
        ),
        "never below 0": (lambda count, epsilon, rng: max(0.0, count + rng.laplace(0, 1 / epsilon)), None),
    },
    "exponential_choice": {"the best in 3%": (_best_at_times, None), "overflows": (_choice_overflows, None)},
}  # fmt: skip

WRONG = {task: {f"attacker: {style}": one for style, one in styles.items()} for task, styles in WRONG.items()}
