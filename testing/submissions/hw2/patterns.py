"""Wrong submissions to homework 2 in the patterns that fool a judge who looks once, or only at marginals."""

import math

import numpy as np

from testing.submissions.hw2.local_noise import laplace_numpy
from testing.submissions.hw2.reports import kary_numpy, response_numpy
from testing.submissions.hw2.survey import needed_numpy, share_numpy
from testing.submissions.hw2.values import belief_by_bayes, ratio_by_probabilities
from testing.submissions.patterns import from_call, mixture, twice


def _own(skipped):
    return np.clip(skipped, 0, 15)


def _geometric(skipped, epsilon, rng):
    p = 1 - math.exp(-epsilon / 15)
    return _own(skipped) + rng.geometric(p) - rng.geometric(p)


def _told_bit(bit, epsilon, rng=None):
    return bit


def _told_category(category, k, epsilon, rng=None):
    return category


def _told_number(skipped, epsilon, rng=None):
    return _own(skipped)


def _alternating():
    """Every second report is exactly balanced by the one before it."""
    last = []

    def response(bit, epsilon, rng):
        if last:
            return bit if last.pop() else 1 - bit
        keep = rng.random() < 1 / (1 + math.exp(-epsilon))
        last.append(keep)
        return bit if keep else 1 - bit

    return response


WRONG = {
    "theta": {
        "tight for all": (lambda epsilon, attempt: 1 / (1 + math.exp(-epsilon)), "tight for all"),
        "epsilon itself": (lambda epsilon, attempt: epsilon, None),
        "None": (lambda epsilon, attempt: None, None),
        "always 0.731": (lambda epsilon, attempt: 0.731, None),
        "right up to 1": (
            lambda epsilon, attempt: 1 / (1 + math.exp(-min(epsilon, 1))) if attempt == "tight" else 0.7,
            None,
        ),
    },
    "spent_epsilon": {
        "odds without log": (lambda theta: theta / (1 - theta), "odds without log"),
        "cut at 0": (lambda theta: max(0, math.log(theta / (1 - theta))), "never below zero"),
        "distance from one half": (lambda theta: abs(2 * theta - 1), None),
        "log of one plus": (lambda theta: math.log(1 + abs(2 * theta - 1)), None),
        "rounded": (lambda theta: round(abs(math.log(theta / (1 - theta))), 3), None),
    },
    "response_ratio": {
        "always above one": (
            lambda bit, neighbour, report, epsilon: math.exp(epsilon * (bit != neighbour)), "never below one",
        ),
        "constant": (lambda bit, neighbour, report, epsilon: 1.0, None),
        "numerator only": (
            lambda bit, neighbour, report, epsilon: 1 / (1 + math.exp(-epsilon if report == bit else epsilon)), None,
        ),
        "difference": (
            lambda bit, neighbour, report, epsilon: (
                1 + math.log(ratio_by_probabilities(bit, neighbour, report, epsilon))
            ),
            None,
        ),
    },
    "posterior": {
        "turned around": (
            lambda report, prior, epsilon: belief_by_bayes(1 - report, prior, epsilon), "report turned around",
        ),
        "prior": (lambda report, prior, epsilon: prior, None),
        "rounded": (lambda report, prior, epsilon: round(belief_by_bayes(report, prior, epsilon), 2), None),
        "half": (lambda report, prior, epsilon: (prior + belief_by_bayes(report, prior, epsilon)) / 2, None),
    },
    "randomized_response": {
        "exact in a fifth": (mixture(response_numpy, _told_bit, 0.8), None),
        "exact from 900 on": (from_call(response_numpy, _told_bit, 900), None),
        "the same coin twice": (_alternating(), None),
        "yes instead of the flip": (
            lambda bit, epsilon, rng: 1 if rng.random() > 1 / (1 + math.exp(-epsilon)) else bit,
            "yes instead of the flip",
        ),
        "None": (lambda bit, epsilon, rng: None, None),
        "a quarter more": (lambda bit, epsilon, rng: response_numpy(bit, 1.25 * epsilon, rng), None),
        "truth of a yes": (lambda bit, epsilon, rng: bit or response_numpy(bit, epsilon, rng), None),
    },
    "kary_response": {
        "exact in a tenth": (mixture(kary_numpy, _told_category, 0.9), None),
        "exact from 500 on": (from_call(kary_numpy, _told_category, 500), None),
        "k + 1 labels": (lambda category, k, epsilon, rng: kary_numpy(category, k + 1, epsilon, rng), None),
        "the same draw twice": (twice(kary_numpy), None),
        "wrong one left out": (
            lambda category, k, epsilon, rng: (
                category if rng.random() < 1 / (1 + (k - 1) * math.exp(-epsilon)) else rng.integers(k - 1)
            ),
            "the truth left out of the wrong list",
        ),
    },
    "local_laplace": {
        "exact in a hundredth": (mixture(laplace_numpy, _told_number, 0.99), None),
        "exact in a fifth": (mixture(laplace_numpy, _told_number, 0.8), None),
        "exact from 1,000 on": (from_call(laplace_numpy, _told_number, 1_000), None),
        "the same draw twice": (twice(laplace_numpy), None),
        "never below 0": (lambda skipped, epsilon, rng: max(0, laplace_numpy(skipped, epsilon, rng)), None),
        "geometric": (_geometric, None),
        "rounded to a tenth": (lambda skipped, epsilon, rng: round(laplace_numpy(skipped, epsilon, rng), 1), None),
        "further end": (
            lambda skipped, epsilon, rng: (own := _own(skipped)) + rng.laplace(0, max(own, 15 - own) / epsilon),
            "distance to the further end",
        ),
        "cut in the tails": (
            lambda skipped, epsilon, rng: (
                _own(skipped) + np.clip(rng.laplace(0, 15 / epsilon), -90 / epsilon, 90 / epsilon)
            ),
            None,
        ),
        "None": (lambda skipped, epsilon, rng: None, None),
    },
    "share_of_class": {
        "raw share": (lambda reports, epsilon: (reports.mean(), share_numpy(reports, epsilon)[1]), "raw share"),
        "y / theta": (
            lambda reports, epsilon: (
                reports.mean() * (1 + math.exp(-epsilon)), share_numpy(reports, epsilon)[1]
            ),
            "divided by theta",
        ),
        "no": (
            lambda reports, epsilon: (1 - share_numpy(reports, epsilon)[0], share_numpy(reports, epsilon)[1]),
            "share of the no",
        ),
        "a half": (
            lambda reports, epsilon: (
                share_numpy(reports, epsilon)[0], 0.5 / math.sqrt(len(reports)) / math.tanh(epsilon / 2)
            ),
            "largest variance",
        ),
        "turned around": (lambda reports, epsilon: share_numpy(reports, epsilon)[::-1], None),
        "rounded": (lambda reports, epsilon: np.round(share_numpy(reports, epsilon), 2), None),
    },
    "students_needed": {
        "one more": (lambda error, epsilon: tuple(n + 1 for n in needed_numpy(error, epsilon)), None),
        "2 b": (
            lambda error, epsilon: (needed_numpy(error, epsilon)[0], math.ceil(2 / (epsilon * error))),
            "variance for the standard deviation",
        ),
        "a half": (
            lambda error, epsilon: (
                math.ceil(0.25 / (math.tanh(epsilon / 2) * error) ** 2), needed_numpy(error, epsilon)[1]
            ),
            "largest variance",
        ),
        "small": (
            lambda error, epsilon: (math.ceil((epsilon * error) ** -2), needed_numpy(error, epsilon)[1]),
            "small epsilon",
        ),
    },
}  # fmt: skip

RIGHT = {}
