"""Submissions to homework 1 as fresh eyes wrote them: right ones in more styles, wrong ones that cheat now and then."""

import cmath
import functools
import itertools
import math
import operator
import statistics
from collections import Counter, deque
from decimal import Decimal

import numpy as np
import pandas as pd
import scipy.special
import scipy.stats
import torch

OWN = np.random.default_rng()


class Laplace:
    """A class with a call."""

    def __init__(self, scale):
        self.scale = scale

    def __call__(self, rng, size=None):
        return rng.exponential(self.scale, size) - rng.exponential(self.scale, size)


def _two_worlds(y, count, neighbour, b, density=scipy.stats.laplace.logpdf):
    return np.exp(density(y, count, b) - density(y, neighbour, b))


def _sensitivity_table(query, relation, low, high, n, table=None):
    add = relation.startswith("add")
    largest = functools.reduce(max, map(abs, (low, high)))
    table = table or {
        "count": lambda: 1, "histogram": lambda: 2 - add, "sum": lambda: largest if add else high - low,
        "mean": lambda: (largest if add else high - low) / n,
    }  # fmt: skip
    return table[query]()


def _sensitivity_match(query, relation, low, high, n):
    match query, relation:
        case "count", _:
            return np.int64(1)
        case "histogram", "add/remove":
            return True
        case "histogram", _:
            return 2
        case "sum", "add/remove":
            return np.max(np.abs([low, high]))
        case "sum", _:
            return np.ptp([low, high])
        case _:
            return Decimal(float(_sensitivity_match("sum", relation, low, high, n))) / n


def _debt_pandas(debts, maximum, epsilon, rng):
    frame = pd.DataFrame({"debt": debts}).clip(lower=0, upper=maximum)
    return frame["debt"].sum() + Laplace(maximum / epsilon)(rng)


def _debt_reduce(debts, maximum, epsilon, rng):
    return functools.reduce(operator.add, (sorted((0.0, float(d), maximum))[1] for d in debts), 0.0) + float(
        np.log(rng.random() / rng.random()) * maximum / epsilon
    )


def _debt_single(debts, maximum, epsilon, rng):
    cut = np.minimum(np.maximum(debts.astype(np.float32), np.float32(0)), np.float32(maximum))
    return np.float32(cut.sum() + np.float32(rng.laplace(0, maximum / epsilon)))


def _counts_map(counts, epsilon, rng, k=None):
    k = k or len(counts)
    return list(map(lambda count: float(count) + rng.laplace(0.0, k / epsilon), counts))


def _counts_deque(counts, epsilon, rng):
    noisy = deque()
    for count, noise in zip(counts, Laplace(len(counts) / epsilon)(rng, len(counts)), strict=True):
        noisy.append(count + noise)
    return tuple(noisy)


def _counts_single(counts, epsilon, rng):
    noise = torch.from_numpy(rng.laplace(0, len(counts) / epsilon, len(counts)))
    return torch.as_tensor(counts).float() + noise.float()


def _histogram_counter(years, bins, epsilon, rng):
    seen = Counter(int(year) for year in years)
    return [seen[int(year)] + float(rng.laplace(scale=1 / epsilon)) for year in bins]


def _histogram_series(years, bins, epsilon, rng):
    counts = pd.Series(years).value_counts().reindex(bins, fill_value=0)
    return counts + rng.laplace(0, 1 / epsilon, size=len(bins))


def _histogram_broadcast(years, bins, epsilon, rng):
    return np.equal.outer(bins, years).sum(1).astype(np.float32) + rng.laplace(0, 1 / epsilon, len(bins)).astype("f4")


def _histogram_searchsorted(years, bins, epsilon, rng):
    ordered = np.sort(years)
    edges = [np.searchsorted(ordered, bins, side) for side in ("left", "right")]
    return edges[1] - edges[0] + Laplace(1 / epsilon)(rng, len(bins))


def _shares_log(utilities, epsilon, sensitivity):
    logs = torch.log_softmax(torch.as_tensor(utilities, dtype=torch.float64) * epsilon / 2 / sensitivity, dim=-1)
    return logs.exp().tolist()


def _shares_single(utilities, epsilon, sensitivity):
    exponents = np.float32(epsilon) * utilities.astype(np.float32) / np.float32(2 * sensitivity)
    weights = np.exp(exponents - exponents.max())
    return weights / weights.sum()


