"""What a step is made of, three ways side by side: online SGD, minibatch SGD, DP-SGD.

DP-SGD (Abadi et al. 2016, "Deep Learning with Differential Privacy", Algorithm 1) differs from minibatch SGD in three
lines: the lot is drawn by Poisson sampling, every example's gradient is clipped to length C, and Gaussian noise of
standard deviation sigma C goes *once* onto the sum. The average divides by the expected lot size, not by the one that
was drawn; an empty lot still releases noise. ``reference`` has the whole algorithm on one page.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from torch import Tensor, nn

from dpcourse import checks
from dpcourse.sgd.clipping.clipper import Clipper
from dpcourse.sgd.clipping.model_checks import Loss, clipping_length, trainable
from dpcourse.sgd.clipping.per_example import Lot
from dpcourse.sgd.noise import gaussian_like, random_words

LARGEST_DEVIATION = 1e37  # 9.5 times that is still a number in single precision
WORTH_A_THREAD = 2**15  # numbers: drawing fewer takes less time than starting a thread
CORES = os.cpu_count() or 1


def poisson_lot(n: int, sampling_rate: float, generator: torch.Generator | None = None) -> Tensor:
    """The indices of a lot: each of n examples enters by its own coin, with this probability. It may be empty."""
    return toss_coins(checks.whole_number("n", n), checks.fraction_of_one("sampling_rate", sampling_rate), generator)


def toss_coins(n: int, sampling_rate: float, generator: torch.Generator | None) -> Tensor:
    """The same of numbers that were checked before."""
    words = random_words(generator)
    heads = int(sampling_rate * 2**64)
    return torch.arange(n) if sampling_rate == 1 else torch.from_numpy(np.flatnonzero(words(n) < heads))


def online_gradient(model: nn.Module, x: Tensor, y: Tensor, loss: Loss) -> dict[str, Tensor]:
    """The gradient of one example: a rough guess at the gradient of all."""
    return minibatch_gradient(model, x[None], y[None], loss)


def minibatch_gradient(model: nn.Module, inputs: Tensor, targets: Tensor, loss: Loss) -> dict[str, Tensor]:
    """The average gradient of a batch."""
    parameters = trainable(model)
    mean = loss(model(inputs), targets).mean()
    gradients = torch.autograd.grad(mean, list(parameters.values()), materialize_grads=True)
    return dict(zip(parameters, gradients, strict=True))


class PrivateGradient:
    """(sum of clipped gradients + noise) / expected lot size, lot after lot: ``gradient(inputs, targets)``."""

    def __init__(
        self,
        clipper: Clipper,
        *,
        clip_norm: float,
        noise_multiplier: float,
        lot_size: float,
        generator: torch.Generator | None = None,
    ) -> None:
        self.clipper, self.clip_norm, self.generator = clipper, clipping_length(clip_norm), generator
        self.deviation, self.lot_size = noise_deviation(clip_norm, noise_multiplier, lot_size), float(lot_size)
        self._numbers = sum(map(Tensor.numel, clipper.parameters.values()))
        self._other_core: tuple[int, ThreadPoolExecutor] | None = None  # and the process that it belongs to

    def __call__(self, inputs: Tensor, targets: Tensor) -> tuple[dict[str, Tensor], Lot]:
        """The private gradient of a lot, and every example's norm and loss: these are not private.

        The sum is added onto the noise, which is divided before. Many numbers are drawn while the clipper works, on
        another core where torch leaves one free.
        """
        words, shapes = random_words(self.generator), self.clipper.parameters
        if self._numbers < WORTH_A_THREAD or torch.get_num_threads() >= CORES:
            lot, add = self.clipper.measure(inputs, targets, self.clip_norm)
            average = gaussian_like(shapes, self.deviation, words)
        else:
            if self._other_core is None or self._other_core[0] != os.getpid():  # a child process has no threads
                self._other_core = os.getpid(), ThreadPoolExecutor(1)
            noise = self._other_core[1].submit(gaussian_like, shapes, self.deviation, words)
            lot, add = self.clipper.measure(inputs, targets, self.clip_norm)
            average = noise.result()
        add(average, 1 / self.lot_size)
        return average, lot


def noisy_average(
    total: dict[str, Tensor],
    *,
    clip_norm: float,
    noise_multiplier: float,
    lot_size: float,
    generator: torch.Generator | None = None,
) -> dict[str, Tensor]:
    """Gaussian noise once onto the sum, of l2 sensitivity ``clip_norm``; then the average over the expected lot."""
    if not isinstance(total, dict):
        raise TypeError(f"total must be a dictionary of tensors by parameter name, got {total!r}")
    for name, value in total.items():
        if getattr(value, "dtype", None) not in (torch.float32, torch.float64):
            raise TypeError(f"total[{name!r}] must be a tensor of float32 or float64, got {value!r}")
    noise = gaussian_like(total, noise_deviation(clip_norm, noise_multiplier, lot_size), random_words(generator))
    return {name: noise[name].add_(value, alpha=1 / float(lot_size)) for name, value in total.items()}


def noise_deviation(clip_norm: float, noise_multiplier: float, lot_size: float) -> float:
    """Of the noise in the average: sigma C on the sum, divided by the expected lot."""
    deviation = (
        checks.non_negative("noise_multiplier", noise_multiplier)
        * checks.positive("clip_norm", clip_norm)
        / checks.positive("lot_size", lot_size)
    )
    if not deviation < LARGEST_DEVIATION:
        raise ValueError(
            f"noise_multiplier * clip_norm / lot_size must be below {LARGEST_DEVIATION:g}, or float32 cannot hold the "
            f"noise, got {noise_multiplier!r} * {clip_norm!r} / {lot_size!r}"
        )
    return deviation


def descend(model: nn.Module, gradient: dict[str, Tensor], learning_rate: float) -> None:
    """theta <- theta - learning rate * gradient."""
    parameters = trainable(model)
    if parameters.keys() - gradient.keys():
        raise ValueError(f"gradient must have every parameter of {list(parameters)}, got {list(gradient)}")
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.sub_(gradient[name], alpha=checks.positive("learning_rate", learning_rate))
