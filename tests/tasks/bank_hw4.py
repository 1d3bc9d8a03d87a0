"""Submissions to homework 4, right ones in many styles and wrong ones that students really write."""

import math
import random
from functools import lru_cache

import numpy as np

from dpcourse import accounting
from dpcourse.accounting import renyi_sampled_gaussian, steps_within

dp_sgd_epsilon, sigma_for = lru_cache(4_096)(accounting.dp_sgd_epsilon), lru_cache(64)(accounting.sigma_for)

# ---------------------------------------------------------------- clipping


def clip_numpy(gradients, clip):
    lengths = np.linalg.norm(gradients, axis=1, keepdims=True)
    return gradients / np.maximum(1, lengths / clip)


def clip_loop(gradients, clip):
    rows = []
    for g in gradients:
        length = math.sqrt(sum(value**2 for value in g))
        rows.append([value * min(1.0, clip / length) if length else value for value in g])
    return rows


def clip_copy(gradients, clip):
    out = gradients.copy()
    for row in out:
        if np.linalg.norm(row) > clip:
            row *= clip / np.linalg.norm(row)
    return out


def clip_torch(gradients, clip):
    import torch

    rows = torch.tensor(gradients)
    return rows * (clip / rows.norm(dim=1, keepdim=True)).clamp(max=1)


def clip_in_place(gradients, clip):
    gradients /= np.maximum(1, np.linalg.norm(gradients, axis=1, keepdims=True) / clip)
    return gradients


# ---------------------------------------------------------------- lots


def lot_numpy(n, q, rng):
    return rng.random(n) < q


def lot_random(n, q):
    return [random.random() < q for _ in range(n)]


def lot_binomial(n, q, rng):
    return rng.binomial(1, q, size=n)


def lot_size_first(n, q, rng):
    """A binomial number of people without replacement: the same law, told otherwise."""
    mask = np.zeros(n)
    mask[rng.choice(n, rng.binomial(n, q), replace=False)] = 1
    return mask


def _lot_again(n, q, rng):
    while not (mask := rng.random(n) < q).any():
        pass
    return mask


def lot_torch(n, q):
    import torch

    return torch.bernoulli(torch.full((n,), q, dtype=torch.float64))


def _mask(n, members):
    mask = np.zeros(n, dtype=bool)
    mask[np.asarray(members, dtype=int)] = True
    return mask


# ---------------------------------------------------------------- the noisy average


def average_numpy(clipped, clip, sigma, expected, rng):
    total = clipped.sum(axis=0)
    return (total + rng.normal(0, sigma * clip, size=total.shape)) / expected


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


def _noise(m, d, clip, sigma, rng):
    return rng.normal(0, sigma * clip, d)


def average_each(clipped, clip, sigma, expected, rng):
    """The slide's line 7."""
    return (clipped + rng.normal(0, sigma * clip, size=clipped.shape)).sum(axis=0) / expected


# ---------------------------------------------------------------- a step


def _gradients(weights, x, y):
    return (1 / (1 + np.exp(-x @ weights)) - y)[:, None] * x


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


def _clip_sum(rows, clip):
    total = rows.sum(axis=0, keepdims=True)
    return total / max(1, np.linalg.norm(total) / clip)


# ---------------------------------------------------------------- budgets


def amplified_log1p(epsilon, delta, q):
    return math.log1p(q * math.expm1(epsilon)), q * delta


def amplified_dict(epsilon, delta, q):
    return {"delta": q * delta, "epsilon": np.log(1 + q * (np.exp(epsilon) - 1))}


def amplified_mixture(epsilon, delta, q):
    return [np.array([math.log((1 - q) + q * math.exp(epsilon))]), np.float64(delta) * q]


def amplified_logaddexp(epsilon, delta, q):
    return np.logaddexp(np.log1p(-q), np.log(q) + epsilon), delta * q


