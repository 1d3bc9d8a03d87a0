"""What several submissions to homework 2 use."""

import math


def theta_plain(epsilon, attempt):
    if attempt == "first":
        return (epsilon + 1) / (epsilon + 2)
    if attempt == "quadratic":
        odds = 1 + epsilon + epsilon**2 / 2
        return odds / (odds + 1)
    return math.exp(epsilon) / (math.exp(epsilon) + 1)


def mostly(right, exact, share):
    """Right this often, and the exact answer otherwise."""

    def mixed(*args, rng, **named):
        return (right if rng.random() < share else exact)(*args, **named, rng=rng)

    return mixed


def once_in_a_while(right, exact, calls):
    """Exact from so many calls on."""
    count = [0]

    def counting(*args, rng, **named):
        count[0] += 1
        return (right if count[0] <= calls else exact)(*args, **named, rng=rng)

    return counting


def twice_the_same(right):
    """Every second call gives the answer of the one before it, if it is asked the same."""
    last = {}

    def repeating(*args, rng, **named):
        key = repr((args, named))
        if key in last:
            return last.pop(key)
        last[key] = right(*args, **named, rng=rng)
        return last[key]

    return repeating
