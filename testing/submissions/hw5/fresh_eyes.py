"""Submissions to homework 5 as fresh eyes wrote them: right ones in more styles, wrong ones that cheat now and then."""

import itertools
import math
import random

import numpy as np
import pandas as pd
import scipy.special
import torch

from testing.submissions.hw5.shared import matrix_cases, second_math, srr_matrix_numpy, subset_closed


def _srr_weights(x, k, epsilon):
    return random.choices(range(k), [math.exp(epsilon * (y == x)) for y in range(k)])[0]


def _srr_gumbel(x, k, epsilon, rng):
    scores = pd.Series(rng.gumbel(size=k))
    scores[x] += epsilon
    return scores.idxmax()


def _srr_torch(x, k, epsilon):
    logits = torch.zeros(k)
    logits[x] = epsilon
    return torch.distributions.Categorical(logits=logits).sample()


def _rrrr_row(x, k, subset, epsilon, first, rng):
    return int(np.searchsorted(matrix_cases(k, subset, epsilon, first)[x].cumsum()[:-1], rng.random()))


def _matrix_two_steps(k, subset, epsilon, first):
    """R by chance, then SRR on S + {R}: the sum over all R."""
    outside = [y for y in range(k) if y not in subset]
    second = second_math(epsilon, first, len(subset), len(outside))
    matrix = np.zeros((k, k))
    for x, (place, r) in itertools.product(range(k), enumerate(outside)):
        labels = [*subset, r]
        chance = 1 / len(outside) if x in subset else srr_matrix_numpy(len(outside), second)[outside.index(x), place]
        center = labels.index(x if x in subset else r)
        matrix[x, labels] += chance * srr_matrix_numpy(len(labels), first)[center]
    return matrix


def _epsilon_frame(matrix):
    frame = pd.DataFrame(matrix)
    frame = frame.loc[:, frame.max() > 0]
    return math.inf if (frame == 0).any(axis=None) else np.log(frame).agg(np.ptp).max()


def _epsilon_pairs(matrix):
    worst = 0.0
    for one, other in itertools.permutations(matrix, 2):
        with np.errstate(divide="ignore", invalid="ignore"):
            worst = max(worst, np.nanmax(np.log(one / other), initial=0.0))
    return worst


def _utilities_torch(theta, matrix):
    theta, matrix = torch.as_tensor(theta), torch.as_tensor(matrix)
    joint = theta[:, None] * matrix
    y = joint.sum(0)
    d = matrix[:-1] - matrix[-1]
    posterior = joint / y
    return (
        -torch.linalg.inv((d / y) @ d.T).trace(), torch.special.entr(y).sum(),
        0.5 * ((posterior - theta[:, None]).abs().sum(0) * y).sum(), -0.5 * (y - theta).abs().sum(),
        (posterior**2 * y).sum() - 1, joint.diagonal().sum(),
    )  # fmt: skip


def _subset_frame(theta, epsilon, first):
    order = pd.Series(theta).sort_values(ascending=False, kind="stable").index.tolist()
    values = {n: theta @ matrix_cases(len(theta), order[:n], epsilon, first).diagonal() for n in range(len(theta))}
    return order[: max(values, key=values.get)]


def _step(phi, rows, n, rho, gamma, noise, *, share=None, reflect=np.abs):
    theta = phi / phi.sum()
    likelihood = sum((row / (row @ theta) - 1) / phi.sum() for row in rows)
    slope = (rho - 1) / phi - 1 + (n / len(rows) if share is None else share) * likelihood
    return reflect(phi + gamma / 2 * slope + math.sqrt(gamma) * noise)