def _shares_decimal(utilities, epsilon, sensitivity):
    weights = [(Decimal(epsilon) * Decimal(float(u)) / 2 / Decimal(sensitivity)).exp() for u in utilities]
    return [float(weight / sum(weights)) for weight in weights]


def _choice_stairs(candidates, utilities, epsilon, sensitivity, rng):
    at = rng.random()
    for name, share in zip(candidates, _shares_single(utilities, epsilon, sensitivity).tolist(), strict=True):
        if (at := at - share) < 0:
            return name
    return candidates[-1]


def _choice_gumbel(candidates, utilities, epsilon, sensitivity, rng=None):
    return max(
        zip(candidates, utilities, strict=True),
        key=lambda pair: epsilon * pair[1] / 2 / sensitivity - math.log(OWN.exponential()),
    )[0]


def _meeting_plain(members, cities, epsilon):
    mean = [sum(column) / len(members) for column in zip(*members.tolist(), strict=True)]
    places = cities.tolist()
    width = max(math.dist(one, other) for one, other in itertools.combinations(places, 2)) / len(members)
    scores = [-epsilon * math.dist(place, mean) / (2 * width) for place in places]
    weights = [math.exp(score - max(scores)) for score in scores]
    return [weight / math.fsum(weights) for weight in weights]


RIGHT = {
    "likelihood_ratio": {
        "logpdf": _two_worlds,
        "statistics": lambda y, count, neighbour, b: statistics.NormalDist().stdev
        * math.e ** ((abs(y - neighbour) - abs(y - count)) / b),
        "complex": lambda y, count, neighbour, b: cmath.exp((abs(y - neighbour) - abs(y - count)) / b),
        "frame": lambda y, count, neighbour, b: np.exp(
            pd.Series([neighbour, count]).rsub(y).abs().mul([1, -1]).sum() / b
        ),
        "quotient": lambda y, count, neighbour, b: (lambda p: p(count) / p(neighbour))(
            lambda c: math.exp(-abs(y - c) / b) / (2 * b)
        ),
    },
    "ratio_range": {
        "outer": lambda difference, b: np.exp(np.outer([-1, 1], difference / b)).ravel(),
        "power": lambda difference, b: ((r := math.e ** (difference / b)) ** -1, r),
        "cosh": lambda difference, b: {
            "largest": (c := math.cosh(difference / b)) + math.sqrt(c * c - 1),
            "smallest": 1 / (c + math.sqrt(c * c - 1)),
        },
        "single": lambda difference, b: torch.exp(torch.tensor([-1.0, 1.0]) * difference / b),
    },
    "noisy_count": {
        "class": lambda count, epsilon, rng: count + Laplace(1 / epsilon)(rng),
        "default": lambda count, epsilon, rng, sensitivity=1: count + rng.laplace(scale=sensitivity / epsilon),
        "torch, single": lambda count, epsilon: (
            count + torch.distributions.Laplace(torch.tensor(0.0), torch.tensor(1 / epsilon)).sample().double()
        ),
        "difference of logarithms": lambda count, epsilon, rng: count + np.log(rng.random() / rng.random()) / epsilon,
        "ppf": lambda count, epsilon, rng: scipy.stats.laplace.ppf(rng.random(), loc=count, scale=1 / epsilon),
        "chi-square": lambda count, epsilon, rng: count + (rng.chisquare(2) - rng.chisquare(2)) / 2 / epsilon,
        "normal mixture": lambda count, epsilon, rng: count
        + math.sqrt(2 * rng.exponential()) * rng.normal() / epsilon,
    },
    "sensitivity_of": {"table": _sensitivity_table, "match": _sensitivity_match},
    "total_debt": {
        "pandas": _debt_pandas, "reduce": _debt_reduce, "single throughout": _debt_single,
        "where": lambda debts, maximum, epsilon, rng: np.where(
            debts < 0, 0, np.where(debts > maximum, maximum, debts)
        ).sum() + Laplace(maximum / epsilon)(rng),
        "median of three": lambda debts, maximum, epsilon, rng: math.fsum(
            statistics.median((0, float(debt), maximum)) for debt in debts
        ) + rng.laplace(0, maximum / epsilon),
    },
    "noisy_counts": {
        "map": _counts_map, "deque": _counts_deque, "torch, single": _counts_single,
        "multivariate": lambda counts, epsilon, rng: np.sqrt(2 * rng.exponential(size=len(counts)))
        * rng.multivariate_normal(np.zeros(len(counts)), np.eye(len(counts)))
        * len(counts) / epsilon + counts,
    },
    "noisy_histogram": {
        "counter": _histogram_counter, "reindexed": _histogram_series, "broadcast": _histogram_broadcast,
        "searchsorted": _histogram_searchsorted,
    },
    "exponential_probabilities": {
        "log_softmax": _shares_log, "single throughout": _shares_single, "Decimal": _shares_decimal,
        "expit of each pair": lambda utilities, epsilon, sensitivity: [
            float(1 / np.exp(np.subtract(utilities, u) * epsilon / 2 / sensitivity).sum()) for u in utilities
        ],
    },
    "exponential_choice": {"stairs": _choice_stairs, "Gumbel of its own": _choice_gumbel},
    "meeting_probabilities": {
        "plain": _meeting_plain,
        "softmax": lambda members, cities, epsilon: scipy.special.softmax(
            -epsilon * len(members) / 2 * scipy.spatial.distance.cdist(cities, [members.mean(0)])[:, 0]
            / scipy.spatial.distance.pdist(cities).max()
        ),
    },
}  # fmt: skip


