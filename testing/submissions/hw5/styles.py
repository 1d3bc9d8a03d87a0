"""Submissions to homework 5 in other styles: single precision, Decimal, pandas, torch, other algebra."""

import math
import random
from decimal import Decimal
from itertools import permutations

import numpy as np

from testing.submissions.hw5.learning import _likeliest
from testing.submissions.hw5.shared import matrix_cases, second_math, subset_closed
from testing.submissions.hw5.utilities import six_numpy


def srr_race(x, k, epsilon, rng):
    """The first of k exponential clocks; that of the truth is e^eps times as fast."""
    return int(np.argmin(rng.exponential(size=k) / np.exp(epsilon * (np.arange(k) == x))))


def srr_mixture(x, k, epsilon):
    return random.randrange(k) if random.random() * (math.exp(epsilon) + k - 1) < k else x


def srr_single(x, k, epsilon, rng):
    weights = np.ones(k, dtype=np.float32)
    weights[x] = np.exp(np.float32(epsilon))
    return np.searchsorted(np.cumsum(weights), rng.random(dtype=np.float32) * weights.sum()).astype(np.int8)


def srr_others(x, k, epsilon, rng):
    others = np.delete(np.arange(k), x)
    return [x] if rng.random() < 1 - (k - 1) / (math.exp(epsilon) + k - 1) else [others[rng.integers(k - 1)]]


def srr_matrix_softmax(k, epsilon):
    from scipy.special import softmax

    return softmax(epsilon * np.eye(k, dtype=np.float32), axis=1)


def srr_matrix_pandas(k, epsilon):
    import pandas as pd

    table = pd.DataFrame(np.exp(epsilon * np.eye(k)))
    return table.div(table.sum(axis=1), axis=0)


def srr_matrix_decimal(k, epsilon):
    e = Decimal(epsilon).exp()
    return [[(e if x == y else 1) / (e + k - 1) for y in range(k)] for x in range(k)]


def srr_matrix_tuples(k, epsilon):
    truth = 1 / (1 + (k - 1) * math.exp(-epsilon))
    return tuple(tuple(truth if x == y else (1 - truth) / (k - 1) for y in range(k)) for x in range(k))


def epsilon_single(matrix):
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(matrix.astype(np.float32))
        return np.nanmax(logs.max(axis=0) - logs.min(axis=0))


def epsilon_pandas(matrix):
    import pandas as pd

    columns = pd.DataFrame(matrix).loc[:, lambda table: table.max() > 0]
    ratios = columns.max() / columns.min()
    return math.inf if np.isinf(ratios).any() else math.log(ratios.max())


def epsilon_torch(matrix):
    import torch

    used = torch.tensor(matrix)[:, torch.tensor(matrix).amax(0) > 0]
    return (used.amax(0).log() - used.amin(0).log()).max()


def epsilon_pairs(matrix):
    worst = Decimal(0)
    for one, other in permutations(matrix.tolist(), 2):
        for p, q in zip(one, other, strict=True):
            if p > 0 == q:
                return float("inf")
            if p > 0:
                worst = max(worst, (Decimal(p) / Decimal(q)).ln())
    return worst


def second_decimal(epsilon, first, inside, outside):
    below = outside * (Decimal(first) - Decimal(epsilon)).exp() - 1
    if inside == 0 or outside == 1 or below <= 0:
        return Decimal(epsilon)
    return min(Decimal(epsilon), ((outside - 1) / below).ln())


def second_single(epsilon, first, inside, outside):
    epsilon, first = np.float32(epsilon), np.float32(first)
    below = outside * np.exp(first - epsilon) - np.float32(1)
    if not inside or outside < 2 or below <= 0:
        return epsilon
    return min(epsilon, np.log(np.float32(outside - 1)) - np.log(below))


def second_logs(epsilon, first, inside, outside):
    if inside and outside > 1 and epsilon - first < math.log(outside):
        return min(epsilon, math.log(outside - 1) - math.log(math.expm1(math.log(outside) + first - epsilon)))
    return epsilon