def composed_if(epsilon, delta, k, slack):
    advanced = epsilon * math.sqrt(2 * k * math.log(1 / slack)) + k * epsilon * (math.exp(epsilon) - 1)
    if advanced < k * epsilon:
        return advanced, k * delta + slack
    return k * epsilon, k * delta


def composed_min(epsilon, delta, k, slack):
    first = (epsilon * k, k * delta)
    second = (epsilon * (np.sqrt(-2 * k * np.log(slack)) + k * np.expm1(epsilon)), k * delta + slack)
    return min(first, second)


def composed_dict(epsilon, delta, k, slack):
    return dict(zip(("epsilon", "delta"), composed_if(epsilon, delta, k, slack), strict=True))


def composed_array(epsilon, delta, k, slack):
    return [np.array([part]) for part in composed_min(epsilon, delta, k, slack)]


def _advanced(epsilon, k, slack):
    return epsilon * math.sqrt(2 * k * math.log(1 / slack)) + k * epsilon * math.expm1(epsilon)


def _smaller(wrong):
    def cost(epsilon, delta, k, slack):
        advanced = wrong(epsilon, k, slack)
        return (advanced, k * delta + slack) if advanced < k * epsilon else (k * epsilon, k * delta)

    return cost


def steps_library(epsilon, delta, sigma, q):
    return steps_within(epsilon, delta, sigma=sigma, q=q)


def steps_bisection(epsilon, delta, sigma, q):
    low, high = 0, 1
    while dp_sgd_epsilon(sigma, q, high, delta) <= epsilon:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if dp_sgd_epsilon(sigma, q, middle, delta) <= epsilon:
            low = middle
        else:
            high = middle
    return low


def steps_up(epsilon, delta, sigma, q):
    """In strides of eight, then one by one."""
    steps = 0
    while dp_sgd_epsilon(sigma, q, steps + 8, delta) <= epsilon:
        steps += 8
    while dp_sgd_epsilon(sigma, q, steps + 1, delta) <= epsilon:
        steps += 1
    return np.int64(steps)


def steps_float(epsilon, delta, sigma, q):
    """From a guess by the root law, then one by one."""
    steps = max(1, int((epsilon / dp_sgd_epsilon(sigma, q, 16, delta)) ** 2 * 16))
    while dp_sgd_epsilon(sigma, q, steps, delta) > epsilon:
        steps -= 1
    while dp_sgd_epsilon(sigma, q, steps + 1, delta) <= epsilon:
        steps += 1
    return float(steps)


def steps_renyi(epsilon, delta, sigma, q):
    one = renyi_sampled_gaussian(sigma, q)
    steps = 0
    while one.compose(steps + 1).epsilon(delta).epsilon <= epsilon:
        steps += 1
    return steps


# ---------------------------------------------------------------- training


def _train(q=0.1, steps=60, clip=0.5, rate=1.5, sigma=None, noise=None, lot=None, clip_rows=clip_numpy, lists=False):
    def train(x, y, epsilon, delta, rng):
        n = len(y)
        multiplier = sigma_for(epsilon, delta, q=q, steps=steps) if sigma is None else sigma(epsilon, delta, q, steps)
        weights, released, lots = np.zeros(x.shape[1]), [], []
        for _ in range(steps):
            chosen = (rng.random(n) < q) if lot is None else lot(n, q, rng)
            rows = clip_rows(_gradients(weights, x[chosen], y[chosen]), clip)
            shaken = (noise or _noise)(len(rows), x.shape[1], clip, multiplier, rng)
            average = (rows.sum(axis=0) + shaken) / (q * n)
            released.append(average.tolist() if lists else average)
            lots.append(chosen.tolist() if lists else chosen)
            weights = weights - rate * average
        return {"released": released, "lots": lots, "q": q, "sigma": multiplier, "clip": clip, "rate": rate}

    return train


