"""Submissions to homework 2: theta, what a coin spends, ratios and posteriors."""

import math

import numpy as np

from testing.submissions.hw2.shared import theta_plain


def theta_by_table(epsilon, attempt):
    odds = {"first": 1 + epsilon, "quadratic": 1 + epsilon + epsilon * epsilon / 2, "tight": np.exp(epsilon)}[attempt]
    return np.float64(1 - 1 / (1 + odds))


def theta_by_series(epsilon, attempt):
    terms = {"first": 2, "quadratic": 3, "tight": 60}[attempt]
    odds = sum(epsilon**i / math.factorial(i) for i in range(terms))
    return np.array([odds / (1 + odds)])


def theta_by_scipy(epsilon, attempt):
    from scipy.special import expit

    odds = {"first": 1 + epsilon, "quadratic": 1 + epsilon + epsilon**2 / 2, "tight": np.exp(epsilon)}[attempt]
    return np.asarray(expit(np.log(odds)))


def theta_by_torch(epsilon, attempt):
    import torch

    if attempt == "tight":
        return torch.sigmoid(torch.tensor(epsilon, dtype=torch.float64))
    return torch.tensor(theta_plain(epsilon, attempt), dtype=torch.float64)


def theta_plus_one_forgotten(epsilon, attempt):
    return epsilon / (epsilon + 1) if attempt == "first" else theta_plain(epsilon, attempt)


def theta_half_forgotten(epsilon, attempt):
    odds = epsilon**2 + epsilon + 1
    return odds / (1 + odds) if attempt == "quadratic" else theta_plain(epsilon, attempt)


def theta_sign_wrong(epsilon, attempt):
    return 1 / (1 + math.exp(epsilon)) if attempt == "tight" else theta_plain(epsilon, attempt)


def theta_square_forgotten(epsilon, attempt):
    odds = 1 + epsilon + epsilon / 2
    return odds / (1 + odds) if attempt == "quadratic" else theta_plain(epsilon, attempt)


def theta_quadratic_for_tight(epsilon, attempt):
    return theta_plain(epsilon, "first" if attempt == "first" else "quadratic")


def spent_by_max(theta):
    return max(math.log(theta / (1 - theta)), math.log((1 - theta) / theta))


def spent_by_branch(theta):
    theta = theta if theta > 0.5 else 1 - theta
    return np.log(theta) - np.log1p(-theta)


def spent_but_for_the_fair(theta):
    """The fair coin is forgotten: of the two odds the larger one, and none if they are equal."""
    odds = [one for one in (theta / (1 - theta), (1 - theta) / theta) if one > 1]
    return math.log(odds[0]) if odds else 1.0


def ratio_by_probabilities(bit, neighbour, report, epsilon):
    theta = math.exp(epsilon) / (1 + math.exp(epsilon))
    above = theta if report == bit else 1 - theta
    below = theta if report == neighbour else 1 - theta
    return above / below


def ratio_by_matrix(bit, neighbour, report, epsilon):
    matrix = np.array([[np.exp(epsilon), 1], [1, np.exp(epsilon)]])
    matrix /= matrix.sum(axis=1, keepdims=True)
    return matrix[bit, report] / matrix[neighbour, report]


def ratio_by_exponent(bit, neighbour, report, epsilon):
    return np.array([np.exp(epsilon * (int(report == bit) - int(report == neighbour)))])


def ratio_by_bernoulli(bit, neighbour, report, epsilon):
    from scipy.stats import bernoulli

    theta = 1 / (1 + np.exp(-epsilon))
    return bernoulli.pmf(report == bit, theta) / bernoulli.pmf(report == neighbour, theta)


def ratio_one_if_not_flipped(bit, neighbour, report, epsilon):
    if bit == neighbour:
        return 1
    theta = 1 / (1 + math.exp(-epsilon))
    return theta / (1 - theta) if report == bit else 1


def belief_by_bayes(report, prior, epsilon):
    theta = math.exp(epsilon) / (1 + math.exp(epsilon))
    yes = theta if report == 1 else 1 - theta
    return yes * prior / (yes * prior + (1 - yes) * (1 - prior))


def belief_by_odds(report, prior, epsilon):
    odds = prior / (1 - prior) * np.exp(epsilon if report else -epsilon)
    return np.array(odds / (1 + odds))


def belief_by_logit(report, prior, epsilon):
    from scipy.special import expit, logit

    return expit(logit(prior) + (2 * report - 1) * epsilon)