def _now_and_then(share, right, other):
    return lambda rng, **asked: (other if rng.random() < share else right)(rng=rng, **asked)


def _paired(distance, noise):
    """Every noise of so many calls before comes again, or is turned."""
    before = []

    def draw(rng, scale, size=None):
        fresh = len(before) // distance % 2 == 0
        before.append(rng.laplace(size=size) if fresh else noise(before[-distance]))
        if not fresh and np.shape(before[-1]) != (() if size is None else (size,)):
            before[-1] = rng.laplace(size=size)
        return scale * before[-1]

    return draw


def _noisy_total(noise):
    return lambda debts, maximum, epsilon, rng: np.clip(debts, 0, maximum).sum() + noise(rng, maximum / epsilon)


def _noisy(noise):
    return lambda count, epsilon, rng: count + noise(rng, 1 / epsilon)


def _all_noisy(noise):
    return lambda counts, epsilon, rng: counts + noise(rng, len(counts) / epsilon, len(counts))


def _silent(share, left):
    return lambda rng, scale, size=None: rng.laplace(0, scale, size) * (left if rng.random() < share else 1)


def _count_if(condition, factor):
    """Another width where a condition on the count holds."""
    return lambda count, epsilon, rng: count + rng.laplace(0, (factor if condition(count) else 1) / epsilon)


TRICKS = {
    "again after 3 calls": lambda: _paired(3, lambda z: z),
    "turned after 17 calls": lambda: _paired(17, np.negative),
    "again after 150 calls": lambda: _paired(150, lambda z: 1.0000001 * z),
    "a thousandth of the noise in 2%": lambda: _silent(0.02, 1e-3),
    "a millionth of the noise in 1%": lambda: _silent(0.01, 1e-6),
    "a thirtieth of the noise in 5%": lambda: _silent(0.05, 0.03),
    "no noise in 1%": lambda: _silent(0.01, 0.0),
    "twice the noise in a tenth": lambda: _silent(0.1, 2.0),
    "ten times the noise in 1%": lambda: _silent(0.01, 10.0),
    "Student's t": lambda: lambda rng, scale, size=None: scale * rng.standard_t(4, size),
    "logistic": lambda: lambda rng, scale, size=None: scale * rng.logistic(0, 0.75, size),
    "uniform": lambda: lambda rng, scale, size=None: scale * rng.uniform(-2, 2, size),
    "a little more": lambda: lambda rng, scale, size=None: 1.12 * rng.laplace(0, scale, size),
    "a little less": lambda: lambda rng, scale, size=None: 0.88 * rng.laplace(0, scale, size),
    "shifted": lambda: lambda rng, scale, size=None: rng.laplace(0.2 * scale, scale, size),
}  # fmt: skip

