"""Submissions to homework 5, right ones in many styles and wrong ones that students really write."""

import math
import random
from bisect import bisect
from functools import lru_cache

import numpy as np

# ---------------------------------------------------------------- SRR


def srr_numpy(x, k, epsilon, rng):
    truth = np.exp(epsilon) / (np.exp(epsilon) + k - 1)
    if rng.random() < truth:
        return x
    return (x + rng.integers(1, k)) % k


def srr_random(x, k, epsilon):
    truth = 1 / (1 + (k - 1) * math.exp(-epsilon))
    return x if random.random() < truth else random.choice([y for y in range(k) if y != x])


def srr_choice(x, k, epsilon, rng):
    p = np.ones(k)
    p[x] = np.exp(epsilon)
    return rng.choice(k, p=p / p.sum())


def srr_inverse(x, k, epsilon, rng):
    weights = [math.exp(epsilon) if y == x else 1.0 for y in range(k)]
    u = rng.random() * sum(weights)
    y = 0
    while u >= weights[y]:
        u -= weights[y]
        y += 1
    return np.array([y])


def srr_gumbel(x, k, epsilon, rng):
    """The exponential mechanism in disguise: eps for one's own, noise that picks by weight."""
    return float(np.argmax(epsilon * (np.arange(k) == x) + rng.gumbel(size=k)))


def srr_own_generator(x, k, epsilon):
    return srr_numpy(x, k, epsilon, GENERATOR)


GENERATOR = np.random.default_rng(77)


def _truth(epsilon, others):
    return math.exp(epsilon) / (math.exp(epsilon) + others)


def _srr(x, k, truth, rng):
    return x if rng.random() < truth else int((x + rng.integers(1, k)) % k)


def srr_fixed_seed(x, k, epsilon):
    return srr_numpy(x, k, epsilon, np.random.default_rng(1))


# ---------------------------------------------------------------- matrices


def srr_matrix_numpy(k, epsilon):
    return (np.ones((k, k)) + (np.exp(epsilon) - 1) * np.eye(k)) / (np.exp(epsilon) + k - 1)


def srr_matrix_lists(k, epsilon):
    lie = 1 / (math.exp(epsilon) + k - 1)
    return [[math.exp(epsilon) * lie if x == y else lie for y in range(k)] for x in range(k)]


def srr_matrix_filled(k, epsilon):
    truth = np.exp(epsilon) / (np.exp(epsilon) + k - 1)
    matrix = np.full((k, k), (1 - truth) / (k - 1))
    np.fill_diagonal(matrix, truth)
    return matrix


def srr_matrix_torch(k, epsilon):
    import torch

    weights = torch.ones(k, k, dtype=torch.float64)
    weights.fill_diagonal_(math.exp(epsilon))
    return weights / weights.sum(1, keepdim=True)


def epsilon_loops(matrix):
    worst = 0.0
    for y in range(matrix.shape[1]):
        for x in range(matrix.shape[0]):
            for other in range(matrix.shape[0]):
                if matrix[x, y] > 0:
                    worst = max(worst, math.log(matrix[x, y] / matrix[other, y]) if matrix[other, y] > 0 else math.inf)
    return worst


def epsilon_columns(matrix):
    used = matrix[:, matrix.max(axis=0) > 0]
    with np.errstate(divide="ignore"):
        return np.log(used.max(axis=0) / used.min(axis=0)).max()


def epsilon_logs(matrix):
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(matrix)
        return np.nanmax(logs.max(axis=0) - logs.min(axis=0))


def epsilon_list(matrix):
    ratios = [math.inf if min(column) == 0 else max(column) / min(column) for column in matrix.T if max(column) > 0]
    return np.array([math.log(max(ratios)) if max(ratios) < math.inf else math.inf])


def epsilon_truth_only(matrix):
    """Only the diagonal against the others: as if the truth were always the likeliest."""
    k = min(matrix.shape)
    low = np.maximum(matrix[:, :k].min(axis=0), 1e-12)
    return float(np.log(np.maximum(np.diag(matrix[:, :k]), 1e-12) / low).max())


# ---------------------------------------------------------------- eps2


def second_math(epsilon, first, inside, outside):
    below = outside * math.exp(first - epsilon) - 1
    if inside == 0 or outside == 1 or below <= 0:
        return epsilon
    return min(epsilon, math.log((outside - 1) / below))


def second_slide(epsilon, first, inside, outside):
    if epsilon - first < math.log(outside) and inside > 0:
        return np.minimum(epsilon, np.log((outside - 1) / (np.exp(first - epsilon) * outside - 1)))
    return np.float64(epsilon)


