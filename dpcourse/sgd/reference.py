"""DP-SGD on one page: Algorithm 1 of Abadi et al. 2016, "Deep Learning with Differential Privacy" (CCS), line by line.

Slow, and meant to be read. Whatever is faster in this package is tested against this page. Neighbours add or remove one
example; the size of the data is public. (Its random numbers follow from torch's seed: no real release by this page.)
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from dpcourse.accounting import dp_sgd_epsilon

Loss = Callable[[Tensor, Tensor], Tensor]  # (outputs, targets) -> one number for each example
Coins = torch.Generator | None


def clip(gradient: Sequence[Tensor], clip_norm: float) -> list[Tensor]:
    """g / max(1, ||g|| / C): no longer than C, whatever it was; the length is over all parameters together."""
    norm = torch.cat([part.flatten() for part in gradient]).norm()
    return [part / max(1.0, norm / clip_norm) for part in gradient]


def private_gradient(
    model: nn.Module, inputs: Tensor, targets: Tensor, loss: Loss,
    *, sampling_rate: float, lot_size: float, clip_norm: float, noise_multiplier: float, generator: Coins = None,
) -> list[Tensor]:  # fmt: skip
    """The noisy average gradient of a lot."""
    parameters = list(model.parameters())
    total = [torch.zeros_like(parameter) for parameter in parameters]
    # A lot: every example tosses a coin of its own.
    lot = torch.rand(len(inputs), generator=generator) < sampling_rate
    for x, y in zip(inputs[lot], targets[lot], strict=True):
        # The gradient of one example; clipped, and only then added up.
        gradient = torch.autograd.grad(loss(model(x[None]), y[None]).sum(), parameters)
        short = clip(gradient, clip_norm)
        total = [one + part for one, part in zip(total, short, strict=True)]
    # Noise once, on the sum; also on that of an empty lot.
    noise = [noise_multiplier * clip_norm * torch.randn(one.shape, generator=generator) for one in total]
    total = [one + part for one, part in zip(total, noise, strict=True)]
    # The expected size of a lot, not the size that was drawn.
    return [one / lot_size for one in total]


def train(
    model: nn.Module, inputs: Tensor, targets: Tensor, loss: Loss, *, steps: int, delta: float, lot_size: float,
    clip_norm: float, noise_multiplier: float, learning_rate: float, generator: Coins = None,
) -> float:  # fmt: skip
    """Train in place. Returns the epsilon that the accountant charges for it."""
    sampling_rate = lot_size / len(inputs)
    for _ in range(steps):
        gradient = private_gradient(
            model, inputs, targets, loss, sampling_rate=sampling_rate, lot_size=lot_size,
            clip_norm=clip_norm, noise_multiplier=noise_multiplier, generator=generator,
        )  # fmt: skip
        with torch.no_grad():
            for parameter, part in zip(model.parameters(), gradient, strict=True):
                parameter.sub_(learning_rate * part)
    return dp_sgd_epsilon(noise_multiplier, sampling_rate, steps, delta)