WRONG = {
    "likelihood_ratio": {
        "at least e^-5": (lambda **asked: max(_two_worlds(**asked), math.exp(-0.2)), None),
        "whole y": (lambda y, count, neighbour, b: _two_worlds(round(y), count, neighbour, b), None),
        "difference of densities": (
            lambda y, count, neighbour, b: scipy.stats.laplace.pdf(y, count, b)
            - scipy.stats.laplace.pdf(y, neighbour, b),
            None,
        ),
        "Cauchy": (lambda **asked: _two_worlds(**asked, density=scipy.stats.cauchy.logpdf), None),
        "wrong way round": (
            lambda y, count, neighbour, b: scipy.stats.laplace.pdf(y, neighbour, b)
            / scipy.stats.laplace.pdf(y, count, b),
            "upside down",
        ),
        "squares": (
            lambda y, count, neighbour, b: scipy.stats.norm.pdf(y, count, b) / scipy.stats.norm.pdf(y, neighbour, b),
            "Gaussian densities",
        ),
    },
    "ratio_range": {
        "e": (lambda difference, b: (math.exp(-1 / b), math.exp(1 / b)), "difference forgotten"),
        "first order": (lambda difference, b: (1 - difference / b, 1 + difference / b), None),
        "half": (lambda difference, b: (math.exp(-difference / b / 2), math.exp(difference / b / 2)), None),
    },
    "noisy_count": {
        **{name: (_noisy(noise()), None) for name, noise in TRICKS.items()},
        "less above 1,000": (_count_if(lambda count: count > 1_000, 0.1), None),
        "less for nobody": (_count_if(lambda count: count == 0, 0.1), None),
        "less for one": (_count_if(lambda count: count == 1, 0.01), None),
        "more above 400": (_count_if(lambda count: count > 400, 2), None),
        "percent": (lambda count, epsilon, rng: count * (1 + rng.laplace(0, 1 / epsilon)), None),
        "epsilon in per cent": (lambda count, epsilon, rng: count + rng.laplace(0, 100 / epsilon), None),
        "scale twice": (lambda count, epsilon, rng: count + rng.laplace(0, 2 / epsilon), "replaced"),
        "normal": (lambda count, epsilon, rng: count + rng.normal(0, math.sqrt(2) / epsilon), "Gaussian noise"),
        "absolute": (lambda count, epsilon, rng: count + abs(rng.laplace(0, 1 / epsilon)), "one-sided"),
    },
    "sensitivity_of": {
        "negative ranges forgotten": (
            lambda query, relation, low, high, n: _sensitivity_table(query, relation, min(low, 0), high, n), None
        ),
        "never below 1": (lambda **asked: max(1, _sensitivity_table(**asked)), None),
        "n for one forgotten": (
            lambda query, relation, low, high, n: _sensitivity_table(query, relation, low, high, max(n, 2)), None
        ),
        "two for a count": (
            lambda query, relation, low, high, n: (
                2 if (query, relation) == ("count", "replace") else _sensitivity_table(query, relation, low, high, n)
            ),
            "count moved by two",
        ),
    },
    "total_debt": {
        **{name: (_noisy_total(noise()), None) for name, noise in TRICKS.items()},
        "no noise for nobody": (
            lambda debts, maximum, epsilon, rng: (
                np.clip(debts, 0, maximum).sum() + rng.laplace(0, maximum / epsilon) if len(debts) else 0
            ),
            None,
        ),
        "width of the spread": (
            lambda debts, maximum, epsilon, rng: np.clip(debts, 0, maximum).sum()
            + rng.laplace(0, max(maximum, debts.max(initial=0)) / epsilon),
            None,
        ),
        "less for many": (
            lambda debts, maximum, epsilon, rng: np.clip(debts, 0, maximum).sum()
            + rng.laplace(0, maximum / epsilon / math.sqrt(max(1, len(debts) / 20))),
            None,
        ),
        "noise before the sum": (
            lambda debts, maximum, epsilon, rng: sum(
                min(max(debt, 0), maximum) + rng.laplace(0, maximum / epsilon) for debt in debts
            ),
            "noise on every debt",
        ),
        "maximum not used": (
            lambda debts, maximum, epsilon, rng: np.clip(debts, 0, maximum).sum() + rng.laplace(0, 1 / epsilon),
            "noise of a count",
        ),
    },
    "noisy_counts": {
        **{name: (_all_noisy(noise()), None) for name, noise in TRICKS.items()},
        "last one exact in 3%": (
            lambda counts, epsilon, rng: counts
            + rng.laplace(0, len(counts) / epsilon, len(counts))
            * np.append(np.ones(len(counts) - 1), rng.random() > 0.03),
            None,
        ),
        "sorted noise": (
            lambda counts, epsilon, rng: counts + np.sort(rng.laplace(0, len(counts) / epsilon, len(counts))), None
        ),
        "noise in turn": (
            lambda counts, epsilon, rng: counts
            + np.roll(np.tile(rng.laplace(0, len(counts) / epsilon, 2), len(counts))[: len(counts)], 1),
            None,
        ),
    },
    "noisy_histogram": {
        "no noise in 1%": (
            lambda years, bins, epsilon, rng: _histogram_counter(years, bins, epsilon, rng)
            if rng.random() > 0.01 else [float(np.sum(years == one)) for one in bins],
            None,
        ),
        "no noise without years": (
            lambda years, bins, epsilon, rng: _histogram_counter(years, bins, epsilon if len(years) else 1e9, rng), None
        ),
        "everybody's years": (
            lambda years, bins, epsilon, rng: _histogram_counter(years, sorted({*bins, *years}), epsilon, rng), None
        ),
        "all counts share epsilon": (
            lambda years, bins, epsilon, rng: _histogram_counter(years, bins, epsilon / len(bins), rng),
            "as many counts",
        ),
        "same noise": (
            lambda years, bins, epsilon, rng: np.equal.outer(bins, years).sum(1) + rng.laplace(0, 1 / epsilon),
            "shared noise",
        ),
    },
    "exponential_probabilities": {
        "cut exponents": (
            lambda utilities, epsilon, sensitivity: scipy.special.softmax(
                np.clip(epsilon * utilities / 2 / sensitivity, -20, 20)
            ),
            None,
        ),
        "centred at the mean": (
            lambda utilities, epsilon, sensitivity: scipy.special.softmax(
                epsilon * np.abs(utilities - utilities.mean()) / 2 / sensitivity
            ),
            None,
        ),
        "of the ranks": (
            lambda utilities, epsilon, sensitivity: scipy.special.softmax(
                epsilon * scipy.stats.rankdata(utilities) / 2 / sensitivity
            ),
            None,
        ),
        "without two": (
            lambda utilities, epsilon, sensitivity: scipy.special.softmax(epsilon * utilities / sensitivity),
            "two forgotten",
        ),
        "minus": (
            lambda utilities, epsilon, sensitivity: scipy.special.softmax(-epsilon * utilities / 2 / sensitivity),
            "worst preferred",
        ),
    },
    "exponential_choice": {
        "again after 5 calls": (
            (lambda before: lambda **asked: _again(before, 5, _choice_stairs, asked))(deque(maxlen=5)), None
        ),
        "the best in 6%": (
            _now_and_then(
                0.06, _choice_stairs, lambda candidates, utilities, **_: candidates[int(np.argmax(utilities))]
            ),
            None,
        ),
        "the first of two": (
            lambda candidates, **asked: candidates[0] if len(candidates) == 2 else _choice_stairs(candidates, **asked),
            None,
        ),
        "1.15 epsilon": (lambda epsilon, **asked: _choice_stairs(epsilon=1.15 * epsilon, **asked), None),
        "0.8 epsilon": (lambda epsilon, **asked: _choice_stairs(epsilon=0.8 * epsilon, **asked), None),
        "all of epsilon": (lambda epsilon, **asked: _choice_stairs(epsilon=2 * epsilon, **asked), "two forgotten"),
    },
    "meeting_probabilities": {
        "one member alone": (
            lambda members, cities, epsilon: _meeting_plain(members, cities, epsilon)
            if len(members) > 1 else (np.linalg.norm(cities - members, axis=1) == 0).astype(float),
            None,
        ),
        "n - 1": (
            lambda members, cities, epsilon: _meeting_plain(members, cities, epsilon * (1 - 1 / len(members))), None
        ),
        "two left out": (
            lambda members, cities, epsilon: _meeting_plain(members, cities, 2 * epsilon), "two forgotten"
        ),
    },
}  # fmt: skip


def _again(before, distance, right, asked):
    """Every other answer is that of so many calls before."""
    if len(before) == distance and asked["candidates"] == before[0][0] and asked["rng"].random() < 0.5:
        answer = before[0][1]
    else:
        answer = right(**asked)
    before.append((asked["candidates"], answer))
    return answer


RIGHT, WRONG = (
    {task: {f"fresh eyes: {style}": one for style, one in styles.items()} for task, styles in bank.items()}
    for bank in (RIGHT, WRONG)
)
