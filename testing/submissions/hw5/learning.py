"""Submissions to homework 5: SGLD and the survey."""

import math
import random

import numpy as np

from testing.submissions.hw5.shared import matrix_cases, srr_matrix_numpy, subset_closed


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


def survey_few_steps(members, counts, epsilon, first):
    """EM that stops early: its estimate is still a little flat."""
    k = members.shape[1]
    theta = _likeliest(members, counts, epsilon, first, 100) if len(counts) else np.full(k, 1 / k)
    return {"subset": subset_closed(theta, epsilon, first), "estimate": theta}


def _guess(*sizes):
    """Which categories are large, the raw counts tell; how large they are, one guesses."""

    def survey(members, counts, epsilon, first):
        k = members.shape[1]
        order = np.argsort(-counts.sum(axis=0))
        theta = np.full(k, (1 - sum(sizes)) / (k - len(sizes)))
        theta[order[: len(sizes)]] = sizes
        return order[:1], theta

    return survey


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


RIGHT = {
    "sgld_step": {"numpy": sgld_numpy, "loops": sgld_loops, "torch": sgld_torch, "inverse": sgld_inverse},
    "adaptive_survey": {
        "likelihood": survey_likelihood, "top one": survey_top_one, "sampled": survey_thompson,
        "semi-adaptive": survey_semi_adaptive, "EM, 100 steps": survey_few_steps,
    },
}  # fmt: skip

WRONG = {
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
        "one W for all": (
            _noisy(lambda g, size, rng: np.full(size, rng.normal(0, math.sqrt(g)))), "shared noise",
        ),
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
        "guessed: one large": (_guess(0.97), None),
        "guessed: five of a size": (_guess(0.17, 0.17, 0.17, 0.17, 0.16), None),
        "guessed: in between": (_guess(0.385, 0.15, 0.135, 0.13, 0.12), None),
        "not shares": (lambda members, counts, epsilon, first: ([], [1.0] * 20), None),
    },
}  # fmt: skip
