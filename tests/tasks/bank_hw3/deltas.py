"""Submissions to homework 3: leaks, heavy tails, and what post-processing leaves."""

import math

import numpy as np

from tests.tasks.bank_hw3.shared import PHI


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