def _sigma_rounded(epsilon, delta, q, steps):
    """Of a budget that is rounded down to two hundredths: a little more noise than needed, and soon known by heart."""
    return sigma_for(math.floor(50 * epsilon) / 50, delta, q=q, steps=steps)


def _train_with(noise_of):
    """DP-SGD whose noise is made by noise_of(fresh noise, sum of the gradients, noise of the step before)."""

    def train(x, y, epsilon, delta, rng):
        q, steps, clip, rate = 0.1, 60, 0.5, 1.5
        sigma, weights, before = sigma_for(epsilon, delta, q=q, steps=steps), np.zeros(x.shape[1]), None
        released, lots = [], []
        for _ in range(steps):
            lots.append(rng.random(len(y)) < q)
            total = clip_numpy(_gradients(weights, x[lots[-1]], y[lots[-1]]), clip).sum(axis=0)
            fresh = rng.normal(0, sigma * clip, len(weights))
            before = noise_of(fresh, total, fresh if before is None else before)
            released.append((total + before) / (q * len(y)))
            weights = weights - rate * released[-1]
        return released, lots, q, sigma, clip, rate

    return train


def train_torch(x, y, epsilon, delta):
    import torch

    n, q, steps, clip, rate = len(y), 0.2, 40, 0.5, 1.5
    sigma = _sigma_rounded(epsilon, delta, q, steps)
    a, b, w = torch.tensor(x), torch.tensor(y), torch.zeros(x.shape[1], dtype=torch.float64)
    released = torch.zeros(steps, x.shape[1], dtype=torch.float64)
    lots = torch.rand(steps, n) < q
    for t in range(steps):
        lot = lots[t]
        rows = (torch.sigmoid(a[lot] @ w) - b[lot])[:, None] * a[lot]
        rows = rows / (rows.norm(dim=1, keepdim=True) / clip).clamp(min=1)
        released[t] = (rows.sum(0) + sigma * clip * torch.randn(len(w), dtype=torch.float64)) / (q * n)
        w = w - rate * released[t]
    return released, lots, q, sigma, clip, rate


# ---------------------------------------------------------------- users, canaries


def users_numpy(gradients, users, clip, sigma, expected, rng):
    total = np.zeros(gradients.shape[1])
    for user in np.unique(users):
        update = gradients[users == user].sum(axis=0)
        total += update / max(1, np.linalg.norm(update) / clip)
    return (total + rng.normal(0, sigma * clip, len(total))) / expected


def users_dict(gradients, users, clip, sigma, expected):
    sums = {}
    for row, user in zip(gradients, users.tolist(), strict=True):
        sums[user] = sums.get(user, 0) + row
    total = np.zeros(gradients.shape[1])
    for update in sums.values():
        total = total + update * min(1, clip / np.linalg.norm(update))
    return [(value + random.gauss(0, sigma * clip)) / expected for value in total]


def users_add_at(gradients, users, clip, sigma, expected, rng):
    everybody, number = np.unique(users, return_inverse=True)
    sums = np.zeros((len(everybody), gradients.shape[1]))
    np.add.at(sums, number, gradients)
    return clip_numpy(sums, clip).sum(axis=0) / expected + rng.normal(0, sigma * clip / expected, gradients.shape[1])


def users_pandas(gradients, users, clip, sigma, expected, rng):
    import pandas as pd

    sums = pd.DataFrame(gradients).groupby(users).sum().to_numpy()
    return average_numpy(clip_numpy(sums, clip), clip, sigma, expected, rng)


def _users(rows=None, noise=None, by=None):
    def wrong(gradients, users, clip, sigma, expected, rng):
        sums = np.array([gradients[users == user].sum(axis=0) for user in np.unique(users)]).reshape(-1, 5)
        clipped = clip_numpy(sums, clip) if rows is None else rows(gradients, users, clip)
        shaken = _noise(0, 5, clip, sigma, rng) if noise is None else noise(users, clip, sigma, rng)
        return (clipped.sum(axis=0) + shaken) / (expected if by is None else by(users))

    return wrong