def second_bisection(epsilon, first, inside, outside):
    """Without any formula: the largest eps2 whose ratio is allowed."""
    if inside == 0 or outside == 1:
        return epsilon
    low, high = 0.0, epsilon
    for _ in range(200):
        middle = (low + high) / 2
        ratio = outside * math.exp(first + middle) / (math.exp(middle) + outside - 1)
        low, high = (middle, high) if ratio <= math.exp(epsilon) * (1 + 1e-15) else (low, middle)
    return low


def second_array(epsilon, first, inside, outside):
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = np.log(np.array([(outside - 1.0) / np.float64(outside * np.exp(first - epsilon) - 1)]))
    useful = inside > 0 and outside > 1 and outside * np.exp(first - epsilon) > 1
    return np.minimum(inner, epsilon) if useful else np.array([epsilon])


# ---------------------------------------------------------------- RRRR


def _srr_on(x, labels, epsilon, rng):
    labels = list(labels)
    if len(labels) == 1:
        return labels[0]
    if rng.random() < _truth(epsilon, len(labels) - 1):
        return x
    others = [label for label in labels if label != x]
    return others[int(rng.random() * len(others))]


def rrrr_algorithm(x, k, subset, epsilon, first, rng):
    outside = [y for y in range(k) if y not in subset]
    second = second_math(epsilon, first, len(subset), len(outside))
    r = outside[int(rng.random() * len(outside))] if x in subset else _srr_on(x, outside, second, rng)
    return _srr_on(x if x in subset else r, [*subset, r], first, rng)


def rrrr_random(x, k, subset, epsilon, first):
    outside = sorted(set(range(k)) - set(subset))
    if x in subset:
        r = random.choice(outside)
        start = x
    else:
        r = start = _srr_on(x, outside, second_math(epsilon, first, len(subset), len(outside)), random)
    return _srr_on(start, [*subset, r], first, random)


def matrix_cases(k, subset, epsilon, first):
    """The five cases of the lecture's table."""
    s, n = len(subset), k - len(subset)
    e1, e2 = math.exp(first), math.exp(second_math(epsilon, first, s, n))
    a, b = 1 / (e1 + s), 1 / (e2 + n - 1)
    matrix = np.zeros((k, k))
    for x in range(k):
        for y in range(k):
            if y in subset:
                matrix[x, y] = e1 * a if x == y else a
            elif x in subset:
                matrix[x, y] = a / n
            else:
                matrix[x, y] = e1 * e2 * a * b if x == y else e1 * a * b
    return matrix


@lru_cache(maxsize=16)
def _row(x, k, subset, epsilon, first):
    return np.cumsum(matrix_cases(k, subset, epsilon, first)[x])


def rrrr_from_matrix(x, k, subset, epsilon, first, rng):
    return min(bisect(_row(x, k, subset, epsilon, first), rng.random()), k - 1)


def rrrr_scalar_array(x, k, subset, epsilon, first, rng):
    return np.array([rrrr_algorithm(x, k, subset, epsilon, first, rng)])


def matrix_two_steps(k, subset, epsilon, first):
    """Pr(R | x), then SRR on S + {R}, summed over R."""
    member = np.isin(np.arange(k), list(subset))
    s, n = member.sum(), (~member).sum()
    second = second_math(epsilon, first, int(s), int(n))
    extra = np.where(member[:, None], 1 / n, 0.0) * ~member
    inner = np.exp(second * np.eye(k))[np.ix_(~member, ~member)]
    extra[np.ix_(~member, ~member)] = inner / inner.sum(axis=1, keepdims=True)
    truth = np.exp(first) / (np.exp(first) + s)
    lie = 1 / (np.exp(first) + s)
    matrix = np.zeros((k, k))
    for x in range(k):
        for r in np.flatnonzero(~member):
            start = x if member[x] else r
            for y in [*np.flatnonzero(member), r]:
                matrix[x, y] += extra[x, r] * (truth if y == start else lie)
    return matrix


def matrix_lists(k, subset, epsilon, first):
    return matrix_cases(k, subset, epsilon, first).tolist()


def matrix_masks(k, subset, epsilon, first):
    member = np.zeros(k, dtype=bool)
    member[list(subset)] = True
    s, n, same = len(subset), k - len(subset), np.eye(k, dtype=bool)
    e1, e2 = np.exp(first), np.exp(second_slide(epsilon, first, s, n))
    a, b = 1 / (e1 + s), 1 / (e2 + n - 1)
    outside = np.where(member[:, None], a / n, np.where(same, e1 * e2 * a * b, e1 * a * b))
    return np.where(member[None, :], np.where(same, e1 * a, a), outside)


