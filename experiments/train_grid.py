"""Make the stored results of lecture 4 anew, which takes minutes: ``python -m experiments.train_grid``.

Names after it (accounts, inversion, digits, tasks, canaries, membership) make only those. They go to
dpcourse/explore/results/, where the explorers find them. Every run is seeded; accuracies can differ a little between
versions of torch and kinds of processors, and more if the noise is drawn in another way. The lecture's text and
tests/explore/test_lecture4.py state some of these numbers: read them again afterwards.
"""

from __future__ import annotations

import math
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from dpcourse import accounting
from dpcourse.explore.lecture4 import attack_results, training_results
from dpcourse.explore.lecture4 import privacy_accounts as grid
from experiments.results import RESULTS, write_result


def accounts() -> dict[str, Any]:
    """What five accountants say about the grid of ``explore.accountants``, and one epoch for ``explore.lots``."""
    bills = {
        grid.key(sigma, q, k): [
            float(f"{spent.epsilon:.6g}") for spent in accounting.dp_sgd_accounts(sigma, q, k, grid.DELTA)
        ]
        for sigma in grid.SIGMAS
        for q in grid.RATES
        for k in grid.STEPS
    }
    epochs = {
        grid.key(sigma, steps): float(f"{accounting.dp_sgd_epsilon(sigma, 1 / steps, steps, grid.DELTA):.6g}")
        for sigma in grid.NOISES
        for steps in grid.EPOCHS
    }
    return {"delta": grid.DELTA, "bills": bills, "epochs": epochs}


def digits() -> dict[str, Any]:
    """Accuracy after each epoch, the median of three seeds, and the exact epsilon, for ``explore.training_run``."""
    from dpcourse.data.examples import digits as load

    n = len(load()[0])
    seeds = range(3)

    def median(sigma: float, clip: float, lot: int) -> list[float]:
        runs = [training_results.trained(sigma, clip, lot, seed) for seed in seeds]
        return [round(statistics.median(values), 4) for values in zip(*runs, strict=True)]

    curves = {
        grid.key(sigma, clip, lot): median(sigma, clip, lot)
        for lot in training_results.LOTS
        for sigma in training_results.SIGMAS
        for clip in training_results.CLIPS
    }
    spent = {
        grid.key(sigma, lot): [float(f"{epsilon:.5g}") for epsilon in training_results.spent(sigma, lot, n)]
        for lot in training_results.LOTS
        for sigma in training_results.SIGMAS
    }
    return {"n": n, "plain": median(0.0, 1.0, 128), "accuracy": curves, "epsilon": spent}


def tasks() -> dict[str, Any]:
    """Test accuracies of five seeds at epsilon 1, 2, 5 and infinity, for ``explore.supervised_tasks``."""
    from dpcourse import sgd
    from dpcourse.data.examples import digits as load
    from dpcourse.data.examples import sentiments
    from dpcourse.sgd.models import TextClassifier, digit_mlp

    images, test_images = load()
    small, large = sentiments(n=4_000), sentiments(n=20_000)
    jobs: dict[str, tuple[Callable[[int], Any], Any, Any]] = {
        "digits": (lambda seed: digit_mlp(seed=seed), images, test_images),
        "3,200 reviews": (lambda seed: TextClassifier(small.vocabulary, seed=seed), small.train, small.test),
        "16,000 reviews": (lambda seed: TextClassifier(large.vocabulary, seed=seed), large.train, large.test),
    }
    outcome: dict[str, Any] = {}
    for name, (make, train, test) in jobs.items():
        outcome[name] = {"n": len(train), "accuracy": {}}
        for epsilon in training_results.BUDGETS:
            settings: dict[str, Any] = training_results.SETTINGS[name][math.isinf(epsilon)]
            runs = [
                sgd.train(make(s), train, epsilon=epsilon, test=test, seed=s, progress=False, looks=1,
                          **settings)
                for s in range(5)
            ]  # fmt: skip
            outcome[name]["accuracy"][f"{epsilon:g}"] = [round(run.accuracy or 0.0, 4) for run in runs]
    return outcome


def inversion() -> dict[str, Any]:
    """The images that model inversion finds in three networks, for ``explore.inversion``."""
    from dpcourse import attacks, sgd
    from dpcourse.data.examples import digits as load
    from dpcourse.sgd.models import digit_mlp

    train, _ = load()
    means = attacks.class_means(train)
    images: dict[str, Any] = {}
    for name, epsilon in zip(attack_results.ATTACKED, (math.inf, 5.0, 1.0), strict=True):
        settings: dict[str, Any] = training_results.SETTINGS["digits"][math.isinf(epsilon)]
        run = sgd.train(digit_mlp(seed=0), train, epsilon=epsilon, seed=0, progress=False, looks=1, **settings)
        images[name] = []
        for digit in range(10):
            outcome = attacks.invert(run.model, digit)
            like = attacks.likeness(outcome.image, means)
            images[name].append({
                "image": [[round(x, 3) for x in row] for row in outcome.image[0].tolist()],
                "confidence": round(outcome.confidence, 4),
                "likest": int(like.argmax()),
                "likeness": round(float(like.max()), 3),
            })  # fmt: skip
    return {"means": [[[round(x, 3) for x in row] for row in mean[0].tolist()] for mean in means], "images": images}


