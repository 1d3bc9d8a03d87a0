"""Submissions to homework 2, right and wrong, in the styles that students write."""

import math
import random
import statistics
from fractions import Fraction

import numpy as np

# --- theta ------------------------------------------------------------------------------------------------------------


def theta_plain(epsilon, attempt):
    if attempt == "first":
        return (epsilon + 1) / (epsilon + 2)
    if attempt == "quadratic":
        odds = 1 + epsilon + epsilon**2 / 2
        return odds / (odds + 1)
    return math.exp(epsilon) / (math.exp(epsilon) + 1)


def theta_by_table(epsilon, attempt):
    odds = {"first": 1 + epsilon, "quadratic": 1 + epsilon + epsilon * epsilon / 2, "tight": np.exp(epsilon)}[attempt]
    return np.float64(1 - 1 / (1 + odds))


def theta_by_series(epsilon, attempt):
    terms = {"first": 2, "quadratic": 3, "tight": 60}[attempt]
    odds = sum(epsilon**i / math.factorial(i) for i in range(terms))
    return np.array([odds / (1 + odds)])


def theta_by_scipy(epsilon, attempt):
    from scipy.special import expit

    odds = {"first": 1 + epsilon, "quadratic": 1 + epsilon + epsilon**2 / 2, "tight": np.exp(epsilon)}[attempt]
    return np.asarray(expit(np.log(odds)))


def theta_by_torch(epsilon, attempt):
    import torch

    if attempt == "tight":
        return torch.sigmoid(torch.tensor(epsilon, dtype=torch.float64))
    return torch.tensor(theta_plain(epsilon, attempt), dtype=torch.float64)


def theta_plus_one_forgotten(epsilon, attempt):
    return epsilon / (epsilon + 1) if attempt == "first" else theta_plain(epsilon, attempt)


def theta_half_forgotten(epsilon, attempt):
    odds = epsilon**2 + epsilon + 1
    return odds / (1 + odds) if attempt == "quadratic" else theta_plain(epsilon, attempt)


def theta_sign_wrong(epsilon, attempt):
    return 1 / (1 + math.exp(epsilon)) if attempt == "tight" else theta_plain(epsilon, attempt)


def theta_square_forgotten(epsilon, attempt):
    odds = 1 + epsilon + epsilon / 2
    return odds / (1 + odds) if attempt == "quadratic" else theta_plain(epsilon, attempt)


def theta_quadratic_for_tight(epsilon, attempt):
    return theta_plain(epsilon, "first" if attempt == "first" else "quadratic")


# --- the other values -------------------------------------------------------------------------------------------------


def spent_by_max(theta):
    return max(math.log(theta / (1 - theta)), math.log((1 - theta) / theta))


def spent_by_branch(theta):
    theta = theta if theta > 0.5 else 1 - theta
    return np.log(theta) - np.log1p(-theta)


def ratio_by_probabilities(bit, neighbour, report, epsilon):
    theta = math.exp(epsilon) / (1 + math.exp(epsilon))
    above = theta if report == bit else 1 - theta
    below = theta if report == neighbour else 1 - theta
    return above / below


def ratio_by_matrix(bit, neighbour, report, epsilon):
    matrix = np.array([[np.exp(epsilon), 1], [1, np.exp(epsilon)]])
    matrix /= matrix.sum(axis=1, keepdims=True)
    return matrix[bit, report] / matrix[neighbour, report]


def ratio_by_exponent(bit, neighbour, report, epsilon):
    return np.array([np.exp(epsilon * (int(report == bit) - int(report == neighbour)))])


def ratio_by_bernoulli(bit, neighbour, report, epsilon):
    from scipy.stats import bernoulli

    theta = 1 / (1 + np.exp(-epsilon))
    return bernoulli.pmf(report == bit, theta) / bernoulli.pmf(report == neighbour, theta)


def ratio_one_if_not_flipped(bit, neighbour, report, epsilon):
    if bit == neighbour:
        return 1
    theta = 1 / (1 + math.exp(-epsilon))
    return theta / (1 - theta) if report == bit else 1


def belief_by_bayes(report, prior, epsilon):
    theta = math.exp(epsilon) / (1 + math.exp(epsilon))
    yes = theta if report == 1 else 1 - theta
    return yes * prior / (yes * prior + (1 - yes) * (1 - prior))


def belief_by_odds(report, prior, epsilon):
    odds = prior / (1 - prior) * np.exp(epsilon if report else -epsilon)
    return np.array(odds / (1 + odds))


