"""Submissions to homework 4: the noisy average and a step of DP-SGD."""

import math
import random

import numpy as np

from testing.submissions.hw3.shared import cast, decimals, patterns, zero_sum
from testing.submissions.hw4.shared import _clip_sum, _gradients, _noise, average_numpy, clip_numpy, clip_opacus
from testing.submissions.patterns import from_call, twice


def average_random(clipped, clip, sigma, expected):
    return [(math.fsum(column) + random.gauss(0, sigma * clip)) / expected for column in clipped.T]


def average_torch(clipped, clip, sigma, expected):
    import torch

    total = torch.tensor(clipped).sum(0)
    return (total + sigma * clip * torch.randn(len(total), dtype=torch.float64)) / expected


def average_inverse(clipped, clip, sigma, expected, rng):
    from scipy.special import ndtri

    return clipped.sum(axis=0) / expected + sigma * clip / expected * ndtri(rng.random(clipped.shape[1]))


def average_single(clipped, clip, sigma, expected, rng):
    noise = rng.standard_normal(clipped.shape[1], dtype=np.float32)
    return ((clipped.sum(axis=0) + np.float32(sigma * clip) * noise) / expected).astype(np.float32)


def _average(noise, by=lambda m, expected: expected):
    def wrong(clipped, clip, sigma, expected, rng):
        total = clipped.sum(axis=0)
        return (total + noise(len(clipped), len(total), clip, sigma, rng)) / by(len(clipped), expected)

    return wrong


def average_each(clipped, clip, sigma, expected, rng):
    """The slide's line 7."""
    return (clipped + rng.normal(0, sigma * clip, size=clipped.shape)).sum(axis=0) / expected


def average_longest(clipped, clip, sigma, expected, rng):
    longest = max((np.linalg.norm(row) for row in clipped), default=clip)
    return (clipped.sum(axis=0) + rng.normal(0, sigma * longest, clipped.shape[1])) / expected


def step_numpy(weights, x, y, q, clip, sigma, rate, rng):
    lot = rng.random(len(y)) < q
    rows = clip_numpy(_gradients(weights, x[lot], y[lot]), clip)
    return weights - rate * (rows.sum(axis=0) + rng.normal(0, sigma * clip, len(weights))) / (q * len(y))


def step_loop(weights, x, y, q, clip, sigma, rate, rng):
    total = np.zeros(len(weights))
    for one, label in zip(x, y, strict=True):
        if rng.random() < q:
            g = (1 / (1 + math.exp(-float(one @ weights))) - label) * one
            total += g / max(1, np.linalg.norm(g) / clip)
    return weights - rate / (q * len(y)) * (total + sigma * clip * rng.standard_normal(len(weights)))


def step_random(weights, x, y, q, clip, sigma, rate):
    lot = [i for i in range(len(y)) if random.random() < q]
    rows = clip_numpy(_gradients(weights, x[lot], y[lot]), clip)
    noisy = [s + random.gauss(0, sigma * clip) for s in rows.sum(axis=0)]
    return [w - rate * g / (q * len(y)) for w, g in zip(weights, noisy, strict=True)]


def step_whole(weights, x, y, q, clip, sigma, rate, rng):
    lot = rng.random(len(y)) < q
    rows = clip_numpy(_gradients(weights, x[lot], y[lot]), clip)
    return weights - rate * (rows.sum(axis=0) + rng.normal(0, sigma * clip, len(weights))) / int(q * len(y))


def step_waits(weights, x, y, q, clip, sigma, rate, rng):
    lot = rng.random(len(y)) < q
    if not lot.any():
        return weights
    total = clip_numpy(_gradients(weights, x[lot], y[lot]), clip).sum(axis=0)
    return weights - rate * (total + rng.normal(0, sigma * clip, len(weights))) / (q * len(y))


def step_torch(weights, x, y, q, clip, sigma, rate):
    import torch

    lot = torch.rand(len(y)) < q
    w, a, b = torch.tensor(weights), torch.tensor(x)[lot], torch.tensor(y)[lot]
    rows = (torch.sigmoid(a @ w) - b)[:, None] * a
    rows = rows / (rows.norm(dim=1, keepdim=True) / clip).clamp(min=1)
    noise = sigma * clip * torch.randn(len(w), dtype=torch.float64)
    return w - rate * (rows.sum(0) + noise) / (q * len(y))


