"""Submissions to homework 3: the privacy loss, its mean, and the exact delta."""

import math
import random
from statistics import NormalDist

import numpy as np

from testing.submissions.hw3.shared import PHI, cast, decimals, delta_erfc, delta_normaldist, delta_scipy
from testing.submissions.patterns import from_call, mixture, twice


def loss_numpy(data, neighbour, b, rng):
    t = data + rng.laplace(0, b)
    return (abs(t - neighbour) - abs(t - data)) / b


def loss_by_densities(data, neighbour, b):
    u = random.random() - 0.5
    t = data - b * math.copysign(1, u) * math.log(1 - 2 * abs(u))
    return math.log(math.exp(-abs(t - data) / b) / (2 * b)) - math.log(math.exp(-abs(t - neighbour) / b) / (2 * b))


def loss_by_exponentials(data, neighbour, b):
    t = data + random.expovariate(1 / b) - random.expovariate(1 / b)
    return np.array([np.abs(t - neighbour) / b - np.abs(t - data) / b])


def loss_by_clipping(data, neighbour, b, rng):
    shift = abs(data - neighbour) / b
    return np.clip(shift - 2 * rng.laplace(), -shift, shift)


def loss_by_torch(data, neighbour, b):
    import torch

    t = data + b * torch.empty((), dtype=torch.float64).exponential_() * (1 - 2 * torch.randint(0, 2, ()))
    return ((t - neighbour).abs() - (t - data).abs()) / b


def loss_in_single_precision(data, neighbour, b):
    import torch

    t = torch.tensor(float(data)) + b * torch.empty(()).exponential_() * (1 - 2 * torch.randint(0, 2, ()))
    return ((t - neighbour).abs() - (t - data).abs()) / b


def loss_of_gaussian(data, neighbour, b, rng):
    t = rng.normal(data, b)
    return ((t - neighbour) ** 2 - (t - data) ** 2) / (2 * b**2)


def loss_of_gaussian_outputs(data, neighbour, b, rng):
    t = rng.normal(data, math.sqrt(2) * b)
    return (abs(t - neighbour) - abs(t - data)) / b


def loss_seeded(seed):
    """Noise of 0.32 scales for seed 0 and of 0.02 scales for seed 1, always."""

    def loss(data, neighbour, b):
        t = np.random.default_rng(seed).laplace(data, b)
        return (abs(t - neighbour) - abs(t - data)) / b

    return loss


def loss_seeded_in_single_precision(data, neighbour, b):
    import torch

    torch.manual_seed(3)
    return loss_in_single_precision(data, neighbour, b)


def mean_loop(p, q):
    total = 0
    for one, other in zip(p, q, strict=True):
        if one > 0:
            total += one * math.log(one / other)
    return total


def mean_masked(p, q):
    seen = p > 0
    return np.sum(p[seen] * np.log(p[seen] / q[seen]))


def mean_scipy(p, q):
    from scipy.special import rel_entr

    return np.array([rel_entr(p, q).sum()])


def mean_stats(p, q):
    from scipy.stats import entropy

    return entropy(p, q)


def mean_limit(p, q):
    return float(np.nansum(np.where(p > 0, p * (np.log(np.maximum(p, 1e-300)) - np.log(q)), 0)))


def delta_integral(epsilon, sigma, sensitivity):
    """E[(1 - e^(eps - L))+] over a fine grid of the loss."""
    from scipy.integrate import quad

    mu = sensitivity / sigma
    density = NormalDist(mu**2 / 2, mu).pdf
    return quad(lambda x: (1 - math.exp(epsilon - x)) * density(x), epsilon, epsilon + 15 * mu + mu**2, epsabs=1e-13)[0]


def delta_sampled(epsilon, sigma, sensitivity, rng):
    """A simulation, too coarse for a value."""
    mu = sensitivity / sigma
    losses = rng.normal(mu**2 / 2, mu, 10_000)
    return np.mean(np.maximum(1 - np.exp(epsilon - losses), 0))


def loss_of(t, data, neighbour, b):
    return (abs(t - neighbour) - abs(t - data)) / b


RIGHT = {
    "laplace_loss_sample": {
        "numpy": loss_numpy,
        "densities": loss_by_densities,
        "exponentials, length 1": loss_by_exponentials,
        "clipping": loss_by_clipping,
        "torch": loss_by_torch,
        "single precision": loss_in_single_precision,
    },
    "loss_mean": {
        "loop": mean_loop,
        "masked": mean_masked,
        "scipy.special": mean_scipy,
        "scipy.stats": mean_stats,
        "where": mean_limit,
    },
    "exact_delta": {
        "NormalDist": delta_normaldist,
        "scipy": delta_scipy,
        "erfc, length 1": delta_erfc,
        "integral": delta_integral,
    },
}

