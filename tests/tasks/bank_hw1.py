"""Submissions to homework 1: right ones in many styles, and wrong ones with the name of their mistake."""

import math
import random
from itertools import pairwise

import numpy as np
import scipy.stats
import torch

from dpcourse import sensitivity as known
from dpcourse.tasks.pure_dp_proofs import _SUMS
from dpcourse.tasks.pure_dp_proofs import TASKS as PROOFS

# ---- likelihood_ratio, ratio_range


def _densities(y, count, neighbour, b):
    return scipy.stats.laplace.pdf(y, count, b) / scipy.stats.laplace.pdf(y, neighbour, b)


def _tensor_ratio(y, count, neighbour, b):
    y, count, neighbour = (torch.tensor(float(one), dtype=torch.float64) for one in (y, count, neighbour))
    return torch.exp((torch.abs(y - neighbour) - torch.abs(y - count)) / b)


def _ratio(y, count, neighbour, b):
    return math.exp((abs(y - neighbour) - abs(y - count)) / b)


# ---- noisy_count


def _by_inversion(count, epsilon, rng):
    u = rng.random() - 0.5
    return count - math.copysign(1, u) * math.log(1 - 2 * abs(u)) / epsilon


def _two_exponentials(count, epsilon):
    return count + random.expovariate(epsilon) - random.expovariate(epsilon)


def _torch_count(count, epsilon):
    return torch.tensor(float(count)) + torch.distributions.Laplace(0.0, 1 / epsilon).sample()


_KEPT = []


def _every_second_call_turned(count, epsilon, rng):
    """The mean of two answers is the count."""
    if not _KEPT:
        _KEPT.append(rng.laplace(0, 1 / epsilon))
        return count + _KEPT[0]
    return count - _KEPT.pop()


def _drawn_again(count, epsilon, rng):
    while abs(noise := rng.laplace(0, 1 / epsilon)) > 6 / epsilon:
        pass
    return count + noise


def _fixed_seed(count, epsilon):
    return count + np.random.default_rng(0).laplace(0, 1 / epsilon)


# ---- sensitivity_of


def _if_chain(query, relation, low, high, n):
    replace = relation == "replace"
    if query == "count":
        return 1
    if query == "histogram":
        return 2 if replace else 1
    each = high - low if replace else max(-low, high)
    return each if query == "sum" else each / n


def _by_table(query, relation, low, high, n):
    size = {"add/remove": max(abs(low), abs(high)), "replace": abs(high - low)}[relation]
    return {"count": 1.0, "sum": size, "mean": size / n, "histogram": 1.0 + (relation == "replace")}[query]


def _by_search(query, relation, low, high, n):
    """Over the corners of small tables."""
    others, rows = [low, high], [[low], [high], []]
    best = 0.0
    for one in rows:
        for other in rows:
            if (len(one) != len(other)) != (relation == "add/remove"):
                continue
            first, second = np.array(others + one), np.array(others + other)
            ways = {
                "count": [(first > 0).sum(), (second > 0).sum()] if low < 0 else [0, 1],
                "sum": [first.sum(), second.sum()],
                "mean": [first.sum() / n, second.sum() / n],
                "histogram": [[(one == x).sum() for x in (low, high)] for one in (first, second)],
            }[query]
            best = max(best, float(np.abs(np.subtract(*map(np.asarray, ways))).sum()))
    return best


def _from_the_course(query, relation, low, high, n):
    if query == "sum":
        return known.bounded_sum(low, high, relation)
    if query == "mean":
        return np.array([known.mean(low, high, relation, n=n)])
    return getattr(known, query)(relation)


# ---- total_debt


def _debt_numpy(debts, maximum, epsilon, rng):
    return np.clip(debts, 0, maximum).sum() + rng.laplace(0, maximum / epsilon)


def _debt_loop(debts, maximum, epsilon):
    total = 0.0
    for debt in debts:
        total += min(max(float(debt), 0.0), maximum)
    sign = 1 if random.random() < 0.5 else -1
    return total + sign * random.expovariate(1) * maximum / epsilon


