"""Three ways to take a step, side by side: online SGD, minibatch SGD, DP-SGD.

DP-SGD (Abadi et al. 2016, "Deep Learning with Differential Privacy", Algorithm 1) differs from minibatch SGD in three
lines: the lot is drawn by Poisson sampling, every example's gradient is clipped to length C, and Gaussian noise of
standard deviation sigma C goes *once* onto the sum. The average divides by the expected lot size, not by the one that
was drawn; an empty lot still releases noise.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager

import numpy as np
import torch
from scipy.special import ndtri
from torch import Tensor, nn

from dpcourse import door
from dpcourse.sgd.clipping import Clipped, clipped_sum, trainable
from dpcourse.sgd.guards import Loss

_TAIL = 4.0  # where the tail of a normal number begins, in standard deviations
_BEYOND = 0.5 * math.erfc(_TAIL / math.sqrt(2))  # the probability of its upper one
CORES = os.cpu_count() or 1
WORTH_A_THREAD = 2**15  # numbers: handing fewer to another thread takes longer than drawing them
_MEANWHILE = ThreadPoolExecutor(1, thread_name_prefix="dpcourse-noise")


def _new_thread() -> None:
    """A child process has a copy of the executor, but not of its thread."""
    global _MEANWHILE
    _MEANWHILE = ThreadPoolExecutor(1, thread_name_prefix="dpcourse-noise")


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_new_thread)


def poisson_lot(n: int, q: float, generator: torch.Generator | None = None) -> Tensor:
    """The indices of a lot: each of n examples enters by its own coin, with probability q. It may be empty."""
    n, q = door.whole_number("n", n), door.fraction_of_one("q", q)
    # Single precision has steps of 2^-24, too coarse for the smallest q.
    kind = torch.float32 if q > 1e-4 else torch.float64
    return torch.nonzero(torch.rand(n, generator=generator, dtype=kind) < q).flatten()


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
) -> tuple[dict[str, Tensor], Clipped]:
    """(sum of clipped gradients + noise) / expected lot size, and what went into it.

    Only the first is private; norms and losses of the second are for teaching and must not be published.
    """
    deviation, lot_size = _deviation(clip, sigma, lot_size), float(lot_size)
    with _drawing(trainable(model), deviation, generator) as noise:
        lot = clipped_sum(model, inputs, targets, loss, clip=clip, method=method)
        return _averaged(lot.total, noise(), lot_size), lot


def noisy_average(
    total: dict[str, Tensor], *, clip: float, sigma: float, lot_size: float, generator: torch.Generator | None = None
) -> dict[str, Tensor]:
    """Gaussian noise once onto the sum (its l2 sensitivity is ``clip``), then the average over the *expected* lot."""
    return _averaged(total, gaussian_like(total, _deviation(clip, sigma, lot_size), generator), float(lot_size))


def _deviation(clip: float, sigma: float, lot_size: float) -> float:
    """Of the noise in the average: sigma C on the sum, divided by the expected lot."""
    deviation = door.non_negative("sigma", sigma) * door.positive("clip", clip)
    return deviation / door.positive("lot_size", lot_size)


def _averaged(total: dict[str, Tensor], noise: dict[str, Tensor], lot_size: float) -> dict[str, Tensor]:
    """total / lot_size + noise, in one pass over memory: (sum + noise) / lot_size with the noise divided before."""
    return {name: noise[name].add_(value, alpha=1 / lot_size) for name, value in total.items()}


def gaussian_like(
    shapes: Mapping[str, Tensor], deviation: float, generator: torch.Generator | None = None
) -> dict[str, Tensor]:
    """Noise in the shapes of the parameters. One draw for all of them: many small ones take longer."""
    sizes = [value.numel() for value in shapes.values()]
    parts = normal_numbers(sum(sizes), deviation, _widest(shapes), generator).split(sizes)
    return {name: part.view_as(value).to(value) for (name, value), part in zip(shapes.items(), parts, strict=True)}


def _widest(shapes: Mapping[str, Tensor]) -> torch.dtype:
    return torch.float64 if any(value.dtype == torch.float64 for value in shapes.values()) else torch.float32


def normal_numbers(
    n: int, deviation: float = 1.0, kind: torch.dtype = torch.float32, generator: torch.Generator | None = None
) -> Tensor:
    """n draws of a normal number around 0, with a whole tail.

    torch's numbers in single precision come from 24 random bits and end at 5.77 standard deviations; whoever lands
    beyond would be found out. So what it draws beyond ``_TAIL`` is drawn again from the tail, by inverting its
    distribution at a number of 53 bits; that reaches 9.4.
    """
    drawn = torch.empty(n, dtype=kind).normal_(0, deviation, generator=generator)
    values = drawn.numpy()
    far = np.flatnonzero(np.abs(values) > _TAIL * deviation)
    rest = 1 - torch.rand(len(far), dtype=torch.float64, generator=generator).numpy()  # in (0, 1]
    values[far] = np.copysign(deviation * ndtri(rest * _BEYOND), values[far])
    return drawn


@contextmanager
def _drawing(
    shapes: Mapping[str, Tensor], deviation: float, generator: torch.Generator | None
) -> Iterator[Callable[[], dict[str, Tensor]]]:
    """Draw the noise meanwhile, where torch leaves a core free: for an MLP it takes a third of the step.

    Not from torch's own generator, which the model may use in the same moment (Dropout): runs must repeat.
    """
    few = sum(value.numel() for value in shapes.values()) < WORTH_A_THREAD
    if few or generator is None or torch.get_num_threads() >= CORES:
        yield lambda: gaussian_like(shapes, deviation, generator)
        return
    drawn = _MEANWHILE.submit(gaussian_like, shapes, deviation, generator)
    try:
        yield drawn.result
    finally:
        wait([drawn])  # nobody else draws from the generator before this is over


def descend(model: nn.Module, gradient: dict[str, Tensor], rate: float) -> None:
    """theta <- theta - rate * gradient."""
    with torch.no_grad():
        for name, parameter in trainable(model).items():
            parameter.sub_(gradient[name], alpha=door.positive("rate", rate))