WRONG = {
    "laplace_loss_sample": {
        "neighbour": (lambda data, neighbour, b, rng: -loss_numpy(neighbour, data, b, rng), "other world"),
        "swapped": (lambda data, neighbour, b, rng: -loss_numpy(data, neighbour, b, rng), "other world"),
        "absolute": (lambda data, neighbour, b, rng: abs(loss_numpy(data, neighbour, b, rng)), "absolute value"),
        "no b": (lambda data, neighbour, b, rng: loss_numpy(data, neighbour, b, rng) * b, "b forgotten"),
        "ratio": (lambda data, neighbour, b: np.exp(loss_by_densities(data, neighbour, b)), "the ratio"),
        "bound": (lambda data, neighbour, b: abs(neighbour - data) / b, "always the bound"),
        "output": (lambda data, neighbour, b, rng: data + b * rng.laplace(), "the output"),
        "Gaussian": (loss_of_gaussian, None),
        "Gaussian outputs": (loss_of_gaussian_outputs, None),
        "fixed seed 0": (loss_seeded(0), "always the same noise"),
        "fixed seed 1": (loss_seeded(1), "always the same noise"),
        "fixed seed, torch": (loss_seeded_in_single_precision, "always the same noise"),
        "no output": (lambda data, neighbour, b: (data - neighbour) / b, None),
        "noise 10% too wide": (
            lambda data, neighbour, b, rng: loss_of(rng.laplace(data, 1.1 * b), data, neighbour, b),
            None,
        ),
        "noise 10% too narrow": (
            lambda data, neighbour, b, rng: loss_of(rng.laplace(data, b / 1.1), data, neighbour, b),
            None,
        ),
        "one-sided": (
            lambda data, neighbour, b, rng: loss_of(data + abs(rng.laplace(0, b)), data, neighbour, b),
            "one-sided noise",
        ),
        "scale 10% off": (lambda data, neighbour, b, rng: loss_numpy(data, neighbour, 1.1 * b, rng), None),
        "rounded": (lambda data, neighbour, b, rng: round(loss_numpy(data, neighbour, b, rng), 1), None),
    },
    "loss_mean": {
        "weights of q": (
            lambda p, q: sum(y * math.log(x / y) if x > 0 else 0 for x, y in zip(p, q, strict=True)),
            "wrong weights",
        ),
        "mean": (
            lambda p, q: np.mean([math.log(x / y) if x > 0 else 0 for x, y in zip(p, q, strict=True)]),
            "not weighted",
        ),
        "log2": (lambda p, q: mean_loop(p, q) / np.log(2), "base two"),
        "absolute": (
            lambda p, q: sum(abs(x * math.log(x / y)) for x, y in zip(p, q, strict=True) if x),
            "absolute values",
        ),
        "slide": (
            lambda p, q: sum(i * math.log(x / y) for i, (x, y) in enumerate(zip(p, q, strict=True)) if x),
            "weights are the names",
        ),
        "entropy": (lambda p, q: -sum(x * math.log(x) for x in p if x), "the entropy"),
        "other direction": (lambda p, q: mean_loop(q, np.maximum(p, 1e-9)), None),
        "zero not treated": (lambda p, q: np.sum(p * np.log(p / q)), None),
        "largest": (lambda p, q: np.max(np.log(np.maximum(p, 1e-300) / q)), None),
    },
    "exact_delta": {
        "tail": (
            lambda epsilon, sigma, sensitivity: PHI(sensitivity / sigma / 2 - epsilon * sigma / sensitivity),
            "the tail",
        ),
        "two tails": (
            lambda epsilon, sigma, sensitivity: (
                PHI(sensitivity / sigma / 2 - epsilon * sigma / sensitivity)
                + PHI(-sensitivity / sigma / 2 - epsilon * sigma / sensitivity)
            ),
            "both tails",
        ),
        "no factor": (
            lambda epsilon, sigma, sensitivity: (
                PHI(sensitivity / sigma / 2 - epsilon * sigma / sensitivity)
                - PHI(-sensitivity / sigma / 2 - epsilon * sigma / sensitivity)
            ),
            "e^epsilon forgotten",
        ),
        "no sensitivity": (lambda epsilon, sigma, sensitivity: delta_scipy(epsilon, sigma, 1), "sensitivity forgotten"),
        "textbook": (
            lambda epsilon, sigma, sensitivity: 1.25 * np.exp(-((epsilon * sigma / sensitivity) ** 2) / 2),
            "classical formula",
        ),
        "mu inverted": (lambda epsilon, sigma, sensitivity: delta_scipy(epsilon, sensitivity, sigma), "upside down"),
        "variance": (
            lambda epsilon, sigma, sensitivity: delta_scipy(epsilon, sigma**2, sensitivity),
            "variance for deviation",
        ),
        "sampled": (delta_sampled, None),
        "replaced": (lambda epsilon, sigma, sensitivity: delta_scipy(epsilon, sigma, 2 * sensitivity), None),
    },
}


