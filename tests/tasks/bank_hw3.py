"""Submissions to homework 3, right and wrong, in the styles that students write."""

import math
import random
from statistics import NormalDist

import numpy as np

PHI = NormalDist().cdf

# --- the privacy loss -------------------------------------------------------------------------------------------------


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


def loss_seeded(data, neighbour, b):
    t = np.random.default_rng(0).laplace(data, b)
    return (abs(t - neighbour) - abs(t - data)) / b


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


def delta_normaldist(epsilon, sigma, sensitivity):
    mu = sensitivity / sigma
    return PHI(mu / 2 - epsilon / mu) - math.exp(epsilon) * PHI(-mu / 2 - epsilon / mu)


def delta_scipy(epsilon, sigma, sensitivity):
    from scipy.stats import norm

    a, b = sensitivity / (2 * sigma), epsilon * sigma / sensitivity
    return norm.cdf(a - b) - np.exp(epsilon) * norm.cdf(-a - b)


def delta_erfc(epsilon, sigma, sensitivity):
    mu = sensitivity / sigma
    tail = [math.erfc(x / math.sqrt(2)) / 2 for x in (epsilon / mu - mu / 2, epsilon / mu + mu / 2)]
    return np.array([tail[0] - math.exp(epsilon) * tail[1]])


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


# --- the Gaussian mechanism -------------------------------------------------------------------------------------------


def textbook_raises(epsilon, delta, sensitivity):
    if not 0 < epsilon < 1:
        raise ValueError(f"epsilon must be in (0, 1), got {epsilon}")
    return math.sqrt(2 * math.log(1.25 / delta)) * sensitivity / epsilon


def textbook_asserts(epsilon, delta, sensitivity):
    assert 0 < epsilon < 1, "the proof needs epsilon < 1"
    return np.sqrt(2 * np.log(1.25 / delta) * sensitivity**2 / epsilon**2)


def textbook_none(epsilon, delta, sensitivity):
    return None if epsilon >= 1 else np.array([(2 * np.log(1.25 / delta)) ** 0.5 * sensitivity / epsilon])


def textbook_nested(epsilon, delta, sensitivity):
    if epsilon < 1:
        variance = 2 * (math.log(1.25) - math.log(delta)) * (sensitivity / epsilon) ** 2
        return np.asarray(math.sqrt(variance))
    raise ValueError("too large")


def textbook_unchecked(epsilon, delta, sensitivity):
    return np.sqrt(2 * np.log(1.25 / delta)) * sensitivity / epsilon


def refusing(formula):
    def sigma(epsilon, delta, sensitivity):
        if epsilon >= 1:
            raise ValueError("epsilon must be below 1")
        return formula(epsilon, delta, sensitivity)

    return sigma


def textbook_one_allowed(epsilon, delta, sensitivity):
    if epsilon > 1:
        raise ValueError("epsilon must be at most 1")
    return textbook_unchecked(epsilon, delta, sensitivity)


def vector_sigma(sums, cap, epsilon, delta):
    return np.sqrt(2 * np.log(1.25 / delta)) * cap * np.sqrt(len(sums)) / epsilon


def vector_numpy(sums, cap, epsilon, delta, rng):
    return sums + rng.normal(0, vector_sigma(sums, cap, epsilon, delta), size=len(sums))


def vector_random(sums, cap, epsilon, delta):
    sigma = math.sqrt(2 * math.log(1.25 / delta)) * cap * math.sqrt(len(sums)) / epsilon
    return [random.gauss(value, sigma) for value in sums]


def vector_multivariate(sums, cap, epsilon, delta, rng):
    variance = 2 * np.log(1.25 / delta) * len(sums) * cap**2 / epsilon**2
    return np.sqrt(variance) * rng.standard_normal(sums.shape) + sums


def vector_box_muller(sums, cap, epsilon, delta, rng):
    u, v = rng.random(len(sums)), rng.random(len(sums))
    return sums + vector_sigma(sums, cap, epsilon, delta) * np.sqrt(-2 * np.log1p(-u)) * np.cos(2 * np.pi * v)