def second_torch(epsilon, first, inside, outside):
    import torch

    eps = torch.tensor(epsilon, dtype=torch.float64)
    bound = torch.log((outside - 1) / (outside * torch.exp(first - eps) - 1))
    useful = inside > 0 and outside > 1 and torch.isfinite(bound)
    return torch.minimum(bound, eps) if useful else eps


def _choose(labels, own, epsilon, rng):
    """One of the labels; one's own is e^epsilon times as likely as another."""
    weights = np.exp(epsilon * (np.asarray(labels) == own))
    return int(labels[int(np.searchsorted(np.cumsum(weights), rng.random() * weights.sum()))])


def rrrr_weights(x, k, subset, epsilon, first, rng):
    outside = [y for y in range(k) if y not in subset]
    second = second_math(epsilon, first, len(subset), len(outside))
    r = _choose(outside, x, second, rng)  # for x in S no weight stands out
    return _choose([*subset, r], x if x in subset else r, first, rng)


def rrrr_choices(x, k, subset, epsilon, first):
    row = matrix_cases(k, subset, epsilon, first)[x].tolist()
    return random.choices(range(k), weights=row)[0]


def rrrr_gumbel(x, k, subset, epsilon, first, rng):
    outside = np.setdiff1d(np.arange(k), subset)
    second = second_math(epsilon, first, len(subset), len(outside))
    r = outside[np.argmax(second * (outside == x) + rng.gumbel(size=len(outside)))]
    labels = np.append(subset, r).astype(int)
    return labels[np.argmax(first * (labels == (x if x in subset else r)) + rng.gumbel(size=len(labels)))]


def rrrr_fractions(x, k, subset, epsilon, first, rng):
    """Bottom up: is it the truth, one of S, or one of the others?"""
    inside, outside = list(subset), [y for y in range(k) if y not in subset]
    own = x
    if x not in subset and len(outside) > 1:
        second = second_math(epsilon, first, len(inside), len(outside))
        if rng.random() > math.exp(second) / (math.exp(second) + len(outside) - 1):
            own = [y for y in outside if y != x][rng.integers(len(outside) - 1)]
    extra = own if x not in subset else outside[rng.integers(len(outside))]
    if rng.random() < math.exp(first) / (math.exp(first) + len(inside)):
        return np.array(own)
    return np.array([y for y in [*inside, extra] if y != own][rng.integers(len(inside))])


def matrix_single(k, subset, epsilon, first):
    return matrix_cases(k, subset, epsilon, first).astype(np.float32)


def matrix_pandas(k, subset, epsilon, first):
    import pandas as pd

    return pd.DataFrame(matrix_cases(k, subset, epsilon, first))


def matrix_torch(k, subset, epsilon, first):
    import torch

    n = k - len(subset)
    second = second_math(epsilon, first, len(subset), n)
    outside = torch.ones(k, dtype=torch.float64)
    outside[list(subset)] = 0
    inner = torch.exp(second * torch.eye(k, dtype=torch.float64)) * outside
    extra = torch.where(outside[:, None] > 0, inner / inner.sum(1, keepdim=True), outside / n)
    lie = 1 / (math.exp(first) + len(subset))
    matrix = extra * torch.where(outside > 0, math.exp(first) * lie, lie)[:, None]
    matrix += lie * (1 - outside)
    matrix += torch.diag((1 - outside) * (math.exp(first) - 1) * lie)
    return matrix


def matrix_two_stages(k, subset, epsilon, first):
    """The product of two matrices: R for each x, then the report for each x and R."""
    rows = []
    outside = [y for y in range(k) if y not in subset]
    second = second_math(epsilon, first, len(subset), len(outside))
    for x in range(k):
        weights = np.array([math.exp(second) if r == x else 1.0 for r in outside])
        row = np.zeros(k)
        for r, share in zip(outside, weights / weights.sum(), strict=True):
            start, labels = x if x in subset else r, [*subset, r]
            answer = np.array([math.exp(first) if y == start else 1.0 for y in labels])
            row[labels] += share * answer / answer.sum()
        rows.append(row)
    return rows


def six_single(theta, matrix):
    return {name: np.float32(value) for name, value in six_numpy(theta.astype("f4"), matrix.astype("f4")).items()}