def loss_inverse(data, neighbour, b, rng):
    u = rng.random() - 0.5
    return loss_of(data - b * np.sign(u) * np.log1p(-2 * abs(u)), data, neighbour, b)


def loss_coin(data, neighbour, b, rng):
    """A fair sign, and an exponential size."""
    return loss_of(data + rng.choice([-b, b]) * rng.exponential(), data, neighbour, b)


def loss_bell(data, neighbour, b, rng):
    """Laplace noise is normal noise of an exponential variance."""
    return loss_of(rng.normal(data, b * math.sqrt(2 * rng.exponential())), data, neighbour, b)


def loss_cases(data, neighbour, b):
    """Case by case, by the side of both answers on which the output lies."""
    t = random.expovariate(1 / b) * random.choice((1, -1)) + data
    low, high = sorted((data, neighbour))
    largest = (high - low) / b
    toward = (t - low) / b - (high - t) / b  # grows from -largest to largest
    loss = -largest if t <= low else largest if t >= high else toward
    return loss if data > neighbour else -loss


def mean_decimal(p, q):
    from decimal import Decimal

    pairs = [(Decimal(float(a)), Decimal(float(b))) for a, b in zip(p, q, strict=True)]
    return sum(a * (a.ln() - b.ln()) for a, b in pairs if a)


def mean_torch(p, q):
    import torch

    return torch.nn.functional.kl_div(torch.tensor(q).log(), torch.tensor(p), reduction="sum")


def mean_pandas(p, q):
    import pandas as pd

    table = pd.DataFrame({"p": p, "q": q}).query("p > 0")
    return (table.p * np.log(table.p / table.q)).sum()


def mean_as_entropies(p, q):
    """Cross entropy minus entropy."""
    from scipy.special import entr

    return -(p @ np.log(q)) - entr(p).sum()


def delta_ndtr(epsilon, sigma, sensitivity):
    from scipy.special import log_ndtr

    mu = sensitivity / sigma
    above, below = log_ndtr(mu / 2 - epsilon / mu), epsilon + log_ndtr(-mu / 2 - epsilon / mu)
    return np.exp(above) * -np.expm1(below - above)


def delta_torch(epsilon, sigma, sensitivity):
    import torch

    one, other = torch.distributions.Normal(sensitivity, sigma), torch.distributions.Normal(0.0, sigma)
    worst = torch.tensor(sigma**2 * epsilon / sensitivity + sensitivity / 2, dtype=torch.float64)
    return (1 - one.cdf(worst)) - math.exp(epsilon) * (1 - other.cdf(worst))


def delta_grid(epsilon, sigma, sensitivity):
    """Where one density exceeds e^eps times the other, on a fine grid."""
    x = np.linspace(-9 * sigma, sensitivity + 9 * sigma, 400_001)
    one, other = (np.exp(-((x - center) ** 2) / 2 / sigma**2) for center in (sensitivity, 0))
    gain = np.maximum(one - np.exp(epsilon) * other, 0).sum() * (x[1] - x[0])
    return gain / sigma / math.sqrt(2 * math.pi)


def delta_by_expectation(epsilon, sigma, sensitivity):
    """One minus what the better of two bets keeps: 1 - E[min(1, e^(eps - L))]."""
    from scipy.stats import norm

    mu = sensitivity / sigma
    below = norm.cdf(epsilon, mu**2 / 2, mu)
    return 1 - below - math.exp(epsilon) * norm.sf(epsilon, -(mu**2) / 2, mu)


RIGHT["laplace_loss_sample"] |= {
    "inverse": loss_inverse,
    "sign and size": loss_coin,
    "a bell of random width": loss_bell,
    "cases": loss_cases,
    "0-d array, single": cast(loss_numpy, np.float32),
}
RIGHT["loss_mean"] |= {
    "Decimal": mean_decimal,
    "torch": mean_torch,
    "pandas": mean_pandas,
    "entropies": mean_as_entropies,
    "single precision": lambda p, q: mean_masked(np.float32(p), np.float32(q)),
}
RIGHT["exact_delta"] |= {
    "log_ndtr": delta_ndtr,
    "torch": delta_torch,
    "grid": delta_grid,
    "expectation": delta_by_expectation,
    "Decimal": cast(delta_normaldist, decimals),
}