def exposure_numpy(log_perplexities, canary):
    rank = np.sum(log_perplexities <= log_perplexities[canary])
    return np.log2(len(log_perplexities)) - np.log2(rank)


def exposure_sorted(log_perplexities, canary):
    ordered = sorted(log_perplexities.tolist())
    rank = max(i for i, score in enumerate(ordered, 1) if score == log_perplexities[canary])
    return math.log2(len(ordered) / rank)


def exposure_loop(log_perplexities, canary):
    rank = 0
    for score in log_perplexities:
        rank += score <= log_perplexities[canary]
    return np.array([-math.log2(rank / len(log_perplexities))])


def exposure_scipy(log_perplexities, canary):
    from scipy.stats import rankdata

    return math.log(len(log_perplexities) / rankdata(log_perplexities, method="max")[canary], 2)


def _rank(scores, canary):
    return np.sum(scores <= scores[canary])


# ---------------------------------------------------------------- the derivation

A, P = "algebra", "privacy of the step"


def proof_four_lines():
    return [
        ("<=", "((1 - q)*p0 + q*exp(epsilon)*p0)/p0", P),
        ("=", "1 - q + q*exp(epsilon)", A),
        ("=", "1 + q*(exp(epsilon) - 1)", A),
    ]


def proof_divided_first():
    return (
        ("=", "1 - q + q*p1/p0", A),
        ("≤", "1 - q + q*exp(epsilon)", P),
        ("=", "1 + q*(exp(epsilon) - 1)", A),
    )


def proof_gain_first():
    return [
        ["=", "1 + q*(p1 - p0)/p0", A],
        ["<=", "1 + q*(exp(epsilon)*p0 - p0)/p0", P],
        ["=", "1 + q*(exp(epsilon) - 1)", A],
    ]


def proof_short():
    return [("==", "(p0 - q*p0 + q*p1) / p0", "Algebra"), ("=<", "1 + q*(exp(epsilon) - 1)", P)]


_BOUNDED = ("<=", "((1 - q)*p0 + q*exp(epsilon)*p0)/p0", P)

RIGHT = {
    "proof_amplification": {
        "four lines": proof_four_lines, "divided first": proof_divided_first, "the gain": proof_gain_first,
        "short": proof_short,
    },
    "clip_gradients": {"numpy": clip_numpy, "loop, lists": clip_loop, "copy": clip_copy, "torch": clip_torch},
    "poisson_lot": {
        "numpy": lot_numpy, "random, list": lot_random, "binomial": lot_binomial, "size first": lot_size_first,
        "torch": lot_torch,
    },
    "noisy_average": {
        "numpy": average_numpy, "random, list": average_random, "torch": average_torch, "inverse": average_inverse,
        "single precision": average_single,
    },
    "dp_sgd_step": {"numpy": step_numpy, "loop": step_loop, "random, list": step_random, "torch": step_torch},
    "amplified_budget": {
        "log1p": amplified_log1p, "dict": amplified_dict, "list": amplified_mixture, "logaddexp": amplified_logaddexp,
    },
    "composed_budget": {"if": composed_if, "min": composed_min, "dict": composed_dict, "arrays": composed_array},
    "steps_in_budget": {
        "library": steps_library, "bisection": steps_bisection, "one by one": steps_up, "guess, float": steps_float,
    },
    "train_private": {
        "small lots": _train(sigma=_sigma_rounded),
        "large lots, few steps": _train(q=0.5, steps=20, clip=0.7, rate=2.0, sigma=_sigma_rounded),
        "many steps, lists": _train(q=0.05, steps=150, clip=0.4, rate=1.0, lists=True, sigma=_sigma_rounded),
        "torch, tuple": train_torch,
        "everybody": _train(q=1.0, steps=25, clip=1.0, rate=1.5),
    },
    "user_level_average": {
        "numpy": users_numpy, "dict, random": users_dict, "add.at": users_add_at, "pandas": users_pandas,
    },
    "canary_exposure": {
        "numpy": exposure_numpy, "sorted": exposure_sorted, "loop": exposure_loop, "scipy": exposure_scipy,
    },
}  # fmt: skip

