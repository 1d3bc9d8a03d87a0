"""Submissions to homework 2: the class and how many it takes."""

import math
import statistics
from fractions import Fraction

import numpy as np


def share_numpy(reports, epsilon):
    theta = 1 / (1 + np.exp(-epsilon))
    stretch = 2 * theta - 1
    return (np.mean(reports) - (1 - theta)) / stretch, np.sqrt(theta * (1 - theta) / len(reports)) / stretch


def share_by_tanh(reports, epsilon):
    share = 0.5 + (statistics.fmean(map(int, reports)) - 0.5) / math.tanh(epsilon / 2)
    return {"share": share, "standard_error": 1 / (2 * math.sinh(epsilon / 2) * math.sqrt(len(reports)))}


def share_by_counting(reports, epsilon):
    theta = math.exp(epsilon) / (math.exp(epsilon) + 1)
    share = Fraction(sum(int(report) for report in reports), len(reports))
    error = (theta * (1 - theta) / len(reports) / (2 * theta - 1) ** 2) ** 0.5
    return [(float(share) - 1 + theta) / (theta - (1 - theta)), np.array([error])]


def share_by_inverse_matrix(reports, epsilon):
    matrix = np.array([[np.exp(epsilon), 1], [1, np.exp(epsilon)]]) / (np.exp(epsilon) + 1)
    inverse = np.linalg.inv(matrix)
    frequencies = np.bincount(reports, minlength=2) / reports.size
    theta = matrix[0, 0]
    return (inverse @ frequencies)[1], np.sqrt(theta * (1 - theta) / reports.size) * (inverse[1, 1] - inverse[1, 0])


def share_clipped(reports, epsilon):
    share, error = share_numpy(reports, epsilon)
    return np.clip(share, 0, 1), error


def share_error_of_reports(reports, epsilon):
    share, _ = share_numpy(reports, epsilon)
    return share, np.std(reports) / np.sqrt(len(reports)) / np.tanh(epsilon / 2)


def share_binomial_error(reports, epsilon):
    """The textbook's error of a share; where the estimate is negative it has no value."""
    share, _ = share_numpy(reports, epsilon)
    with np.errstate(invalid="ignore"):
        return share, np.sqrt(share * (1 - share) / len(reports))


def share_binomial_error_plain(reports, epsilon):
    share, _ = share_numpy(reports, epsilon)
    return share, math.sqrt(share * (1 - share) / (len(reports) - 1))


def share_first_theta(reports, epsilon):
    theta = (epsilon + 1) / (epsilon + 2)
    stretch = 2 * theta - 1
    return (np.mean(reports) - (1 - theta)) / stretch, np.sqrt(theta * (1 - theta) / len(reports)) / stretch


def needed_numpy(error, epsilon):
    theta = 1 / (1 + np.exp(-epsilon))
    local = theta * (1 - theta) / (2 * theta - 1) ** 2 / error**2
    return np.ceil(local), np.ceil(np.sqrt(2) / (epsilon * error))


def needed_by_sinh(error, epsilon):
    local = math.ceil(1 / (2 * math.sinh(epsilon / 2) * error) ** 2)
    return {"central": math.ceil(2**0.5 / epsilon / error), "local": local}


def needed_by_search(error, epsilon):
    theta = math.exp(epsilon) / (1 + math.exp(epsilon))

    def smallest(enough):
        low, high = 0, 1
        while not enough(high):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        return high

    local = smallest(lambda n: math.sqrt(theta * (1 - theta) / n) / (2 * theta - 1) <= error)
    return local, smallest(lambda n: math.sqrt(2) / (n * epsilon) <= error)


def needed_by_floor(error, epsilon):
    theta = 1 / (1 + math.exp(-epsilon))
    local = (math.sqrt(theta * (1 - theta)) / (2 * theta - 1) / error) ** 2
    return [np.array([int(local) + 1]), int(math.sqrt(2) / epsilon / error) + 1]


def needed_first_theta(error, epsilon):
    theta = (epsilon + 1) / (epsilon + 2)
    return math.ceil(theta * (1 - theta) / ((2 * theta - 1) * error) ** 2), math.ceil(2**0.5 / (epsilon * error))


def needed_small_epsilon(error, epsilon):
    """The approximation 1/(eps sqrt n) of the lecture, for small epsilon."""
    return math.ceil(1 / (epsilon * error) ** 2), math.ceil(2**0.5 / (epsilon * error))


RIGHT = {
    "share_of_class": {
        "numpy": share_numpy,
        "tanh, dict": share_by_tanh,
        "counting, list": share_by_counting,
        "inverse matrix": share_by_inverse_matrix,
    },
    "students_needed": {
        "numpy": needed_numpy,
        "sinh, dict": needed_by_sinh,
        "search": needed_by_search,
        "floor plus one": needed_by_floor,
    },
}