def _step(clip_rows=clip_numpy, lot=lambda n, q, rng: rng.random(n) < q, noise=None, by=None, sign=-1, apart=False):
    def wrong(weights, x, y, q, clip, sigma, rate, rng):
        chosen = lot(len(y), q, rng)
        rows = clip_rows(_gradients(weights, x[chosen], y[chosen]), clip)
        shaken = (noise or _noise)(len(rows), len(weights), clip, sigma, rng)
        size = q * len(y) if by is None else by(len(rows))
        if apart:
            return weights - rate * rows.sum(axis=0) / size + shaken / size
        return weights + sign * rate * (rows.sum(axis=0) + shaken) / size

    return wrong


RIGHT = {
    "noisy_average": {
        "numpy": average_numpy, "random, list": average_random, "torch": average_torch, "inverse": average_inverse,
        "single precision": average_single,
    },
    "dp_sgd_step": {"numpy": step_numpy, "loop": step_loop, "random, list": step_random, "torch": step_torch},
}  # fmt: skip

WRONG = {
    "noisy_average": {
        "noise for the longest row": (average_longest, "longest row"),
        "C forgotten": (_average(lambda m, d, clip, sigma, rng: rng.normal(0, sigma, d)), "C forgotten"),
        "as on the slide": (average_each, "noise per example"),
        "drawn size": (_average(_noise, lambda m, expected: max(m, 1)), "divided by the drawn lot"),
        "after dividing": (
            lambda clipped, clip, sigma, expected, rng: (
                (clipped.sum(axis=0) + rng.normal(0, sigma * clip, clipped.shape[1]) * expected) / expected
            ),
            "noise after dividing",
        ),
        "variance": (
            _average(lambda m, d, clip, sigma, rng: rng.normal(0, (sigma * clip) ** 2, d)), "variance for deviation",
        ),
        "empty": (
            lambda clipped, clip, sigma, expected, rng: (
                average_numpy(clipped, clip, sigma, expected, rng) if len(clipped) else 0 * clipped.sum(axis=0)
            ),
            "nothing for an empty lot",
        ),
        "no noise": (lambda clipped, clip, sigma, expected: clipped.sum(axis=0) / expected, "no noise"),
        "mean": (
            lambda clipped, clip, sigma, expected, rng: (
                clipped.mean(axis=0) + rng.normal(0, sigma * clip / expected, clipped.shape[1])
            ),
            None,
        ),
        "shared": (_average(lambda m, d, clip, sigma, rng: rng.normal(0, sigma * clip)), None),
        "Laplace": (
            _average(lambda m, d, clip, sigma, rng: rng.laplace(0, sigma * clip / math.sqrt(2), d)), None,
        ),
        "one-sided": (_average(lambda m, d, clip, sigma, rng: np.abs(rng.normal(0, sigma * clip, d))), None),
        "10% less": (_average(lambda m, d, clip, sigma, rng: rng.normal(0, 0.9 * sigma * clip, d)), None),
        "fixed seed": (
            lambda clipped, clip, sigma, expected: average_numpy(
                clipped, clip, sigma, expected, np.random.default_rng(0)
            ),
            None,
        ),
        "rounded": (
            lambda clipped, clip, sigma, expected, rng: average_numpy(clipped, clip, sigma, expected, rng).round(2),
            None,
        ),
    },
    "dp_sgd_step": {
        "batch": (_step(clip_rows=_clip_sum), "batch clipped"),
        "expected size as a whole number": (step_whole, "expected size rounded"),
        "not clipped": (_step(clip_rows=lambda rows, clip: rows), "not clipped"),
        "C forgotten": (_step(noise=lambda m, d, clip, sigma, rng: rng.normal(0, sigma, d)), "C forgotten"),
        "as on the slide": (
            _step(noise=lambda m, d, clip, sigma, rng: rng.normal(0, sigma * clip, (m, d)).sum(axis=0)),
            "noise per example",
        ),
        "drawn size": (_step(by=lambda m: max(m, 1)), "divided by the drawn lot"),
        "fixed size": (
            _step(lot=lambda n, q, rng: rng.choice(n, round(q * n), replace=False)), "fixed-size lots",
        ),
        "uphill": (_step(sign=1), "uphill"),
        "noise apart": (_step(apart=True), "noise without the rate"),
        "drawn size, 0/0": (_step(by=lambda m: m), None),
        "the first k": (_step(lot=lambda n, q, rng: np.arange(n) < rng.binomial(n, q)), "the first of the list"),
        "k in a row": (
            _step(lot=lambda n, q, rng: (rng.integers(n) + np.arange(rng.binomial(n, q))) % n), None,
        ),
        "empty? wait": (step_waits, "nothing for an empty lot"),
        "everybody": (_step(lot=lambda n, q, rng: np.arange(n)), None),
        "coordinates": (_step(clip_rows=lambda rows, clip: np.clip(rows, -clip, clip)), None),
        "no noise": (_step(noise=lambda m, d, clip, sigma, rng: np.zeros(d)), None),
        "10% less": (_step(noise=lambda m, d, clip, sigma, rng: rng.normal(0, 0.9 * sigma * clip, d)), None),
    },
}  # fmt: skip