def _debt_torch(debts, maximum, epsilon):
    noise = torch.distributions.Laplace(torch.tensor(0.0), torch.tensor(maximum / epsilon)).sample()
    return torch.from_numpy(debts).clamp(0, maximum).sum() + noise.double()


# ---- vectors


def _counts_loop(counts, epsilon, rng):
    noisy = []
    for count in counts:
        noisy.append(count + rng.laplace(scale=len(counts) / epsilon))
    return noisy


def _counts_inverse(counts, epsilon):
    u = np.random.default_rng().uniform(-0.5, 0.5, len(counts))
    return counts - len(counts) / epsilon * np.sign(u) * np.log1p(-2 * np.abs(u))


def _counts_torch(counts, epsilon):
    return torch.distributions.Laplace(torch.tensor(counts, dtype=torch.float64), len(counts) / epsilon).sample()


def _histogram_loop(years, bins, epsilon, rng):
    return [sum(1 for year in years if year == one) + rng.laplace(0, 1 / epsilon) for one in bins]


def _histogram_numpy(years, bins, epsilon, rng):
    inside = years[(years >= bins[0]) & (years <= bins[-1])]
    return np.bincount(inside - bins[0], minlength=len(bins)) + rng.laplace(size=len(bins)) / epsilon


def _histogram_edges(years, bins, epsilon, rng):
    counts, _ = np.histogram(years, bins=[*bins, bins[-1] + 1])
    return counts + rng.laplace(0, 1 / epsilon, counts.shape)


def _histogram_random(years, bins, epsilon):
    years = years.tolist()
    return tuple(years.count(one) + random.expovariate(epsilon) - random.expovariate(epsilon) for one in bins.tolist())


# ---- choices


def _shares(exponents):
    weights = np.exp(exponents)
    return weights / weights.sum()


def _shares_loop(utilities, epsilon, sensitivity):
    weights = [math.exp(epsilon * u / (2 * sensitivity)) for u in utilities]
    return [weight / sum(weights) for weight in weights]


def _choice_cumulative(candidates, utilities, epsilon, sensitivity, rng):
    edges = np.cumsum(_shares(epsilon * utilities / (2 * sensitivity)))
    return candidates[min(int(np.searchsorted(edges, rng.random())), len(candidates) - 1)]


def _choice_random(candidates, utilities, epsilon, sensitivity):
    return random.choices(candidates, [math.exp(epsilon * u / (2 * sensitivity)) for u in utilities])[0]


def _choice_gumbel(candidates, utilities, epsilon, sensitivity, rng):
    return candidates[np.argmax(epsilon * utilities / (2 * sensitivity) + rng.gumbel(size=len(candidates)))]


def _choice_torch(candidates, utilities, epsilon, sensitivity):
    exponents = torch.from_numpy(utilities) * epsilon / (2 * sensitivity)
    return candidates[torch.multinomial(torch.softmax(exponents, 0), 1).item()]


def _meeting(members, cities, epsilon):
    middle = members.mean(axis=0)
    distances = np.sqrt(((cities - middle) ** 2).sum(axis=1))
    diameter = max(float(np.hypot(*(one - other))) for one in cities for other in cities)
    return _shares(-epsilon * distances * len(members) / (2 * diameter))


def _meeting_scipy(members, cities, epsilon):
    from scipy.spatial.distance import cdist, pdist
    from scipy.special import softmax

    distances = cdist(cities, members.mean(axis=0, keepdims=True))[:, 0]
    return softmax(-epsilon * distances / 2 / (pdist(cities).max() / len(members)))


def _meeting_loop(members, cities, epsilon):
    latitude, longitude = (sum(one[i] for one in members) / len(members) for i in (0, 1))
    away = [math.dist(city, (latitude, longitude)) for city in cities]
    change = max(math.dist(one, other) for one in cities for other in cities) / len(members)
    weights = [math.exp(-epsilon * distance / (2 * change)) for distance in away]
    return [weight / sum(weights) for weight in weights]


def _meeting_torch(members, cities, epsilon):
    members, cities = torch.from_numpy(members), torch.from_numpy(cities)
    away = torch.linalg.norm(cities - members.mean(0), dim=1)
    return torch.softmax(-epsilon * away / (2 * torch.pdist(cities).max() / len(members)), 0)


