"""Submissions to homework 4: training, users and canaries."""

import math
import random
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import count

import numpy as np

from dpcourse import accounting
from testing.submissions.hw3.shared import cast, decimals, patterns
from testing.submissions.hw4.shared import _clip_sum, _gradients, _mask, _noise, average_numpy, clip_numpy, clip_opacus

dp_sgd_epsilon, sigma_for = lru_cache(4_096)(accounting.dp_sgd_epsilon), lru_cache(64)(accounting.sigma_for)


def _train(
    q=0.1, steps=60, clip=0.5, rate=1.5, sigma=None, noise=None, lot=None, clip_rows=clip_numpy, lists=False, by=None
):
    def train(x, y, epsilon, delta, rng):
        n = len(y)
        multiplier = sigma_for(epsilon, delta, q=q, steps=steps) if sigma is None else sigma(epsilon, delta, q, steps)
        weights, released, lots = np.zeros(x.shape[1]), [], []
        for _ in range(steps):
            chosen = (rng.random(n) < q) if lot is None else lot(n, q, rng)
            rows = clip_rows(_gradients(weights, x[chosen], y[chosen]), clip)
            shaken = (noise or _noise)(len(rows), x.shape[1], clip, multiplier, rng)
            average = (rows.sum(axis=0) + shaken) / (q * n if by is None else by(len(rows)))
            released.append(average.tolist() if lists else average)
            lots.append(chosen.tolist() if lists else chosen)
            weights = weights - rate * average
        return {"released": released, "lots": lots, "q": q, "sigma": multiplier, "clip": clip, "rate": rate}

    return train


def _clip_mean(rows, clip):
    mean = rows.mean(axis=0, keepdims=True)
    return len(rows) * mean / max(1, np.linalg.norm(mean) / clip)


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


RIGHT = {
    "train_private": {
        "small lots": _train(sigma=_sigma_rounded),
        "large lots, few steps": _train(q=0.5, steps=20, clip=0.7, rate=2.0, sigma=_sigma_rounded),
        "many steps, lists": _train(q=0.05, steps=150, clip=0.4, rate=1.0, lists=True, sigma=_sigma_rounded),
        "torch, tuple": train_torch,
        "everybody": _train(q=1.0, steps=25, clip=1.0, rate=1.5),
        "long gradients": _train(q=0.1, steps=60, clip=3.0, rate=0.5),
    },
    "user_level_average": {
        "numpy": users_numpy, "dict, random": users_dict, "add.at": users_add_at, "pandas": users_pandas,
    },
    "canary_exposure": {
        "numpy": exposure_numpy, "sorted": exposure_sorted, "loop": exposure_loop, "scipy": exposure_scipy,
    },
}  # fmt: skip

WRONG = {
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
        "not clipped, large C": (_train(clip=3.0, rate=0.5, clip_rows=lambda rows, clip: rows), "not clipped"),
        "not clipped, many steps": (
            _train(steps=200, clip=1.0, rate=0.5, clip_rows=lambda rows, clip: rows), "not clipped",
        ),
        "average clipped, large C": (_train(clip=3.0, rate=0.5, clip_rows=_clip_mean), "average clipped"),
        "np.clip, large C": (
            _train(clip=3.0, rate=0.5, clip_rows=lambda rows, clip: np.clip(rows, -clip, clip)),
            "each coordinate clipped",
        ),
        "drawn size": (_train(by=lambda size: size), "divided by the drawn lot"),
        "drawn size, large C": (_train(clip=3.0, rate=0.5, by=lambda size: size), "divided by the drawn lot"),
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
            "ties in its favour"),
        "from 0": (lambda log_perplexities, canary: np.log2(
            len(log_perplexities) / max(1, _rank(log_perplexities, canary) - 1)), "rank from 0"),
        "rank": (lambda log_perplexities, canary: np.log2(_rank(log_perplexities, canary)), "rank alone"),
        "its perplexity": (lambda log_perplexities, canary: log_perplexities[canary], None),
        "argsort place": (lambda log_perplexities, canary: np.log2(
            len(log_perplexities) / (1 + np.argsort(log_perplexities)[canary])), None),
    },
}  # fmt: skip


def train_pandas(x, y, epsilon, delta, rng):
    import pandas as pd

    q, steps, clip, rate = 0.25, 30, 0.6, 1.6
    sigma, weights = _sigma_rounded(epsilon, delta, q, steps), np.zeros(x.shape[1])
    log = {"released": [], "lots": []}
    for _ in range(steps):
        lot = pd.Series(rng.random(len(y))).lt(q)
        rows = clip_opacus(_gradients(weights, x[lot], y[lot]), clip)
        log["released"].append((rows.sum(axis=0) + rng.normal(0, sigma * clip, len(weights))) / (q * len(y)))
        log["lots"].append(lot.to_numpy())
        weights = weights - rate * log["released"][-1]
    return log | {"q": q, "sigma": sigma, "clip": clip, "rate": rate}