def vector_torch(sums, cap, epsilon, delta):
    import torch

    noise = torch.randn(len(sums), dtype=torch.float64) * float(vector_sigma(sums, cap, epsilon, delta))
    return torch.tensor(sums, dtype=torch.float64) + noise


def vector_times(factor):
    def release(sums, cap, epsilon, delta, rng):
        sigma = vector_sigma(sums, cap, epsilon, delta)
        return sums + rng.normal(0, sigma * factor(len(sums), cap, sigma), len(sums))

    return release


def vector_first_only(sums, cap, epsilon, delta, rng):
    noisy = np.array(sums)
    noisy[0] += rng.normal(0, vector_sigma(sums, cap, epsilon, delta))
    return noisy


def vector_laplace(sums, cap, epsilon, delta, rng):
    return sums + rng.laplace(0, vector_sigma(sums, cap, epsilon, delta) / math.sqrt(2), len(sums))


def vector_in_place(sums, cap, epsilon, delta, rng):
    sums += rng.normal(0, vector_sigma(sums, cap, epsilon, delta), size=len(sums))
    return sums


def sigma_bisection(epsilon, delta, sensitivity):
    low, high = 1e-6, 1e6
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if delta_scipy(epsilon, middle, sensitivity) > delta else (low, middle)
    return high


def sigma_brentq(epsilon, delta, sensitivity):
    from scipy.optimize import brentq

    found = brentq(lambda x: math.log(max(delta_erfc(epsilon, math.exp(x), 1)[0], 1e-300) / delta), -4, 6)
    return np.exp(found) * sensitivity


def sigma_coarse(epsilon, delta, sensitivity):
    """A search that stops at five digits."""
    low, high = 0.01, 1e5
    while high / low > 1 + 1e-5:
        middle = (low + high) / 2 if high > 2 * low else math.sqrt(low * high)
        if delta_normaldist(epsilon, middle, sensitivity) > delta:
            low = middle
        else:
            high = middle
    return np.array([high])


def sigma_newton(epsilon, delta, sensitivity):
    from scipy.optimize import root_scalar
    from scipy.special import log_ndtr

    def excess(x):
        mu = math.exp(x)
        above, below = log_ndtr(mu / 2 - epsilon / mu), epsilon + log_ndtr(-mu / 2 - epsilon / mu)
        return above + math.log1p(-math.exp(below - above)) - math.log(delta)

    return sensitivity / math.exp(root_scalar(excess, bracket=(-3, 3)).root)


def sigma_by_tail(epsilon, delta, sensitivity):
    z = NormalDist().inv_cdf(delta)
    return sensitivity / (z + math.sqrt(z * z + 2 * epsilon))


# --- delta ------------------------------------------------------------------------------------------------------------


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


# --- rules ------------------------------------------------------------------------------------------------------------


def group_sum(epsilon, delta, k):
    return k * epsilon, sum(delta * math.exp(i * epsilon) for i in range(k))


def group_chain(epsilon, delta, k):
    total_epsilon, total_delta = 0.0, 0.0
    for _ in range(k):
        total_epsilon, total_delta = total_epsilon + epsilon, math.exp(epsilon) * total_delta + delta
    return {"delta": total_delta, "epsilon": total_epsilon}


def group_quotient(epsilon, delta, k):
    terms = k if epsilon == 0 else np.expm1(k * epsilon) / np.expm1(epsilon)
    return np.array([k * epsilon, delta * terms]).tolist()


def group_numpy(epsilon, delta, k):
    return np.float64(epsilon) * k, np.array([delta * np.exp(epsilon * np.arange(k)).sum()])


def group_zero_divided(epsilon, delta, k):
    return k * epsilon, delta * (math.exp(k * epsilon) - 1) / (math.exp(epsilon) - 1)


def ledger_loop(costs, epsilon, delta):
    answered, spent_epsilon, spent_delta = [], 0, 0
    for cost_epsilon, cost_delta in costs:
        fits = spent_epsilon + cost_epsilon <= epsilon and spent_delta + cost_delta <= delta
        answered.append(fits)
        if fits:
            spent_epsilon += cost_epsilon
            spent_delta += cost_delta
    return answered, spent_epsilon, spent_delta