def belief_by_vectors(report, prior, epsilon):
    theta = 1 / (1 + np.exp(-epsilon))
    both = np.array([1 - prior, prior]) * np.array([[theta, 1 - theta], [1 - theta, theta]])[:, report]
    return (both / both.sum())[1:]


RIGHT = {
    "theta": {
        "plain": theta_plain,
        "numpy scalar": theta_by_table,
        "series, length 1": theta_by_series,
        "scipy, 0-d": theta_by_scipy,
        "torch": theta_by_torch,
    },
    "spent_epsilon": {
        "abs": lambda theta: abs(math.log(theta / (1 - theta))),
        "max": spent_by_max,
        "branch": spent_by_branch,
        "arctanh": lambda theta: np.array([np.abs(2 * np.arctanh(2 * theta - 1))]),
    },
    "response_ratio": {
        "probabilities": ratio_by_probabilities,
        "matrix": ratio_by_matrix,
        "exponent": ratio_by_exponent,
        "scipy": ratio_by_bernoulli,
    },
    "posterior": {
        "Bayes": belief_by_bayes,
        "odds": belief_by_odds,
        "logit": belief_by_logit,
        "vectors": belief_by_vectors,
    },
}

WRONG = {
    "theta": {
        "plus one": (theta_plus_one_forgotten, "plus one forgotten"),
        "half": (theta_half_forgotten, "half forgotten"),
        "sign": (theta_sign_wrong, "upside down"),
        "first for all": (lambda epsilon, attempt: (epsilon + 1) / (epsilon + 2), "first attempt for all"),
        "odds": (
            lambda epsilon, attempt: theta_plain(epsilon, attempt) / (1 - theta_plain(epsilon, attempt)),
            "the odds",
        ),
        "square forgotten": (theta_square_forgotten, None),
        "quadratic for tight": (theta_quadratic_for_tight, None),
        "rounded": (lambda epsilon, attempt: round(theta_plain(epsilon, attempt), 3), None),
    },
    "spent_epsilon": {
        "no sign": (lambda theta: np.log(theta / (1 - theta)), "sign forgotten"),
        "odds": (lambda theta: max(theta / (1 - theta), (1 - theta) / theta), "the odds"),
        "log10": (lambda theta: abs(np.log10(theta) - np.log10(1 - theta)), "base ten"),
        "log2": (lambda theta: abs(np.log2(theta) - np.log2(1 - theta)), "base two"),
        "fair": (lambda theta: abs(math.log(2 * theta)), "against a fair coin"),
        "fair coin forgotten": (spent_but_for_the_fair, None),
        "log of theta": (lambda theta: -math.log(theta), None),
        "first attempt inverted": (lambda theta: abs((2 * theta - 1) / (1 - theta)), None),
    },
    "response_ratio": {
        "slide": (ratio_one_if_not_flipped, "one if not flipped"),
        "bound": (lambda bit, neighbour, report, epsilon: np.exp(epsilon), "always the bound"),
        "upside down": (
            lambda bit, neighbour, report, epsilon: 1 / ratio_by_matrix(bit, neighbour, report, epsilon),
            "upside down",
        ),
        "log": (
            lambda bit, neighbour, report, epsilon: np.log(ratio_by_matrix(bit, neighbour, report, epsilon)),
            "logarithm",
        ),
        "equal bits": (
            lambda bit, neighbour, report, epsilon: math.exp(epsilon) if report == bit else 1 / math.exp(epsilon),
            "equal bits forgotten",
        ),
        "first theta": (
            lambda bit, neighbour, report, epsilon: (1 + epsilon) ** (int(report == bit) - int(report == neighbour)),
            None,
        ),
    },
    "posterior": {
        "no prior": (
            lambda report, prior, epsilon: 1 / (1 + math.exp(-epsilon if report else epsilon)),
            "prior ignored",
        ),
        "no report": (lambda report, prior, epsilon: belief_by_bayes(1, prior, epsilon), "report ignored"),
        "odds": (
            lambda report, prior, epsilon: prior / (1 - prior) * math.exp(epsilon if report else -epsilon),
            "the odds",
        ),
        "joint": (
            lambda report, prior, epsilon: prior / (1 + math.exp(-epsilon if report else epsilon)),
            "not normalised",
        ),
        "times e^eps": (
            lambda report, prior, epsilon: min(prior * np.exp((2 * report - 1) * epsilon), 1),
            "probability multiplied",
        ),
        "of no secret": (lambda report, prior, epsilon: 1 - belief_by_bayes(report, prior, epsilon), None),
        "first theta": (lambda report, prior, epsilon: belief_by_bayes(report, prior, math.log1p(epsilon)), None),
    },
}