def _two_budgets(first_of, second_of):
    """RRRR with other budgets."""

    def wrong(x, k, subset, epsilon, first, rng):
        outside = [y for y in range(k) if y not in subset]
        one, two = first_of(epsilon, first), second_of(epsilon, first, len(subset), len(outside))
        r = outside[int(rng.random() * len(outside))] if x in subset else _srr_on(x, outside, two, rng)
        return _srr_on(x if x in subset else r, [*subset, r], one, rng)

    return wrong


def rrrr_naive(x, k, subset, epsilon, first, rng):
    if x in subset:
        return _srr_on(x, subset, epsilon, rng)
    outside = [y for y in range(k) if y not in subset]
    return outside[int(rng.random() * len(outside))]


def rrrr_blind(x, k, subset, epsilon, first, rng):
    outside = [y for y in range(k) if y not in subset]
    r = outside[int(rng.random() * len(outside))]
    return _srr_on(x if x in subset else r, [*subset, r], first, rng)


def rrrr_itself(x, k, subset, epsilon, first, rng):
    outside = [y for y in range(k) if y not in subset]
    r = outside[int(rng.random() * len(outside))] if x in subset else x
    return _srr_on(x if x in subset else r, [*subset, r], first, rng)


def rrrr_inside_eps(x, k, subset, epsilon, first, rng):
    """Right for outsiders; whoever is in S answers with eps in place of eps1."""
    if x not in subset:
        return rrrr_algorithm(x, k, subset, epsilon, first, rng)
    outside = [y for y in range(k) if y not in subset]
    return _srr_on(x, [*subset, outside[int(rng.random() * len(outside))]], epsilon, rng)


def _with_second(second_of):
    def wrong(k, subset, epsilon, first):
        s, n = len(subset), k - len(subset)
        e1, e2 = math.exp(first), math.exp(second_of(epsilon, first, s, n))
        a, b = 1 / (e1 + s), 1 / (e2 + n - 1)
        x, y = np.ogrid[:k, :k]
        x_in, y_in = np.isin(x, list(subset)), np.isin(y, list(subset))
        outside = np.where(x_in, a / n, np.where(x == y, e1 * e2 * a * b, e1 * a * b))
        return np.where(y_in, np.where(x == y, e1 * a, a), outside)

    return wrong


def matrix_n_forgotten(k, subset, epsilon, first):
    matrix = matrix_cases(k, subset, epsilon, first)
    outside = [y for y in range(k) if y not in subset]
    matrix[np.ix_(list(subset), outside)] *= len(outside)
    return matrix


# ---------------------------------------------------------------- utilities


def six_numpy(theta, matrix):
    q = theta @ matrix
    joint = theta[:, None] * matrix
    d = matrix[:-1] - matrix[-1]
    f = (d / q) @ d.T
    return {
        "fisher": -np.trace(np.linalg.inv(f)),
        "entropy": -np.sum(q * np.log(q)),
        "tv_posterior": 0.5 * np.abs(joint - np.outer(theta, q)).sum(),
        "tv_marginal": -0.5 * np.abs(q - theta).sum(),
        "squared_error": np.sum(joint**2 / q) - 1,
        "honest": np.sum(theta * np.diag(matrix)),
    }


def six_loops(theta, matrix):
    k = len(theta)
    q = [sum(theta[x] * matrix[x, y] for x in range(k)) for y in range(k)]
    f = np.array(
        [
            [
                sum((matrix[i, y] - matrix[k - 1, y]) * (matrix[j, y] - matrix[k - 1, y]) / q[y] for y in range(k))
                for j in range(k - 1)
            ]
            for i in range(k - 1)
        ]
    )
    tv = error = 0.0
    for y in range(k):
        posterior = np.array([theta[x] * matrix[x, y] / q[y] for x in range(k)])
        tv += q[y] * 0.5 * np.abs(posterior - theta).sum()
        for x in range(k):
            error += theta[x] * matrix[x, y] * float(((np.eye(k)[x] - posterior) ** 2).sum())
    return (
        -sum(1 / np.linalg.eigvalsh(f)), -sum(p * math.log(p) for p in q), tv,
        -0.5 * sum(abs(a - b) for a, b in zip(q, theta, strict=True)), -error,
        sum(theta[x] * matrix[x, x] for x in range(k)),
    )  # fmt: skip