def belief_by_logit(report, prior, epsilon):
    from scipy.special import expit, logit

    return expit(logit(prior) + (2 * report - 1) * epsilon)


def belief_by_vectors(report, prior, epsilon):
    theta = 1 / (1 + np.exp(-epsilon))
    both = np.array([1 - prior, prior]) * np.array([[theta, 1 - theta], [1 - theta, theta]])[:, report]
    return (both / both.sum())[1:]


# --- reports ----------------------------------------------------------------------------------------------------------


def response_numpy(bit, epsilon, rng):
    theta = 1 / (1 + np.exp(-epsilon))
    return bit if rng.random() < theta else 1 - bit


def response_random(bit, epsilon):
    return bit ^ (random.random() > math.exp(epsilon) / (1 + math.exp(epsilon)))


def response_binomial(bit, epsilon, rng):
    truthful = rng.binomial(1, 1 / (1 + math.exp(-epsilon)))
    return truthful * bit + (1 - truthful) * (1 - bit)


def response_legacy_numpy(bit, epsilon):
    theta = np.exp(epsilon) / (np.exp(epsilon) + 1)
    return np.random.choice([bit, 1 - bit], p=[theta, 1 - theta], size=1)  # noqa: NPY002 - as in old tutorials


def response_torch(bit, epsilon):
    import torch

    keep = torch.bernoulli(torch.tensor(1 / (1 + math.exp(-epsilon))))
    return torch.where(keep == 1, bit, 1 - bit)


def response_bool(bit, epsilon, rng=None):
    flip = random.random() < 1 / (1 + math.exp(epsilon))
    return bool(bit) != flip


def response_seeded(bit, epsilon):
    rng = np.random.default_rng(42)
    return bit if rng.random() < 1 / (1 + np.exp(-epsilon)) else 1 - bit


def response_second_coin(bit, epsilon):
    theta = 1 / (1 + math.exp(-epsilon))
    return bit if random.random() < theta else random.randint(0, 1)


def response_half_epsilon(bit, epsilon, rng):
    return bit if rng.random() < 1 / (1 + np.exp(-epsilon / 2)) else 1 - bit


def response_quadratic(bit, epsilon, rng):
    return bit if rng.random() < theta_plain(epsilon, "quadratic") else 1 - bit


def kary_numpy(category, k, epsilon, rng):
    if rng.random() < np.exp(epsilon) / (np.exp(epsilon) + k - 1):
        return category
    other = rng.integers(k - 1)
    return other + (other >= category)


def kary_choice(category, k, epsilon):
    weights = [math.exp(epsilon) if y == category else 1 for y in range(k)]
    return random.choices(range(k), weights=weights)[0]


def kary_rejection(category, k, epsilon):
    if random.random() < 1 / (1 + (k - 1) * math.exp(-epsilon)):
        return category
    while True:
        other = random.randrange(k)
        if other != category:
            return other


def kary_inverse_transform(category, k, epsilon, rng):
    probabilities = np.ones(k)
    probabilities[category] = np.exp(epsilon)
    return np.array([np.searchsorted(np.cumsum(probabilities), rng.random() * probabilities.sum())])


def kary_torch(category, k, epsilon):
    import torch

    weights = torch.ones(k, dtype=torch.float64)
    weights[category] = math.exp(epsilon)
    return torch.multinomial(weights, 1)


def kary_binary_theta(category, k, epsilon):
    if random.random() < math.exp(epsilon) / (1 + math.exp(epsilon)):
        return category
    return random.choice([y for y in range(k) if y != category])


def kary_lie_may_be_true(category, k, epsilon):
    return category if random.random() < math.exp(epsilon) / (math.exp(epsilon) + k - 1) else random.randrange(k)


def kary_next(category, k, epsilon):
    return category if random.random() < math.exp(epsilon) / (math.exp(epsilon) + k - 1) else (category + 1) % k


def kary_k(category, k, epsilon, rng):
    if rng.random() < np.exp(epsilon) / (np.exp(epsilon) + k):
        return category
    other = rng.integers(k - 1)
    return other + (other >= category)


def kary_from_one(category, k, epsilon, rng):
    return kary_numpy(category, k, epsilon, rng) + 1


def kary_upper_lies(category, k, epsilon):
    """Never the category 0, by a lie drawn from 1..k-1."""
    if random.random() < math.exp(epsilon) / (math.exp(epsilon) + k - 1):
        return category
    return random.choice([y for y in range(1, k) if y != category])


def laplace_numpy(skipped, epsilon, rng):
    return np.clip(skipped, 0, 15) + rng.laplace(0, 15 / epsilon)