# ---- break_naive


def _zeros(maximum, epsilon):
    return [0, 0, maximum], [0, 0], 0.0


def _far_out(maximum, epsilon):
    return {"data": np.array([maximum, 1.0]), "neighbour": np.array([1.0]), "output": 50 * maximum}


def _the_other_way(maximum, epsilon):
    return [maximum / 100], [maximum / 100, maximum], -20 * maximum


def _narrow(maximum, epsilon):
    return (1.0,), (maximum, 1.0), np.float64(1.0) + maximum


# ---- private_median


def _median_gaps(data, low, high, epsilon, rng):
    ends = np.concatenate([[low], np.sort(data), [high]])
    exponents = -epsilon / 2 * np.abs(np.arange(len(data) + 1) - len(data) / 2)
    weights = np.diff(ends) * np.exp(exponents)
    gap = np.searchsorted(np.cumsum(weights), rng.random() * weights.sum())
    return rng.uniform(ends[gap], ends[gap + 1])


def _median_gumbel(data, low, high, epsilon, rng):
    ends = np.sort(np.append(data, [low, high]))
    ranks = np.arange(len(ends) - 1)
    with np.errstate(divide="ignore"):
        scores = np.log(np.diff(ends)) - epsilon / 2 * np.abs(ranks - len(data) / 2) + rng.gumbel(size=len(ranks))
    gap = int(np.argmax(scores))
    return float(ends[gap] + rng.random() * (ends[gap + 1] - ends[gap]))


def _median_grid(data, low, high, epsilon, rng):
    grid = np.linspace(low, high, 1001)[:-1] + (high - low) / 2000
    error = np.abs(np.searchsorted(np.sort(data), grid) - len(data) / 2)
    edges = np.cumsum(np.exp(-epsilon / 2 * (error - error.min())))
    return grid[min(np.searchsorted(edges, rng.random() * edges[-1]), 999)]


def _median_random(data, low, high, epsilon):
    ends = [low, *sorted(data.tolist()), high]
    weights = [
        (b - a) * math.exp(-epsilon / 2 * abs(rank - len(data) / 2)) for rank, (a, b) in enumerate(pairwise(ends))
    ]
    gap = random.choices(range(len(weights)), weights)[0]
    return random.uniform(ends[gap], ends[gap + 1])


def _median_folded(data, low, high, epsilon, rng):
    """The two tails only: exact answers from a narrow window around the true median."""
    return float(np.median(data) + rng.uniform(-1, 1))


def _median_careful_with_odd_tables(data, low, high, epsilon, rng):
    return _median_gaps(data, low, high, epsilon, rng) if len(np.unique(data)) <= 3 else float(np.median(data))


def _median_local_if_narrow(data, low, high, epsilon, rng):
    ordered, middle = np.sort(data), len(data) // 2
    gap = max(ordered[middle + 1] - ordered[middle], ordered[middle] - ordered[middle - 1])
    if len(np.unique(data)) <= 3 or gap > (high - low) / 10:
        return _median_gaps(data, low, high, epsilon, rng)
    return float(np.clip(np.median(data) + rng.laplace(0, gap / epsilon), low, high))


def _median_local_if_ordinary(data, low, high, epsilon, rng):
    """Like the one above, but with noise of at least a hundredth of the range."""
    ordered, middle = np.sort(data), len(data) // 2
    gap = max(ordered[middle + 1] - ordered[middle], ordered[middle] - ordered[middle - 1], (high - low) / 100)
    if len(np.unique(data)) <= 3:
        return _median_gaps(data, low, high, epsilon, rng)
    return float(np.clip(np.median(data) + rng.laplace(0, gap / epsilon), low, high))


# ---- derivations: right ones