def six_torch(theta, matrix):
    import torch

    t, m = torch.from_numpy(theta), torch.from_numpy(matrix)
    q = t @ m
    joint = t[:, None] * m
    d = m[:-1] - m[-1]
    return {
        "fisher": -torch.linalg.inv((d / q) @ d.T).diagonal().sum(), "entropy": -(q * q.log()).sum(),
        "tv_posterior": (q * 0.5 * (joint / q - t[:, None]).abs().sum(0)).sum(),
        "tv_marginal": -0.5 * (q - t).abs().sum(), "squared_error": (joint**2 / q).sum() - 1,
        "honest": joint.diagonal().sum(),
    }  # fmt: skip


def six_scipy(theta, matrix):
    from scipy.stats import entropy

    right = six_numpy(theta, matrix)
    return [np.array([right["fisher"]]), entropy(theta @ matrix), *list(right.values())[2:]]


def _six_but(**wrong):
    def six(theta, matrix):
        right = six_numpy(theta, matrix)
        return {**right, **{name: change(theta, matrix, right) for name, change in wrong.items()}}

    return six


# ---------------------------------------------------------------- the best subset


def _honest(theta, size, epsilon, first):
    k, order = len(theta), np.argsort(-theta, kind="stable")
    matrix = matrix_cases(k, tuple(order[:size].tolist()), epsilon, first)
    return float(theta @ np.diag(matrix))


def subset_matrices(theta, epsilon, first):
    values = [_honest(theta, size, epsilon, first) for size in range(len(theta))]
    return np.argsort(-theta, kind="stable")[: int(np.argmax(values))]


def subset_closed(theta, epsilon, first):
    k, down = len(theta), np.sort(theta)[::-1]
    best, chosen = -1.0, 0
    for size in range(k):
        n = k - size
        e1, e2 = math.exp(first), math.exp(second_math(epsilon, first, size, n))
        inside = down[:size].sum()
        value = e1 / (e1 + size) * (inside + (1 - inside) * e2 / (e2 + n - 1))
        if value > best:
            best, chosen = value, size
    return sorted(np.argsort(theta)[::-1][:chosen].tolist())


def subset_tuple(theta, epsilon, first):
    return tuple(subset_matrices(theta, epsilon, first))


def subset_sets(theta, epsilon, first):
    return [x for x in range(len(theta)) if x in set(subset_matrices(theta, epsilon, first).tolist())]


def _sized(sizes, key=lambda theta: -theta, measure=_honest):
    def wrong(theta, epsilon, first):
        size = max(sizes(len(theta)), key=lambda size: measure(theta, size, epsilon, first))
        return np.argsort(key(theta), kind="stable")[:size]

    return wrong


def subset_fraction(theta, epsilon, first):
    order = np.argsort(-theta)
    return order[: int(np.argmax(np.cumsum(theta[order]) >= 0.9)) + 1]


# ---------------------------------------------------------------- SGLD


def sgld_numpy(phi, rows, n, rho, gamma, rng):
    total = phi.sum()
    p = rows @ phi / total
    gradient = (rho - 1) / phi - 1 + n / len(rows) * ((rows / p[:, None] - 1) / total).sum(axis=0)
    return np.abs(phi + gamma / 2 * gradient + np.sqrt(gamma) * rng.normal(size=len(phi)))


def sgld_loops(phi, rows, n, rho, gamma):
    total, moved = sum(phi), []
    for k in range(len(phi)):
        slope = (rho - 1) / phi[k] - 1
        for row in rows:
            mixed = float(row @ phi)
            slope += n / len(rows) * (row[k] / mixed - 1 / total)
        moved.append(abs(phi[k] + gamma / 2 * slope + random.gauss(0, math.sqrt(gamma))))
    return moved


def sgld_torch(phi, rows, n, rho, gamma):
    import torch

    at, table = torch.tensor(phi), torch.tensor(rows)
    mixed = table @ at
    gradient = (rho - 1) / at - 1 + n / len(rows) * ((table / mixed[:, None]).sum(0) - len(rows) / at.sum())
    return (at + gamma / 2 * gradient + gamma**0.5 * torch.randn(len(phi), dtype=torch.float64)).abs()


def sgld_inverse(phi, rows, n, rho, gamma, rng):
    from scipy.special import ndtri

    still = _sgld(phi, rows, n, rho, gamma)
    return np.abs(still + math.sqrt(gamma) * ndtri(rng.random(len(phi))))


def _sgld(phi, rows, n, rho, gamma, *, step=0.5, scale=None, prior=None):
    total = phi.sum()
    slope = ((rho - 1) / phi - 1) if prior is None else prior(rho, phi)
    slope = slope + (n / len(rows) if scale is None else scale) * (
        (rows / (rows @ phi)[:, None]).sum(axis=0) - len(rows) / total
    )
    return phi + step * gamma * slope