def six_einsum(theta, matrix):
    joint = np.einsum("x,xy->xy", theta, matrix)
    q = np.einsum("xy->y", joint)
    d = matrix[:-1] - matrix[-1]
    f = np.einsum("iy,jy,y->ij", d, d, 1 / q)
    return (
        -np.einsum("ii", np.linalg.solve(f, np.eye(len(f)))), np.log(1 / q) @ q,
        np.maximum(joint - np.outer(theta, q), 0).sum(), -np.maximum(theta - q, 0).sum(),
        np.einsum("xy,xy,y->", joint, joint, 1 / q) - 1, np.einsum("ii", joint),
    )  # fmt: skip


def six_pandas(theta, matrix):
    import pandas as pd

    table = pd.DataFrame(matrix).mul(theta, axis=0)
    q = table.sum()
    posterior = table / q
    right = six_numpy(theta, matrix)
    return {
        **right, "entropy": -(q * np.log(q)).sum(),
        "tv_posterior": (posterior.sub(theta, axis=0).abs().sum() / 2 * q).sum(),
        "squared_error": -((1 - (posterior**2).sum()) * q).sum(), "honest": pd.Series(np.diag(table)).sum(),
    }  # fmt: skip


def six_covariance(theta, matrix):
    """The information of K - 1 shares from that of all K, by the rule for a sum that is fixed."""
    right = six_numpy(theta, matrix)
    map_back = np.vstack([np.eye(len(theta) - 1), -np.ones(len(theta) - 1)])
    f = map_back.T @ (matrix / (theta @ matrix)) @ matrix.T @ map_back
    return list({**right, "fisher": -np.linalg.pinv(f).trace()}.values())


def subset_pandas(theta, epsilon, first):
    import pandas as pd

    return pd.Series(theta).nlargest(len(subset_closed(theta, epsilon, first))).index.to_series()


def subset_set(theta, epsilon, first):
    return list(set(subset_closed(theta, epsilon, first)))


def subset_floats(theta, epsilon, first):
    return np.array(subset_closed(theta, epsilon, first)[::-1], dtype=np.float32)


def subset_torch(theta, epsilon, first):
    import torch

    size = len(subset_closed(theta, epsilon, first))
    return torch.topk(torch.tensor(theta), size).indices


def sgld_autograd(phi, rows, n, rho, gamma):
    import torch

    at = torch.tensor(phi, dtype=torch.float64, requires_grad=True)
    likelihood = torch.log(torch.tensor(rows) @ (at / at.sum())).sum()
    log_posterior = ((rho - 1) * at.log() - at).sum() + n / len(rows) * likelihood
    (slope,) = torch.autograd.grad(log_posterior, at)
    return (at.detach() + gamma / 2 * slope + gamma**0.5 * torch.randn(len(phi), dtype=torch.float64)).abs()


def sgld_single(phi, rows, n, rho, gamma, rng):
    phi, rows = phi.astype(np.float32), rows.astype(np.float32)
    pull = (rows / (rows @ phi)[:, None]).mean(axis=0) - 1 / phi.sum()
    moved = phi + np.float32(gamma / 2) * ((rho - 1) / phi - 1 + n * pull)
    return np.abs(moved + np.float32(gamma**0.5) * rng.standard_normal(len(phi), dtype=np.float32))


def sgld_covariance(phi, rows, n, rho, gamma, rng):
    slope = (rho - 1) / phi - 1 + n * ((rows / (rows @ phi)[:, None]).mean(axis=0) - 1 / phi.sum())
    moved = phi + 0.5 * gamma * slope
    moved += np.sqrt(gamma / 2) * (rng.normal(size=len(phi)) + rng.normal(size=len(phi)))
    return np.where(moved < 0, -moved, moved)


def sgld_list(phi, rows, n, rho, gamma, rng):
    total, m = float(phi.sum()), len(rows)
    mixed = [sum(a * b for a, b in zip(row, phi, strict=True)) for row in rows.tolist()]
    slopes = [
        (rho - 1) / f - 1 + n / m * sum(row[j] / p - 1 / total for row, p in zip(rows, mixed, strict=True))
        for j, f in enumerate(phi.tolist())
    ]
    return [abs(rng.normal(f + gamma * slope / 2, gamma**0.5)) for f, slope in zip(phi.tolist(), slopes, strict=True)]