def average_pandas(clipped, clip, sigma, expected, rng):
    import pandas as pd

    return pd.DataFrame(clipped).sum().add(rng.normal(0, sigma * clip, clipped.shape[1])).div(expected)


def average_two_halves(clipped, clip, sigma, expected, rng):
    """Two draws, each of half the variance."""
    half = sigma * clip / math.sqrt(2)
    noise = rng.normal(0, half, clipped.shape[1]) + rng.normal(0, half, clipped.shape[1])
    return (clipped.sum(axis=0) + noise) / expected


def average_loop(clipped, clip, sigma, expected):
    total = [random.gauss(0, 1) * sigma * clip for _ in range(clipped.shape[1])]
    for row in clipped:
        for place, value in enumerate(row):
            total[place] += value
    return tuple(value / expected for value in total)


def average_einsum(clipped, clip, sigma, expected, rng):
    return np.einsum("ij->j", clipped) / expected + rng.multivariate_normal(
        np.zeros(clipped.shape[1]), np.eye(clipped.shape[1]) * (sigma * clip / expected) ** 2
    )


def step_opacus(weights, x, y, q, clip, sigma, rate, rng):
    lot = rng.random(len(y)) < q
    rows = clip_opacus(_gradients(weights, x[lot], y[lot]), clip)
    return weights - rate * average_numpy(rows, clip, sigma, q * len(y), rng)


def step_expit(weights, x, y, q, clip, sigma, rate, rng):
    """Everybody's gradient; who is not in the lot counts 0."""
    from scipy.special import expit

    rows = clip_numpy((expit(x @ weights) - y)[:, None] * x, clip)
    return weights - rate * (rng.binomial(1, q, len(y)) @ rows + sigma * clip * rng.normal(size=len(weights))) / (
        q * len(y)
    )


def step_single(weights, x, y, q, clip, sigma, rate, rng):
    lot = rng.random(len(y)) < q
    rows = clip_numpy(np.float32(_gradients(np.float32(weights), np.float32(x[lot]), y[lot])), np.float32(clip))
    noise = np.float32(sigma * clip) * rng.standard_normal(len(weights), dtype=np.float32)
    return np.float32(weights) - np.float32(rate) * (rows.sum(axis=0) + noise) / np.float32(q * len(y))


def step_pandas(weights, x, y, q, clip, sigma, rate, rng):
    import pandas as pd

    people = pd.DataFrame(x)[rng.random(len(y)) < q]
    errors = 1 / (1 + np.exp(-people.to_numpy() @ weights)) - y[people.index]
    rows = people.mul(errors, axis=0)
    rows = rows.div((rows.pow(2).sum(axis=1) ** 0.5 / clip).clip(lower=1), axis=0)
    noisy = rows.sum() + rng.normal(0, sigma * clip, len(weights))
    return pd.Series(weights) - rate / (q * len(y)) * noisy


def step_tanh(weights, x, y, q, clip, sigma, rate):
    """1 / (1 + e^-z) = (1 + tanh(z / 2)) / 2."""
    total = [random.gauss(0, sigma * clip) for _ in weights]
    for one, label in zip(x.tolist(), y.tolist(), strict=True):
        if random.random() >= q:
            continue
        z = sum(a * b for a, b in zip(one, weights, strict=True))
        g = [((1 + math.tanh(z / 2)) / 2 - label) * a for a in one]
        length = math.hypot(*g)
        total = [t + a * min(1, clip / length) for t, a in zip(total, g, strict=True)]
    return [w - rate * t / (q * len(y)) for w, t in zip(weights, total, strict=True)]


RIGHT["noisy_average"] |= {
    "pandas": average_pandas, "two halves": average_two_halves, "loop, tuple": average_loop, "einsum": average_einsum,
    "Decimal": cast(average_numpy, decimals),
}  # fmt: skip
RIGHT["dp_sgd_step"] |= {
    "1e-6 more": step_opacus, "everybody's gradient": step_expit, "single precision": step_single,
    "pandas": step_pandas, "tanh, list": step_tanh,
}  # fmt: skip