def users_torch(gradients, users, clip, sigma, expected):
    import torch

    everybody, number = np.unique(users, return_inverse=True)
    sums = torch.zeros(len(everybody), gradients.shape[1], dtype=torch.float64)
    sums.index_add_(0, torch.tensor(number), torch.tensor(gradients))
    total = (sums * (clip / sums.norm(dim=1, keepdim=True)).clamp(max=1)).sum(0)
    return (total + sigma * clip * torch.randn(gradients.shape[1], dtype=torch.float64)) / expected


def users_sorted(gradients, users, clip, sigma, expected, rng):
    """Sorted by user, and cut where the next one begins."""
    order = np.argsort(users, kind="stable")
    begins = np.flatnonzero(np.diff(users[order])) + 1
    total = rng.normal(0, sigma * clip, gradients.shape[1])
    for theirs in np.split(gradients[order], begins):
        total = total + clip_opacus(theirs.sum(axis=0, keepdims=True), clip)[0]
    return total / expected


def users_matrix(gradients, users, clip, sigma, expected, rng):
    everybody = np.array(sorted(set(users.tolist())), dtype=users.dtype)
    sums = (users == everybody[:, None]) * 1.0 @ gradients
    return clip_opacus(sums, clip).sum(axis=0) / expected + sigma * clip / expected * rng.standard_normal(5)


def users_single(gradients, users, clip, sigma, expected, rng):
    return np.float32(users_numpy(np.float32(gradients), users, np.float32(clip), sigma, expected, rng))


def exposure_pandas(log_perplexities, canary):
    import pandas as pd

    return np.log2(len(log_perplexities) / pd.Series(log_perplexities).rank(method="max")[canary])


def exposure_torch(log_perplexities, canary):
    import torch

    scores = torch.tensor(log_perplexities)
    return -torch.log2((scores <= scores[canary]).double().mean())


def exposure_bisect(log_perplexities, canary):
    from bisect import bisect_right

    ordered = sorted(log_perplexities)
    return math.log(len(ordered), 2) - math.log(bisect_right(ordered, log_perplexities[canary]), 2)


def exposure_searched(log_perplexities, canary):
    rank = np.searchsorted(np.sort(log_perplexities), log_perplexities[canary], side="right")
    return np.float32(np.log2(log_perplexities.size)) - np.log2(np.float32(rank))


def exposure_fraction(log_perplexities, canary):
    share = Fraction(sum(one <= log_perplexities[canary] for one in log_perplexities.tolist()), len(log_perplexities))
    return Decimal(-math.log2(share))


RIGHT["train_private"] |= {
    "pandas, 1e-6 more": train_pandas,
    "in single precision": cast(_train(q=0.2, steps=40, clip=0.5, rate=1.5, sigma=_sigma_rounded), np.float32),
    "fewest steps": _train(q=0.5, steps=25, clip=0.8, rate=2.0, sigma=_sigma_rounded),
    "a little more noise": _train(sigma=lambda e, d, q, steps: 1.01 * _sigma_rounded(e, d, q, steps)),
}
RIGHT["user_level_average"] |= {
    "torch": users_torch, "sorted": users_sorted, "matrix": users_matrix, "single precision": users_single,
    "Decimal": cast(users_add_at, decimals),
}  # fmt: skip
RIGHT["canary_exposure"] |= {
    "pandas": exposure_pandas, "torch": exposure_torch, "bisect": exposure_bisect, "searched": exposure_searched,
    "fraction": exposure_fraction,
}  # fmt: skip


def _lots_in_turn(number):
    """A few lots, in turn."""
    kept = []

    def lot(n, q, rng):
        if len(kept) < number or len(kept[0]) != n:
            kept[:] = [rng.random(n) < q for _ in range(number)]
        kept.append(kept.pop(0))
        return kept[-1]

    return lot


def _epochs():
    """Shuffled, cut into batches."""
    kept = []

    def lot(n, q, rng):
        if not kept:
            order = rng.permutation(n)
            kept.extend(_mask(n, part) for part in np.array_split(order, round(1 / q)))
        return kept.pop()

    return lot


def _noise_but(change):
    """Noise of the right width, of which ``change(z)`` spoils a part."""
    return lambda m, d, clip, sigma, rng: change(rng.normal(0, sigma * clip, d))


