"""What DP-SGD learns and what it keeps to itself: digits within a budget, and a secret in a language model."""

from __future__ import annotations

import math
import statistics
import time

import torch
from scipy.stats import gamma

from benchmarks.figures import Figure
from dpcourse.attacks import Exposure, chance_p_value, exposure, extract
from dpcourse.data.chat_messages import Canary, messages
from dpcourse.data.examples import digits
from dpcourse.sgd import FAULTS, audit_step, honest, train
from dpcourse.sgd.models import CharacterModel, digit_mlp
from dpcourse.sgd.recipes import CHARACTERS, DIGITS

SEEDS, SECRETS = 5, 10


def digit_errors(epsilon: float) -> tuple[list[float], float]:
    """The share of test digits that is wrong, for each seed (split, weights, lots and noise), and seconds in all."""
    errors, start = [], time.perf_counter()
    for seed in range(SEEDS):
        data, test = digits(seed)
        model = digit_mlp(seed=seed)
        settings = DIGITS.settings(epsilon)
        run = train(model, data, test=test, epsilon=epsilon, seed=seed, progress=False, looks=1, **settings)
        errors.append(100 * (1 - (run.accuracy or 0.0)))
    return errors, time.perf_counter() - start


def keyboard(seed: int, epsilon: float) -> tuple[CharacterModel, Canary]:
    """A language model trained on messages of which one holds a secret."""
    canary = Canary.random(100 + seed)
    corpus = messages(seed=seed, canaries=[canary], **CHARACTERS.corpus)
    model = CharacterModel(layers=1, seed=seed)
    settings = CHARACTERS.settings(epsilon)
    train(model, corpus.examples(), epsilon=epsilon, seed=seed, progress=False, looks=1, **settings)
    return model, canary


def run() -> list[Figure]:
    """Errors and exposures; every limit is what was promised."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # small networks train fastest on one thread
    try:
        return [*_digits(), *_secrets(), _faults()]
    finally:
        torch.set_num_threads(threads)


def _digits() -> list[Figure]:
    figures, slowest = [], 0.0
    for name, epsilon, limit in (("no privacy", math.inf, 5.0), ("(3, 1e-5)-DP", 3.0, 10.0)):
        errors, seconds = digit_errors(epsilon)
        slowest = max(slowest, seconds)
        each = ", ".join(f"{error:.1f}" for error in errors)
        what = f"digits, {name}: wrong of 100 test digits, median of {SEEDS} seeds"
        figures.append(Figure(what, statistics.median(errors), limit, each))
    return [*figures, Figure(f"seconds to train the {SEEDS} digit models, the slower of both", slowest, 60)]


def _secrets() -> list[Figure]:
    plain = [keyboard(seed, math.inf) for seed in range(3)]
    missed = sum(extract(model, canary.format) != canary.filling for model, canary in plain)
    guarded = [keyboard(seed, 5.0) for seed in range(SECRETS)]
    exposures: list[Exposure] = [exposure(model, canary, sample=2000, rng=1) for model, canary in guarded]
    # ln(space / rank) of a secret that the model does not know is exponential: the sum of ten exceeds this in 1 of 100.
    critical = gamma.ppf(0.99, SECRETS) / SECRETS / math.log(2)
    detail = f"p = {chance_p_value(exposures):.2f}; chance has {1 / math.log(2):.2f} bits; limit: 1% level"
    return [
        Figure("secrets typed once that 3 language models without privacy do not give away", missed, 0),
        Figure(
            f"mean exposure at (5, 1e-5)-DP, bits, {SECRETS} models",
            statistics.mean(one.bits for one in exposures),
            round(float(critical), 2),
            detail,
        ),
    ]


def _faults() -> Figure:
    unseen = [name for name, release in FAULTS.items() if not audit_step(release, seed=0).violated]
    accused = audit_step(honest, seed=0).violated
    return Figure(
        f"planted faults that the audit misses, of {len(FAULTS)}",
        len(unseen) + accused,
        0,
        "; ".join(unseen) or "and the correct step is not accused",
    )