RIGHT = {
    "srr": {"weights": _srr_weights, "Gumbel": _srr_gumbel, "torch": _srr_torch},
    "srr_matrix": {
        "softmax": lambda k, epsilon: scipy.special.softmax(epsilon * np.eye(k), axis=1),
        "lists": lambda k, epsilon: [
            [math.exp(epsilon * (x == y)) / (math.exp(epsilon) + k - 1) for y in range(k)] for x in range(k)
        ],
        "torch, single": lambda k, epsilon: torch.softmax(epsilon * torch.eye(k), 1),
    },
    "matrix_epsilon": {"frame": _epsilon_frame, "pairs": _epsilon_pairs},
    "second_epsilon": {
        "log1p": lambda epsilon, first, inside, outside: (
            epsilon if not inside or outside == 1 or epsilon - first >= math.log(outside)
            else min(epsilon, math.log(outside - 1) - math.log(math.expm1(math.log(outside) + first - epsilon)))
        ),
    },
    "rrrr": {"row": _rrrr_row},
    "rrrr_matrix": {"two steps": _matrix_two_steps},
    "six_utilities": {"torch": _utilities_torch},
    "best_subset": {"frame": _subset_frame},
    "sgld_step": {
        "loop": lambda phi, rows, n, rho, gamma, rng: _step(phi, rows, n, rho, gamma, rng.normal(size=len(phi))),
        "torch": lambda phi, rows, n, rho, gamma: torch.as_tensor(
            _step(phi, rows, n, rho, gamma, torch.randn(len(phi)).double().numpy())
        ),
        "random": lambda phi, rows, n, rho, gamma: [
            float(one) for one in _step(phi, rows, n, rho, gamma, np.array([random.gauss(0, 1) for _ in phi]))
        ],
    },
}  # fmt: skip