def _noisy(noise, **how):
    def wrong(phi, rows, n, rho, gamma, rng):
        return np.abs(_sgld(phi, rows, n, rho, gamma, **how) + noise(gamma, len(phi), rng))

    return wrong


def _right_noise(gamma, size, rng):
    return rng.normal(0, math.sqrt(gamma), size)


# ---------------------------------------------------------------- the survey


def _likeliest(members, counts, epsilon, first, steps=200):
    """EM, with the reports of all rounds side by side."""
    k = members.shape[1]
    rows = np.hstack([matrix_cases(k, tuple(np.flatnonzero(row).tolist()), epsilon, first) for row in members])
    seen = counts.ravel()
    theta = np.full(k, 1 / k)
    for _ in range(steps):
        theta = theta * (rows @ (seen / (theta @ rows))) / seen.sum()
    return theta / theta.sum()


def survey_likelihood(members, counts, epsilon, first):
    k = members.shape[1]
    theta = _likeliest(members, counts, epsilon, first) if len(counts) else np.full(k, 1 / k)
    return {"subset": subset_closed(theta, epsilon, first), "estimate": theta}


def survey_top_one(members, counts, epsilon, first):
    """SRR for the first round, then the largest category alone."""
    k = members.shape[1]
    if len(counts) == 0:
        return [], np.full(k, 1 / k)
    theta = _likeliest(members, counts, epsilon, first)
    return [int(np.argmax(theta))], theta


def survey_thompson(members, counts, epsilon, first, rng):
    """A little noise on the estimate chooses the subset, as a posterior sample would."""
    k = members.shape[1]
    if len(counts) == 0:
        return [], np.full(k, 1 / k)
    theta = _likeliest(members, counts, epsilon, first)
    sample = rng.dirichlet(1 + 0.3 * counts.sum() * theta)
    return {"subset": subset_closed(sample, epsilon, first), "estimate": theta}


def survey_semi_adaptive(members, counts, epsilon, first):
    k = members.shape[1]
    if len(counts) == 0:
        return (), np.full(k, 1 / k)
    theta = _likeliest(members, counts, epsilon, first, 400)
    order = np.argsort(-theta)
    return order[: 1 + int(np.searchsorted(np.cumsum(theta[order]), 0.75))][: k - 1], theta


def _survey(estimate, adaptive=True):
    def survey(members, counts, epsilon, first):
        k = members.shape[1]
        theta = estimate(members, counts, epsilon, first) if len(counts) else np.full(k, 1 / k)
        return {"subset": subset_closed(theta, epsilon, first) if adaptive else [], "estimate": theta}

    return survey


def _raw(members, counts, epsilon, first):
    return counts.sum(axis=0) / counts.sum()


def _srr_for_all(members, counts, epsilon, first):
    k = members.shape[1]
    theta = np.linalg.solve(srr_matrix_numpy(k, epsilon).T, _raw(members, counts, epsilon, first))
    low, high = theta.min() - 1, theta.max()
    for _ in range(100):
        level = (low + high) / 2
        low, high = (level, high) if np.maximum(theta - level, 0).sum() > 1 else (low, level)
    theta = np.maximum(theta - high, 0)
    return theta / theta.sum()


def _last_round(members, counts, epsilon, first):
    return _likeliest(members[-1:], counts[-1:], epsilon, first, 3000)


# ---------------------------------------------------------------- the derivation

A, C = "algebra", "choice of eps2"
_RATIO = ("=", "n*E1*E2/(E2 + n - 1)", A)
_SPLIT = ("=", "E*(E2*(n*E1/E - 1) + E2)/(E2 + n - 1)", A)


def proof_lecture():
    return [_RATIO, _SPLIT, ("<=", "E*(n - 1 + E2)/(E2 + n - 1)", C), ("=", "E", A)]


def proof_short():
    return [_RATIO, ("<=", "E", C)]


def proof_at_once():
    return (_SPLIT, ("≤", "E", C))


def proof_slowly():
    return [
        ["=", "(E1*E2*(E1 + k)*n)/((E1 + k)*(E2 + n - 1))", A],
        ["=", "E*(E2*n*E1/E)/(E2 + n - 1)", A],
        ["=", "E*(E2 + E2*(n*E1/E - 1))/(E2 + n - 1)", A],
        ["<=", "E*(E2 + n - 1)/(E2 + n - 1)", C],
        ["=", "E", A],
    ]