def laplace_inverse_transform(skipped, epsilon):
    u = random.random() - 0.5
    return min(max(skipped, 0), 15) - 15 / epsilon * math.copysign(math.log(1 - 2 * abs(u)), u)


def laplace_two_exponentials(skipped, epsilon, rng):
    own = 0 if skipped < 0 else 15 if skipped > 15 else skipped
    return np.array([own + rng.exponential(15 / epsilon) - rng.exponential(15 / epsilon)])


def laplace_scipy(skipped, epsilon, rng):
    from scipy.special import xlog1py

    u = rng.uniform(-1, 1)
    return np.asarray(np.clip(skipped, 0, 15) - np.sign(u) * 15 / epsilon * xlog1py(1, -abs(u)))


def laplace_torch(skipped, epsilon):
    import torch

    own = torch.tensor(float(skipped), dtype=torch.float64).clamp(0, 15)
    return own + torch.empty((), dtype=torch.float64).exponential_(epsilon / 15) * (1 - 2 * torch.randint(0, 2, ()))


def laplace_ten_percent_off(skipped, epsilon, rng):
    return np.clip(skipped, 0, 15) + rng.laplace(0, 1.1 * 15 / epsilon)


def laplace_half_scale(skipped, epsilon, rng):
    """Half of the range: a missing factor 2."""
    return np.clip(skipped, 0, 15) + rng.laplace(0, 7.5 / epsilon)


def laplace_one_sided(skipped, epsilon, rng):
    return np.clip(skipped, 0, 15) + rng.exponential(15 / epsilon)


def laplace_seeded(skipped, epsilon):
    return np.clip(skipped, 0, 15) + np.random.default_rng(1).laplace(0, 15 / epsilon)


# --- the class --------------------------------------------------------------------------------------------------------


def share_numpy(reports, epsilon):
    theta = 1 / (1 + np.exp(-epsilon))
    stretch = 2 * theta - 1
    return (np.mean(reports) - (1 - theta)) / stretch, np.sqrt(theta * (1 - theta) / len(reports)) / stretch


def share_by_tanh(reports, epsilon):
    share = 0.5 + (statistics.fmean(map(int, reports)) - 0.5) / math.tanh(epsilon / 2)
    return {"share": share, "standard_error": 1 / (2 * math.sinh(epsilon / 2) * math.sqrt(len(reports)))}


def share_by_counting(reports, epsilon):
    theta = math.exp(epsilon) / (math.exp(epsilon) + 1)
    share = Fraction(sum(int(report) for report in reports), len(reports))
    error = (theta * (1 - theta) / len(reports) / (2 * theta - 1) ** 2) ** 0.5
    return [(float(share) - 1 + theta) / (theta - (1 - theta)), np.array([error])]


def share_by_inverse_matrix(reports, epsilon):
    matrix = np.array([[np.exp(epsilon), 1], [1, np.exp(epsilon)]]) / (np.exp(epsilon) + 1)
    inverse = np.linalg.inv(matrix)
    frequencies = np.bincount(reports, minlength=2) / reports.size
    theta = matrix[0, 0]
    return (inverse @ frequencies)[1], np.sqrt(theta * (1 - theta) / reports.size) * (inverse[1, 1] - inverse[1, 0])


def share_clipped(reports, epsilon):
    share, error = share_numpy(reports, epsilon)
    return np.clip(share, 0, 1), error


def share_error_of_reports(reports, epsilon):
    share, _ = share_numpy(reports, epsilon)
    return share, np.std(reports) / np.sqrt(len(reports)) / np.tanh(epsilon / 2)


def share_first_theta(reports, epsilon):
    theta = (epsilon + 1) / (epsilon + 2)
    stretch = 2 * theta - 1
    return (np.mean(reports) - (1 - theta)) / stretch, np.sqrt(theta * (1 - theta) / len(reports)) / stretch


def needed_numpy(error, epsilon):
    theta = 1 / (1 + np.exp(-epsilon))
    local = theta * (1 - theta) / (2 * theta - 1) ** 2 / error**2
    return np.ceil(local), np.ceil(np.sqrt(2) / (epsilon * error))


def needed_by_sinh(error, epsilon):
    local = math.ceil(1 / (2 * math.sinh(epsilon / 2) * error) ** 2)
    return {"central": math.ceil(2**0.5 / epsilon / error), "local": local}