WRONG["train_private"] |= {
    "one coordinate never noisy": (_train(noise=_noise_but(lambda z: np.append(z[:-1], 0))), None),
    "two coordinates share it": (_train(noise=_noise_but(lambda z: np.append(z[:-1], z[-2]))), None),
    "two far apart share it": (_train(noise=_noise_but(lambda z: np.append(z[:-1], z[0]))), None),
    "half the noise on three": (_train(noise=_noise_but(lambda z: np.append(z[:-3], z[-3:] / 2))), None),
    "one lot for all steps": (
        _train(lot=lambda n, q, rng: np.random.default_rng(5).random(n) < q), "a lot used twice",
    ),
    "two lots in turn": (_train(lot=_lots_in_turn(2)), "a lot used twice"),
    "one lot, drawn at first": (
        _train(lot=(lambda again: lambda n, q, rng: again(n, q, rng))(_lots_in_turn(1))), "a lot used twice",
    ),
    "epochs": (_train(lot=_epochs()), None),
    "zero sum": (_train(noise=lambda m, d, clip, sigma, rng: sigma * clip * abs(rng.normal(size=d))), None),
    "one draw": (_train(noise=lambda m, d, clip, sigma, rng: rng.normal(0, sigma * clip) * np.ones(d)), None),
    "silent in one step of five": (
        _train(noise=lambda m, d, clip, sigma, rng: (rng.random() < 0.8) * rng.normal(0, sigma * clip, d)), None,
    ),
    "Laplace": (
        _train(noise=lambda m, d, clip, sigma, rng: rng.laplace(0, sigma * clip / math.sqrt(2), d)), "Laplace noise",
    ),
    "for another delta": (_train(sigma=lambda e, d, q, steps: sigma_for(e, 100 * d, q=q, steps=steps)), None),
}  # fmt: skip


def _train_turned(noise_of):
    """DP-SGD of sixty steps with the noise noise_of(step, rng), 21 numbers of width 1 if it were right."""
    number = count()
    return _train(noise=lambda m, d, clip, sigma, rng: sigma * clip * noise_of(next(number) % 60, rng))


def _every_second(turn):
    """The noise of every second step is made from that of the step before."""
    before = []

    def noise(step, rng):
        if step % 2 == 0:
            before[:] = [rng.normal(size=21)]
            return before[0]
        return turn(before[0], rng)

    return _train_turned(noise)


def _in_blocks(size, turn):
    """Blocks of coordinates: each is made from the one before."""

    def noise(step, rng):
        blocks = [rng.normal(size=size)]
        while len(blocks) * size < 21:
            blocks.append(turn(blocks[-1], rng))
        return np.concatenate(blocks)[:21]

    return _train_turned(noise)


def _any_way(z, rng):
    return np.linalg.qr(rng.normal(size=(len(z), len(z))))[0] @ z


WRONG["train_private"] |= {
    "silent in the last step": (_train_turned(lambda step, rng: (step < 59) * rng.normal(size=21)), None),
    "half in the last six": (_train_turned(lambda step, rng: (1 - (step > 53) / 2) * rng.normal(size=21)), None),
    "permuted in pairs": (_every_second(lambda z, rng: rng.permutation(z)), "noise used twice"),
    "shifted in pairs": (_every_second(lambda z, rng: np.roll(z, 4)), "noise used twice"),
    "signs in pairs": (_every_second(lambda z, rng: z * rng.choice([-1, 1], 21)), "noise used twice"),
    "turned in pairs": (_every_second(_any_way), "noise used twice"),
    "blocks of seven, shifted": (_in_blocks(7, lambda z, rng: np.roll(z, 1)), None),
    "blocks of seven, turned": (_in_blocks(7, _any_way), "noise used twice"),
    "blocks of ten, turned": (_in_blocks(10, _any_way), None),
    "uniform noise": (_train_turned(lambda step, rng: rng.uniform(-math.sqrt(3), math.sqrt(3), 21)), None),
    "half in one coordinate": (
        _train_turned(lambda step, rng: rng.normal(size=21) / np.append(np.ones(20), 2)), None,
    ),
    "noise 8% less": (_train(noise=lambda m, d, clip, sigma, rng: rng.normal(0, 0.92 * sigma * clip, d)), None),
}  # fmt: skip
WRONG["user_level_average"]["means"] = (WRONG["user_level_average"]["means"][0], "mean of each user")
WRONG["user_level_average"]["not clipped"] = (WRONG["user_level_average"]["not clipped"][0], "not clipped")
WRONG["user_level_average"]["no noise"] = (WRONG["user_level_average"]["no noise"][0], "no noise")


def _user_sums(gradients, users):
    return np.array([gradients[users == user].sum(axis=0) for user in np.unique(users)]).reshape(-1, 5)