RIGHT = {
    "proof_second_epsilon": {
        "lecture": proof_lecture, "short": proof_short, "at once": proof_at_once, "slowly": proof_slowly,
    },
    "srr": {
        "numpy": srr_numpy, "random": srr_random, "choice": srr_choice, "inverse, array": srr_inverse,
        "gumbel, float": srr_gumbel, "own generator": srr_own_generator,
    },
    "srr_matrix": {
        "numpy": srr_matrix_numpy, "lists": srr_matrix_lists, "filled": srr_matrix_filled, "torch": srr_matrix_torch,
    },
    "matrix_epsilon": {
        "loops": epsilon_loops, "columns": epsilon_columns, "logs": epsilon_logs, "list, array": epsilon_list,
    },
    "second_epsilon": {
        "math": second_math, "as on the slide": second_slide, "bisection": second_bisection, "array": second_array,
    },
    "rrrr": {
        "algorithm": rrrr_algorithm, "random": rrrr_random, "from the matrix": rrrr_from_matrix,
        "length-1 array": rrrr_scalar_array,
    },
    "rrrr_matrix": {
        "five cases": matrix_cases, "two steps": matrix_two_steps, "lists": matrix_lists, "masks": matrix_masks,
    },
    "six_utilities": {"numpy": six_numpy, "loops, tuple": six_loops, "torch": six_torch, "scipy, list": six_scipy},
    "best_subset": {
        "matrices": subset_matrices, "closed form": subset_closed, "tuple": subset_tuple, "sorted": subset_sets,
    },
    "sgld_step": {"numpy": sgld_numpy, "loops": sgld_loops, "torch": sgld_torch, "inverse": sgld_inverse},
    "adaptive_survey": {
        "likelihood": survey_likelihood, "top one": survey_top_one, "sampled": survey_thompson,
        "semi-adaptive": survey_semi_adaptive,
    },
}  # fmt: skip