def canaries() -> dict[str, Any]:
    """The exposure of a secret by how often its user typed it, for ``explore.canaries``: ten secrets, ten models."""
    from dpcourse import attacks, sgd
    from dpcourse.data.chat_messages import Canary, messages
    from dpcourse.sgd.fedavg import train_federated
    from dpcourse.sgd.models import CharacterModel, next_character_loss

    def model(training_of: str, repeats: int, seed: int) -> tuple[Any, Any]:
        canary = Canary.random(seed + 1, "the code is ####")
        chats = messages(users=50, per_user=10, canaries=[canary], repeats=repeats, seed=seed).examples()
        fresh = CharacterModel(width=32, layers=1, seed=seed)
        if training_of == grid_of[2]:
            sigma = accounting.sigma_for(5, 1e-3, q=0.2, steps=60)
            assert chats.users is not None
            train_federated(
                fresh, chats, chats.users, rounds=60, sampling_rate=0.2, noise_multiplier=sigma, delta=1e-3,
                clip_norm=0.5, learning_rate=0.3, epochs=3, loss=next_character_loss, expected_users=10, seed=seed,
            )  # fmt: skip
            return fresh, canary
        private = training_of == grid_of[1]
        sgd.train(
            fresh, chats, epsilon=5 if private else math.inf, clip_norm=0.5, momentum=0 if private else 0.9, seed=seed,
            loss=next_character_loss, epochs=30, lot_size=64, learning_rate=0.3, progress=False, looks=1,
        )  # fmt: skip
        return fresh, canary

    grid_of = attack_results.TRAININGS
    return {
        name: {
            f"{repeats}": [round(attacks.exposure(*model(name, repeats, seed)).bits, 3) for seed in range(10)]
            for repeats in attack_results.REPEATS
        }
        for name in grid_of
    }


def membership() -> dict[str, Any]:
    """The loss-threshold attack on networks that learn by heart, and its bound, for ``explore.membership``.

    Ten games for each training. In a game every one of 1,000 digits is a member by a coin of its own, and one label in
    five is wrong, inside and outside alike. Sampling rate, steps and the divisor of the sum do not depend on how many
    are members: the two worlds of one digit are then neighbours by adding or removing, for which epsilon holds.
    """
    import numpy as np
    import torch

    from dpcourse import attacks, sgd
    from dpcourse.data.examples import Examples
    from dpcourse.data.examples import digits as load
    from dpcourse.sgd.models import digit_mlp

    parts = load()
    images = torch.cat([part.inputs for part in parts])
    labels = torch.cat([part.targets for part in parts])

    def game(settings: dict[str, float], seed: int) -> tuple[Any, ...]:
        draw = torch.Generator().manual_seed(1_000 + seed)  # not the stream that training draws lots and noise from
        chosen = torch.randperm(len(images), generator=draw)[:1_000]
        wrong = torch.rand(1_000, generator=draw) < 0.2
        moved = torch.randint(1, 10, (1_000,), generator=draw)
        labels_seen = torch.where(wrong, (labels[chosen] + moved) % 10, labels[chosen])
        member = torch.rand(1_000, generator=draw) < 0.5
        everybody = Examples(images[chosen], labels_seen)
        lot = settings["q"] * int(member.sum())
        run = sgd.train(
            digit_mlp(256, seed=seed), everybody.at(member), epsilon=settings["epsilon"], delta=training_results.DELTA,
            lot_size=lot, epochs=settings["epochs"], learning_rate=lot / (500 * settings["q"]), seed=seed,
            progress=False, looks=1,
        )  # fmt: skip
        losses = attacks.losses_of(run.model, everybody, sgd.cross_entropy)
        with torch.no_grad():
            guessed = run.model(everybody.inputs).argmax(-1)
        return losses, member.numpy(), (guessed == labels_seen).numpy(), (guessed == labels[chosen]).numpy()

    rates = np.array(attack_results.FALSE_ALARMS)
    outcome: dict[str, Any] = {}
    for name, settings in attack_results.OVERFITTED.items():
        epsilon, games = settings["epsilon"], [game(settings, seed) for seed in range(10)]
        losses, member, right, truly = (np.concatenate(column) for column in zip(*games, strict=True))
        curve = attacks.roc(-losses[member], -losses[~member])
        outcome[name] = {
            "members": int(member.sum()),
            "others": int((~member).sum()),
            "hits": np.interp(rates, curve.fpr, curve.tpr).round(4).tolist(),
            "bound": attacks.dp_bound(rates, epsilon, training_results.DELTA).round(5).tolist(),
            "advantage": round(curve.advantage, 4),
            "best": [round(float(x[(curve.tpr - curve.fpr).argmax()]), 4) for x in (curve.fpr, curve.tpr)],
            "advantage_bound": round(attacks.advantage_bound(epsilon, training_results.DELTA), 4),
            "right": [round(float(right[member].mean()), 4), round(float(right[~member].mean()), 4)],
            "truly_right": round(float(truly[~member].mean()), 4),
        }
    return outcome


MAKERS = {
    "accounts": accounts, "inversion": inversion, "digits": digits, "tasks": tasks, "canaries": canaries,
    "membership": membership,
}  # fmt: skip


def main(names: list[str]) -> None:
    """Write the named results, or all."""
    for name in names or list(MAKERS):
        start = time.monotonic()
        target = RESULTS / f"{name}.json"
        write_result(target, MAKERS[name]())
        print(f"{name}.json: {target.stat().st_size:,} bytes in {time.monotonic() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