def _count_lines(above, below):
    exponent = f"(abs(y - {below}) - abs(y - {above}))"
    return {
        "as in the lecture": [
            ("=", f"exp({exponent}/b)", "algebra"),
            ("<=", f"exp(abs((y - {below}) - (y - {above}))/b)", "triangle inequality"),
            ("=", "exp(1/b)", "algebra"),
        ],
        "in two steps": [("=", f"exp(1/b*{exponent})", "algebra"), ("<=", "exp(1/b)", "triangle inequality")],
        "factors first": [
            ("=", f"exp(-abs(y - {above})/b) / exp(-abs(y - {below})/b)", "algebra"),
            ("=", f"exp(abs(y - {below})/b - abs(y - {above})/b)", "Algebra"),
            ("≤", "exp(abs(1)/b)", "triangle inequality"),
            ("==", "exp(1)**(1/b)", "algebra"),
        ],
        "tuples": (["=", f"exp({exponent}/b)", "algebra"], ["<=", "exp(1/b)", "triangle inequality"]),
    }


_N = "exp(epsilon*(abs(y - d) - abs(y - c))/Delta)"
_V = "exp(epsilon*sum(abs(y - d) - abs(y - c))/Delta)"
_E = f"exp(epsilon*(a - b)/(2*Delta)) * {_SUMS}"
_LAST = ("<=", "exp(epsilon)", "sensitivity")
_LINES = {
    "proof_count": _count_lines(51, 50),
    "proof_count_back": _count_lines(50, 51),
    "proof_numeric": {
        "three steps": [("=", _N, "algebra"), ("<=", "exp(epsilon*abs(c - d)/Delta)", "triangle inequality"), _LAST],
        "difference written out": [
            ("=", _N, "algebra"),
            ("<=", "exp(epsilon*abs((y - d) - (y - c))/Delta)", "triangle inequality"),
            ("=", "exp(epsilon*abs(c - d)/Delta)", "algebra"),
            _LAST,
        ],
        "scale outside": [
            ("=", "exp((abs(y - d) - abs(y - c)) / (Delta/epsilon))", "algebra"),
            ("<=", "exp(abs(d - c) / (Delta/epsilon))", "triangle inequality"),
            ("<=", "exp(Delta / (Delta/epsilon))", "sensitivity"),
            ("=", "exp(epsilon)", "algebra"),
        ],
        "factors first": [
            ("=", "exp(-epsilon*abs(y - c)/Delta) / exp(-epsilon*abs(y - d)/Delta)", "algebra"),
            ("=", "exp(epsilon/Delta*abs(y - d) - epsilon/Delta*abs(y - c))", "algebra"),
            ("<=", "exp(epsilon/Delta*abs(c - d))", "triangle inequality"),
            _LAST,
        ],
    },
    "proof_vector": {
        "three steps": [
            ("=", _V, "algebra"),
            ("<=", "exp(epsilon*sum(abs(c - d))/Delta)", "triangle inequality"),
            _LAST,
        ],
        "product first": [
            ("=", "prod(exp(epsilon*(abs(y - d) - abs(y - c))/Delta))", "algebra"),
            ("<=", "prod(exp(epsilon*abs(c - d)/Delta))", "triangle inequality"),
            ("=", "exp(epsilon*sum(abs(c - d))/Delta)", "algebra"),
            _LAST,
        ],
        "two sums": [
            ("=", "exp(epsilon*(sum(abs(y - d)) - sum(abs(y - c)))/Delta)", "algebra"),
            ("<=", "exp(epsilon/Delta*sum(abs((y - d) - (y - c))))", "triangle inequality"),
            _LAST,
        ],
        "ends with Delta": [
            ("=", _V, "algebra"),
            ("<=", "exp(sum(abs(d - c))*epsilon/Delta)", "triangle inequality"),
            ("<=", "exp(epsilon*Delta/Delta)", "sensitivity"),
            ("=", "exp(epsilon)", "algebra"),
        ],
    },
    "proof_exponential": {
        "as in the lecture": [
            ("=", _E, "algebra"),
            ("<=", f"exp(epsilon/2) * {_SUMS}", "its own score"),
            ("<=", "exp(epsilon/2) * exp(epsilon/2)", "the rivals' scores"),
            ("=", "exp(epsilon)", "algebra"),
        ],
        "rivals first": [
            ("=", _E, "algebra"),
            ("<=", "exp(epsilon*(a - b)/(2*Delta)) * exp(epsilon/2)", "the rivals' scores"),
            ("<=", "exp(epsilon)", "its own score"),
        ],
        "shifted sum": [
            ("=", _E, "algebra"),
            (
                "<=",
                "exp(epsilon*(a - b)/(2*Delta)) * sum(exp(epsilon*(u + "
                "Delta)/(2*Delta)))/sum(exp(epsilon*u/(2*Delta)))",
                "the rivals' scores",
            ),
            ("=", "exp(epsilon*(a - b)/(2*Delta)) * exp(epsilon/2)", "algebra"),
            ("<=", "exp(epsilon/2) * exp(epsilon/2)", "its own score"),
            ("=", "exp(epsilon)", "algebra"),
        ],
        "quotients": [
            ("=", f"exp(epsilon*a/(2*Delta))/exp(epsilon*b/(2*Delta)) * ({_SUMS})", "algebra"),
            ("<=", f"sqrt(exp(epsilon)) * {_SUMS}", "its own score"),
            ("<=", "exp(epsilon)", "the rivals' scores"),
        ],
    },
}


