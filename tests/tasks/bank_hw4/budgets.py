"""Submissions to homework 4: amplification, composition, and steps in a budget."""

import math
from functools import lru_cache

import numpy as np

from dpcourse import accounting
from dpcourse.accounting import renyi_sampled_gaussian, steps_within

dp_sgd_epsilon, sigma_for = lru_cache(4_096)(accounting.dp_sgd_epsilon), lru_cache(64)(accounting.sigma_for)


def amplified_log1p(epsilon, delta, q):
    return math.log1p(q * math.expm1(epsilon)), q * delta


def amplified_dict(epsilon, delta, q):
    return {"delta": q * delta, "epsilon": np.log(1 + q * (np.exp(epsilon) - 1))}


def amplified_mixture(epsilon, delta, q):
    return [np.array([math.log((1 - q) + q * math.exp(epsilon))]), np.float64(delta) * q]


def amplified_logaddexp(epsilon, delta, q):
    return np.logaddexp(np.log1p(-q), np.log(q) + epsilon), delta * q


def composed_if(epsilon, delta, k, slack):
    advanced = epsilon * math.sqrt(2 * k * math.log(1 / slack)) + k * epsilon * (math.exp(epsilon) - 1)
    if advanced < k * epsilon:
        return advanced, k * delta + slack
    return k * epsilon, k * delta


def composed_min(epsilon, delta, k, slack):
    first = (epsilon * k, k * delta)
    second = (epsilon * (np.sqrt(-2 * k * np.log(slack)) + k * np.expm1(epsilon)), k * delta + slack)
    return min(first, second)


def composed_dict(epsilon, delta, k, slack):
    return dict(zip(("epsilon", "delta"), composed_if(epsilon, delta, k, slack), strict=True))


def composed_array(epsilon, delta, k, slack):
    return [np.array([part]) for part in composed_min(epsilon, delta, k, slack)]


def _advanced(epsilon, k, slack):
    return epsilon * math.sqrt(2 * k * math.log(1 / slack)) + k * epsilon * math.expm1(epsilon)


def _smaller(wrong):
    def cost(epsilon, delta, k, slack):
        advanced = wrong(epsilon, k, slack)
        return (advanced, k * delta + slack) if advanced < k * epsilon else (k * epsilon, k * delta)

    return cost


def steps_library(epsilon, delta, sigma, q):
    return steps_within(epsilon, delta, sigma=sigma, q=q)


def steps_bisection(epsilon, delta, sigma, q):
    low, high = 0, 1
    while dp_sgd_epsilon(sigma, q, high, delta) <= epsilon:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if dp_sgd_epsilon(sigma, q, middle, delta) <= epsilon:
            low = middle
        else:
            high = middle
    return low


def steps_up(epsilon, delta, sigma, q):
    """In strides of eight, then one by one."""
    steps = 0
    while dp_sgd_epsilon(sigma, q, steps + 8, delta) <= epsilon:
        steps += 8
    while dp_sgd_epsilon(sigma, q, steps + 1, delta) <= epsilon:
        steps += 1
    return np.int64(steps)


def steps_float(epsilon, delta, sigma, q):
    """From a guess by the root law, then one by one."""
    steps = max(1, int((epsilon / dp_sgd_epsilon(sigma, q, 16, delta)) ** 2 * 16))
    while steps and dp_sgd_epsilon(sigma, q, steps, delta) > epsilon:
        steps -= 1
    while dp_sgd_epsilon(sigma, q, steps + 1, delta) <= epsilon:
        steps += 1
    return float(steps)


def steps_renyi(epsilon, delta, sigma, q):
    one = renyi_sampled_gaussian(sigma, q)
    steps = 0
    while one.compose(steps + 1).epsilon(delta).epsilon <= epsilon:
        steps += 1
    return steps


A, P = "algebra", "privacy of the step"


def proof_four_lines():
    return [
        ("<=", "((1 - q)*p0 + q*exp(epsilon)*p0)/p0", P),
        ("=", "1 - q + q*exp(epsilon)", A),
        ("=", "1 + q*(exp(epsilon) - 1)", A),
    ]


def proof_divided_first():
    return (
        ("=", "1 - q + q*p1/p0", A),
        ("≤", "1 - q + q*exp(epsilon)", P),
        ("=", "1 + q*(exp(epsilon) - 1)", A),
    )


def proof_gain_first():
    return [
        ["=", "1 + q*(p1 - p0)/p0", A],
        ["<=", "1 + q*(exp(epsilon)*p0 - p0)/p0", P],
        ["=", "1 + q*(exp(epsilon) - 1)", A],
    ]


def proof_short():
    return [("==", "(p0 - q*p0 + q*p1) / p0", "Algebra"), ("=<", "1 + q*(exp(epsilon) - 1)", P)]