def _tied(distance):
    coins = []

    def respond(x, k, epsilon, rng):
        coins.append(rng.random(2) if len(coins) // distance % 2 == 0 else coins[-distance])
        return (
            x
            if coins[-1][0] < math.exp(epsilon) / (math.exp(epsilon) + k - 1)
            else (x + 1 + int(coins[-1][1] * (k - 1))) % k
        )

    return respond


def _truth_in(share, right):
    return lambda x, rng, **asked: x if rng.random() < share else right(x=x, rng=rng, **asked)


def _with_noise(noise):
    return lambda phi, rows, n, rho, gamma, rng: _step(phi, rows, n, rho, gamma, noise(rng, len(phi)))


def _tied_noise(distance):
    noises = []

    def noise(rng, size):
        noises.append(rng.normal(size=size))
        if len(noises) % (2 * distance) >= distance and len(noises) > distance and len(noises[-distance - 1]) == size:
            noises[-1] = -noises[-distance - 1]
        return noises[-1]

    return noise


def _only(limit):
    return lambda theta, epsilon, first: subset_closed(theta, epsilon, first)[:limit]


WRONG = {
    "srr": {
        **{f"coins again after {distance}": (_tied(distance), None) for distance in (2, 25, 700)},
        **{f"truth in {share:.0%}": (_truth_in(share, _srr_gumbel), None) for share in (0.08, 0.25)},
        "truth among two": (lambda x, k, epsilon: x if k == 2 else _srr_weights(x, k, epsilon), None),
        "ten at most": (lambda x, k, epsilon: _srr_weights(x, k, epsilon) if k <= 10 else x, None),
        "1.12 epsilon": (lambda x, k, epsilon: _srr_weights(x, k, 1.12 * epsilon), None),
        "0.88 epsilon": (lambda x, k, epsilon: _srr_weights(x, k, 0.88 * epsilon), None),
        "the nearest lies": (
            lambda x, k, epsilon, rng: _srr_weights(x, k, epsilon) if rng.random() < 0.9 else (x + 1) % k, None
        ),
        "lie among all": (
            lambda x, k, epsilon, rng: x
            if rng.random() < math.exp(epsilon) / (math.exp(epsilon) + k - 1) else rng.integers(k),
            "own category among the lies",
        ),
        "half": (lambda x, k, epsilon: _srr_weights(x, k, epsilon / 2), "half of epsilon"),
        "two": (
            lambda x, k, epsilon, rng: x if rng.random() < scipy.special.expit(epsilon) else (
                x + rng.integers(1, k)
            ) % k,
            "two categories",
        ),
    },
    "srr_matrix": {
        "rounded": (lambda k, epsilon: srr_matrix_numpy(k, epsilon).round(4), None),
        "small lies are 0": (lambda k, epsilon: np.where((m := srr_matrix_numpy(k, epsilon)) < 0.01, 0, m), None),
        "two by two": (lambda k, epsilon: srr_matrix_numpy(max(k, 3), epsilon), None),
        "half": (lambda k, epsilon: srr_matrix_numpy(k, epsilon / 2), "half of epsilon"),
    },
    "matrix_epsilon": {
        "never 0": (lambda matrix: max(_epsilon_frame(matrix), 0.01), None),
        "infinite with a zero": (lambda matrix: math.inf if (matrix == 0).any() else _epsilon_frame(matrix), None),
        "last column": (lambda matrix: np.ptp(np.log(matrix[:, -1] + 1e-300)), None),
        "log2": (lambda matrix: _epsilon_frame(matrix) / math.log(2), "base two"),
    },
    "second_epsilon": {
        "at most nine tenths": (
            lambda epsilon, first, inside, outside: min(second_math(epsilon, first, inside, outside), 0.9 * epsilon),
            None,
        ),
        "whole": (lambda epsilon, first, inside, outside: epsilon, "all of epsilon"),
        "rest": (lambda epsilon, first, inside, outside: epsilon - first, "what is left over"),
    },
    "rrrr": {
        "truth in 10%": (_truth_in(0.1, _rrrr_row), None),
        "truth for S": (lambda x, subset, **asked: x if x in subset else _rrrr_row(x=x, subset=subset, **asked), None),
        "truth among two": (lambda x, k, **asked: x if k == 2 else _rrrr_row(x=x, k=k, **asked), None),
        "first S only": (lambda x, subset, **asked: _rrrr_row(x=x, subset=subset[:1], **asked), None),
    },
    "rrrr_matrix": {
        "rows not normalised": (
            lambda k, subset, epsilon, first: 1.001 * matrix_cases(k, subset, epsilon, first), None
        ),
        "S of one": (lambda k, subset, epsilon, first: matrix_cases(k, subset[:1], epsilon, first), None),
        "turned": (lambda k, subset, epsilon, first: matrix_cases(k, subset, epsilon, first).T, "transposed"),
    },
    "six_utilities": {
        "entropy turned": (
            lambda theta, matrix: tuple(
                -one if place == 1 else one for place, one in enumerate(_utilities_torch(theta, matrix))
            ),
            "entropy upside down",
        ),
    },
    "best_subset": {
        "five at most": (_only(5), None),
        "never empty": (
            lambda theta, epsilon, first: subset_closed(theta, epsilon, first) or [int(np.argmax(theta))], None
        ),
        "rare ones": (
            lambda theta, epsilon, first: np.argsort(theta)[: len(subset_closed(theta, epsilon, first))],
            "rarest first",
        ),
        "first labels": (
            lambda theta, epsilon, first: list(range(len(subset_closed(theta, epsilon, first)))), "not sorted"
        ),
        "more than 1/K": (
            lambda theta, epsilon, first: [y for y in range(len(theta)) if theta[y] > 1 / len(theta)],
            "above the average",
        ),
        "largest": (lambda theta, epsilon, first: [int(np.argmax(theta))], "the largest alone"),
        "nobody": (lambda theta, epsilon, first: [], "theta not used"),
    },
    "sgld_step": {
        **{f"turned after {distance}": (_with_noise(_tied_noise(distance)), None) for distance in (2, 60)},
        "no noise in 2%": (_with_noise(lambda rng, size: rng.normal(size=size) * (rng.random() > 0.02)), None),
        "a hundredth in 3%": (
            _with_noise(lambda rng, size: rng.normal(size=size) * (0.01 if rng.random() < 0.03 else 1)), None
        ),
        "zero sum": (_with_noise(lambda rng, size: (z := rng.normal(size=size)) - z.mean()), None),
        "uniform": (_with_noise(lambda rng, size: rng.uniform(-1.732, 1.732, size)), None),
        "again with every row": (
            lambda phi, rows, n, rho, gamma, rng: _step(phi, rows, n, rho, gamma, rng.normal(size=len(phi)), share=1.0),
            "n/m forgotten",
        ),
        "n for all": (
            lambda phi, rows, n, rho, gamma, rng: _step(
                phi, rows, n, rho, gamma, rng.normal(size=len(phi)), share=float(n)
            ),
            "n for n/m",
        ),
        "one W": (_with_noise(lambda rng, size: np.full(size, rng.normal())), "shared noise"),
    },
}  # fmt: skip

RIGHT, WRONG = (
    {task: {f"fresh eyes: {style}": one for style, one in styles.items()} for task, styles in bank.items()}
    for bank in (RIGHT, WRONG)
)
