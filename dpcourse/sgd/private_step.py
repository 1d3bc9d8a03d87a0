"""Three ways to take a step, side by side: online SGD, minibatch SGD, DP-SGD.

DP-SGD (Abadi et al. 2016, "Deep Learning with Differential Privacy", Algorithm 1) differs from minibatch SGD in three
lines: the lot is drawn by Poisson sampling, every example's gradient is clipped to length C, and Gaussian noise of
standard deviation sigma C goes *once* onto the sum. The average divides by the expected lot size, not by the one that
was drawn; an empty lot still releases noise.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from dpcourse import door
from dpcourse.sgd.clipping.clipper import Lot, measured
from dpcourse.sgd.clipping.model_checks import Loss
from dpcourse.sgd.clipping.parts import parts_of, trainable
from dpcourse.sgd.generators import random_words
from dpcourse.sgd.noise import gaussian_like, noise_meanwhile

LARGEST = 1e37  # of a deviation: 9.5 times that is still a number in single precision


def poisson_lot(n: int, q: float, generator: torch.Generator | None = None) -> Tensor:
    """The indices of a lot: each of n examples enters by its own coin, with probability q. It may be empty."""
    n, q = door.whole_number("n", n), door.fraction_of_one("q", q)
    words = random_words(generator)
    return torch.arange(n) if q == 1 else torch.from_numpy(np.flatnonzero(words(n) < int(q * 2**64)))


def online_gradient(model: nn.Module, x: Tensor, y: Tensor, loss: Loss) -> dict[str, Tensor]:
    """The gradient of one example: a rough guess at the gradient of all."""
    return minibatch_gradient(model, x[None], y[None], loss)


def minibatch_gradient(model: nn.Module, inputs: Tensor, targets: Tensor, loss: Loss) -> dict[str, Tensor]:
    """The average gradient of a batch."""
    parameters = trainable(model)
    mean = loss(model(inputs), targets).mean()
    found = torch.autograd.grad(mean, list(parameters.values()), materialize_grads=True)
    return dict(zip(parameters, found, strict=True))


def private_gradient(
    model: nn.Module,
    inputs: Tensor,
    targets: Tensor,
    loss: Loss,
    *,
    clip: float,
    sigma: float,
    lot_size: float,
    generator: torch.Generator | None = None,
    method: str = "fast",
) -> tuple[dict[str, Tensor], Lot]:
    """(sum of clipped gradients + noise) / expected lot size, and every example's norm and loss.

    Only the first is private; norms and losses are for teaching and must not be published. The sum is added onto the
    noise, which is divided before.
    """
    deviation, lot_size = _deviation(clip, sigma, lot_size), float(lot_size)
    parts = parts_of(model)
    noise = noise_meanwhile(parts.parameters, deviation, generator)
    lot, add = measured(parts, inputs, targets, loss, clip=clip, method=method)
    average = noise()
    add(average, 1 / lot_size)
    return average, lot


def noisy_average(
    total: dict[str, Tensor], *, clip: float, sigma: float, lot_size: float, generator: torch.Generator | None = None
) -> dict[str, Tensor]:
    """Gaussian noise once onto the sum (its l2 sensitivity is ``clip``), then the average over the *expected* lot."""
    if not isinstance(total, dict):
        raise TypeError(f"total must be a dictionary of tensors by parameter name, got {total!r}")
    for name, value in total.items():
        if getattr(value, "dtype", None) not in (torch.float32, torch.float64):
            raise TypeError(f"total[{name!r}] must be a tensor of float32 or float64, got {value!r}")
    noise = gaussian_like(total, _deviation(clip, sigma, lot_size), random_words(generator))
    return {name: noise[name].add_(value, alpha=1 / float(lot_size)) for name, value in total.items()}


def _deviation(clip: float, sigma: float, lot_size: float) -> float:
    """Of the noise in the average: sigma C on the sum, divided by the expected lot."""
    deviation = door.non_negative("sigma", sigma) * door.positive("clip", clip) / door.positive("lot_size", lot_size)
    if not deviation < LARGEST:
        raise ValueError(
            f"sigma * clip / lot_size must be below {LARGEST:g}, or float32 cannot hold the noise, "
            f"got {sigma!r} * {clip!r} / {lot_size!r}"
        )
    return deviation


def descend(model: nn.Module, gradient: dict[str, Tensor], rate: float) -> None:
    """theta <- theta - rate * gradient."""
    parameters = trainable(model)
    if parameters.keys() - gradient.keys():
        raise ValueError(f"gradient must have every parameter of {list(parameters)}, got {list(gradient)}")
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.sub_(gradient[name], alpha=door.positive("rate", rate))