def ledger_left(costs, epsilon, delta):
    left, answered = np.array([epsilon, delta]), np.zeros(len(costs), dtype=int)
    for number, cost in enumerate(np.array(costs)):
        if (cost <= left + 1e-15).all():
            left, answered[number] = left - cost, 1
    total = np.array(costs)[answered == 1].sum(axis=0)
    return {"answered": answered, "epsilon": total[0], "delta": total[1]}


def ledger_exact(costs, epsilon, delta):
    from fractions import Fraction

    spent, answered = [Fraction(0), Fraction(0)], []
    for cost in costs:
        after = [so_far + Fraction(one) for so_far, one in zip(spent, cost, strict=True)]
        if after[0] > Fraction(epsilon) or after[1] > Fraction(delta):
            answered.append(0)
            continue
        spent = after
        answered.append(1)
    return answered, float(spent[0]), float(spent[1])


def ledger_lists(costs, epsilon, delta):
    granted, answered = [], []
    for cost in costs:
        tried = [*granted, cost]
        if math.fsum(e for e, _ in tried) > epsilon or math.fsum(d for _, d in tried) > delta:
            answered.append(0.0)
        else:
            granted = tried
            answered.append(1.0)
    return tuple(answered), sum(e for e, _ in granted), sum(d for _, d in granted)


def ledger_charged(costs, epsilon, delta):
    totals = np.cumsum(np.array(costs), axis=0)
    answered = (totals[:, 0] <= epsilon) & (totals[:, 1] <= delta)
    return answered, totals[-1, 0], totals[-1, 1]


def ledger_stops(costs, epsilon, delta):
    answered, spent = [0] * len(costs), [0, 0]
    for number, cost in enumerate(costs):
        if spent[0] + cost[0] > epsilon or spent[1] + cost[1] > delta:
            break
        answered[number] = 1
        spent = [spent[0] + cost[0], spent[1] + cost[1]]
    return answered, *spent


def ledger_no_delta(costs, epsilon, delta):
    return ledger_loop(costs, epsilon, math.inf)


def ledger_strict(costs, epsilon, delta):
    answered, spent = [], [0, 0]
    for cost in costs:
        answered.append(spent[0] + cost[0] < epsilon and spent[1] + cost[1] < delta)
        if answered[-1]:
            spent = [spent[0] + cost[0], spent[1] + cost[1]]
    return answered, *spent


def ledger_late(costs, epsilon, delta):
    answered, spent = [], [0, 0]
    for cost in costs:
        answered.append(spent[0] < epsilon and spent[1] < delta)
        if answered[-1]:
            spent = [spent[0] + cost[0], spent[1] + cost[1]]
    return answered, *spent


def ledger_largest(costs, epsilon, delta):
    answered = [cost[0] <= epsilon and cost[1] <= delta for cost in costs]
    return answered, max(cost[0] for cost in costs), max(cost[1] for cost in costs)


# --- the derivation ---------------------------------------------------------------------------------------------------

LINKS = ("d0 and d1 are neighbours", "d1 and d2 are neighbours")


def chain_as_in_the_lecture():
    return [
        ("<=", "exp(epsilon)*p1 + delta", LINKS[0]),
        ("<=", "exp(epsilon)*(exp(epsilon)*p2 + delta) + delta", LINKS[1]),
        ("=", "exp(2*epsilon)*p2 + (1 + exp(epsilon))*delta", "algebra"),
    ]


def chain_multiplied_out():
    return [
        ["<=", "delta + p1*exp(epsilon)", LINKS[0].upper()],
        ["≤", "delta + exp(epsilon)*delta + exp(epsilon)**2*p2", LINKS[1]],
        ["=", "exp(epsilon + epsilon)*p2 + exp(epsilon)*delta + delta", "algebra"],
    ]


def chain_with_a_start():
    return [
        ("=", "1*p0", "algebra"),
        *chain_as_in_the_lecture()[:2],
        ("=", "exp(2*epsilon)*p2 + delta*(exp(epsilon) + 1)", "algebra"),
    ]