def step_in_turn(lots):
    """A few lots, drawn once, in turn."""
    kept = {}

    def lot(n, q, rng):
        drawn = kept.setdefault((n, q), [rng.random(n) < q for _ in range(lots)])
        drawn.append(drawn.pop(0))
        return drawn[-1]

    return _step(lot=lot)


def step_mixed(other, share):
    return lambda rng, **asked: (step_numpy if rng.random() < share else other)(rng=rng, **asked)


step_silent = _step(noise=lambda m, d, clip, sigma, rng: np.zeros(d))

WRONG["noisy_average"]["mean"] = (
    lambda clipped, clip, sigma, expected, rng: (
        clipped.sum(axis=0) / max(len(clipped), 1) + rng.normal(0, sigma * clip / expected, clipped.shape[1])
    ),
    "average of the drawn lot",
)
WRONG["noisy_average"]["shared"] = (WRONG["noisy_average"]["shared"][0], "one draw for all coordinates")
WRONG["noisy_average"] |= patterns(
    lambda clipped, clip, sigma, expected: clipped.sum(axis=0) / expected,
    lambda clipped, clip, sigma, expected: sigma * clip / expected,
)
WRONG["dp_sgd_step"]["coordinates"] = (WRONG["dp_sgd_step"]["coordinates"][0], "each coordinate clipped")
WRONG["dp_sgd_step"]["no noise"] = (WRONG["dp_sgd_step"]["no noise"][0], "no noise")
WRONG["dp_sgd_step"]["everybody"] = (WRONG["dp_sgd_step"]["everybody"][0], "everybody in every step")
WRONG["dp_sgd_step"] |= {
    "average clipped": (
        _step(clip_rows=lambda rows, clip: rows / max(1, np.linalg.norm(rows.sum(axis=0)) / max(len(rows), 1) / clip)),
        "average clipped",
    ),
    "stretched": (
        _step(clip_rows=lambda rows, clip: clip * rows / (np.linalg.norm(rows, axis=1, keepdims=True) + 1e-12)),
        "always length C",
    ),
    "variance": (
        _step(noise=lambda m, d, clip, sigma, rng: rng.normal(0, (sigma * clip) ** 2, d)), "variance for deviation",
    ),
    "three lots in turn": (step_in_turn(3), None),
    "silent once in ten": (step_mixed(step_silent, 0.9), None),
    "silent once in a hundred": (step_mixed(step_silent, 0.99), None),
    "silent from call 1,000 on": (from_call(step_numpy, lambda **asked: asked["weights"], 1_000), None),
    "one noise for all": (_step(noise=lambda m, d, clip, sigma, rng: rng.normal(0, sigma * clip)), None),
    "zero sum": (_step(noise=lambda m, d, clip, sigma, rng: sigma * clip * zero_sum(rng, d)), None),
    "one size, own signs": (
        _step(noise=lambda m, d, clip, sigma, rng: sigma * clip * abs(rng.normal()) * rng.choice([-1, 1], d)), None,
    ),
    "every step twice": (twice(step_numpy), None),
    "labels turned": (lambda weights, x, y, q, clip, sigma, rate, rng: (
        step_numpy(weights, x, 1 - y, q, clip, sigma, rate, rng)), None),
    "rate forgotten": (lambda weights, x, y, q, clip, sigma, rate, rng: (
        step_numpy(weights, x, y, q, clip, sigma, 1.0, rng)), None),
    "the step alone": (lambda weights, x, y, q, clip, sigma, rate, rng: (
        step_numpy(weights, x, y, q, clip, sigma, rate, rng) - weights), None),
    "clipped, then errors": (lambda weights, x, y, q, clip, sigma, rate, rng: (
        step_numpy(weights, clip_numpy(x, clip), y, q, clip, sigma, rate, rng)), None),
    "weights cut": (lambda weights, x, y, q, clip, sigma, rate, rng: (
        np.maximum(step_numpy(weights, x, y, q, clip, sigma, rate, rng), 0)), None),
}  # fmt: skip
WRONG["noisy_average"]["no noise where nobody moves"] = (
    lambda clipped, clip, sigma, expected, rng: (
        (clipped.sum(axis=0) + (clipped != 0).any(axis=0) * rng.normal(0, sigma * clip, clipped.shape[1])) / expected
    ),
    None,
)