def needed_by_search(error, epsilon):
    theta = math.exp(epsilon) / (1 + math.exp(epsilon))

    def smallest(enough):
        low, high = 0, 1
        while not enough(high):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        return high

    local = smallest(lambda n: math.sqrt(theta * (1 - theta) / n) / (2 * theta - 1) <= error)
    return local, smallest(lambda n: math.sqrt(2) / (n * epsilon) <= error)


def needed_by_floor(error, epsilon):
    theta = 1 / (1 + math.exp(-epsilon))
    local = (math.sqrt(theta * (1 - theta)) / (2 * theta - 1) / error) ** 2
    return [np.array([int(local) + 1]), int(math.sqrt(2) / epsilon / error) + 1]


def needed_first_theta(error, epsilon):
    theta = (epsilon + 1) / (epsilon + 2)
    return math.ceil(theta * (1 - theta) / ((2 * theta - 1) * error) ** 2), math.ceil(2**0.5 / (epsilon * error))


def needed_small_epsilon(error, epsilon):
    """The approximation 1/(eps sqrt n) of the lecture, for small epsilon."""
    return math.ceil(1 / (epsilon * error) ** 2), math.ceil(2**0.5 / (epsilon * error))


# --- derivations ------------------------------------------------------------------------------------------------------

THETA = "exp(epsilon)/(exp(epsilon) + 1)"


def told_as_in_the_lecture():
    return [
        ("=", f"({THETA}) / (1 - {THETA})", "definition of theta"),
        ("=", f"({THETA}) / ((exp(epsilon) + 1 - exp(epsilon))/(exp(epsilon) + 1))", "algebra"),
        ("=", "exp(epsilon)/(exp(epsilon) + 1) * (exp(epsilon) + 1)/1", "algebra"),
        ("=", "exp(epsilon)", "algebra"),
    ]


def told_by_the_logistic():
    return [
        ["=", "(1/(1 + exp(-epsilon))) / (1 - 1/(1 + exp(-epsilon)))", "Definition of theta"],
        ["<=", "exp(epsilon)", "Algebra"],
    ]


def told_by_turning_over():
    return (
        ("=", "1/(1/theta - 1)", "algebra"),
        ("=", "1/((exp(epsilon) + 1)/exp(epsilon) - 1)", "definition of theta"),
        ("=", "1/exp(-epsilon)", "algebra"),
        ("==", "exp(epsilon)", "algebra"),
    )


def told_in_two():
    return [
        ("=", "exp(epsilon)*(1 - theta)/(1 - theta)", "definition of theta"),
        ("=", "exp(epsilon)", "algebra"),
    ]


def flipped_as_in_the_lecture():
    return [
        ("=", f"(1 - {THETA}) / ({THETA})", "definition of theta"),
        ("=", "(1/(exp(epsilon) + 1)) * ((exp(epsilon) + 1)/exp(epsilon))", "algebra"),
        ("=", "exp(-epsilon)", "algebra"),
        ("<=", "exp(epsilon)", "epsilon is not negative"),
    ]


def flipped_by_the_other_case():
    return [
        ("=", "1/(theta/(1 - theta))", "algebra"),
        ("=", "1/exp(epsilon)", "definition of theta"),
        ("≤", "exp(epsilon)", "epsilon is not negative"),
    ]


def flipped_by_one():
    return [
        ("=", "1/theta - 1", "algebra"),
        ("=", "1 + exp(-epsilon) - 1", "definition of theta"),
        ("<=", "1", "epsilon is not negative"),
        ("<=", "exp(epsilon)", "epsilon is not negative"),
    ]


def flipped_by_squares():
    return [
        ["=", "exp(-epsilon)", "definition of theta"],
        ["=", "exp(epsilon)*exp(-2*epsilon)", "algebra"],
        ["<=", "exp(epsilon)", "epsilon is not negative"],
    ]


def every_by_odds():
    return [
        ("=", "(theta/(1 - theta))**(s - t)", "algebra"),
        ("=", "exp(epsilon)**(s - t)", "definition of theta"),
        ("=", "exp(epsilon*(s - t))", "algebra"),
        ("<=", "exp(epsilon)", "epsilon is not negative"),
    ]


def every_by_powers():
    return [
        ("=", "theta**(s - t) * (1 - theta)**(t - s)", "algebra"),
        ("=", "(exp(epsilon)/(exp(epsilon) + 1))**(s - t) * (1/(exp(epsilon) + 1))**(t - s)", "definition of theta"),
        ("=", "exp(epsilon)**(s - t)", "algebra"),
        ("<=", "exp(epsilon)", "epsilon is not negative"),
    ]