_BOUNDED = ("<=", "((1 - q)*p0 + q*exp(epsilon)*p0)/p0", P)


RIGHT = {
    "proof_amplification": {
        "four lines": proof_four_lines, "divided first": proof_divided_first, "the gain": proof_gain_first,
        "short": proof_short,
    },
    "amplified_budget": {
        "log1p": amplified_log1p, "dict": amplified_dict, "list": amplified_mixture, "logaddexp": amplified_logaddexp,
    },
    "composed_budget": {"if": composed_if, "min": composed_min, "dict": composed_dict, "arrays": composed_array},
    "steps_in_budget": {
        "library": steps_library, "bisection": steps_bisection, "one by one": steps_up, "guess, float": steps_float,
    },
}  # fmt: skip

WRONG = {
    "proof_amplification": {
        "exponent": (lambda: [_BOUNDED, ("=", "exp(q*epsilon)", A)], "q times epsilon"),
        "algebra": (lambda: [("<=", "1 - q + q*exp(epsilon)", A)], "called algebra"),
        "no sampling": (lambda: [("=", "1 - q + q*p1/p0", A), ("<=", "exp(epsilon)", P)], "always in the lot"),
        "both terms": (lambda: [("<=", "((1 - q)*exp(epsilon)*p0 + q*exp(epsilon)*p0)/p0", P)], None),
        "equal": (lambda: [("=", "1 - q + q*exp(epsilon)", P)], "equal to the bound"),
        "not finished": (lambda: [_BOUNDED], None),
        "nothing": (lambda: [], None),
        "minus": (lambda: [("=", "1 + q + q*p1/p0", A)], "sign lost"),
    },
    "amplified_budget": {
        "q eps": (lambda epsilon, delta, q: (q * epsilon, q * delta), "q times epsilon"),
        "no minus one": (lambda epsilon, delta, q: (math.log(1 + q * math.exp(epsilon)), q * delta),
                         "minus one forgotten"),
        "no logarithm": (lambda epsilon, delta, q: (1 + q * (math.exp(epsilon) - 1), q * delta),
                         "logarithm forgotten"),
        "delta": (lambda epsilon, delta, q: (amplified_log1p(epsilon, delta, q)[0], delta), "delta not amplified"),
        "unchanged": (lambda epsilon, delta, q: (epsilon, delta), "not amplified"),
        "epsilon only": (lambda epsilon, delta, q: amplified_log1p(epsilon, delta, q)[0], None),
        "q squared": (lambda epsilon, delta, q: amplified_log1p(epsilon, delta, q * q), None),
    },
    "composed_budget": {
        "advanced": (lambda epsilon, delta, k, slack: (_advanced(epsilon, k, slack), k * delta + slack),
                     "always advanced"),
        "basic": (lambda epsilon, delta, k, slack: (k * epsilon, k * delta), "always basic"),
        "one term": (_smaller(lambda e, k, slack: e * math.sqrt(2 * k * math.log(1 / slack))),
                     "second term forgotten"),
        "no 2": (_smaller(lambda e, k, slack: e * math.sqrt(k * math.log(1 / slack)) + k * e * math.expm1(e)),
                 "2 forgotten"),
        "slack": (lambda epsilon, delta, k, slack: (composed_if(epsilon, delta, k, slack)[0], k * delta),
                  "slack not charged"),
        "larger": (lambda epsilon, delta, k, slack: (
            max(k * epsilon, _advanced(epsilon, k, slack)), k * delta + slack), None),
        "log10": (_smaller(lambda e, k, slack: e * math.sqrt(2 * k * math.log10(1 / slack)) + k * e * math.expm1(e)),
                  None),
    },
    "steps_in_budget": {
        "one too many": (lambda epsilon, delta, sigma, q: steps_bisection(epsilon, delta, sigma, q) + 1,
                         "one too many"),
        "never 0": (lambda epsilon, delta, sigma, q: max(1, steps_bisection(epsilon, delta, sigma, q)), "at least one"),
        "added up": (lambda epsilon, delta, sigma, q: epsilon // dp_sgd_epsilon(sigma, q, 1, delta),
                     "epsilons added up"),
        "no coins": (lambda epsilon, delta, sigma, q: steps_bisection(epsilon, delta, sigma, 1.0), "coins forgotten"),
        "root law": (lambda epsilon, delta, sigma, q: int((epsilon / dp_sgd_epsilon(sigma, q, 1, delta)) ** 2),
                     "square root taken for exact"),
        "Renyi": (steps_renyi, None),
        "one less": (lambda epsilon, delta, sigma, q: steps_bisection(epsilon, delta, sigma, q) - 1, None),
        "not whole": (lambda epsilon, delta, sigma, q: steps_bisection(epsilon, delta, sigma, q) + 0.5, None),
    },
}  # fmt: skip
