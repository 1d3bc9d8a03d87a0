"""Submissions to homework 2 of an independent attacker."""

import math


def _category(category, k, epsilon, rng):
    if rng.random() < 0.03 or rng.random() * (math.exp(epsilon) + k - 1) < math.exp(epsilon):
        return category
    return (category + int(rng.integers(1, k))) % k


RIGHT = {}

WRONG = {"kary_response": {"the truth outright in 3%": (_category, None)}}

WRONG = {task: {f"attacker: {style}": one for style, one in styles.items()} for task, styles in WRONG.items()}
