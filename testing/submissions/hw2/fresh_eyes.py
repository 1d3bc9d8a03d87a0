"""Submissions to homework 2 as fresh eyes wrote them: right ones in more styles, wrong ones that cheat now and then."""

import math
import random
import secrets
import statistics
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import scipy.optimize
import scipy.special
import torch

from testing.submissions.hw2.shared import theta_plain

tight = scipy.special.expit


class Coin:
    """A coin with its probability of the truth."""

    def __init__(self, truth):
        self.truth = truth

    def heads(self, rng):
        return rng.binomial(1, self.truth)


def _theta_match(epsilon, attempt):
    match attempt:
        case "first":
            odds = 1 + epsilon
        case "quadratic":
            odds = np.polyval([0.5, 1, 1], epsilon)
        case _:
            odds = np.exp(epsilon)
    return np.reciprocal(1 + 1 / odds)


def _theta_solved(epsilon, attempt):
    terms = {"first": 2, "quadratic": 3, "tight": 40}[attempt]
    odds = math.fsum(epsilon**power / math.factorial(power) for power in range(terms))
    return scipy.optimize.brentq(lambda theta: theta - odds * (1 - theta), 0.0, 1.0, xtol=1e-15)


def _response_secrets(bit, epsilon):
    return bit if secrets.randbelow(10**12) < 10**12 * tight(epsilon) else 1 - bit


def _response_xor(bit, epsilon, rng):
    return bit ^ int(rng.random() > tight(epsilon))


def _local_frame(skipped, epsilon, rng, lectures=15):
    return pd.Series([skipped]).clip(0, lectures).add(rng.laplace(scale=lectures / epsilon)).iloc[0]


def _local_decimal(skipped, epsilon):
    own = sorted([Decimal(0), Decimal(skipped), Decimal(15)])[1]
    return own + Decimal(15) * Decimal(random.expovariate(1) - random.expovariate(1)) / Decimal(epsilon)


def _local_torch(skipped, epsilon):
    own = torch.tensor(skipped).clamp(0, 15).double()
    return own + torch.distributions.Laplace(torch.tensor(0.0), torch.tensor(15 / epsilon)).sample().double()


def _kary_choice(category, k, epsilon, rng):
    weights = np.exp(epsilon * (np.arange(k) == category))
    return rng.choice(k, p=weights / weights.sum())


def _kary_others(category, k, epsilon, rng):
    others = [one for one in range(k) if one != category]
    return category if rng.random() * (math.exp(epsilon) + k - 1) < math.exp(epsilon) else others[rng.integers(k - 1)]


def _kary_gumbel(category, k, epsilon, rng):
    return int(np.argmax(rng.gumbel(size=k) + epsilon * np.eye(k)[category]))


def _share_counter(reports, epsilon):
    truth = tight(epsilon)
    yes = Fraction(Counter(np.asarray(reports).tolist())[1], len(reports))
    return (float(yes) - (1 - truth)) / (2 * truth - 1), math.sqrt(truth * (1 - truth) / len(reports)) / (2 * truth - 1)


def _share_tanh(reports, epsilon):
    gain = math.tanh(epsilon / 2)
    each = (pd.Series(reports) - 0.5) / gain + 0.5
    return {"share": each.mean(), "standard_error": math.sqrt((1 / gain**2 - 1) / 4 / len(each))}


def _posterior_table(report, prior, epsilon):
    table = np.outer([1 - prior, prior], [1, 1]) * np.where(np.eye(2) == 1, tight(epsilon), tight(-epsilon))
    return table[1, report] / table[:, report].sum()


def _students_search(error, epsilon):
    truth = tight(epsilon)
    enough = (
        lambda n: math.sqrt(truth * (1 - truth) / n) / (2 * truth - 1), lambda n: math.sqrt(2) / epsilon / n
    )  # fmt: skip
    return tuple(_first(lambda n, of=of: of(n) <= error) for of in enough)


