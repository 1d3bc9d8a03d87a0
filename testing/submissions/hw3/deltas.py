"""Submissions to homework 3: leaks, heavy tails, and what post-processing leaves."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np

from testing.submissions.hw3.shared import PHI, series


def leaks_plain(delta, n, risk):
    return delta, 1 - (1 - delta) ** n, 1 - (1 - risk) ** (1 / n)


def leaks_dict(delta, n, risk):
    return {"rows": -np.expm1(n * np.log1p(-delta)), "largest_delta": -np.expm1(np.log1p(-risk) / n), "table": delta}


def leaks_loop(delta, n, risk):
    nobody = 1.0
    for _ in range(n):
        nobody *= 1 - delta
    return [np.float64(delta), np.array([1 - nobody]), 1 - math.exp(math.log(1 - risk) / n)]


def leaks_binomial(delta, n, risk):
    from scipy.stats import binom

    low, high = 0.0, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if 1 - (1 - middle) ** n <= risk else (low, middle)
    return np.array(delta), binom.sf(0, n, delta), low


def leaks_with(**changed):
    def answer(delta, n, risk):
        return leaks_dict(delta, n, risk) | {part: rule(delta, n, risk) for part, rule in changed.items()}

    return answer


def tail_response(epsilon, delta):
    theta = (delta + math.exp(epsilon)) / (1 + math.exp(epsilon))
    return [theta, 1 - theta], [1 - theta, theta]


def tail_less(epsilon, delta):
    theta = (delta / 2 + np.exp(epsilon)) / (1 + np.exp(epsilon))
    return np.array([theta, 1 - theta]), np.array([1 - theta, theta])


def tail_with_silence(epsilon, delta):
    """Mostly silent, else a response whose loss is a little above epsilon."""
    odds = math.exp(epsilon) * 1.01
    speaks = min(1.0, delta * (1 + odds) / (odds - math.exp(epsilon)))
    p = [1 - speaks, speaks * odds / (1 + odds), speaks / (1 + odds)]
    return {"p": p, "q": [p[0], p[2], p[1]]}


def tail_gaussian_bins(epsilon, delta):
    """A Gaussian in bins, with the smallest sigma that is private."""
    edges = np.linspace(-12, 12, 241)
    low, high = 0.01, 20.0
    for _ in range(60):
        mu = (low + high) / 2
        p = np.diff([PHI(x - mu / 2) for x in edges])
        q = p[::-1]
        p, q = p / p.sum(), q / q.sum()
        low, high = (mu, high) if np.maximum(p - math.exp(epsilon) * q, 0).sum() <= delta * 0.999 else (low, mu)
    p = np.diff([PHI(x - low / 2) for x in edges])
    return p / p.sum(), p[::-1] / p.sum()


def tail_pure(epsilon, delta):
    theta = 1 / (1 + math.exp(-epsilon))
    return (theta, 1 - theta), (1 - theta, theta)


def tail_too_truthful(epsilon, delta):
    theta = min(0.99, math.exp(epsilon) / (1 + math.exp(epsilon)) + delta)
    return (theta, 1 - theta), (1 - theta, theta)


def tail_leak(epsilon, delta):
    return [delta, 0, 1 - delta], [0, delta, 1 - delta]


def tail_one_way(epsilon, delta):
    """Never more than e^eps times likelier under p; the other order is not looked at."""
    return [1, 0], [math.exp(-epsilon), 1 - math.exp(-epsilon)]


def after_numpy(p, q, g, epsilon):
    merged_p, merged_q = np.bincount(g, weights=p), np.bincount(g, weights=q)
    one = np.maximum(merged_p - np.exp(epsilon) * merged_q, 0).sum()
    other = np.maximum(merged_q - np.exp(epsilon) * merged_p, 0).sum()
    return max(one, other)


def after_dicts(p, q, g, epsilon):
    worlds = ({}, {})
    for world, probabilities in zip(worlds, (p, q), strict=True):
        for label, probability in zip(g, probabilities, strict=True):
            world[label] = world.get(label, 0) + probability
    e = math.exp(epsilon)
    one = sum(max(worlds[0][label] - e * worlds[1][label], 0) for label in worlds[0])
    return max(one, sum(max(worlds[1][label] - e * worlds[0][label], 0) for label in worlds[0]))


def after_all_sets(p, q, g, epsilon):
    """The definition itself: the worst of all sets of values."""
    labels, worst = sorted(set(g.tolist())), 0
    for bits in range(2 ** len(labels)):
        chosen = np.isin(g, [label for i, label in enumerate(labels) if bits >> i & 1])
        inside = p[chosen].sum(), q[chosen].sum()
        worst = max(worst, inside[0] - math.exp(epsilon) * inside[1], inside[1] - math.exp(epsilon) * inside[0])
    return np.array([worst])


def after_expectation(p, q, g, epsilon):
    table = (np.asarray(g)[None, :] == np.unique(g)[:, None]).astype(float)
    found = []
    for one, other in ((table @ p, table @ q), (table @ q, table @ p)):
        losses = np.log(one / other)
        found.append(np.sum(one * np.maximum(1 - np.exp(epsilon - losses), 0)))
    return np.asarray(max(found))


def after_positive_first(p, q, g, epsilon):
    one = np.bincount(g, weights=np.maximum(p - np.exp(epsilon) * q, 0)).sum()
    return max(one, np.bincount(g, weights=np.maximum(q - np.exp(epsilon) * p, 0)).sum())


def after_one_way(p, q, g, epsilon):
    return np.maximum(np.bincount(g, weights=p) - np.exp(epsilon) * np.bincount(g, weights=q), 0).sum()


def after_single(p, q, g, epsilon):
    merged_p, merged_q = np.bincount(g, weights=p), np.bincount(g, weights=q)
    return max((merged_p - np.exp(epsilon) * merged_q).max(), (merged_q - np.exp(epsilon) * merged_p).max())


def tail_in_single_precision(epsilon, delta):
    import torch

    worlds = torch.tensor(tail_response(epsilon, delta), dtype=torch.float32)
    return worlds[0], worlds[1]


RIGHT = {
    "leaks": {"plain": leaks_plain, "dict": leaks_dict, "loop": leaks_loop, "scipy": leaks_binomial},
    "heavy_tail": {
        "response": tail_response,
        "half of delta": tail_less,
        "silence": tail_with_silence,
        "Gaussian": tail_gaussian_bins,
        "torch, single": tail_in_single_precision,
    },
    "delta_after": {
        "numpy": after_numpy,
        "dicts": after_dicts,
        "all sets": after_all_sets,
        "expectation": after_expectation,
    },
}

WRONG = {
    "leaks": {
        "n delta": (leaks_with(rows=lambda delta, n, risk: delta * n), "n times delta"),
        "nobody": (leaks_with(rows=lambda delta, n, risk: math.exp(n * math.log1p(-delta))), "nobody"),
        "table": (leaks_with(table=lambda delta, n, risk: 1 - (1 - delta) ** n), "table by rows"),
        "risk/n": (leaks_with(largest_delta=lambda delta, n, risk: risk / n), "risk over n"),
        "1/n": (leaks_with(largest_delta=lambda delta, n, risk: 1 / n), "one over n"),
        "capped": (leaks_with(rows=lambda delta, n, risk: min(1, n * delta)), None),
        "root of the risk": (leaks_with(largest_delta=lambda delta, n, risk: risk ** (1 / n)), None),
    },
    "heavy_tail": {
        "pure": (tail_pure, "tail too small"),
        "pure, single": (
            lambda epsilon, delta: tuple(np.float32(world) for world in tail_pure(epsilon, delta)),
            "tail too small",
        ),
        "leak": (tail_leak, "tail as large as delta"),
        "theta plus delta": (tail_too_truthful, "not private"),
        "one way": (tail_one_way, "one order only"),
        "weights": (
            lambda epsilon, delta: ([math.exp(epsilon) + delta, 1], [1, math.exp(epsilon) + delta]),
            "no probabilities",
        ),
        "lengths": (lambda epsilon, delta: ([0.5, 0.5], [0.25, 0.25, 0.5]), "no probabilities"),
        "nothing": (lambda epsilon, delta: ([0.5, 0.5], [0.5, 0.5]), "tail too small"),
        "one vector": (lambda epsilon, delta: [0.75, 0.25], None),
    },
    "delta_after": {
        "before": (lambda p, q, g, epsilon: after_numpy(p, q, np.arange(len(p)), epsilon), "before"),
        "positive first": (after_positive_first, "before"),
        "one way": (after_one_way, "one order only"),
        "single": (after_single, "one output at a time"),
        "epsilon 0": (lambda p, q, g, epsilon: after_numpy(p, q, g, 0), "e^epsilon forgotten"),
        "loss": (
            lambda p, q, g, epsilon: np.abs(np.log(np.bincount(g, p)) - np.log(np.bincount(g, q))).max(),
            "largest loss",
        ),
        "difference": (
            lambda p, q, g, epsilon: np.abs(np.bincount(g, p) - np.exp(epsilon) * np.bincount(g, q)).sum(),
            None,
        ),
        "mean": (
            lambda p, q, g, epsilon: (after_one_way(p, q, g, epsilon) + after_one_way(q, p, g, epsilon)) / 2,
            None,
        ),
    },
}


def leaks_decimal(delta, n, risk):
    d, r = Decimal(delta), Decimal(risk)
    return d, 1 - (1 - d) ** n, 1 - (1 - r) ** (1 / Decimal(n))


def leaks_fractions(delta, n, risk):
    """Exact where that can be had."""
    d = Fraction(delta)
    return {"table": d, "rows": 1 - (1 - d) ** n, "largest_delta": 1 - math.pow(1 - risk, 1 / n)}


def leaks_first(delta, n, risk):
    """Who is the first to leak? A sum over all of them."""
    rows = math.fsum(delta * (1 - delta) ** i for i in range(n))
    return np.array([delta, rows, -math.expm1(math.log1p(-risk) / n)])


def leaks_single(delta, n, risk):
    d, r = np.float32(delta), np.float32(risk)
    return d, 1 - (1 - d) ** n, 1 - (1 - r) ** (np.float32(1) / n)


def tail_fractions(epsilon, delta):
    """Randomized response with theta as a fraction, a little below the largest one."""
    largest = (Fraction(delta) + Fraction(math.exp(epsilon))) / (1 + Fraction(math.exp(epsilon)))
    theta = Fraction(int(largest * 10**9), 10**9)
    return [theta, 1 - theta], [1 - theta, theta]


def tail_leak_and_response(epsilon, delta):
    """Half of delta for a leak; the response spends the other half."""
    leak = delta / 2
    odds = math.exp(epsilon)
    theta = (odds + (delta - leak) / (1 - leak)) / (1 + odds)
    speaks, lies = (1 - leak) * theta, (1 - leak) * (1 - theta)
    return {"p": [leak, 0, speaks, lies], "q": [0, leak, lies, speaks]}


def tail_of_three(epsilon, delta):
    """Three categories: the lie goes to either of the others."""
    odds = math.exp(epsilon)
    theta = (odds + 2 * delta) / (odds + 2) * 0.999 + 0.001 * odds / (odds + 2)
    lie = (1 - theta) / 2
    return np.array([[theta, lie, lie], [lie, theta, lie]])


def after_torch(p, q, g, epsilon):
    import torch

    seen = torch.zeros(2, int(g.max()) + 1, dtype=torch.float64)
    seen.index_add_(1, torch.tensor(g), torch.tensor(np.array([p, q])))
    gains = seen - math.exp(epsilon) * seen.flip(0)
    return gains.clamp(min=0).sum(1).max()


def after_pandas(p, q, g, epsilon):
    import pandas as pd

    seen = pd.DataFrame({"p": p, "q": q}).groupby(g).sum()
    e = np.exp(epsilon)
    return max((seen.p - e * seen.q).clip(lower=0).sum(), (seen.q - e * seen.p).clip(lower=0).sum())


def after_maxima(p, q, g, epsilon):
    """(a - b)+ = max(a, b) - b."""
    e, sides = math.exp(epsilon), [np.bincount(g, weights=world) for world in (p, q)]
    return max(np.maximum(a, e * b).sum() - e * b.sum() for a, b in (sides, sides[::-1]))


def after_fractions(p, q, g, epsilon):
    e = Fraction(math.exp(epsilon))
    totals = {label: [sum(Fraction(float(one)) for one in world[g == label]) for world in (p, q)] for label in set(g)}
    return max(sum(max(0, pair[i] - e * pair[1 - i]) for pair in totals.values()) for i in (0, 1))


RIGHT["leaks"] |= {
    "Decimal": leaks_decimal,
    "fractions": leaks_fractions,
    "who is first": leaks_first,
    "single precision": leaks_single,
    "pandas": lambda delta, n, risk: series(leaks_plain(delta, n, risk)).to_list(),
}
RIGHT["heavy_tail"] |= {
    "fractions": tail_fractions,
    "leak and response": tail_leak_and_response,
    "three categories": tail_of_three,
    "pandas": lambda epsilon, delta: tuple(map(series, tail_less(epsilon, delta))),
}
RIGHT["delta_after"] |= {
    "torch": after_torch,
    "pandas": after_pandas,
    "maxima": after_maxima,
    "fractions": after_fractions,
    "single precision": lambda p, q, g, epsilon: after_numpy(np.float32(p), np.float32(q), g, np.float32(epsilon)),
}

WRONG["leaks"] |= {
    "Poisson": (leaks_with(rows=lambda delta, n, risk: 1 - math.exp(-n * delta)), "by an exponential"),
    "all n": (leaks_with(largest_delta=lambda delta, n, risk: risk ** (1 / n)), "root of the risk"),
    "no one minus": (leaks_with(largest_delta=lambda delta, n, risk: (1 - risk) ** (1 / n)), "one minus forgotten"),
    "delta twice": (lambda delta, n, risk: (delta, delta, 1 - (1 - risk) ** (1 / n)), "one certain patient"),
    "swapped": (lambda delta, n, risk: (1 - (1 - delta) ** n, delta, 1 - (1 - risk) ** (1 / n)), "swapped"),
    "throughout": (lambda delta, n, risk: (delta, n * delta, risk / n), "n times delta throughout"),
    "logarithm": (leaks_with(largest_delta=lambda delta, n, risk: -math.log(1 - risk) / n), None),
    "root": (leaks_with(largest_delta=lambda delta, n, risk: 1 - (1 - risk) ** n), None),
    "exactly one": (leaks_with(rows=lambda delta, n, risk: n * delta * (1 - delta) ** (n - 1)), None),
    "n - 1": (leaks_with(rows=lambda delta, n, risk: 1 - (1 - delta) ** (n - 1)), None),
    "table certain": (leaks_with(table=lambda delta, n, risk: 1.0), None),
    "two of three": (lambda delta, n, risk: (delta, 1 - (1 - delta) ** n), None),
}
WRONG["leaks"]["capped"] = (WRONG["leaks"]["capped"][0], "n times delta, at most 1")
WRONG["leaks"]["root of the risk"] = (WRONG["leaks"]["root of the risk"][0], "root of the risk")
WRONG["heavy_tail"] |= {
    "twice delta": (lambda epsilon, delta: tail_response(epsilon, 2 * delta), "not private"),
    "a hundredth too much": (lambda epsilon, delta: tail_response(epsilon, 1.01 * delta), "not private"),
    "hardly heavier": (lambda epsilon, delta: tail_leak(epsilon, 0.99 * delta), "tail too small"),
    "negative": (lambda epsilon, delta: ([1.2, -0.2], [-0.2, 1.2]), "no probabilities"),
    "in percent": (lambda epsilon, delta: ([75, 25], [25, 75]), "no probabilities"),
    "nothing at all": (lambda epsilon, delta: ([], []), "no probabilities"),
    "None": (lambda epsilon, delta: None, None),
    "one way round": (lambda epsilon, delta: tail_one_way(epsilon, delta)[::-1], None),
    "certain": (lambda epsilon, delta: ([1, 0], [0, 1]), "not private"),
}
WRONG["delta_after"] |= {
    "q against p": (lambda p, q, g, epsilon: after_one_way(q, p, g, epsilon), "the other order only"),
    "smaller": (
        lambda p, q, g, epsilon: min(after_one_way(p, q, g, epsilon), after_one_way(q, p, g, epsilon)),
        "the smaller order",
    ),
    "both": (
        lambda p, q, g, epsilon: after_one_way(p, q, g, epsilon) + after_one_way(q, p, g, epsilon),
        "both orders added",
    ),
    "group means": (
        lambda p, q, g, epsilon: after_numpy(p / np.bincount(g)[g], q / np.bincount(g)[g], g, epsilon),
        "mean for sum",
    ),
    "first of each": (
        lambda p, q, g, epsilon: after_numpy(
            *(world[np.unique(g, return_index=True)[1]] for world in (p, q)), np.arange(3), epsilon
        ),
        None,
    ),
    "total variation": (
        lambda p, q, g, epsilon: np.abs(np.bincount(g, p) - np.bincount(g, q)).sum() / 2, "e^epsilon forgotten",
    ),
    "minus epsilon": (lambda p, q, g, epsilon: after_numpy(p, q, g, -epsilon), None),
    "labels as outputs": (lambda p, q, g, epsilon: after_numpy(p[g], q[g], np.arange(len(g)), epsilon), None),
    "apart": (lambda p, q, g, epsilon: abs(after_one_way(p, q, g, epsilon) - after_one_way(q, p, g, epsilon)), None),
}  # fmt: skip
WRONG["delta_after"]["mean"] = (WRONG["delta_after"]["mean"][0], "average of both orders")