def _surveying(estimate, choose=subset_closed):
    def survey(members, counts, epsilon, first):
        k = members.shape[1]
        theta = estimate(members, counts, epsilon, first) if len(counts) else np.full(k, 1 / k)
        return {"subset": choose(np.asarray(theta, dtype=float), epsilon, first), "estimate": theta}

    return survey


def _by_rounds(members, counts, epsilon, first):
    """EM with a table for each round."""
    k = members.shape[1]
    tables = [matrix_cases(k, tuple(np.flatnonzero(row).tolist()), epsilon, first) for row in members]
    theta = np.full(k, 1 / k)
    for _ in range(400):
        share = sum(theta * (table @ (seen / (theta @ table))) for table, seen in zip(tables, counts, strict=True))
        theta = share / share.sum()
    return theta.tolist()


def _in_torch(members, counts, epsilon, first):
    import torch

    k = members.shape[1]
    rows = np.hstack([matrix_cases(k, tuple(np.flatnonzero(row).tolist()), epsilon, first) for row in members])
    rows, seen = torch.tensor(rows), torch.tensor(counts.ravel(), dtype=torch.float64)
    theta = torch.full((k,), 1 / k, dtype=torch.float64)
    for _ in range(300):
        theta = theta * (rows @ (seen / (theta @ rows))) / seen.sum()
    return theta / theta.sum()


def _with_a_prior(members, counts, epsilon, first):
    """A pseudo-count of one half for each category: the mean of a posterior, nearly."""
    theta = np.asarray(_likeliest(members, counts, epsilon, first, 300))
    return (theta * counts.sum() + 0.5) / (counts.sum() + 0.5 * len(theta))


def _single(members, counts, epsilon, first):
    k = members.shape[1]
    tables = [matrix_cases(k, tuple(np.flatnonzero(row).tolist()), epsilon, first) for row in members]
    rows, seen = np.hstack(tables).astype(np.float32), counts.ravel().astype(np.float32)
    theta = np.full(k, 1 / k, dtype=np.float32)
    for _ in range(300):
        theta = theta * (rows @ (seen / (theta @ rows)))
        theta /= theta.sum()
    return theta.astype(float) / theta.astype(float).sum()


RIGHT = {
    "srr": {"race": srr_race, "mixture": srr_mixture, "single": srr_single, "others": srr_others},
    "srr_matrix": {
        "softmax, single": srr_matrix_softmax, "pandas": srr_matrix_pandas, "Decimal": srr_matrix_decimal,
        "tuples": srr_matrix_tuples,
    },
    "matrix_epsilon": {
        "single": epsilon_single, "pandas": epsilon_pandas, "torch": epsilon_torch, "Decimal, pairs": epsilon_pairs,
    },
    "second_epsilon": {
        "Decimal": second_decimal, "single": second_single, "logs": second_logs, "torch": second_torch,
    },
    "rrrr": {
        "weights": rrrr_weights, "choices": rrrr_choices, "gumbel": rrrr_gumbel, "step by step": rrrr_fractions,
    },
    "rrrr_matrix": {
        "single": matrix_single, "pandas": matrix_pandas, "torch": matrix_torch, "two stages": matrix_two_stages,
    },
    "six_utilities": {
        "single": six_single, "einsum": six_einsum, "pandas": six_pandas, "all K": six_covariance,
    },
    "best_subset": {"pandas": subset_pandas, "set": subset_set, "floats": subset_floats, "torch": subset_torch},
    "sgld_step": {
        "autograd": sgld_autograd, "single": sgld_single, "two normals": sgld_covariance, "lists": sgld_list,
    },
    "adaptive_survey": {
        "rounds, list": _surveying(_by_rounds), "torch": _surveying(_in_torch), "prior": _surveying(_with_a_prior),
        "single": _surveying(_single),
    },
}  # fmt: skip

WRONG = {}
