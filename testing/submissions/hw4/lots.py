"""Submissions to homework 4: clipping and Poisson lots."""

import math
import random
from decimal import Decimal

import numpy as np

from testing.submissions.hw3.shared import cast, fractions
from testing.submissions.hw4.shared import _mask, clip_numpy, clip_opacus


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


RIGHT = {
    "clip_gradients": {"numpy": clip_numpy, "loop, lists": clip_loop, "copy": clip_copy, "torch": clip_torch},
    "poisson_lot": {
        "numpy": lot_numpy, "random, list": lot_random, "binomial": lot_binomial, "size first": lot_size_first,
        "torch": lot_torch,
    },
}  # fmt: skip

WRONG = {
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
}  # fmt: skip


def clip_renorm(gradients, clip):
    import torch

    return torch.renorm(torch.tensor(gradients), p=2, dim=0, maxnorm=clip)


def clip_where(gradients, clip):
    lengths = np.sqrt(np.einsum("ij,ij->i", gradients, gradients))
    safe = np.where(lengths > 0, lengths, 1)
    return np.where((lengths > clip)[:, None], gradients * (clip / safe)[:, None], gradients)


def clip_pandas(gradients, clip):
    import pandas as pd

    table = pd.DataFrame(gradients)
    return table.div((table.pow(2).sum(axis=1).pow(0.5) / clip).clip(lower=1), axis=0)


def clip_single(gradients, clip):
    return clip_numpy(np.float32(gradients), np.float32(clip))


def clip_decimal(gradients, clip):
    rows = [[Decimal(repr(float(value))) for value in row] for row in gradients]
    factors = [max(Decimal(1), sum(v * v for v in row).sqrt() / Decimal(repr(clip))) for row in rows]
    return [[v / factor for v in row] for row, factor in zip(rows, factors, strict=True)]


def lot_gaps(n, q, rng):
    """From one member to the next: geometric gaps."""
    mask, place = [0] * n, int(rng.geometric(q)) - 1
    while place < n:
        mask[place] = 1
        place += int(rng.geometric(q))
    return mask


def lot_waiting(n, q, rng):
    """Whoever's exponential clock rings before -ln(1 - q)."""
    return rng.exponential(size=n) < -np.log1p(-q)


def lot_pandas(n, q, rng):
    import pandas as pd

    return pd.Series(rng.uniform(size=n)).lt(q)


def lot_choices(n, q):
    return random.choices([True, False], weights=[q, 1 - q], k=n)


def lot_single(n, q, rng):
    return (rng.random(n, dtype=np.float32) < np.float32(q)).astype(np.float32)


RIGHT["clip_gradients"] |= {
    "1e-6 more": clip_opacus, "renorm": clip_renorm, "where": clip_where, "pandas": clip_pandas,
    "single precision": clip_single, "Decimal": clip_decimal,
    "fractions": cast(clip_loop, fractions),
}  # fmt: skip
RIGHT["poisson_lot"] |= {
    "gaps": lot_gaps, "waiting": lot_waiting, "pandas": lot_pandas, "choices": lot_choices, "single": lot_single,
}  # fmt: skip


def lot_then(later, calls):
    """A right lot for so many calls, then another one."""
    count = iter(range(10**9))
    return lambda n, q, rng: lot_numpy(n, q, rng) if next(count) < calls else later(n, q, rng)


def lot_mixed(other, share):
    return lambda n, q, rng: lot_numpy(n, q, rng) if rng.random() < share else other(n, q, rng)


def lot_again(times):
    """Every lot is used so many times."""
    kept = {}

    def lot(n, q, rng):
        mask, left = kept.get((n, q), (None, 0))
        if not left:
            mask, left = lot_numpy(n, q, rng), times
        kept[n, q] = mask, left - 1
        return mask

    return lot


def lot_in_turn(number):
    """A few lots, drawn once, in turn."""
    kept = {}

    def lot(n, q, rng):
        lots = kept.setdefault((n, q), [lot_numpy(n, q, rng) for _ in range(number)])
        lots.append(lots.pop(0))
        return lots[-1]

    return lot


def lot_antithetic():
    """Who was in is out: the same numbers, turned."""
    kept = {}

    def lot(n, q, rng):
        numbers = kept.pop((n, q), None)
        if numbers is None:
            kept[n, q] = rng.random(n)
            return kept[n, q] < q
        return 1 - numbers < q

    return lot


def lot_epochs():
    """Shuffled, and cut into batches, one after the other: no one comes twice in an epoch."""
    kept = {}

    def lot(n, q, rng):
        order = kept.get((n, q), [])
        if len(order) < round(q * n):
            order = rng.permutation(n).tolist()
        kept[n, q] = order[round(q * n) :]
        return _mask(n, order[: round(q * n)])

    return lot


