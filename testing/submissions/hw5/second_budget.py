"""Submissions to homework 5: the second budget of RRRR, and its derivation."""

import math

import numpy as np

from testing.submissions.hw5.shared import second_math, second_slide


def second_bisection(epsilon, first, inside, outside):
    """Without any formula: the largest eps2 whose ratio is allowed."""
    if inside == 0 or outside == 1:
        return epsilon
    low, high = 0.0, epsilon
    for _ in range(200):
        middle = (low + high) / 2
        ratio = outside * math.exp(first + middle) / (math.exp(middle) + outside - 1)
        low, high = (middle, high) if ratio <= math.exp(epsilon) * (1 + 1e-15) else (low, middle)
    return low


def second_array(epsilon, first, inside, outside):
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = np.log(np.array([(outside - 1.0) / np.float64(outside * np.exp(first - epsilon) - 1)]))
    useful = inside > 0 and outside > 1 and outside * np.exp(first - epsilon) > 1
    return np.minimum(inner, epsilon) if useful else np.array([epsilon])


A, C = "algebra", "choice of eps2"


_RATIO = ("=", "n*E1*E2/(E2 + n - 1)", A)


_SPLIT = ("=", "E*(E2*(n*E1/E - 1) + E2)/(E2 + n - 1)", A)


def proof_lecture():
    return [_RATIO, _SPLIT, ("<=", "E*(n - 1 + E2)/(E2 + n - 1)", C), ("=", "E", A)]


def proof_short():
    return [_RATIO, ("<=", "E", C)]


def proof_at_once():
    return (_SPLIT, ("≤", "E", C))


def proof_slowly():
    return [
        ["=", "(E1*E2*(E1 + k)*n)/((E1 + k)*(E2 + n - 1))", A],
        ["=", "E*(E2*n*E1/E)/(E2 + n - 1)", A],
        ["=", "E*(E2 + E2*(n*E1/E - 1))/(E2 + n - 1)", A],
        ["<=", "E*(E2 + n - 1)/(E2 + n - 1)", C],
        ["=", "E", A],
    ]


RIGHT = {
    "proof_second_epsilon": {
        "lecture": proof_lecture, "short": proof_short, "at once": proof_at_once, "slowly": proof_slowly,
    },
    "second_epsilon": {
        "math": second_math, "as on the slide": second_slide, "bisection": second_bisection, "array": second_array,
    },
}  # fmt: skip

WRONG = {
    "proof_second_epsilon": {
        "n": (lambda: [("=", "E2*E1/(n - 1 + E2)", A)], "n forgotten"),
        "added budgets": (lambda: [_RATIO, ("<=", "E1*E2", C)], "eps1 + eps2"),
        "equal": (lambda: [_RATIO, _SPLIT, ("=", "E", A)], "equal to the bound"),
        "algebra": (lambda: [_RATIO, _SPLIT, ("<=", "E*(E2 + n - 1)/(E2 + n - 1)", A)], "called algebra"),
        "claimed": (lambda: [("<=", "E", A)], None),
        "not finished": (lambda: [_RATIO, _SPLIT], None),
        "no reason": (lambda: [_RATIO, ("<=", "E", "obvious")], None),
    },
    "second_epsilon": {
        "no logarithm": (
            lambda epsilon, first, inside, outside: (
                min(epsilon, (outside - 1) / (outside * math.exp(first - epsilon) - 1))
                if inside and outside > 1 and outside * math.exp(first - epsilon) > 1 else epsilon
            ),
            "no logarithm",
        ),
        "inside for outside": (
            lambda epsilon, first, inside, outside: second_math(epsilon, first, outside, max(inside, 1)),
            "|S| for its complement",
        ),
        "no minimum": (
            lambda epsilon, first, inside, outside: (
                math.log((outside - 1) / (outside * math.exp(first - epsilon) - 1))
                if inside and outside > 1 and outside * math.exp(first - epsilon) > 1 else epsilon
            ),
            "no minimum",
        ),
        "empty S": (
            lambda epsilon, first, inside, outside: second_math(epsilon, first, 1, outside), "empty S forgotten",
        ),
        "left over": (lambda epsilon, first, inside, outside: epsilon - first, "what is left over"),
        "no edges": (
            lambda epsilon, first, inside, outside: math.log(
                (outside - 1) / (outside * math.exp(first - epsilon) - 1)
            ),
            None,
        ),
        "n for n - 1": (
            lambda epsilon, first, inside, outside: (
                min(epsilon, math.log(outside / (outside * math.exp(first - epsilon) - 1)))
                if inside and outside > 1 and outside * math.exp(first - epsilon) > 1 else epsilon
            ),
            None,
        ),
    },
}  # fmt: skip
