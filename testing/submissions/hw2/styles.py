"""Submissions to homework 2 in other styles: single precision, Decimal, Fraction, pandas, torch, other algebra."""

import math
import random
from decimal import Decimal
from fractions import Fraction

import numpy as np

ODDS = {"first": lambda e: 1 + e, "quadratic": lambda e: 1 + e + e * e / 2}


def theta_decimal(epsilon, attempt):
    e = Decimal(epsilon)
    odds = ODDS[attempt](e) if attempt in ODDS else e.exp()
    return odds / (1 + odds)


def theta_fraction(epsilon, attempt):
    e = Fraction(epsilon)
    odds = ODDS[attempt](e) if attempt in ODDS else Fraction(math.exp(epsilon))
    return odds / (1 + odds)


def theta_single(epsilon, attempt):
    e = np.float32(epsilon)
    odds = ODDS[attempt](e) if attempt in ODDS else np.exp(e)
    return np.float32(odds / (np.float32(1) + odds))


def theta_tanh(epsilon, attempt):
    if attempt == "tight":
        return (1 + math.tanh(epsilon / 2)) / 2
    return 1 - 1 / (2 + epsilon + (epsilon**2 / 2 if attempt == "quadratic" else 0))


def theta_pandas(epsilon, attempt):
    import pandas as pd

    odds = pd.Series({"first": 1 + epsilon, "quadratic": 1 + epsilon + epsilon**2 / 2, "tight": math.exp(epsilon)})
    return (odds / (odds + 1))[[attempt]]


def spent_torch(theta):
    import torch

    return torch.logit(torch.tensor(theta, dtype=torch.float64)).abs()


def spent_matrix(theta):
    table = np.log([[theta, 1 - theta], [1 - theta, theta]])
    return np.ptp(table, axis=0).max()


def ratio_torch(bit, neighbour, report, epsilon):
    import torch

    keep = torch.sigmoid(torch.tensor(epsilon, dtype=torch.float32))
    return (keep if report == bit else 1 - keep) / (keep if report == neighbour else 1 - keep)


def ratio_decimal(bit, neighbour, report, epsilon):
    theta = 1 / (1 + (-Decimal(epsilon)).exp())
    return (theta if report == bit else 1 - theta) / (theta if report == neighbour else 1 - theta)


def ratio_pandas(bit, neighbour, report, epsilon):
    import pandas as pd

    table = pd.DataFrame([[math.exp(epsilon), 1.0], [1.0, math.exp(epsilon)]])
    return table.loc[bit, report] / table.loc[neighbour, report]


def ratio_four_cases(bit, neighbour, report, epsilon):
    if bit == neighbour:
        return Fraction(1)
    return math.e**epsilon if bit == report else math.e**-epsilon


def belief_fraction(report, prior, epsilon):
    prior, factor = Fraction(prior), Fraction(math.exp(epsilon))
    yes = prior * (factor if report else 1)
    return yes / (yes + (1 - prior) * (1 if report else factor))


def belief_single(report, prior, epsilon):
    prior, theta = np.float32(prior), np.float32(1) / (np.float32(1) + np.exp(np.float32(-epsilon)))
    yes = theta if report else np.float32(1) - theta
    return prior * yes / (prior * yes + (1 - prior) * (1 - yes))


def belief_torch(report, prior, epsilon):
    import torch

    sign = 1 if report else -1
    return torch.sigmoid(torch.logit(torch.tensor([prior], dtype=torch.float64)) + sign * epsilon)


def belief_pandas(report, prior, epsilon):
    import pandas as pd

    theta = 1 / (1 + math.exp(-epsilon))
    both = pd.Series([1 - prior, prior]) * pd.Series([1 - theta, theta] if report else [theta, 1 - theta])
    return (both / both.sum())[1]


def response_logistic(bit, epsilon, rng):
    """A standard logistic number lies below epsilon with probability theta."""
    return bit if rng.logistic() < epsilon else 1 - bit


def response_single(bit, epsilon, rng):
    keep = rng.random(dtype=np.float32) < np.float32(1) / (np.float32(1) + np.exp(np.float32(-epsilon)))
    return np.where(keep, bit, 1 - bit)


def response_race(bit, epsilon, rng):
    """Two exponential clocks; that of the truth is e^epsilon times as fast."""
    return bit if rng.exponential() < rng.exponential() * math.exp(epsilon) else (bit + 1) % 2


def response_fraction(bit, epsilon):
    return bit if Fraction(random.random()) < Fraction(1 / (1 + math.exp(-epsilon))) else 1 - bit


def kary_gumbel(category, k, epsilon, rng):
    return np.argmax(epsilon * (np.arange(k) == category) + rng.gumbel(size=k))


def kary_race(category, k, epsilon, rng):
    speeds = np.where(np.arange(k) == category, np.exp(epsilon), 1)
    return [int(np.argmin(rng.exponential(size=k) / speeds))]


def kary_mixture(category, k, epsilon):
    """With probability k/(e^eps + k - 1) any category, else the truth."""
    return random.randrange(k) if random.random() < k / (math.exp(epsilon) + k - 1) else category