WRONG = {
    "proof_amplification": {
        "exponent": (lambda: [_BOUNDED, ("=", "exp(q*epsilon)", A)], "q times epsilon"),
        "algebra": (lambda: [("<=", "1 - q + q*exp(epsilon)", A)], "called algebra"),
        "no sampling": (lambda: [("=", "1 - q + q*p1/p0", A), ("<=", "exp(epsilon)", P)], "always in the lot"),
        "both terms": (lambda: [("<=", "((1 - q)*exp(epsilon)*p0 + q*exp(epsilon)*p0)/p0", P)], None),
        "equal": (lambda: [("=", "1 - q + q*exp(epsilon)", P)], "equal to the bound"),
        "not finished": (lambda: [_BOUNDED], None),
        "nothing": (lambda: [], None),
        "minus": (lambda: [("=", "1 + q + q*p1/p0", A)], None),
    },
    "clip_gradients": {
        "batch": (
            lambda gradients, clip: gradients / max(1, np.linalg.norm(gradients.sum(axis=0)) / clip), "batch clipped",
        ),
        "table": (
            lambda gradients, clip: gradients / max(1, np.linalg.norm(gradients) / clip), "one length for the table",
        ),
        "coordinates": (
            lambda gradients, clip: np.maximum(np.minimum(gradients, clip), -clip), "each coordinate clipped",
        ),
        "stretched": (
            lambda gradients, clip: clip * gradients / (np.linalg.norm(gradients, axis=1, keepdims=True) + 1e-12),
            "always length C",
        ),
        "l1": (
            lambda gradients, clip: gradients / np.maximum(1, np.abs(gradients).sum(1, keepdims=True) / clip),
            "l1 length",
        ),
        "C forgotten": (
            lambda gradients, clip: gradients / np.maximum(1, np.linalg.norm(gradients, axis=1, keepdims=True)),
            "C forgotten",
        ),
        "0/0": (lambda gradients, clip: clip * gradients / np.linalg.norm(gradients, axis=1, keepdims=True), None),
        "in place": (clip_in_place, None),
        "columns": (
            lambda gradients, clip: gradients / np.maximum(1, np.linalg.norm(gradients, axis=0) / clip), None,
        ),
        "summed": (lambda gradients, clip: clip_numpy(gradients, clip).sum(axis=0), None),
    },
    "poisson_lot": {
        "fixed size": (
            lambda n, q, rng: _mask(n, rng.choice(n, size=round(q * n), replace=False)), "fixed size",
        ),
        "block": (lambda n, q, rng: _mask(n, (rng.integers(n) + np.arange(round(q * n))) % n), "a block"),
        "with replacement": (lambda n, q, rng: _mask(n, rng.choice(n, size=round(q * n))), "with replacement"),
        "one coin": (lambda n, q, rng: np.ones(n) * (rng.random() < q), "one coin for all"),
        "upside down": (lambda n, q, rng: rng.random(n) >= q, "coin upside down"),
        "fixed seed": (lambda n, q: np.random.default_rng(5).random(n) < q, "always the same lot"),
        "indices": (lambda n, q, rng: np.flatnonzero(rng.random(n) < q), None),
        "15% more": (lambda n, q, rng: rng.random(n) < 1.15 * q, None),
        "pairs": (lambda n, q, rng: np.repeat(rng.random((n + 1) // 2) < q, 2)[:n], None),
        "empty? take the first": (lambda n, q, rng: m if (m := rng.random(n) < q).any() else np.arange(n) == 0, None),
        "empty? again": (_lot_again, "never empty"),
        "first like last": (lambda n, q, rng: np.append((m := rng.random(n - 1) < q)[-1:], m), None),
        "a binomial block": (lambda n, q, rng: _mask(n, (rng.integers(n) + np.arange(rng.binomial(n, q))) % n), None),
        "first person always": (lambda n, q, rng: np.append(True, rng.random(n - 1) < q), None),
    },
    "noisy_average": {
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
    "amplified_budget": {
        "q eps": (lambda epsilon, delta, q: (q * epsilon, q * delta), "q times epsilon"),
        "no minus one": (lambda epsilon, delta, q: (math.log(1 + q * math.exp(epsilon)), q * delta),
                         "minus one forgotten"),
        "no logarithm": (lambda epsilon, delta, q: (1 + q * (math.exp(epsilon) - 1), q * delta),
                         "logarithm forgotten"),
        "delta": (lambda epsilon, delta, q: (amplified_log1p(epsilon, delta, q)[0], delta), "delta not amplified"),
        "unchanged": (lambda epsilon, delta, q: (epsilon, delta), "not amplified"),
        "epsilon only": (lambda epsilon, delta, q: amplified_log1p(epsilon, delta, q)[0], None),
        "q squared": (lambda epsilon, delta, q: amplified_log1p(epsilon, delta, q * q), None),
    },
    "composed_budget": {
        "advanced": (lambda epsilon, delta, k, slack: (_advanced(epsilon, k, slack), k * delta + slack),
                     "always advanced"),
        "basic": (lambda epsilon, delta, k, slack: (k * epsilon, k * delta), "always basic"),
        "one term": (_smaller(lambda e, k, slack: e * math.sqrt(2 * k * math.log(1 / slack))),
                     "second term forgotten"),
        "no 2": (_smaller(lambda e, k, slack: e * math.sqrt(k * math.log(1 / slack)) + k * e * math.expm1(e)),
                 "2 forgotten"),
        "slack": (lambda epsilon, delta, k, slack: (composed_if(epsilon, delta, k, slack)[0], k * delta),
                  "slack not charged"),
        "larger": (lambda epsilon, delta, k, slack: (
            max(k * epsilon, _advanced(epsilon, k, slack)), k * delta + slack), None),
        "log10": (_smaller(lambda e, k, slack: e * math.sqrt(2 * k * math.log10(1 / slack)) + k * e * math.expm1(e)),
                  None),
    },
    "steps_in_budget": {
        "one too many": (lambda epsilon, delta, sigma, q: steps_bisection(epsilon, delta, sigma, q) + 1,
                         "one too many"),
        "added up": (lambda epsilon, delta, sigma, q: epsilon // dp_sgd_epsilon(sigma, q, 1, delta),
                     "epsilons added up"),
        "no coins": (lambda epsilon, delta, sigma, q: steps_bisection(epsilon, delta, sigma, 1.0), "coins forgotten"),
        "root law": (lambda epsilon, delta, sigma, q: int((epsilon / dp_sgd_epsilon(sigma, q, 1, delta)) ** 2),
                     "square root taken for exact"),
        "Renyi": (steps_renyi, None),
        "one less": (lambda epsilon, delta, sigma, q: steps_bisection(epsilon, delta, sigma, q) - 1, None),
        "not whole": (lambda epsilon, delta, sigma, q: steps_bisection(epsilon, delta, sigma, q) + 0.5, None),
    },
    "train_private": {
        "noise upwards only": (_train_with(lambda fresh, total, before: np.abs(fresh)), None),
        "noise along the gradient": (_train_with(lambda fresh, total, before: np.abs(fresh) * np.sign(total)), None),
        "noise turned at every step": (_train_with(lambda fresh, total, before: -before), None),
        "one step": (_train(sigma=lambda e, d, q, steps: sigma_for(e, d, q=q)), "one step's budget"),
        "no noise": (_train(noise=lambda m, d, clip, sigma, rng: 0.0), "no noise"),
        "C forgotten": (_train(noise=lambda m, d, clip, sigma, rng: rng.normal(0, sigma, d)), "C forgotten"),
        "per example": (
            _train(noise=lambda m, d, clip, sigma, rng: rng.normal(0, sigma * clip, (m, d)).sum(axis=0)),
            "noise per example",
        ),
        "not clipped": (_train(clip_rows=lambda rows, clip: rows), "not clipped"),
        "fixed size": (
            _train(lot=lambda n, q, rng: _mask(n, rng.choice(n, round(q * n), replace=False))), "fixed-size lots",
        ),
        "far too much noise": (_train(sigma=lambda e, d, q, steps: 60.0), "budget left over"),
        "batch clipped": (_train(clip_rows=_clip_sum), "batch clipped"),
        "other coins": (_train(lot=lambda n, q, rng: rng.random(n) < 1.1 * q), None),
        "noise 20% less": (_train(noise=lambda m, d, clip, sigma, rng: rng.normal(0, 0.8 * sigma * clip, d)), None),
        "weights only": (lambda x, y, epsilon, delta: np.zeros(21), None),
        "uphill": (_train(rate=-1.5), None),
    },
    "user_level_average": {
        "messages": (_users(rows=lambda gradients, users, clip: clip_numpy(gradients, clip)), "messages clipped"),
        "who came": (_users(by=lambda users: max(len(set(users.tolist())), 1)), "divided by those who came"),
        "by messages": (_users(by=lambda users: max(len(users), 1)), "divided by messages"),
        "per user": (
            _users(noise=lambda users, clip, sigma, rng: (
                rng.normal(0, sigma * clip, (len(set(users.tolist())), 5)).sum(axis=0)
            )),
            "noise per user",
        ),
        "busiest": (
            _users(noise=lambda users, clip, sigma, rng: rng.normal(
                0, sigma * clip * max(np.unique(users, return_counts=True)[1], default=1), 5
            )),
            "noise for the busiest",
        ),
        "C forgotten": (_users(noise=lambda users, clip, sigma, rng: rng.normal(0, sigma, 5)), "C forgotten"),
        "means": (
            _users(rows=lambda gradients, users, clip: clip_numpy(np.array(
                [gradients[users == user].mean(axis=0) for user in np.unique(users)]
            ).reshape(-1, 5), clip)),
            None,
        ),
        "not clipped": (_users(rows=lambda gradients, users, clip: gradients), None),
        "no noise": (_users(noise=lambda users, clip, sigma, rng: 0.0), None),
        "10% more": (_users(noise=lambda users, clip, sigma, rng: rng.normal(0, 1.1 * sigma * clip, 5)), None),
    },
    "canary_exposure": {
        "upwards": (lambda log_perplexities, canary: exposure_numpy(-log_perplexities, canary),
                    "ranked the wrong way"),
        "nats": (lambda log_perplexities, canary: np.log(len(log_perplexities) / _rank(log_perplexities, canary)),
                 "natural logarithm"),
        "ties": (lambda log_perplexities, canary: np.log2(
            len(log_perplexities) / (1 + np.sum(log_perplexities < log_perplexities[canary]))),
            "ties in its disfavour forgotten"),
        "from 0": (lambda log_perplexities, canary: np.log2(
            len(log_perplexities) / max(1, _rank(log_perplexities, canary) - 1)), "rank from 0"),
        "rank": (lambda log_perplexities, canary: np.log2(_rank(log_perplexities, canary)), "rank alone"),
        "its perplexity": (lambda log_perplexities, canary: log_perplexities[canary], None),
        "argsort place": (lambda log_perplexities, canary: np.log2(
            len(log_perplexities) / (1 + np.argsort(log_perplexities)[canary])), None),
    },
}  # fmt: skip