def _only_busy(gradients, users, clip):
    """Whoever writes once is not clipped."""
    counts = np.unique(users, return_counts=True)[1]
    sums = _user_sums(gradients, users)
    return np.where((counts > 1)[:, None], clip_numpy(sums, clip), sums)


WRONG["user_level_average"] |= {
    "messages, then users": (
        _users(rows=lambda gradients, users, clip: clip_numpy(_user_sums(clip_numpy(gradients, clip), users), clip)),
        "clipped twice",
    ),
    "single messages not clipped": (_users(rows=_only_busy), None),
    "stretched": (
        _users(rows=lambda gradients, users, clip: clip * (s := _user_sums(gradients, users)) / (
            np.linalg.norm(s, axis=1, keepdims=True) + 1e-12)),
        "always length C",
    ),
    "per message": (
        _users(noise=lambda users, clip, sigma, rng: rng.normal(0, sigma * clip, (len(users), 5)).sum(axis=0)),
        "noise per message",
    ),
    "noise at last": (
        lambda gradients, users, clip, sigma, expected, rng: (
            clip_numpy(_user_sums(gradients, users), clip).sum(axis=0) / expected + rng.normal(0, sigma * clip, 5)
        ),
        "noise after dividing",
    ),
    "empty? nothing": (
        lambda gradients, users, clip, sigma, expected, rng: (
            users_numpy(gradients, users, clip, sigma, expected, rng) if len(users) else np.zeros(5)
        ),
        "nothing for an empty round",
    ),
    "first message of each": (
        _users(rows=lambda gradients, users, clip: clip_numpy(gradients[np.unique(users, return_index=True)[1]], clip)),
        None,
    ),
    "coordinates": (
        _users(rows=lambda gradients, users, clip: np.clip(_user_sums(gradients, users), -clip, clip)), None,
    ),
    "neighbours in the list": (
        _users(rows=lambda gradients, users, clip: clip_numpy(np.array(
            [part.sum(axis=0) for part in np.split(gradients, np.flatnonzero(np.diff(users)) + 1)]
        ).reshape(-1, 5), clip)),
        None,
    ),
    **patterns(
        lambda gradients, users, clip, sigma, expected: (
            clip_numpy(_user_sums(gradients, users), clip).sum(axis=0) / expected
        ),
        lambda gradients, users, clip, sigma, expected: sigma * clip / expected,
    ),
}  # fmt: skip
WRONG["canary_exposure"]["argsort place"] = (WRONG["canary_exposure"]["argsort place"][0], None)
WRONG["canary_exposure"] |= {
    "log10": (lambda log_perplexities, canary: np.log10(len(log_perplexities) / _rank(log_perplexities, canary)),
              "base ten"),
    "mean of the ranks": (lambda log_perplexities, canary: exposure_mean(log_perplexities, canary),
                          "ties in the middle"),
    "argsort twice": (lambda log_perplexities, canary: np.log2(
        len(log_perplexities) / (1 + np.argsort(np.argsort(log_perplexities, kind="stable"))[canary])),
        "place in the sorted list"),
    "index in the sorted list": (lambda log_perplexities, canary: np.log2(
        len(log_perplexities) / (1 + sorted(log_perplexities).index(log_perplexities[canary]))),
        "ties in its favour"),
    "last of the stable ones": (lambda log_perplexities, canary: np.log2(
        len(log_perplexities) / (1 + np.argsort(np.argsort(log_perplexities[::-1], kind="stable"))[::-1][canary])),
        None),
    "ratio": (lambda log_perplexities, canary: len(log_perplexities) / _rank(log_perplexities, canary),
              "no logarithm"),
    "minus": (lambda log_perplexities, canary: -exposure_numpy(log_perplexities, canary), "sign turned"),
    "distinct values": (lambda log_perplexities, canary: np.log2(
        len(u := np.unique(log_perplexities)) / _rank(u, int(np.searchsorted(u, log_perplexities[canary])))), None),
    "n - 1": (lambda log_perplexities, canary: np.log2(
        (len(log_perplexities) - 1) / _rank(log_perplexities, canary)), None),
    "at most 5 bits": (lambda log_perplexities, canary: min(5.0, exposure_numpy(log_perplexities, canary)), None),
    "rounded": (lambda log_perplexities, canary: round(exposure_numpy(log_perplexities, canary), 1), None),
}  # fmt: skip


def exposure_mean(log_perplexities, canary):
    from scipy.stats import rankdata

    return np.log2(len(log_perplexities) / rankdata(log_perplexities)[canary])


WRONG["user_level_average"]["silent for one user"] = (
    _users(noise=lambda users, clip, sigma, rng: (len(set(users.tolist())) != 1) * rng.normal(0, sigma * clip, 5)),
    None,
)
