"""Patterns by which a submission is wrong although most of its answers are right, for the banks of all homeworks."""

import inspect
from itertools import count

import numpy as np


def _ask(function, rng, asked):
    """The function's answer; who takes no generator gets none."""
    parameters = inspect.signature(function).parameters.values()
    takes = any(one.name == "rng" or one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters)
    return function(**asked, rng=rng) if takes else function(**asked)


def mixture(right, exact, share):
    """Right with this probability, and the exact answer otherwise."""
    return lambda rng, **asked: _ask(right if rng.random() < share else exact, rng, asked)


def from_call(right, exact, calls):
    """Right in so many calls, and exact from then on."""
    number = count(1)
    return lambda rng, **asked: _ask(right if next(number) <= calls else exact, rng, asked)


def every_call(right, exact, calls):
    """Exact in every call of so many."""
    number = count(1)
    return lambda rng, **asked: _ask(exact if next(number) % calls == 0 else right, rng, asked)


def twice(right):
    """Every answer is given twice, if the same is asked."""
    last = {}

    def answer(rng, **asked):
        key = repr(asked)
        if key in last:
            return np.copy(last.pop(key))[()]
        last[key] = _ask(right, rng, asked)
        return last[key]

    return answer
