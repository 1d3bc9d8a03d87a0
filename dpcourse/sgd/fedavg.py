"""DP-FedAvg: privacy for users, not for examples (McMahan et al. 2018, "Learning Differentially Private Recurrent
Language Models", ICLR, Algorithm 1).

Neighbours differ in *all* messages of one user. In each round every user enters by a coin of probability q, trains a
copy of the model on all of their own data, and sends the difference; it is clipped to length C, summed, noised once
with sigma C, and divided by a constant: the number of users that one expects in a round.
"""

from __future__ import annotations

import copy
import math

import torch
from torch import Tensor, nn

from dpcourse import checks
from dpcourse.accounting.dp_sgd import dp_sgd_epsilon
from dpcourse.interrupts import uninterrupted
from dpcourse.sgd.clipping.model_checks import Loss, clipping_length, trainable
from dpcourse.sgd.models import cross_entropy
from dpcourse.sgd.noise import generator_from
from dpcourse.sgd.private_step import descend, minibatch_gradient, noisy_average, poisson_lot
from dpcourse.sgd.training_checks import HasExamples, check_training


def user_update(
    model: nn.Module,
    inputs: Tensor,
    targets: Tensor,
    loss: Loss,
    *,
    learning_rate: float,
    epochs: int,
    clip_norm: float,
) -> tuple[dict[str, Tensor], float]:
    """What one user sends: the change of the model by training on all of their data, clipped; and its length before."""
    clip_norm = clipping_length(clip_norm)
    own = copy.deepcopy(model)
    for _ in range(checks.whole_number("epochs", epochs)):
        descend(own, minibatch_gradient(own, inputs, targets, loss), learning_rate)
    with torch.no_grad():
        before = trainable(model)
        change = {name: parameter.detach() - before[name].detach() for name, parameter in trainable(own).items()}
    length = math.sqrt(sum(float(part.square().sum()) for part in change.values()))
    if not math.isfinite(length):  # no length, no clipping: whoever sends an overflow or a NaN contributes nothing
        return {name: torch.zeros_like(part) for name, part in change.items()}, length
    shrink = min(1.0, clip_norm / length) if length > 0 else 1.0
    return {name: part * shrink for name, part in change.items()}, length


def federated_round(
    model: nn.Module,
    data: HasExamples,
    users: Tensor,
    *,
    sampling_rate: float,
    noise_multiplier: float,
    clip_norm: float,
    learning_rate: float,
    epochs: int = 1,
    loss: Loss = cross_entropy,
    expected_users: float | None = None,
    generator: torch.Generator | None = None,
) -> int:
    """One round on the model, in place; returns how many users took part (not to be published).

    ``expected_users`` divides the sum. Without it, the sampling rate times the number of users does, which takes that
    number for public: with one user less, the noise would be a little larger.
    """
    everybody, sampling_rate = users.unique(), checks.fraction_of_one("sampling_rate", sampling_rate)
    if expected_users is None:
        expected_users = sampling_rate * len(everybody)
    expected_users = checks.positive("expected_users", expected_users)
    round_users = everybody[poisson_lot(len(everybody), sampling_rate, generator)]
    how = {"learning_rate": learning_rate, "epochs": epochs, "clip_norm": clip_norm}
    total = {name: torch.zeros_like(parameter) for name, parameter in trainable(model).items()}
    for user in round_users:
        mine = users == user
        change, _ = user_update(model, data.inputs[mine], data.targets[mine], loss, **how)  # type: ignore[arg-type]
        for name, part in change.items():
            total[name] += part
    average = noisy_average(
        total, clip_norm=clip_norm, noise_multiplier=noise_multiplier, lot_size=expected_users, generator=generator
    )
    with torch.no_grad():
        for name, parameter in trainable(model).items():
            parameter.add_(average[name])
    return len(round_users)


def train_federated(
    model: nn.Module,
    data: HasExamples,
    users: Tensor,
    *,
    rounds: int,
    sampling_rate: float,
    noise_multiplier: float,
    delta: float,
    clip_norm: float = 1.0,
    learning_rate: float = 0.5,
    epochs: int = 1,
    loss: Loss = cross_entropy,
    expected_users: float | None = None,
    seed: int | None = None,
) -> float:
    """Train in place over so many rounds; returns the epsilon for adding or removing one *user* with all they wrote.

    Interrupted (Ctrl-C, or the kernel's stop button) it says so and returns what the rounds so far have cost.
    """
    check_training(model, loss, data=data)
    if not isinstance(users, Tensor):
        raise TypeError(f"users must be a tensor with the author of each example, got {users!r}")
    epsilon = dp_sgd_epsilon(
        checks.positive("noise_multiplier", noise_multiplier),
        sampling_rate,
        checks.whole_number("rounds", rounds),
        delta,
    )
    if len(users) != len(data.inputs):
        raise ValueError(f"users must name the author of each of {len(data.inputs)} examples, got {len(users)}")
    generator = generator_from(seed)
    done = 0
    try:
        while done < rounds:
            done += 1  # before it begins: never a round too few
            with uninterrupted():
                federated_round(
                    model,
                    data,
                    users,
                    sampling_rate=sampling_rate,
                    noise_multiplier=noise_multiplier,
                    clip_norm=clip_norm,
                    learning_rate=learning_rate,
                    epochs=epochs,
                    loss=loss,
                    expected_users=expected_users,
                    generator=generator,
                )
    except KeyboardInterrupt:
        print(f"interrupted after round {done} of {rounds}")
        return dp_sgd_epsilon(noise_multiplier, sampling_rate, done, delta) if done else 0.0
    return epsilon
