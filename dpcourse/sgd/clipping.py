"""The sum of clipped per-example gradients, in three ways that agree: a loop, ``torch.func``, and the fast path.

Clipping: g_i <- g_i / max(1, ||g_i|| / C), where ||g_i|| is the l2 norm over *all* parameters together. After it no
example moves the sum by more than C, however odd it is (Abadi et al. 2016, Algorithm 1).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from dpcourse import door
from dpcourse.sgd.fast import fast_sum, why_slow

METHODS = ("fast", "func", "loop")
Loss = Callable[[Tensor, Tensor], Tensor]  # (outputs, targets) -> one loss for each example


class SlowPathWarning(UserWarning):
    """The fast path does not know a layer; the result is the same, but takes longer."""


@dataclass(frozen=True)
class Clipped:
    """The sum of the clipped gradients by parameter name, and each example's norm (before clipping) and loss."""

    total: dict[str, Tensor]
    norms: Tensor
    losses: Tensor


def check_model(model: nn.Module) -> None:
    """Refuse layers that let one example change another's gradient: clipping would then bound nothing."""
    for name, layer in model.named_modules():
        kind = type(layer).__name__
        if isinstance(layer, nn.modules.batchnorm._BatchNorm):
            raise ValueError(
                f"{kind} (at {name!r}) mixes the examples of a lot: one person changes everybody's gradient, so "
                f"clipping no longer bounds what a person can do. Use LayerNorm or GroupNorm instead."
            )
        if isinstance(layer, nn.modules.instancenorm._InstanceNorm) and layer.track_running_stats:
            raise ValueError(f"{kind} (at {name!r}) stores running statistics of the data, without any noise on them")


def trainable(model: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters that training changes, by name."""
    found = {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}
    if not found:
        raise ValueError("the model has no parameter to train")
    return found


def clipped_sum(
    model: nn.Module, inputs: Tensor, targets: Tensor, loss: Loss, *, clip: float, method: str = "fast"
) -> Clipped:
    """The sum of the clipped gradients of a lot. An empty lot gives zeros: the caller still adds its noise."""
    clip = door.positive("clip", clip)
    door.one_of("method", method, METHODS)
    check_model(model)
    if len(inputs) != len(targets):
        raise ValueError(f"inputs and targets must be equally many, got {len(inputs)} and {len(targets)}")
    parameters = trainable(model)
    if len(inputs) == 0:
        nothing = torch.zeros(0)
        return Clipped({name: torch.zeros_like(p) for name, p in parameters.items()}, nothing, nothing)
    if method == "fast":
        reason = why_slow(model, inputs)
        if reason is None:
            return Clipped(*fast_sum(model, parameters, inputs, targets, loss, clip))
        warnings.warn(f"clipping the slow way, by torch.func: {reason}", SlowPathWarning, stacklevel=2)
        method = "func"
    gradients, losses = (_loop if method == "loop" else _func)(model, parameters, inputs, targets, loss)
    norms = sum(g.flatten(1).square().sum(1) for g in gradients.values()).sqrt()  # type: ignore[union-attr]
    weights = (clip / norms).clamp(max=1)  # norm 0: clip / 0 is infinite, and the weight 1
    total = {name: torch.tensordot(weights, g, 1) for name, g in gradients.items()}
    return Clipped(total, norms, losses)


def _loop(
    model: nn.Module, parameters: dict[str, nn.Parameter], inputs: Tensor, targets: Tensor, loss: Loss
) -> tuple[dict[str, Tensor], Tensor]:
    """One example after the other: the definition, to be read and to test the others against."""
    rows, losses = [], []
    for x, y in zip(inputs, targets, strict=True):
        one = loss(model(x[None]), y[None]).sum()
        rows.append(torch.autograd.grad(one, list(parameters.values()), allow_unused=True))
        losses.append(one.detach())
    gradients = {
        name: torch.stack([torch.zeros_like(p) if row[i] is None else row[i] for row in rows])
        for i, (name, p) in enumerate(parameters.items())
    }
    return gradients, torch.stack(losses)


def _func(
    model: nn.Module, parameters: dict[str, nn.Parameter], inputs: Tensor, targets: Tensor, loss: Loss
) -> tuple[dict[str, Tensor], Tensor]:
    """All examples at once, by vectorising the gradient of one (torch.func)."""
    fixed = {name: p.detach() for name, p in model.named_parameters() if name not in parameters}
    buffers = {name: b.detach() for name, b in model.named_buffers()}

    def one(values: dict[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
        return loss(torch.func.functional_call(model, (values, fixed, buffers), (x[None],)), y[None]).sum()

    detached = {name: p.detach() for name, p in parameters.items()}
    both = torch.func.vmap(torch.func.grad_and_value(one), in_dims=(None, 0, 0), randomness="different")
    gradients, losses = both(detached, inputs, targets)
    return gradients, losses