WRONG = {
    "proof_second_epsilon": {
        "n": (lambda: [("=", "E2*E1/(n - 1 + E2)", A)], "n forgotten"),
        "added budgets": (lambda: [_RATIO, ("<=", "E1*E2", C)], "eps1 + eps2"),
        "equal": (lambda: [_RATIO, _SPLIT, ("=", "E", A)], "equal to the bound"),
        "algebra": (lambda: [_RATIO, _SPLIT, ("<=", "E*(E2 + n - 1)/(E2 + n - 1)", A)], "called algebra"),
        "claimed": (lambda: [("<=", "E", A)], None),
        "not finished": (lambda: [_RATIO, _SPLIT], None),
        "no reason": (lambda: [_RATIO, ("<=", "E", "obvious")], None),
    },
    "srr": {
        "own among lies": (
            lambda x, k, epsilon, rng: x if rng.random() < _truth(epsilon, k - 1) else rng.integers(k),
            "own category among the lies",
        ),
        "two categories": (lambda x, k, epsilon, rng: _srr(x, k, _truth(epsilon, 1), rng), "two categories"),
        "K for K - 1": (lambda x, k, epsilon, rng: _srr(x, k, _truth(epsilon, k), rng), "K for K - 1"),
        "next": (
            lambda x, k, epsilon, rng: x if rng.random() < _truth(epsilon, k - 1) else (x + 1) % k,
            "lies to the next category",
        ),
        "truth": (lambda x, k, epsilon: x, "no coin"),
        "chance": (lambda x, k, epsilon, rng: rng.integers(k), "pure chance"),
        "fixed seed": (srr_fixed_seed, None),
        "truth of the first": (lambda x, k, epsilon, rng: srr_numpy(x, k, epsilon, rng) if x else 0, None),
        "truth of the last": (lambda x, k, epsilon, rng: srr_numpy(x, k, epsilon, rng) if x < k - 1 else x, None),
        "10% more eps": (lambda x, k, epsilon, rng: _srr(x, k, _truth(1.15 * epsilon, k - 1), rng), None),
        "labels from 1": (lambda x, k, epsilon, rng: _srr(x, k, _truth(epsilon, k - 1), rng) + 1, None),
    },
    "srr_matrix": {
        "lies whole": (
            lambda k, epsilon: np.where(np.eye(k) == 1, _truth(epsilon, k - 1), 1 - _truth(epsilon, k - 1)),
            "lies not shared out",
        ),
        "K": (
            lambda k, epsilon: np.where(np.eye(k) == 1, _truth(epsilon, k), (1 - _truth(epsilon, k)) / (k - 1)),
            "K for K - 1",
        ),
        "two": (
            lambda k, epsilon: np.where(np.eye(k) == 1, _truth(epsilon, 1), (1 - _truth(epsilon, 1)) / (k - 1)),
            "two categories",
        ),
        "weights": (lambda k, epsilon: np.exp(epsilon * np.eye(k)), "not divided"),
        "logarithms": (lambda k, epsilon: np.log(srr_matrix_numpy(k, epsilon)), "logarithms"),
        "one row": (lambda k, epsilon: srr_matrix_numpy(k, epsilon)[0], None),
        "rounded": (lambda k, epsilon: srr_matrix_numpy(k, epsilon).round(3), None),
    },
    "matrix_epsilon": {
        "rows": (lambda matrix: epsilon_loops(matrix.T), "along the rows"),
        "ratio": (lambda matrix: np.exp(epsilon_loops(matrix)), "ratio, not its logarithm"),
        "everything": (
            lambda matrix: math.log(matrix.max() / matrix.min()) if matrix.min() > 0 else math.inf, "whole matrix",
        ),
        "zeros left out": (
            lambda matrix: max(math.log(max(c[c > 0]) / min(c[c > 0])) for c in matrix.T if c.max() > 0),
            "zeros ignored",
        ),
        "average": (
            lambda matrix: np.mean([epsilon_loops(c[:, None]) for c in matrix.T]), "average column",
        ),
        "diagonal": (epsilon_truth_only, None),
    },
    "second_epsilon": {
        "no logarithm": (
            lambda epsilon, first, inside, outside: (
                min(epsilon, (outside - 1) / (outside * math.exp(first - epsilon) - 1))
                if inside and outside > 1 and outside * math.exp(first - epsilon) > 1 else epsilon
            ),
            "no logarithm",
        ),
        "inside for outside": (
            lambda epsilon, first, inside, outside: second_math(epsilon, first, outside, max(inside, 1)),
            "|S| for its complement",
        ),
        "no minimum": (
            lambda epsilon, first, inside, outside: (
                math.log((outside - 1) / (outside * math.exp(first - epsilon) - 1))
                if inside and outside > 1 and outside * math.exp(first - epsilon) > 1 else epsilon
            ),
            "no minimum",
        ),
        "empty S": (
            lambda epsilon, first, inside, outside: second_math(epsilon, first, 1, outside), "empty S forgotten",
        ),
        "left over": (lambda epsilon, first, inside, outside: epsilon - first, "what is left over"),
        "no edges": (
            lambda epsilon, first, inside, outside: math.log(
                (outside - 1) / (outside * math.exp(first - epsilon) - 1)
            ),
            None,
        ),
        "n for n - 1": (
            lambda epsilon, first, inside, outside: (
                min(epsilon, math.log(outside / (outside * math.exp(first - epsilon) - 1)))
                if inside and outside > 1 and outside * math.exp(first - epsilon) > 1 else epsilon
            ),
            None,
        ),
    },
    "rrrr": {
        "naive": (rrrr_naive, "naive"),
        "eps outside": (_two_budgets(lambda e, f: f, lambda e, f, s, n: e), "eps2 = eps"),
        "eps twice": (_two_budgets(lambda e, f: e, lambda e, f, s, n: e), "eps twice"),
        "X itself": (rrrr_itself, "R = X outside S"),
        "blind R": (rrrr_blind, "R drawn blindly"),
        "eps inside": (rrrr_inside_eps, None),
        "SRR": (lambda x, k, subset, epsilon, first, rng: srr_numpy(x, k, epsilon, rng), None),
        "constant": (lambda x, k, subset, epsilon, first: x, None),
    },
    "rrrr_matrix": {
        "eps outside": (_with_second(lambda e, f, s, n: e), "eps2 = eps"),
        "X itself": (_with_second(lambda e, f, s, n: 700.0), "R = X outside S"),
        "blind R": (_with_second(lambda e, f, s, n: 0.0), "R drawn blindly"),
        "transposed": (lambda k, subset, epsilon, first: matrix_masks(k, subset, epsilon, first).T, "transposed"),
        "n forgotten": (matrix_n_forgotten, "n forgotten"),
        "SRR": (lambda k, subset, epsilon, first: srr_matrix_numpy(k, epsilon), None),
    },
    "six_utilities": {
        "entropy": (_six_but(entropy=lambda t, m, right: -right["entropy"]), "entropy upside down"),
        "trace of F": (
            _six_but(fisher=lambda t, m, right: ((m[:-1] - m[-1]) ** 2 / (t @ m)).sum()), "trace of F",
        ),
        "K shares": (
            _six_but(fisher=lambda t, m, right: -np.trace(np.linalg.inv((m / (t @ m)) @ m.T))), "all K shares free",
        ),
        "half": (_six_but(tv_marginal=lambda t, m, right: -np.abs(t @ m - t).sum()), "half forgotten"),
        "sign of U4": (_six_but(tv_marginal=lambda t, m, right: -right["tv_marginal"]), "distance rewarded"),
        "U3 unweighted": (
            _six_but(tv_posterior=lambda t, m, right: (
                np.abs(t[:, None] * m / (t @ m) - t[:, None]).sum(axis=0).mean() / 2
            )),
            "reports not weighted",
        ),
        "U5 positive": (_six_but(squared_error=lambda t, m, right: -right["squared_error"]), "error as a utility"),
        "diagonal": (_six_but(honest=lambda t, m, right: np.diag(m).mean()), "people not weighted"),
        "entropy in bits": (_six_but(entropy=lambda t, m, right: right["entropy"] / np.log(2)), "bits"),
        "two slips": (
            _six_but(
                entropy=lambda t, m, right: right["entropy"] / np.log(10),
                honest=lambda t, m, right: np.diag(m).mean(),
            ),
            "people not weighted",
        ),
        "half done": (_six_but(fisher=lambda t, m, right: None, honest=lambda t, m, right: None), None),
    },
    "best_subset": {
        "from one": (_sized(lambda k: range(1, k)), "SRR not among the candidates"),
        "first labels": (_sized(range, key=lambda theta: np.zeros(len(theta))), "not sorted"),
        "rarest": (_sized(range, key=lambda theta: theta), "rarest first"),
        "even field": (
            _sized(range, measure=lambda t, s, e, f: _honest(np.full(len(t), 1 / len(t)), s, e, f)), "theta not used",
        ),
        "nine tenths": (subset_fraction, "nine tenths"),
        "the largest": (lambda theta, epsilon, first: [np.argmax(theta)], None),
        "nobody": (lambda theta, epsilon, first: [], None),
    },
    "sgld_step": {
        "gamma W": (_noisy(lambda g, size, rng: g * rng.normal(size=size)), "gamma W"),
        "gamma for gamma/2": (_noisy(_right_noise, step=1.0), "half forgotten"),
        "n/m": (_noisy(_right_noise, scale=1.0), "n/m forgotten"),
        "rho": (_noisy(_right_noise, prior=lambda rho, phi: rho / phi - 1), "rho for rho - 1"),
        "no prior": (_noisy(_right_noise, prior=lambda rho, phi: 0), "prior forgotten"),
        "no noise": (lambda phi, rows, n, rho, gamma: np.abs(_sgld(phi, rows, n, rho, gamma)), "no noise"),
        "no reflection": (
            lambda phi, rows, n, rho, gamma, rng: (
                _sgld(phi, rows, n, rho, gamma) + _right_noise(gamma, len(phi), rng)
            ),
            "no reflection",
        ),
        "cut": (
            lambda phi, rows, n, rho, gamma, rng: np.maximum(
                _sgld(phi, rows, n, rho, gamma) + _right_noise(gamma, len(phi), rng), 1e-6
            ),
            "cut at 0",
        ),
        "one W for all": (_noisy(lambda g, size, rng: np.full(size, rng.normal(0, math.sqrt(g)))), None),
        "Laplace": (_noisy(lambda g, size, rng: rng.laplace(0, math.sqrt(g / 2), size)), None),
        "10% wider": (_noisy(lambda g, size, rng: rng.normal(0, 1.1 * math.sqrt(g), size)), None),
        "fixed seed": (
            lambda phi, rows, n, rho, gamma: sgld_numpy(phi, rows, n, rho, gamma, np.random.default_rng(3)), None,
        ),
        "rounded": (lambda phi, rows, n, rho, gamma, rng: sgld_numpy(phi, rows, n, rho, gamma, rng).round(1), None),
    },
    "adaptive_survey": {
        "raw": (_survey(_raw), "raw reports"),
        "as if SRR": (_survey(_srr_for_all), "one matrix for all"),
        "last round": (_survey(_last_round), "last round only"),
        "even": (_survey(lambda m, r, e, f: np.full(m.shape[1], 1 / m.shape[1])), "never learns"),
        "never adapts": (_survey(_likeliest, adaptive=False), "never adapts"),
        "all of them": (lambda members, counts, epsilon, first: (range(members.shape[1]), [1 / 20] * 20), None),
        "not shares": (lambda members, counts, epsilon, first: ([], [1.0] * 20), None),
    },
}  # fmt: skip