def kary_single(category, k, epsilon, rng):
    weights = np.ones(k, dtype=np.float32)
    weights[category] = np.exp(np.float32(epsilon))
    return (np.cumsum(weights) < rng.random(dtype=np.float32) * weights.sum()).sum()


def laplace_single(skipped, epsilon, rng):
    return np.float32(np.clip(skipped, 0, 15) + rng.laplace(0, 15 / epsilon))


def laplace_decimal(skipped, epsilon):
    own = min(max(Decimal(skipped), Decimal(0)), Decimal(15))
    return own + Decimal(random.choice((-1, 1)) * random.expovariate(epsilon / 15))


def laplace_gamma(skipped, epsilon, rng):
    one, other = rng.gamma(1.0, 15 / epsilon, 2)
    return [sorted((0, skipped, 15))[1] + one - other]


def laplace_log_ratio(skipped, epsilon, rng):
    """The logarithm of the ratio of two uniform numbers."""
    return min(15, max(0, skipped)) + 15 / epsilon * math.log((1 - rng.random()) / (1 - rng.random()))


def share_pandas(reports, epsilon):
    import pandas as pd

    theta, series = 1 / (1 + math.exp(-epsilon)), pd.Series(reports)
    errors = pd.Series([theta * (1 - theta) / series.size]) ** 0.5 / (2 * theta - 1)
    return (series.mean() - 1 + theta) / (2 * theta - 1), errors


def share_torch(reports, epsilon):
    import torch

    theta = torch.sigmoid(torch.tensor(epsilon))
    yes = torch.tensor(reports, dtype=torch.float32).mean()
    return torch.stack([(yes - 1 + theta), (theta * (1 - theta) / len(reports)).sqrt()]) / (2 * theta - 1)


def share_decimal(reports, epsilon):
    e = Decimal(epsilon).exp()
    yes = Decimal(int(reports.sum())) / len(reports)
    return {"share": (yes * (e + 1) - 1) / (e - 1), "standard_error": (e / len(reports)).sqrt() / (e - 1)}


def share_loop(reports, epsilon):
    total = 0.0
    for report in reports.tolist():
        total += 1 / (1 - math.exp(-epsilon)) if report else -1 / (math.exp(epsilon) - 1)
    return [total / len(reports), math.exp(epsilon / 2) / (math.exp(epsilon) - 1) / math.sqrt(len(reports))]


def needed_decimal(error, epsilon):
    e, error = Decimal(epsilon).exp(), Decimal(error)
    local = e / ((e - 1) * error) ** 2
    return [
        -(-local // 1) if local % 1 == 0 else local // 1 + 1,
        (Decimal(2).sqrt() / Decimal(epsilon) / error) // 1 + 1,
    ]


def needed_torch(error, epsilon):
    import torch

    theta = torch.sigmoid(torch.tensor(epsilon, dtype=torch.float64))
    local = theta * (1 - theta) / ((2 * theta - 1) * error) ** 2
    return torch.stack([local.ceil(), torch.tensor(math.sqrt(2) / epsilon / error, dtype=torch.float64).ceil()])


def needed_floor_division(error, epsilon):
    local = math.exp(epsilon) / (math.expm1(epsilon) * error) ** 2
    return int(-(-local // 1)), int(-(-math.sqrt(2) // (epsilon * error)))


def needed_counting(error, epsilon):
    single = 1 / (2 * math.sinh(epsilon / 2))
    local = central = 1
    while single / math.sqrt(local) > error:
        local += 1
    while math.sqrt(2) / (epsilon * central) > error:
        central += 1
    return np.float32(local), np.int64(central)


RIGHT = {
    "theta": {
        "Decimal": theta_decimal, "Fraction": theta_fraction, "single": theta_single, "tanh": theta_tanh,
        "pandas": theta_pandas,
    },
    "spent_epsilon": {
        "torch": spent_torch,
        "matrix": spent_matrix,
        "Decimal": lambda theta: abs((Decimal(theta) / (1 - Decimal(theta))).ln()),
        "single": lambda theta: np.abs(np.log(np.float32(theta)) - np.log1p(np.float32(-theta))),
        "Fraction": lambda theta: math.log(max(r := Fraction(theta) / (1 - Fraction(theta)), 1 / r)),
    },
    "response_ratio": {
        "torch, single": ratio_torch, "Decimal": ratio_decimal, "pandas": ratio_pandas, "four cases": ratio_four_cases,
    },
    "posterior": {
        "Fraction": belief_fraction, "single": belief_single, "torch": belief_torch, "pandas": belief_pandas,
    },
    "randomized_response": {
        "logistic": response_logistic, "single": response_single, "race": response_race, "Fraction": response_fraction,
    },
    "kary_response": {"gumbel": kary_gumbel, "race": kary_race, "mixture": kary_mixture, "single": kary_single},
    "local_laplace": {
        "single": laplace_single, "Decimal": laplace_decimal, "gamma": laplace_gamma,
        "log of a ratio": laplace_log_ratio,
    },
    "share_of_class": {
        "pandas": share_pandas, "torch, single": share_torch, "Decimal": share_decimal, "loop": share_loop,
    },
    "students_needed": {
        "Decimal": needed_decimal, "torch": needed_torch, "floor division": needed_floor_division,
        "counting": needed_counting,
    },
}  # fmt: skip

WRONG = {}