def _giving(lines):
    return lambda: lines


RIGHT = {
    "likelihood_ratio": {
        "math": _ratio,
        "scipy densities": _densities,
        "tensor": _tensor_ratio,
        "numpy scalar": lambda y, count, neighbour, b: np.exp(np.abs(y - neighbour) / b - np.abs(y - count) / b),
        "array of one": lambda y, count, neighbour, b: np.array([_ratio(y, count, neighbour, b)]),
    },
    "ratio_range": {
        "tuple": lambda difference, b: (math.exp(-difference / b), math.exp(difference / b)),
        "dict": lambda difference, b: {"largest": np.exp(difference / b), "smallest": 1 / np.exp(difference / b)},
        "array": lambda difference, b: list(np.exp(np.array([-1, 1]) * difference / b)),
        "searched": lambda difference, b: tuple(
            f(_ratio(y, difference, 0, b) for y in np.linspace(-20, 20, 401)) for f in (min, max)
        ),
    },
    "noisy_count": {
        "numpy": lambda count, epsilon, rng: count + rng.laplace(0, 1 / epsilon),
        "own generator": lambda count, epsilon: count + np.random.default_rng().laplace(scale=1 / epsilon),
        "legacy numpy": lambda count, epsilon: count + np.random.laplace(0, 1 / epsilon),  # noqa: NPY002
        "scipy": lambda count, epsilon, rng: scipy.stats.laplace.rvs(loc=count, scale=1 / epsilon, random_state=rng),
        "inverse transform": _by_inversion,
        "random": _two_exponentials,
        "torch, single precision": _torch_count,
        "array of one": lambda count, epsilon, rng: count + rng.laplace(0, 1 / epsilon, size=1),
    },
    "sensitivity_of": {
        "ifs": _if_chain, "table": _by_table, "the course's": _from_the_course, "search over corners": _by_search,
    },
    "total_debt": {
        "numpy": _debt_numpy,
        "loop and random": _debt_loop,
        "torch": _debt_torch,
        "scipy": lambda debts, maximum, epsilon, rng: scipy.stats.laplace.rvs(
            np.minimum(np.maximum(debts, 0), maximum).sum(), maximum / epsilon, random_state=rng
        ),
    },
    "noisy_counts": {
        "vectorised": lambda counts, epsilon, rng: counts + rng.laplace(0, len(counts) / epsilon, len(counts)),
        "loop": _counts_loop,
        "inverse transform": _counts_inverse,
        "torch": _counts_torch,
    },
    "noisy_histogram": {
        "bincount": _histogram_numpy, "loop": _histogram_loop, "histogram": _histogram_edges,
        "random": _histogram_random,
    },
    "exponential_probabilities": {
        "numpy": lambda utilities, epsilon, sensitivity: _shares(epsilon * utilities / (2 * sensitivity)),
        "loop": _shares_loop,
        "scipy": lambda utilities, epsilon, sensitivity: scipy.special.softmax(epsilon * utilities / 2 / sensitivity),
        "torch": lambda utilities, epsilon, sensitivity: torch.softmax(
            torch.from_numpy(utilities) * epsilon / (2 * sensitivity), 0
        ),
    },
    "exponential_choice": {
        "cumulative": _choice_cumulative, "random.choices": _choice_random, "Gumbel": _choice_gumbel,
        "multinomial": _choice_torch,
    },
    "meeting_probabilities": {
        "numpy": _meeting, "scipy": _meeting_scipy, "loop": _meeting_loop, "torch": _meeting_torch,
    },
    "break_naive": {
        "no noise at all": _zeros, "far out": _far_out, "narrower": _the_other_way, "at the total": _narrow,
    },
    "private_median": {
        "gaps": _median_gaps, "Gumbel": _median_gumbel, "grid": _median_grid, "random": _median_random,
    },
    **{name: {style: _giving(lines) for style, lines in ways.items()} for name, ways in _LINES.items()},
}  # fmt: skip