def every_by_numerators():
    return [
        ("=", "(exp(epsilon*s)/(exp(epsilon) + 1)) / (exp(epsilon*t)/(exp(epsilon) + 1))", "definition of theta"),
        ("=", "exp(epsilon*s)/exp(epsilon*t)", "algebra"),
        ("<=", "exp(epsilon)/exp(epsilon*t)", "epsilon is not negative"),
        ("<=", "exp(epsilon)", "epsilon is not negative"),
    ]


def every_by_absolute_value():
    return [
        ("=", "exp(epsilon*(s - t))", "definition of theta"),
        ("=", "exp(epsilon*s - epsilon*t)", "algebra"),
        ("<=", "exp(epsilon*abs(s - t))", "epsilon is not negative"),
        ("<=", "exp(epsilon)", "epsilon is not negative"),
    ]


RIGHT = {
    "theta": {
        "plain": theta_plain,
        "numpy scalar": theta_by_table,
        "series, length 1": theta_by_series,
        "scipy, 0-d": theta_by_scipy,
        "torch": theta_by_torch,
    },
    "spent_epsilon": {
        "abs": lambda theta: abs(math.log(theta / (1 - theta))),
        "max": spent_by_max,
        "branch": spent_by_branch,
        "arctanh": lambda theta: np.array([np.abs(2 * np.arctanh(2 * theta - 1))]),
    },
    "response_ratio": {
        "probabilities": ratio_by_probabilities,
        "matrix": ratio_by_matrix,
        "exponent": ratio_by_exponent,
        "scipy": ratio_by_bernoulli,
    },
    "posterior": {
        "Bayes": belief_by_bayes,
        "odds": belief_by_odds,
        "logit": belief_by_logit,
        "vectors": belief_by_vectors,
    },
    "randomized_response": {
        "numpy": response_numpy,
        "random": response_random,
        "binomial": response_binomial,
        "legacy numpy": response_legacy_numpy,
        "torch": response_torch,
        "bool": response_bool,
    },
    "kary_response": {
        "numpy": kary_numpy,
        "choices": kary_choice,
        "rejection": kary_rejection,
        "inverse transform": kary_inverse_transform,
        "torch": kary_torch,
    },
    "local_laplace": {
        "numpy": laplace_numpy,
        "inverse transform": laplace_inverse_transform,
        "two exponentials": laplace_two_exponentials,
        "scipy, 0-d": laplace_scipy,
        "torch": laplace_torch,
    },
    "share_of_class": {
        "numpy": share_numpy,
        "tanh, dict": share_by_tanh,
        "counting, list": share_by_counting,
        "inverse matrix": share_by_inverse_matrix,
    },
    "students_needed": {
        "numpy": needed_numpy,
        "sinh, dict": needed_by_sinh,
        "search": needed_by_search,
        "floor plus one": needed_by_floor,
    },
    "proof_truth_told": {
        "lecture": told_as_in_the_lecture,
        "logistic": told_by_the_logistic,
        "turned over": told_by_turning_over,
        "two steps": told_in_two,
    },
    "proof_flipped": {
        "lecture": flipped_as_in_the_lecture,
        "other case": flipped_by_the_other_case,
        "by way of 1": flipped_by_one,
        "squares": flipped_by_squares,
    },
    "proof_every_case": {
        "odds": every_by_odds,
        "powers": every_by_powers,
        "numerators": every_by_numerators,
        "absolute value": every_by_absolute_value,
    },
}