def chain_in_small_steps():
    return (
        *chain_as_in_the_lecture()[:2],
        ("=", "exp(epsilon)*exp(epsilon)*p2 + exp(epsilon)*delta + delta", "algebra"),
        ("=", "exp(2*epsilon)*p2 + exp(epsilon)*delta + delta", "algebra"),
    )


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
    "textbook_sigma": {
        "raises": textbook_raises,
        "asserts": textbook_asserts,
        "None": textbook_none,
        "else": textbook_nested,
    },
    "gaussian_release": {
        "numpy": vector_numpy,
        "random, list": vector_random,
        "standard normal": vector_multivariate,
        "Box-Muller": vector_box_muller,
        "torch": vector_torch,
    },
    "smallest_sigma": {
        "bisection": sigma_bisection,
        "brentq": sigma_brentq,
        "coarse, length 1": sigma_coarse,
        "log space": sigma_newton,
    },
    "leaks": {"plain": leaks_plain, "dict": leaks_dict, "loop": leaks_loop, "scipy": leaks_binomial},
    "heavy_tail": {
        "response": tail_response,
        "half of delta": tail_less,
        "silence": tail_with_silence,
        "Gaussian": tail_gaussian_bins,
    },
    "delta_after": {
        "numpy": after_numpy,
        "dicts": after_dicts,
        "all sets": after_all_sets,
        "expectation": after_expectation,
    },
    "group_guarantee": {"sum": group_sum, "chain": group_chain, "quotient": group_quotient, "numpy": group_numpy},
    "ledger": {"loop": ledger_loop, "what is left": ledger_left, "fractions": ledger_exact, "lists": ledger_lists},
    "proof_group_of_two": {
        "lecture": chain_as_in_the_lecture,
        "multiplied out": chain_multiplied_out,
        "with a start": chain_with_a_start,
        "small steps": chain_in_small_steps,
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
        "fixed seed": (loss_seeded, None),
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
        "variance": (lambda epsilon, sigma, sensitivity: delta_scipy(epsilon, sigma**2, sensitivity), None),
        "sampled": (delta_sampled, None),
        "replaced": (lambda epsilon, sigma, sensitivity: delta_scipy(epsilon, sigma, 2 * sensitivity), None),
    },
    "textbook_sigma": {
        "unchecked": (textbook_unchecked, "refuses nothing"),
        "one allowed": (textbook_one_allowed, "refuses nothing"),
        "variance": (refusing(lambda e, d, s: 2 * math.log(1.25 / d) * s**2 / e**2), "the variance"),
        "no sensitivity": (refusing(lambda e, d, s: math.sqrt(2 * math.log(1.25 / d)) / e), "sensitivity forgotten"),
        "1/delta": (refusing(lambda e, d, s: math.sqrt(2 * math.log(1 / d)) * s / e), "1.25 forgotten"),
        "log10": (refusing(lambda e, d, s: math.sqrt(2 * math.log10(1.25 / d)) * s / e), "base ten"),
        "no 2": (refusing(lambda e, d, s: math.sqrt(math.log(1.25 / d)) * s / e), "factor 2 forgotten"),
        "root of epsilon": (refusing(lambda e, d, s: math.sqrt(2 * math.log(1.25 / d) * s**2 / e)), None),
        "analytic": (refusing(sigma_bisection), None),
        "refuses all": (lambda epsilon, delta, sensitivity: None, None),
    },
    "gaussian_release": {
        "l1": (vector_times(lambda k, cap, sigma: k**0.5), "l1 sensitivity"),
        "one sum": (vector_times(lambda k, cap, sigma: k**-0.5), "one coordinate only"),
        "no cap": (vector_times(lambda k, cap, sigma: 1 / cap), "cap forgotten"),
        "variance": (vector_times(lambda k, cap, sigma: sigma), "variance as scale"),
        "shared": (
            lambda sums, cap, epsilon, delta, rng: (
                sums + vector_sigma(sums, cap, epsilon, delta) * rng.standard_normal()
            ),
            "shared noise",
        ),
        "none": (lambda sums, cap, epsilon, delta: list(sums), "no noise"),
        "10% off": (vector_times(lambda k, cap, sigma: 0.9), None),
        "missing factor 2": (vector_times(lambda k, cap, sigma: 0.5**0.5), None),
        "first only": (vector_first_only, None),
        "Laplace": (vector_laplace, None),
        "in place": (vector_in_place, None),
        "one-sided": (
            lambda sums, cap, epsilon, delta, rng: sums + abs(vector_numpy(sums, cap, epsilon, delta, rng) - sums),
            None,
        ),
        "fixed seed": (
            lambda sums, cap, epsilon, delta: vector_numpy(sums, cap, epsilon, delta, np.random.default_rng(7)),
            None,
        ),
    },
    "smallest_sigma": {
        "textbook": (textbook_unchecked, "textbook formula"),
        "no sensitivity": (
            lambda epsilon, delta, sensitivity: sigma_newton(epsilon, delta, 1),
            "sensitivity forgotten",
        ),
        "mu": (
            lambda epsilon, delta, sensitivity: sensitivity / sigma_newton(epsilon, delta, sensitivity),
            "mu for sigma",
        ),
        "tail": (sigma_by_tail, "by the tail"),
        "variance": (
            lambda epsilon, delta, sensitivity: sigma_newton(epsilon, delta, sensitivity) ** 2,
            "the variance",
        ),
        "1% more": (lambda epsilon, delta, sensitivity: 1.01 * sigma_newton(epsilon, delta, sensitivity), None),
        "1% less": (lambda epsilon, delta, sensitivity: 0.99 * sigma_newton(epsilon, delta, sensitivity), None),
        "negative": (lambda epsilon, delta, sensitivity: -sigma_newton(epsilon, delta, sensitivity), None),
    },
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
    "group_guarantee": {
        "slide": (
            lambda epsilon, delta, k: (k * epsilon, k * math.exp((k - 1) * epsilon) * delta),
            "the slide's bound",
        ),
        "k delta": (lambda epsilon, delta, k: (epsilon * k, delta * k), "k delta"),
        "epsilon kept": (lambda epsilon, delta, k: (epsilon, group_sum(epsilon, delta, k)[1]), "epsilon kept"),
        "exponential": (
            lambda epsilon, delta, k: (np.exp(k * epsilon), group_sum(epsilon, delta, k)[1]),
            "epsilon exponential",
        ),
        "one more": (lambda epsilon, delta, k: (k * epsilon, group_sum(epsilon, delta, k + 1)[1]), "one term too many"),
        "zero divided": (group_zero_divided, None),
        "delta kept": (lambda epsilon, delta, k: (k * epsilon, delta), None),
    },
    "ledger": {
        "charged": (ledger_charged, "refused and charged"),
        "stops": (ledger_stops, "closed after the first refusal"),
        "no delta": (ledger_no_delta, "delta not checked"),
        "strict": (ledger_strict, "never used up"),
        "late": (ledger_late, "refused too late"),
        "largest": (ledger_largest, None),
        "nothing": (lambda costs, epsilon, delta: ([0] * len(costs), 0, 0), None),
    },
    "proof_group_of_two": {
        "2 delta": (
            lambda: [*chain_as_in_the_lecture()[:1], ("<=", "exp(epsilon)**2*p2 + delta + delta", LINKS[1])],
            "delta not multiplied",
        ),
        "no delta": (lambda: [("<=", "p1*exp(epsilon)", LINKS[0])], "delta forgotten"),
        "both at once": (lambda: [("<=", "delta + exp(epsilon)*p2", LINKS[0])], "both at once"),
        "equal": (lambda: [("=", "exp(epsilon)*p1 + delta", "algebra")], "equal"),
        "slide": (
            lambda: [*chain_as_in_the_lecture()[:2], ("=", "exp(2*epsilon)*p2 + 2*delta*exp(epsilon)", "algebra")],
            "brackets forgotten",
        ),
        "wrong link": (
            lambda: [(a, b, LINKS[0] if a == "<=" else c) for a, b, c in chain_as_in_the_lecture()],
            "wrong link",
        ),
        "stops early": (lambda: chain_as_in_the_lecture()[:1], None),
        "no reason": (lambda: [(a, b, "algebra") for a, b, c in chain_as_in_the_lecture()], None),
        "one leap": (lambda: [("<=", "exp(2*epsilon)*p2 + (1 + exp(epsilon))*delta", LINKS[0])], None),
    },
}