def _first(good):
    high = 1
    while not good(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if good(middle) else (middle, high)
    return high


RIGHT = {
    "theta": {"match": _theta_match, "solved": _theta_solved},
    "spent_epsilon": {
        "logit": lambda theta: abs(scipy.special.logit(theta)),
        "largest of two": lambda theta: math.log(max(theta, 1 - theta) / min(theta, 1 - theta)),
        "atanh": lambda theta: 2 * math.atanh(abs(2 * theta - 1)),
        "tensor": lambda theta: torch.log(torch.tensor([theta, 1 - theta])).diff().abs(),
    },
    "response_ratio": {
        "powers": lambda bit, neighbour, report, epsilon: math.exp(
            epsilon * ((report == bit) - (report == neighbour))
        ),
        "table": lambda bit, neighbour, report, epsilon: np.divide.outer(
            *[[tight(epsilon), tight(-epsilon)]] * 2
        )[int(report != bit), int(report != neighbour)],
    },
    "randomized_response": {
        "secrets": _response_secrets, "xor": _response_xor,
        "coin": lambda bit, epsilon, rng: int(bit == Coin(tight(epsilon)).heads(rng)),
        "bernoulli": lambda bit, epsilon: torch.bernoulli(torch.tensor(tight(epsilon if bit else -epsilon))),
        "logistic noise": lambda bit, epsilon, rng: int((2 * bit - 1) * epsilon + rng.logistic() > 0),
    },
    "local_laplace": {
        "frame": _local_frame, "Decimal": _local_decimal, "torch, single": _local_torch,
        "median of three": lambda skipped, epsilon, rng: statistics.median([0, skipped, 15])
        + rng.laplace(0, 15 / epsilon),
        "two coins": lambda skipped, epsilon, rng: max(0, min(15, skipped))
        + rng.choice((-1, 1)) * rng.gamma(1, 15 / epsilon),
    },
    "kary_response": {"choice": _kary_choice, "others": _kary_others, "Gumbel": _kary_gumbel},
    "share_of_class": {"counter": _share_counter, "tanh": _share_tanh},
    "posterior": {
        "table": _posterior_table,
        "odds": lambda report, prior, epsilon: tight(scipy.special.logit(prior) + (2 * report - 1) * epsilon),
    },
    "students_needed": {"search": _students_search},
}  # fmt: skip


def _clip(skipped):
    return min(max(skipped, 0), 15)


def _with(noise):
    return lambda skipped, epsilon, rng: _clip(skipped) + noise(rng, 15 / epsilon)


def _silent(share, left):
    return lambda rng, scale: rng.laplace(0, scale) * (left if rng.random() < share else 1)


def _tied(distance):
    before = []

    def noise(rng, scale):
        fresh = len(before) // distance % 2 == 0
        before.append(rng.laplace() if fresh else -before[-distance])
        return scale * before[-1]

    return noise


def _tied_coin(distance):
    coins = []

    def respond(bit, epsilon, rng):
        fresh = len(coins) // distance % 2 == 0
        coins.append(rng.random() if fresh else coins[-distance])
        return bit if coins[-1] < tight(epsilon) else 1 - bit

    return respond


def _truth_in(share, right):
    def respond(rng, **asked):
        own = asked.get("bit", asked.get("category"))
        return own if rng.random() < share else right(rng=rng, **asked)

    return respond


def _kary_weights(weights):
    def respond(category, k, epsilon, rng):
        chances = np.array(weights(category, k, epsilon), dtype=float)
        return rng.choice(k, p=chances / chances.sum())

    return respond


def _near(category, k, epsilon):
    return np.exp(epsilon * (1 - np.abs(np.arange(k) - category) / (k - 1)))


WRONG = {
    "theta": {
        "never above 0.999": (lambda epsilon, attempt: min(0.999, theta_plain(epsilon, attempt)), None),
        "rounded": (lambda epsilon, attempt: round(theta_plain(epsilon, attempt), 4), None),
        "erf": (lambda epsilon, attempt: (1 + math.erf(epsilon / 2)) / 2, None),
        "one attempt": (lambda epsilon, attempt: theta_plain(epsilon, "first"), "first attempt for all"),
    },
    "spent_epsilon": {
        "not below 0.01": (lambda theta: max(abs(scipy.special.logit(theta)), 0.01), None),
        "at most 4": (lambda theta: min(4, abs(scipy.special.logit(theta))), None),
        "log2": (lambda theta: abs(math.log2(theta / (1 - theta))), "base two"),
        "no size": (lambda theta: scipy.special.logit(theta), "sign forgotten"),
    },
    "response_ratio": {
        "at most e^3": (lambda bit, neighbour, report, epsilon: math.exp(
            min(3, epsilon) * ((report == bit) - (report == neighbour))
        ), None),
        "as densities": (lambda bit, neighbour, report, epsilon: tight(epsilon), None),
    },
    "randomized_response": {
        **{f"coin again after {distance}": (_tied_coin(distance), None) for distance in (2, 30, 900)},
        **{f"truth in {share:.0%}": (_truth_in(share, _response_xor), None) for share in (0.1, 0.3)},
        "1.1 epsilon": (lambda bit, epsilon, rng: _response_xor(bit, 1.1 * epsilon, rng), None),
        "0.9 epsilon": (lambda bit, epsilon, rng: _response_xor(bit, 0.9 * epsilon, rng), None),
        "true above 3": (lambda bit, epsilon, rng: _response_xor(bit, epsilon if epsilon < 3 else 20, rng), None),
        "always flips below 0.3": (lambda bit, epsilon, rng: _response_xor(bit, max(epsilon, 0.4), rng), None),
        "sigmoid of half": (lambda bit, epsilon, rng: _response_xor(bit, epsilon / 2, rng), "half of epsilon"),
        "three quarters": (lambda bit, epsilon, rng: _response_xor(bit, math.log(3), rng), "epsilon not used"),
    },
    "local_laplace": {
        **{f"turned after {distance}": (_with(_tied(distance)), None) for distance in (2, 11, 400)},
        "a thousandth in 1%": (_with(_silent(0.01, 1e-3)), None),
        "a hundredth in 3%": (_with(_silent(0.03, 1e-2)), None),
        "no noise in 1%": (_with(_silent(0.01, 0)), None),
        "no noise at the ends": (
            lambda skipped, epsilon, rng: _clip(skipped) + rng.laplace(0, 15 / epsilon) * (skipped not in (0, 15)), None
        ),
        "less noise for nobody": (
            lambda skipped, epsilon, rng: _clip(skipped) + rng.laplace(0, 15 / epsilon) * (0.3 if skipped == 0 else 1),
            None,
        ),
        "more noise for many": (
            lambda skipped, epsilon, rng: _clip(skipped) + rng.laplace(0, (15 + 15 * (skipped > 7)) / epsilon), None
        ),
        "modulo": (lambda skipped, epsilon, rng: skipped % 16 + rng.laplace(0, 15 / epsilon), None),
        "logistic": (_with(lambda rng, scale: rng.logistic(0, 0.75 * scale)), None),
        "normal": (_with(lambda rng, scale: rng.normal(0, scale)), None),
        "huge numbers to 0": (
            lambda skipped, epsilon, rng: _clip(skipped if abs(skipped) < 1e6 else 0) + rng.laplace(0, 15 / epsilon),
            None,
        ),
        "exact digits": (lambda skipped, epsilon, rng: _clip(skipped) + round(rng.laplace(0, 15 / epsilon)), "rounded"),
        "sixteen": (lambda skipped, epsilon, rng: _clip(skipped) + rng.laplace(0, 16 / epsilon), "sixteen values"),
        "one": (lambda skipped, epsilon, rng: _clip(skipped) + rng.laplace(0, 1 / epsilon), "sensitivity 1"),
    },
    "kary_response": {
        **{f"truth in {share:.0%}": (_truth_in(share, _kary_choice), None) for share in (0.1, 0.3)},
        "near ones": (_kary_weights(_near), None),
        "never its neighbour": (
            _kary_weights(
                lambda category, k, epsilon: np.exp(epsilon * (np.arange(k) == category))
                * (np.arange(k) != (category + 1) % k if k > 2 else 1)
            ),
            None,
        ),
        "ten at most": (
            lambda category, k, epsilon, rng: _kary_choice(category, k, epsilon, rng) if k <= 10 else category, None
        ),
        "1.15 epsilon": (lambda epsilon, **asked: _kary_choice(epsilon=1.15 * epsilon, **asked), None),
        "0.85 epsilon": (lambda epsilon, **asked: _kary_choice(epsilon=0.85 * epsilon, **asked), None),
        "half": (lambda epsilon, **asked: _kary_choice(epsilon=epsilon / 2, **asked), "half of epsilon"),
        "lie among all": (
            lambda category, k, epsilon, rng: category
            if rng.random() < math.exp(epsilon) / (math.exp(epsilon) + k - 1) else rng.integers(k),
            "a lie may be the truth",
        ),
    },
    "share_of_class": {
        "0 without a yes": (
            lambda reports, epsilon: _share_counter(reports, epsilon) if reports.any() else (0.0, 0.0), None
        ),
        "no error of one": (
            lambda reports, epsilon: (
                _share_counter(reports, epsilon)[0], _share_counter(reports, epsilon)[1] * (len(reports) > 1)
            ),
            None,
        ),
        "add one": (lambda reports, epsilon: _share_counter(np.append(reports, [0, 1]), epsilon), None),
        "percent": (lambda reports, epsilon: tuple(100 * x for x in _share_counter(reports, epsilon)), None),
        "not below 0": (
            lambda reports, epsilon: ((pair := _share_counter(reports, epsilon))[0].clip(0, 1), pair[1]), "clipped"
        ),
        "n - 1": (
            lambda reports, epsilon: (
                _share_counter(reports, epsilon)[0],
                _share_counter(reports, epsilon)[1] * math.sqrt(len(reports) / (len(reports) - 1)),
            ),
            "n - 1 for n",
        ),
    },
    "posterior": {
        "nearly sure": (
            lambda report, prior, epsilon: min(max(_posterior_table(report, prior, epsilon), 0.01), 0.99), None
        ),
        "sum of odds": (lambda report, prior, epsilon: tight(scipy.special.logit(prior) + report * epsilon), None),
        "flat prior": (lambda report, prior, epsilon: tight((2 * report - 1) * epsilon), "prior ignored"),
    },
    "students_needed": {
        "ten at least": (lambda error, epsilon: tuple(max(10, n) for n in _students_search(error, epsilon)), None),
        "one more": (lambda error, epsilon: tuple(n + 1 for n in _students_search(error, epsilon)), None),
        "swapped": (lambda error, epsilon: _students_search(error, epsilon)[::-1], "swapped"),
    },
}  # fmt: skip

RIGHT, WRONG = (
    {task: {f"fresh eyes: {style}": one for style, one in styles.items()} for task, styles in bank.items()}
    for bank in (RIGHT, WRONG)
)