def everybody(n, q, rng):
    return np.ones(n)


def nobody(n, q, rng):
    return np.zeros(n)


WRONG["clip_gradients"] |= {
    "average": (
        lambda gradients, clip: gradients / max(1, np.linalg.norm(gradients.mean(axis=0)) / clip), "average clipped",
    ),
    "by the longest": (
        lambda gradients, clip: gradients / max(1, np.linalg.norm(gradients, axis=1).max() / clip),
        "longest row decides",
    ),
    "unit rows": (
        lambda gradients, clip: gradients / (np.linalg.norm(gradients, axis=1, keepdims=True) + 1e-12),
        "always length 1",
    ),
    "thrown out": (
        lambda gradients, clip: np.where(np.linalg.norm(gradients, axis=1, keepdims=True) > clip, 0, gradients),
        "long ones left out",
    ),
    "largest entry": (
        lambda gradients, clip: gradients / np.maximum(1, abs(gradients).max(axis=1, keepdims=True) / clip),
        "largest entry",
    ),
    "untouched": (lambda gradients, clip: gradients, "not clipped"),
    "squared": (
        lambda gradients, clip: gradients / np.maximum(1, (gradients**2).sum(axis=1, keepdims=True) / clip),
        "squared length",
    ),
    "a hundredth too long": (lambda gradients, clip: clip_numpy(gradients, 1.01 * clip), None),
    "1e-3 more": (
        lambda gradients, clip: gradients * np.minimum(
            1, clip / (np.linalg.norm(gradients, axis=1, keepdims=True) + 1e-3)
        ),
        None,
    ),
    "by C": (lambda gradients, clip: gradients / np.maximum(1, np.linalg.norm(gradients, axis=1, keepdims=True) / clip)
             * clip, None),
    "without empty rows": (lambda gradients, clip: clip_numpy(gradients[gradients.any(axis=1)], clip), None),
    "transposed": (lambda gradients, clip: clip_numpy(gradients, clip).T, None),
}  # fmt: skip
WRONG["poisson_lot"]["indices"] = (WRONG["poisson_lot"]["indices"][0], "indices for a mask")
WRONG["poisson_lot"] |= {
    "indices, list": (lambda n, q: [i for i in range(n) if random.random() < q], "indices for a mask"),
    "indices from 1": (lambda n, q, rng: 1 + np.flatnonzero(rng.random(n) < q), "indices for a mask"),
    "rng.poisson": (lambda n, q, rng: rng.poisson(q, size=n), "Poisson numbers"),
    "rng.poisson, cut": (lambda n, q, rng: rng.poisson(q, size=n) > 0, None),
    "Poisson size": (
        lambda n, q, rng: _mask(n, rng.permutation(n)[: rng.poisson(q * n)]), "Poisson size",
    ),
    "numbers": (lambda n, q, rng: rng.random(n), None),
    "a fair coin": (lambda n, q, rng: rng.integers(0, 2, n), "a fair coin"),
    "nobody": (nobody, "always the same lot"),
    "every lot twice": (lot_again(2), "a lot used twice"),
    "every lot ten times": (lot_again(10), "a lot used twice"),
    "fifty in turn": (lot_in_turn(50), "a lot used twice"),
    "two in turn": (lot_in_turn(2), None),
    "a thousand seeds": (lambda n, q, rng: np.random.default_rng(rng.integers(1_000)).random(n) < q,
                         "a lot used twice"),
    "antithetic": (lot_antithetic(), None),
    "epochs": (lot_epochs(), "fixed size"),
    **{f"everybody in {1 - share:.0%}": (lot_mixed(everybody, share), None) for share in (0.8, 0.95, 0.99)},
    **{f"nobody in {1 - share:.0%}": (lot_mixed(nobody, share), None) for share in (0.8, 0.95, 0.99)},
    **{f"everybody from call {calls} on": (lot_then(everybody, calls), None) for calls in (1, 100, 1_000)},
    "one coin half the time": (lot_mixed(lambda n, q, rng: np.full(n, rng.random() < q), 0.5), None),
    "sorted": (lambda n, q, rng: np.sort(rng.random(n) < q), None),
    "first half twice as often": (
        lambda n, q, rng: rng.random(n) < q * np.where(np.arange(n) < n // 2, 4 / 3, 2 / 3), None,
    ),
    "5% more": (lambda n, q, rng: rng.random(n) < 1.05 * q, None),
}  # fmt: skip