WRONG = {
    "theta": {
        "plus one": (theta_plus_one_forgotten, "plus one forgotten"),
        "half": (theta_half_forgotten, "half forgotten"),
        "sign": (theta_sign_wrong, "upside down"),
        "first for all": (lambda epsilon, attempt: (epsilon + 1) / (epsilon + 2), "first attempt for all"),
        "odds": (
            lambda epsilon, attempt: theta_plain(epsilon, attempt) / (1 - theta_plain(epsilon, attempt)),
            "the odds",
        ),
        "square forgotten": (theta_square_forgotten, None),
        "quadratic for tight": (theta_quadratic_for_tight, None),
        "rounded": (lambda epsilon, attempt: round(theta_plain(epsilon, attempt), 3), None),
    },
    "spent_epsilon": {
        "no sign": (lambda theta: np.log(theta / (1 - theta)), "sign forgotten"),
        "odds": (lambda theta: max(theta / (1 - theta), (1 - theta) / theta), "the odds"),
        "log10": (lambda theta: abs(np.log10(theta) - np.log10(1 - theta)), "base ten"),
        "log2": (lambda theta: abs(np.log2(theta) - np.log2(1 - theta)), "base two"),
        "fair": (lambda theta: abs(math.log(2 * theta)), "against a fair coin"),
        "log of theta": (lambda theta: -math.log(theta), None),
        "first attempt inverted": (lambda theta: abs((2 * theta - 1) / (1 - theta)), None),
    },
    "response_ratio": {
        "slide": (ratio_one_if_not_flipped, "one if not flipped"),
        "bound": (lambda bit, neighbour, report, epsilon: np.exp(epsilon), "always the bound"),
        "upside down": (
            lambda bit, neighbour, report, epsilon: 1 / ratio_by_matrix(bit, neighbour, report, epsilon),
            "upside down",
        ),
        "log": (
            lambda bit, neighbour, report, epsilon: np.log(ratio_by_matrix(bit, neighbour, report, epsilon)),
            "logarithm",
        ),
        "equal bits": (
            lambda bit, neighbour, report, epsilon: math.exp(epsilon) if report == bit else 1 / math.exp(epsilon),
            "equal bits forgotten",
        ),
        "first theta": (
            lambda bit, neighbour, report, epsilon: (1 + epsilon) ** (int(report == bit) - int(report == neighbour)),
            None,
        ),
    },
    "posterior": {
        "no prior": (
            lambda report, prior, epsilon: 1 / (1 + math.exp(-epsilon if report else epsilon)),
            "prior ignored",
        ),
        "no report": (lambda report, prior, epsilon: belief_by_bayes(1, prior, epsilon), "report ignored"),
        "odds": (
            lambda report, prior, epsilon: prior / (1 - prior) * math.exp(epsilon if report else -epsilon),
            "the odds",
        ),
        "joint": (
            lambda report, prior, epsilon: prior / (1 + math.exp(-epsilon if report else epsilon)),
            "not normalised",
        ),
        "times e^eps": (
            lambda report, prior, epsilon: min(prior * np.exp((2 * report - 1) * epsilon), 1),
            "probability multiplied",
        ),
        "of no secret": (lambda report, prior, epsilon: 1 - belief_by_bayes(report, prior, epsilon), None),
        "first theta": (lambda report, prior, epsilon: belief_by_bayes(report, prior, math.log1p(epsilon)), None),
    },
    "randomized_response": {
        "truth": (lambda bit, epsilon: float(bit), "always the truth"),
        "swapped": (lambda bit, epsilon: 1 - response_random(bit, epsilon), "flipped too often"),
        "fair": (lambda bit, epsilon: random.randint(0, 1), "fair coin"),
        "first": (
            lambda bit, epsilon, rng: bit if rng.random() < (epsilon + 1) / (epsilon + 2) else 1 - bit,
            "first attempt",
        ),
        "second coin": (response_second_coin, "coin instead of the flip"),
        "no": (lambda bit, epsilon: response_random(bit, epsilon) * bit, "no instead of the flip"),
        "two coins": (
            lambda bit, epsilon, rng: bit if rng.random() < 0.5 else int(rng.random() < 0.5),
            "epsilon not used",
        ),
        "fixed seed": (response_seeded, None),
        "half epsilon": (response_half_epsilon, None),
        "yes": (lambda bit, epsilon, rng: True, "deaf to the bit"),
        "always no": (lambda bit, epsilon: 0, None),
        "quadratic": (response_quadratic, "quadratic attempt"),
        "minus one": (lambda bit, epsilon: 2 * response_random(bit, epsilon) - 1, None),
    },
    "kary_response": {
        "binary theta": (kary_binary_theta, "theta of one bit"),
        "lie may be true": (kary_lie_may_be_true, "a lie may be the truth"),
        "uniform": (lambda category, k, epsilon, rng: rng.integers(k), "any category"),
        "next": (kary_next, "always the same lie"),
        "k": (kary_k, "k for k - 1"),
        "from one": (kary_from_one, None),
        "truth of the first": (
            lambda category, k, epsilon, rng: kary_numpy(category, k, epsilon, rng) if category else 0,
            None,
        ),
        "truth of the last": (
            lambda category, k, epsilon, rng: category if category == k - 1 else kary_numpy(category, k, epsilon, rng),
            None,
        ),
        "lies from one": (kary_upper_lies, None),
        "half epsilon": (lambda category, k, epsilon, rng: kary_numpy(category, k, epsilon / 2, rng), None),
        "truth": (lambda category, k, epsilon: category, "always the truth"),
    },
    "local_laplace": {
        "count": (lambda skipped, epsilon, rng: np.clip(skipped, 0, 15) + rng.laplace(0, 1 / epsilon), "sensitivity 1"),
        "times": (
            lambda skipped, epsilon, rng: np.clip(skipped, 0, 15) + rng.laplace(0, 15 * epsilon),
            "scale upside down",
        ),
        "unclipped": (lambda skipped, epsilon, rng: skipped + rng.laplace(0, 15 / epsilon), "value not clipped"),
        "clipped after": (
            lambda skipped, epsilon, rng: np.clip(skipped + rng.laplace(scale=15 / epsilon), 0, 15),
            "report clipped",
        ),
        "own scale": (
            lambda skipped, epsilon, rng: (own := np.clip(skipped, 0, 15)) + own / epsilon * rng.laplace(),
            "scale from the own value",
        ),
        "Gaussian": (
            lambda skipped, epsilon, rng: np.clip(skipped, 0, 15) + 15 / epsilon * 2**0.5 * rng.standard_normal(),
            "Gaussian noise",
        ),
        "ten percent off": (laplace_ten_percent_off, None),
        "factor 2": (laplace_half_scale, None),
        "upper end only": (
            lambda skipped, epsilon, rng: np.minimum(skipped, 15) + 15 / epsilon * rng.laplace(),
            "no lower end",
        ),
        "lower end only": (
            lambda skipped, epsilon, rng: np.maximum(skipped, 0) + 15 / epsilon * rng.laplace(),
            "no upper end",
        ),
        "absolute value": (
            lambda skipped, epsilon, rng: np.minimum(abs(skipped), 15) + 15 / epsilon * rng.laplace(),
            "sign dropped",
        ),
        "sixteen": (
            lambda skipped, epsilon, rng: np.clip(skipped, 0, 15) + 16 / epsilon * rng.laplace(),
            "sixteen values",
        ),
        "one-sided": (laplace_one_sided, None),
        "fixed seed": (laplace_seeded, None),
        "rounded": (lambda skipped, epsilon, rng: round(laplace_numpy(skipped, epsilon, rng)), None),
        "no noise": (lambda skipped, epsilon: np.clip(skipped, 0, 15), None),
    },
    "share_of_class": {
        "share of yes": (
            lambda reports, epsilon: (reports.mean(), reports.std() / math.sqrt(reports.size)),
            "share of the yes",
        ),
        "clipped": (share_clipped, "clipped"),
        "not stretched": (
            lambda reports, epsilon: (np.mean(reports) - 1 / (1 + np.exp(epsilon)), share_numpy(reports, epsilon)[1]),
            "not stretched",
        ),
        "not subtracted": (
            lambda reports, epsilon: (np.mean(reports) / np.tanh(epsilon / 2), share_numpy(reports, epsilon)[1]),
            "chance answers not subtracted",
        ),
        "error not stretched": (
            lambda reports, epsilon: (
                share_numpy(reports, epsilon)[0],
                share_numpy(reports, epsilon)[1] * np.tanh(epsilon / 2),
            ),
            "error not stretched",
        ),
        "variance": (
            lambda reports, epsilon: (share_numpy(reports, epsilon)[0], share_numpy(reports, epsilon)[1] ** 2),
            "variance",
        ),
        "error of reports": (share_error_of_reports, "error of the reports"),
        "no root": (
            lambda reports, epsilon: (
                share_numpy(reports, epsilon)[0],
                share_numpy(reports, epsilon)[1] * len(reports) ** 0.5,
            ),
            "root of n forgotten",
        ),
        "first theta": (share_first_theta, None),
        "n - 1": (
            lambda reports, epsilon: (
                share_numpy(reports, epsilon)[0],
                share_numpy(np.asarray(reports)[1:], epsilon)[1],
            ),
            None,
        ),
    },
    "students_needed": {
        "fraction": (
            lambda error, epsilon: (1 / (2 * math.sinh(epsilon / 2) * error) ** 2, math.sqrt(2) / epsilon / error),
            "not rounded up",
        ),
        "round": (
            lambda error, epsilon: (
                round(1 / (2 * math.sinh(epsilon / 2) * error) ** 2),
                math.floor(math.sqrt(2) / epsilon / error),
            ),
            "rounded down",
        ),
        "one number not rounded": (
            lambda error, epsilon: (needed_numpy(error, epsilon)[0], math.sqrt(2) / epsilon / error),
            "not rounded up",
        ),
        "to the nearest": (
            lambda error, epsilon: (
                np.rint(1 / (2 * np.sinh(epsilon / 2) * error) ** 2),
                np.rint(np.sqrt(2) / epsilon / error),
            ),
            "rounded down",
        ),
        "down": (
            lambda error, epsilon: (
                int(1 / (2 * math.sinh(epsilon / 2) * error) ** 2),
                int(math.sqrt(2) / epsilon / error),
            ),
            "rounded down",
        ),
        "no square": (
            lambda error, epsilon: (
                math.ceil(1 / (2 * math.sinh(epsilon / 2) * error)),
                math.ceil(math.sqrt(2) / epsilon / error),
            ),
            "square forgotten",
        ),
        "both squared": (
            lambda error, epsilon: (needed_numpy(error, epsilon)[0], math.ceil(2 / (epsilon * error) ** 2)),
            "curator squared",
        ),
        "b": (
            lambda error, epsilon: (needed_numpy(error, epsilon)[0], math.ceil(1 / (epsilon * error))),
            "scale for the standard deviation",
        ),
        "yes only": (
            lambda error, epsilon: (
                math.ceil(1 / (2 * math.cosh(epsilon / 2) * error) ** 2),
                needed_numpy(error, epsilon)[1],
            ),
            "not stretched",
        ),
        "swapped": (lambda error, epsilon: needed_numpy(error, epsilon)[::-1], "swapped"),
        "first theta": (needed_first_theta, None),
        "small epsilon": (needed_small_epsilon, None),
    },
    "proof_truth_told": {
        "first attempt": (
            lambda: [("=", "((1 + epsilon)/(2 + epsilon)) / (1/(2 + epsilon))", "definition of theta")],
            "first attempt",
        ),
        "not turned over": (
            lambda: [*told_as_in_the_lecture()[:1], ("=", f"{THETA} / (exp(epsilon) + 1)", "algebra")],
            "fraction not turned over",
        ),
        "by algebra": (lambda: [("=", "exp(2*epsilon)*exp(-epsilon)", "algebra")], "called algebra"),
        "same coin": (lambda: [("=", "1", "definition of theta")], "theta and its opposite"),
        "plus one": (lambda: [("=", "1 + exp(epsilon)", "definition of theta")], "all in one"),
        "stops early": (lambda: told_as_in_the_lecture()[:1], None),
        "start only": (lambda: [("=", "theta/(1 - theta)", "algebra")], None),
        "too large": (lambda: [*told_by_the_logistic()[:1], ("<=", "exp(2*epsilon)", "algebra")], None),
        "not readable": (lambda: [("=", "e^epsilon", "definition of theta")], None),
        "other reason": (lambda: [("=", "exp(epsilon)", "because it is so")], None),
    },
    "proof_flipped": {
        "slide": (lambda: [("=", "1", "definition of theta"), *flipped_by_one()[3:]], "the ratio is 1"),
        "equal": (lambda: [*flipped_as_in_the_lecture()[:3], ("=", "exp(epsilon)", "algebra")], "equal to the bound"),
        "by algebra": (lambda: [*flipped_as_in_the_lecture()[:3], ("<=", "exp(epsilon)", "algebra")], "called algebra"),
        "by symmetry": (lambda: [("=", "theta/(1 - theta)", "algebra")], "upside down"),
        "coin": (lambda: [("=", "1/exp(epsilon)", "algebra")], "coin called algebra"),
        "downwards": (
            lambda: [*flipped_by_the_other_case()[:2], (">=", "exp(epsilon)", "epsilon is not negative")],
            "wrong direction",
        ),
        "stops early": (lambda: flipped_as_in_the_lecture()[:3], None),
        "too small": (lambda: [*flipped_as_in_the_lecture()[:3], ("<=", "exp(-2*epsilon)", "algebra")], None),
    },
    "proof_every_case": {
        "added": (lambda: [("=", "(theta/(1 - theta))**(t + s)", "algebra")], "exponents added"),
        "no neighbour": (lambda: [("=", "theta**s*(1 - theta)**(-s)", "algebra")], "neighbour forgotten"),
        "equal": (lambda: [*every_by_odds()[:3], ("=", "exp(epsilon)", "algebra")], "equal to the bound"),
        "by algebra": (lambda: [*every_by_odds()[:3], ("<=", "exp(epsilon)", "algebra")], "called algebra"),
        "coin": (
            lambda: [*every_by_odds()[:1], ("=", "exp(epsilon)**s/exp(epsilon)**t", "algebra")],
            "coin called algebra",
        ),
        "one case": (lambda: [("=", "theta/(1 - theta)", "algebra"), *told_by_the_logistic()], None),
        "s is 1": (lambda: [("=", "(theta/(1 - theta))**(1 - t)", "algebra")], None),
    },
}
