"""Submissions to homework 4: amplification, composition, and steps in a budget."""

import math
from decimal import Decimal
from functools import lru_cache

import numpy as np

from dpcourse import accounting
from dpcourse.accounting import renyi_sampled_gaussian, steps_within
from testing.submissions.hw3.shared import cast, decimals, tensor

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
    while one.compose(steps + 1).epsilon(delta) <= epsilon:
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


def amplified_decimal(epsilon, delta, q):
    e, d, share = (Decimal(repr(value)) for value in (epsilon, delta, q))
    return (1 + share * (e.exp() - 1)).ln(), share * d


def amplified_torch(epsilon, delta, q):
    import torch

    e = torch.tensor(epsilon, dtype=torch.float64)
    return torch.stack([torch.log1p(q * torch.expm1(e)), torch.tensor(q * delta, dtype=torch.float64)])


def amplified_series(epsilon, delta, q):
    """q (e^eps - 1) as a sum: eps + eps^2 / 2 + ..."""
    gain, term = 0.0, 1.0
    for i in range(1, 60):
        term *= epsilon / i
        gain += term
    return math.log(1 + q * gain), delta * q


def amplified_single(epsilon, delta, q):
    e, share = np.float32(epsilon), np.float32(q)
    return np.log1p(share * np.expm1(e)), share * np.float32(delta)


def composed_decimal(epsilon, delta, k, slack):
    e, d, s = (Decimal(repr(value)) for value in (epsilon, delta, slack))
    advanced = e * (2 * k * (1 / s).ln()).sqrt() + k * e * (e.exp() - 1)
    return (advanced, k * d + s) if advanced < k * e else (k * e, k * d)


def composed_pandas(epsilon, delta, k, slack):
    import pandas as pd

    advanced = epsilon * np.sqrt(-2 * k * np.log(slack)) + k * epsilon * np.expm1(epsilon)
    rules = pd.DataFrame({"epsilon": [k * epsilon, advanced], "delta": [k * delta, k * delta + slack]})
    return rules.loc[rules.epsilon.idxmin()].to_dict()


def composed_loop(epsilon, delta, k, slack):
    """Step by step."""
    drift = spent = total = 0.0
    for _ in range(k):
        drift, spent, total = drift + epsilon * (math.exp(epsilon) - 1), spent + epsilon, total + delta
    advanced = math.sqrt(2 * k * epsilon**2 * -math.log(slack)) + drift
    return [min(advanced, spent), total + slack * (advanced < spent)]


def composed_single(epsilon, delta, k, slack):
    e = np.float32(epsilon)
    advanced = e * np.sqrt(np.float32(2 * k) * np.log(1 / np.float32(slack))) + k * e * np.expm1(e)
    return (advanced, np.float32(k * delta + slack)) if advanced < k * e else (k * e, np.float32(k * delta))


def steps_bits(epsilon, delta, sigma, q):
    """From the largest bit down."""
    steps = 0
    for bit in reversed(range(13)):
        if dp_sgd_epsilon(sigma, q, steps + 2**bit, delta) <= epsilon:
            steps += 2**bit
    return steps


def steps_bisect(epsilon, delta, sigma, q):
    from bisect import bisect_right

    return bisect_right(range(1, 10_000), epsilon, key=lambda steps: dp_sgd_epsilon(sigma, q, steps, delta))


def steps_recursive(epsilon, delta, sigma, q, low=0, high=8_192):
    if high - low == 1:
        return low
    middle = (low + high) // 2
    within = dp_sgd_epsilon(sigma, q, middle, delta) <= epsilon
    return steps_recursive(epsilon, delta, sigma, q, *((middle, high) if within else (low, middle)))


RIGHT["amplified_budget"] |= {
    "Decimal": amplified_decimal, "torch": amplified_torch, "series": amplified_series, "single": amplified_single,
}  # fmt: skip
RIGHT["composed_budget"] |= {
    "Decimal": composed_decimal, "pandas": composed_pandas, "loop": composed_loop, "single": composed_single,
}  # fmt: skip
RIGHT["steps_in_budget"] |= {
    "bits": steps_bits, "bisect": steps_bisect, "recursive": steps_recursive, "Decimal": cast(steps_bits, decimals),
    "tensor": cast(steps_bits, tensor),
}  # fmt: skip