WRONG = {
    "share_of_class": {
        "share of yes": (
            lambda reports, epsilon: (reports.mean(), reports.std() / math.sqrt(reports.size)),
            "share of the yes",
        ),
        "clipped": (share_clipped, "clipped"),
        "not stretched": (
            lambda reports, epsilon: (np.mean(reports) - 1 / (1 + np.exp(epsilon)), share_numpy(reports, epsilon)[1]),
            "not stretched",
        ),
        "not subtracted": (
            lambda reports, epsilon: (np.mean(reports) / np.tanh(epsilon / 2), share_numpy(reports, epsilon)[1]),
            "chance answers not subtracted",
        ),
        "error not stretched": (
            lambda reports, epsilon: (
                share_numpy(reports, epsilon)[0],
                share_numpy(reports, epsilon)[1] * np.tanh(epsilon / 2),
            ),
            "error not stretched",
        ),
        "variance": (
            lambda reports, epsilon: (share_numpy(reports, epsilon)[0], share_numpy(reports, epsilon)[1] ** 2),
            "variance",
        ),
        "binomial error": (share_binomial_error, "coins forgotten"),
        "binomial error, plain Python": (share_binomial_error_plain, "coins forgotten"),
        "binomial error, absolute value": (
            lambda reports, epsilon: (
                share_numpy(reports, epsilon)[0],
                abs(share_numpy(reports, epsilon)[0] * (1 - share_numpy(reports, epsilon)[0]) / len(reports)) ** 0.5,
            ),
            "coins forgotten",
        ),
        "error of the yes": (
            lambda reports, epsilon: (share_numpy(reports, epsilon)[0], np.std(reports) / np.sqrt(len(reports))),
            "error of the yes",
        ),
        "error of the yes, n - 1": (
            lambda reports, epsilon: (
                share_numpy(reports, epsilon)[0],
                np.std(reports, ddof=1) / np.sqrt(len(reports)),
            ),
            "error of the yes, n - 1",
        ),
        "share of yes, n - 1": (
            lambda reports, epsilon: (np.mean(reports), statistics.stdev(reports.tolist()) / len(reports) ** 0.5),
            "share of the yes, n - 1",
        ),
        "error of reports": (share_error_of_reports, "error of the reports"),
        "error of reports, n - 1": (
            lambda reports, epsilon: (
                share_numpy(reports, epsilon)[0],
                np.std(reports, ddof=1) / np.sqrt(len(reports)) / np.tanh(epsilon / 2),
            ),
            "error of the reports, n - 1",
        ),
        "no root": (
            lambda reports, epsilon: (
                share_numpy(reports, epsilon)[0],
                share_numpy(reports, epsilon)[1] * len(reports) ** 0.5,
            ),
            "root of n forgotten",
        ),
        "first theta": (share_first_theta, None),
        "n - 1": (
            lambda reports, epsilon: (
                share_numpy(reports, epsilon)[0],
                share_numpy(np.asarray(reports)[1:], epsilon)[1],
            ),
            None,
        ),
    },
    "students_needed": {
        "fraction": (
            lambda error, epsilon: (1 / (2 * math.sinh(epsilon / 2) * error) ** 2, math.sqrt(2) / epsilon / error),
            "not rounded up",
        ),
        "round": (
            lambda error, epsilon: (
                round(1 / (2 * math.sinh(epsilon / 2) * error) ** 2),
                math.floor(math.sqrt(2) / epsilon / error),
            ),
            "rounded down",
        ),
        "one number not rounded": (
            lambda error, epsilon: (needed_numpy(error, epsilon)[0], math.sqrt(2) / epsilon / error),
            "central not rounded up",
        ),
        "to the nearest": (
            lambda error, epsilon: (
                np.rint(1 / (2 * np.sinh(epsilon / 2) * error) ** 2),
                np.rint(np.sqrt(2) / epsilon / error),
            ),
            "rounded down",
        ),
        "down": (
            lambda error, epsilon: (
                int(1 / (2 * math.sinh(epsilon / 2) * error) ** 2),
                int(math.sqrt(2) / epsilon / error),
            ),
            "rounded down",
        ),
        "no square": (
            lambda error, epsilon: (
                math.ceil(1 / (2 * math.sinh(epsilon / 2) * error)),
                math.ceil(math.sqrt(2) / epsilon / error),
            ),
            "square forgotten",
        ),
        "both squared": (
            lambda error, epsilon: (needed_numpy(error, epsilon)[0], math.ceil(2 / (epsilon * error) ** 2)),
            "curator squared",
        ),
        "b": (
            lambda error, epsilon: (needed_numpy(error, epsilon)[0], math.ceil(1 / (epsilon * error))),
            "scale for the standard deviation",
        ),
        "yes only": (
            lambda error, epsilon: (
                math.ceil(1 / (2 * math.cosh(epsilon / 2) * error) ** 2),
                needed_numpy(error, epsilon)[1],
            ),
            "not stretched",
        ),
        "swapped": (lambda error, epsilon: needed_numpy(error, epsilon)[::-1], "swapped"),
        "first theta": (needed_first_theta, None),
        "small epsilon": (needed_small_epsilon, None),
    },
}