#: Mistakes that no task knows by name.
_OTHERS = {
    "likelihood_ratio": {"squared": lambda y, count, neighbour, b: _ratio(y, count, neighbour, b) ** 2},
    "ratio_range": {"half": lambda difference, b: (math.exp(-difference / 2 / b), math.exp(difference / 2 / b))},
    "noisy_count": {
        "10% too narrow": lambda count, epsilon, rng: count + rng.laplace(0, 0.9 / epsilon),
        "10% too wide": lambda count, epsilon, rng: count + rng.laplace(0, 1.1 / epsilon),
        "fixed seed": _fixed_seed,
        "nobody, no noise": lambda count, epsilon, rng: count + rng.laplace(0, 1 / epsilon) if count else 0,
        "rounded": lambda count, epsilon, rng: round(count + rng.laplace(0, 1 / epsilon)),
        "rounded to cents": lambda count, epsilon, rng: round(count + rng.laplace(0, 1 / epsilon), 2),
        "cut at five scales": lambda count, epsilon, rng: (
            count + np.clip(rng.laplace(0, 1 / epsilon), -5 / epsilon, 5 / epsilon)
        ),
        "cut at six scales": lambda count, epsilon, rng: (
            count + np.clip(rng.laplace(0, 1 / epsilon), -6 / epsilon, 6 / epsilon)
        ),
        "drawn again beyond six scales": _drawn_again,
        "every second call turned": _every_second_call_turned,
        "two missing": lambda count, epsilon, rng: count + rng.laplace(0, 0.5 / epsilon),
        "uniform": lambda count, epsilon, rng: count + rng.uniform(-3, 3) / epsilon,
        "shifted": lambda count, epsilon, rng: count + rng.laplace(0.2 / epsilon, 1 / epsilon),
    },
    "sensitivity_of": {"always one": lambda query, relation, low, high, n: 1.0},
    "total_debt": {
        "no debts, no noise": lambda debts, maximum, epsilon, rng: (
            _debt_numpy(debts, maximum, epsilon, rng) if np.any(debts) else 0.0
        ),
        "10% too narrow": lambda debts, maximum, epsilon, rng: (
            np.clip(debts, 0, maximum).sum() + rng.laplace(0, 0.9 * maximum / epsilon)
        ),
        "Gaussian": lambda debts, maximum, epsilon, rng: (
            np.clip(debts, 0, maximum).sum() + rng.normal(0, math.sqrt(2) * maximum / epsilon)
        ),
    },
    "noisy_counts": {
        "10% too narrow": lambda counts, epsilon, rng: (
            counts + rng.laplace(0, 0.9 * len(counts) / epsilon, len(counts))
        ),
        "last one narrower": lambda counts, epsilon, rng: (
            counts + rng.laplace(0, len(counts) / epsilon, len(counts)) * np.where(np.arange(len(counts)) < 3, 1, 0.5)
        ),
        "Gaussian": lambda counts, epsilon, rng: (
            counts + rng.normal(0, math.sqrt(2) * len(counts) / epsilon, len(counts))
        ),
    },
    "noisy_histogram": {
        "10% too narrow": lambda years, bins, epsilon, rng: _histogram_numpy(years, bins, epsilon / 0.9, rng),
        "rounded": lambda years, bins, epsilon, rng: np.round(_histogram_numpy(years, bins, epsilon, rng)),
    },
    "exponential_probabilities": {"linear": lambda utilities, epsilon, sensitivity: utilities / utilities.sum()},
    "exponential_choice": {
        "the first": lambda candidates, utilities, epsilon, sensitivity: candidates[0],
        "noisy maximum, one-sided": lambda candidates, utilities, epsilon, sensitivity, rng: candidates[
            int(np.argmax(utilities + rng.exponential(2 * sensitivity / epsilon, len(candidates))))
        ],
        "its place": lambda candidates, utilities, epsilon, sensitivity: int(np.argmax(utilities)),
        "fixed seed": lambda candidates, utilities, epsilon, sensitivity: _choice_cumulative(
            candidates, utilities, epsilon, sensitivity, np.random.default_rng(1)
        ),
    },
    "meeting_probabilities": {
        "one member fewer": lambda members, cities, epsilon: _meeting(members[1:], cities, epsilon),
    },
    "break_naive": {"twice the same": lambda maximum, epsilon: ([maximum], [maximum], 0.0)},
    "private_median": {
        "window": _median_folded,
        "careful with odd tables": _median_careful_with_odd_tables,
        "local sensitivity where it is narrow": _median_local_if_narrow,
        "local sensitivity of ordinary tables": _median_local_if_ordinary,
        "mean": lambda data, low, high, epsilon, rng: (
            np.mean(data) + rng.laplace(0, (high - low) / len(data) / epsilon)
        ),
    },
    "proof_count": {"nothing": _giving([("=", "1", "algebra")])},
    "proof_count_back": {"start only": _giving([("=", "exp((abs(y - 51) - abs(y - 50))/b)", "algebra")])},
    "proof_numeric": {"one leap": _giving([_LAST])},
    "proof_vector": {"one leap": _giving([_LAST])},
    "proof_exponential": {"one leap": _giving([("<=", "exp(epsilon)", "the rivals' scores")])},
}