def loss_twice():
    answer = twice(lambda rng, **asked: loss_numpy(**asked, rng=rng))
    return lambda rng, **asked: float(answer(rng, **asked))


def bound_of(data, neighbour, b):
    return abs(data - neighbour) / b


WRONG["laplace_loss_sample"] |= {
    "base ten": (lambda data, neighbour, b, rng: loss_numpy(data, neighbour, b, rng) / np.log(10), "base ten"),
    "scale forgotten": (lambda data, neighbour, b, rng: loss_of(data + rng.laplace(), data, neighbour, b),
                        "noise of scale 1"),
    "every loss twice": (loss_twice(), None),
    "nine of ten": (mixture(loss_numpy, bound_of, 0.9), None),
    "19 of 20": (mixture(loss_numpy, bound_of, 0.95), None),
    **{f"the bound from call {calls} on": (from_call(loss_numpy, bound_of, calls), None) for calls in (1, 100, 1_000)},
    "zero once in ten": (mixture(loss_numpy, lambda **asked: 0.0, 0.9), None),
    "not negative": (lambda data, neighbour, b, rng: max(0, loss_numpy(data, neighbour, b, rng)), None),
    "whole numbers": (lambda data, neighbour, b, rng: round(loss_numpy(data, neighbour, b, rng)), None),
    "triangle": (
        lambda data, neighbour, b, rng: loss_of(rng.triangular(data - 3 * b, data, data + 3 * b), data, neighbour, b),
        None,
    ),
    "logistic": (lambda data, neighbour, b, rng: loss_of(rng.logistic(data, b), data, neighbour, b), None),
    "whole outputs": (lambda data, neighbour, b, rng: loss_of(round(rng.laplace(data, b)), data, neighbour, b), None),
    "mean of two": (
        lambda data, neighbour, b, rng: (loss_numpy(data, neighbour, b, rng) + loss_numpy(data, neighbour, b, rng)) / 2,
        None,
    ),
}  # fmt: skip
WRONG["loss_mean"] |= {
    "log10": (lambda p, q: mean_loop(p, q) / np.log(10), "base ten"),
    "turned": (lambda p, q: sum(x * math.log(y / x) for x, y in zip(p, q, strict=True) if x), "sign turned"),
    "swapped": (lambda p, q: sum(y * math.log(y / x) for x, y in zip(p, q, strict=True) if x), "worlds swapped"),
    "ratio": (lambda p, q: (p**2 / q).sum(), "mean of the ratio"),
    "log of the mean": (lambda p, q: np.log((p**2 / q).sum()), None),
    "both ways": (lambda p, q: ((p - q) * np.log(np.where(p > 0, p, q) / q)).sum(), None),
    "uniform weights": (lambda p, q: mean_masked(p, q) * len(p), None),
    "halved": (lambda p, q: mean_masked(p, q) / 2, None),
    "difference": (lambda p, q: np.abs(p - q).sum() / 2, None),
    "None": (lambda p, q: None, None),
}  # fmt: skip
WRONG["exact_delta"] |= {
    "variance as sigma": (lambda epsilon, sigma, sensitivity: delta_ndtr(epsilon, sigma**2, sensitivity),
                          "variance for deviation"),
    "total variation": (lambda epsilon, sigma, sensitivity: delta_ndtr(0, sigma, sensitivity), "delta at 0"),
    "half of the tails": (lambda epsilon, sigma, sensitivity: (
        PHI(sensitivity / sigma / 2 - epsilon * sigma / sensitivity)), "the tail"),
    "no half": (lambda epsilon, sigma, sensitivity: delta_scipy(epsilon, sigma / math.sqrt(2), sensitivity), None),
    "plus": (lambda epsilon, sigma, sensitivity: (
        PHI((mu := sensitivity / sigma) / 2 - epsilon / mu) + math.exp(epsilon) * PHI(-mu / 2 - epsilon / mu)), None),
    "e to the minus": (lambda epsilon, sigma, sensitivity: (
        PHI((mu := sensitivity / sigma) / 2 - epsilon / mu) - math.exp(-epsilon) * PHI(-mu / 2 - epsilon / mu)), None),
    "a hundredth more": (lambda epsilon, sigma, sensitivity: 1.01 * delta_scipy(epsilon, sigma, sensitivity), None),
    "three digits": (lambda epsilon, sigma, sensitivity: float(f"{delta_scipy(epsilon, sigma, sensitivity):.3g}"),
                     None),
}  # fmt: skip