WRONG["amplified_budget"] |= {
    "log10": (lambda epsilon, delta, q: (math.log10(1 + q * math.expm1(epsilon)), q * delta), "base ten"),
    "turned": (lambda epsilon, delta, q: (math.log(q + (1 - q) * math.exp(epsilon)), q * delta), "coin upside down"),
    "no ln": (lambda epsilon, delta, q: (q * math.expm1(epsilon), q * delta), "logarithm left out"),
    "2 q epsilon": (lambda epsilon, delta, q: (2 * q * epsilon, q * delta), None),
    "delta squared": (lambda epsilon, delta, q: (amplified_log1p(epsilon, delta, q)[0], delta * q * q), None),
    "delta over q": (lambda epsilon, delta, q: (amplified_log1p(epsilon, delta, q)[0], delta / q), None),
    "swapped": (lambda epsilon, delta, q: amplified_log1p(epsilon, delta, q)[::-1], None),
    "log2": (lambda epsilon, delta, q: (math.log2(1 + q * math.expm1(epsilon)), q * delta), None),
    "three digits": (lambda epsilon, delta, q: (round(amplified_log1p(epsilon, delta, q)[0], 3), q * delta), None),
    "both at once": (lambda epsilon, delta, q: (q * epsilon, delta), "q times epsilon"),
}  # fmt: skip
WRONG["composed_budget"]["larger"] = (
    lambda epsilon, delta, k, slack: (
        (e, k * delta + slack) if (e := _advanced(epsilon, k, slack)) > k * epsilon else (k * epsilon, k * delta)
    ),
    "the larger one",
)
WRONG["composed_budget"]["larger, slack always"] = (
    lambda epsilon, delta, k, slack: (max(k * epsilon, _advanced(epsilon, k, slack)), k * delta + slack), None,
)  # fmt: skip
WRONG["composed_budget"]["log10"] = (WRONG["composed_budget"]["log10"][0], "base ten")
WRONG["composed_budget"] |= {
    "slack for both": (
        lambda epsilon, delta, k, slack: (composed_if(epsilon, delta, k, slack)[0], k * delta + slack),
        "slack always charged",
    ),
    "one delta": (
        lambda epsilon, delta, k, slack: (
            composed_if(epsilon, delta, k, slack)[0], composed_if(epsilon, delta, k, slack)[1] - (k - 1) * delta
        ),
        "delta of one step",
    ),
    "delta in the root": (
        lambda epsilon, delta, k, slack: (
            (advanced, k * delta + slack) if (advanced := _advanced(epsilon, k, delta)) < k * epsilon
            else (k * epsilon, k * delta)
        ),
        "delta for slack",
    ),
    "no k": (_smaller(lambda e, k, slack: e * math.sqrt(2 * k * math.log(1 / slack)) + e * math.expm1(e)), None),
    "e^eps": (_smaller(lambda e, k, slack: e * math.sqrt(2 * k * math.log(1 / slack)) + k * e * math.exp(e)), None),
    "eps^2": (_smaller(lambda e, k, slack: e * math.sqrt(2 * k * math.log(1 / slack)) + k * e * e), None),
    "no root": (_smaller(lambda e, k, slack: e * 2 * k * math.log(1 / slack) + k * e * math.expm1(e)), None),
    "slack k times": (
        lambda epsilon, delta, k, slack: (
            composed_if(epsilon, delta, k, slack)[0], composed_if(epsilon, delta, k, k * slack)[1]
        ),
        None,
    ),
    "by the smaller delta": (
        lambda epsilon, delta, k, slack: (k * epsilon, k * delta) if k * delta < slack
        else (_advanced(epsilon, k, slack), k * delta + slack),
        None,
    ),
}  # fmt: skip
WRONG["steps_in_budget"]["Renyi"] = (WRONG["steps_in_budget"]["Renyi"][0], "by Renyi")
WRONG["steps_in_budget"]["one less"] = (
    lambda epsilon, delta, sigma, q: max(0, steps_bits(epsilon, delta, sigma, q) - 1),
    "one too few",
)
WRONG["steps_in_budget"] |= {
    "half": (lambda epsilon, delta, sigma, q: steps_bits(epsilon, delta, sigma, q) // 2, None),
    "none": (lambda epsilon, delta, sigma, q: 0, None),
    "powers of two": (
        lambda epsilon, delta, sigma, q: max(
            (2**i for i in range(8) if dp_sgd_epsilon(sigma, q, 2**i, delta) <= epsilon), default=0
        ),
        None,
    ),
    "advanced": (lambda epsilon, delta, sigma, q: int(epsilon**2 / dp_sgd_epsilon(sigma, q, 1, delta) ** 2 / 20), None),
    "for another delta": (lambda epsilon, delta, sigma, q: steps_bits(epsilon, 100 * delta, sigma, q), None),
    "None for none": (lambda epsilon, delta, sigma, q: steps_bits(epsilon, delta, sigma, q) or None, None),
    "a hundred thousand": (lambda epsilon, delta, sigma, q: 100_000, None),
    "minus": (lambda epsilon, delta, sigma, q: -1, None),
}  # fmt: skip