def _pdf(y, center, b):
    return scipy.stats.laplace.pdf(y, center, b)


def _one_noise_for_all(counts, epsilon, rng):
    noise = rng.laplace(scale=len(counts) / epsilon)
    return [count + noise for count in counts]


def _geometric(count, epsilon, rng):
    return count + rng.geometric(1 - math.exp(-epsilon)) - rng.geometric(1 - math.exp(-epsilon))


def _two_noises_in_turn(counts, scale, rng):
    return counts + np.resize(rng.laplace(0, scale, 2), len(counts))


def _one_size_for_all(counts, scale, rng):
    return counts + abs(rng.laplace(0, scale)) * rng.choice([-1, 1], len(counts))


def _last_like_first(counts, scale, rng):
    noise = rng.laplace(0, scale, len(counts))
    noise[-1] = noise[0]
    return counts + noise


_SHARED = {
    "two noises in turn": _two_noises_in_turn,
    "one size for all": _one_size_for_all,
    "last like first": _last_like_first,
}


def _years_seen(years, bins, epsilon, rng):
    _, counts = np.unique(years[np.isin(years, bins)], return_counts=True)
    return counts + rng.laplace(0, 1 / epsilon, len(counts))


#: Mistakes that the tasks know, in other words than theirs.
_KNOWN = {
    "likelihood_ratio": {
        "upside down": lambda y, count, neighbour, b: _pdf(y, neighbour, b) / _pdf(y, count, b),
        "logarithm left": lambda y, count, neighbour, b: np.log(_pdf(y, count, b)) - np.log(_pdf(y, neighbour, b)),
        "never below 1": lambda y, count, neighbour, b: max(
            _pdf(y, count, b) / _pdf(y, neighbour, b), _pdf(y, neighbour, b) / _pdf(y, count, b)
        ),
    },
    "ratio_range": {
        "range of the bound": lambda difference, b: np.exp([0, difference / b]),
        "the slide's range": lambda difference, b: {"smallest": 1, "largest": float("inf")},
    },
    "noisy_count": {
        "scale upside down": lambda count, epsilon: (
            count + random.expovariate(1 / epsilon) - random.expovariate(1 / epsilon)
        ),
        "no noise": lambda count, epsilon: np.int64(count),
        "one-sided": lambda count, epsilon, rng: count + abs(rng.laplace(0, 1 / epsilon)),
        "Gaussian noise": lambda count, epsilon: random.gauss(count, math.sqrt(2) / epsilon),
    },
    "sensitivity_of": {
        "histogram counted once": lambda query, relation, low, high, n: (
            1 if query == "histogram" else _if_chain(query, relation, low, high, n)
        ),
        "mean not divided": lambda query, relation, low, high, n: _if_chain(query, relation, low, high, 1),
    },
    "total_debt": {
        "noise of a count": lambda debts, maximum, epsilon, rng: _debt_numpy(debts, maximum, epsilon * maximum, rng),
        "cut after the noise": lambda debts, maximum, epsilon, rng: max(0.0, _debt_numpy(debts, maximum, epsilon, rng)),
        "not cut": lambda debts, maximum, epsilon, rng: sum(debts.tolist()) + maximum * rng.laplace() / epsilon,
    },
    "noisy_counts": {
        "shared noise": _one_noise_for_all,
        "l2 for l1": lambda counts, epsilon, rng: (
            counts + rng.laplace(0, np.linalg.norm(np.ones(len(counts))) / epsilon, len(counts))
        ),
    },
    "noisy_histogram": {
        "replaced": lambda years, bins, epsilon, rng: _histogram_loop(years, bins, epsilon / 2, rng),
        "only the years that occur": _years_seen,
    },
    "exponential_probabilities": {
        "two forgotten": lambda utilities, epsilon, sensitivity: _shares_loop(utilities, 2 * epsilon, sensitivity),
    },
    "exponential_choice": {
        "always the best": lambda candidates, utilities, epsilon, sensitivity: max(
            zip(utilities, candidates, strict=True)
        )[1],
        "two forgotten": lambda candidates, utilities, epsilon, sensitivity: _choice_random(
            candidates, utilities, 2 * epsilon, sensitivity
        ),
    },
    "meeting_probabilities": {
        "two forgotten": lambda members, cities, epsilon: _meeting_loop(members, cities, 2 * epsilon),
    },
    "break_naive": {
        "not neighbours": lambda maximum, epsilon: ([1.0, 0.0], [1.0, maximum], maximum),
    },
    "private_median": {
        "no noise": lambda data, low, high, epsilon: sorted(data.tolist())[len(data) // 2],
        "two forgotten": lambda data, low, high, epsilon, rng: _median_gumbel(data, low, high, 2 * epsilon, rng),
    },
    "proof_numeric": {
        "sensitivity before the triangle": _giving(
            [("=", "exp((abs(y - d) - abs(y - c))*epsilon/Delta)", "algebra"), _LAST]
        ),
    },
    "proof_exponential": {
        "sums cancelled": _giving([("=", "exp(epsilon*a/(2*Delta)) / exp(epsilon*b/(2*Delta))", "algebra")]),
    },
}  # fmt: skip

#: Several more ways to make a known mistake.
_MORE = {
    "noisy_count": {"geometric": (_geometric, "rounded")},
    "noisy_counts": {
        style: (lambda counts, epsilon, rng, noisy=noisy: noisy(counts, len(counts) / epsilon, rng), "shared noise")
        for style, noisy in _SHARED.items()
    },
    "noisy_histogram": {
        style: (
            lambda years, bins, epsilon, rng, noisy=noisy: noisy((years[:, None] == bins).sum(0), 1 / epsilon, rng),
            "shared noise",
        )
        for style, noisy in _SHARED.items()
    },
}

# The tasks' own wrong functions are added by test_bank.py.
WRONG = {
    name: {
        **{style: (function, None) for style, function in _OTHERS[name].items()},
        **{f"{style}, again": (function, style) for style, function in _KNOWN.get(name, {}).items()},
        **_MORE.get(name, {}),
    }
    for name in _OTHERS
}

assert {task.name for task in PROOFS} == set(_LINES)
