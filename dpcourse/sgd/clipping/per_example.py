"""The slow ways to clip: every example's gradient is formed, one after the other or all at once by ``torch.func``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from dpcourse.sgd.clipping.model_checks import Loss
from dpcourse.sgd.clipping.sums import TINY

Gradients = dict[str, Tensor]  # by parameter name: one for every example


@dataclass(frozen=True)
class Lot:
    """Each example's norm, before clipping, and loss: to learn from, not to publish."""

    norms: Tensor
    losses: Tensor


@dataclass(frozen=True)
class ClippedSum(Lot):
    """The sum of the clipped gradients by parameter name, too."""

    total: dict[str, Tensor]

    def add_to(self, onto: dict[str, Tensor], factor: float) -> None:
        """Add the sum, times a factor, onto what is there."""
        for name, total in self.total.items():
            onto[name].add_(total, alpha=factor)


def by_loop(
    model: nn.Module, parameters: Mapping[str, Tensor], loss: Loss, inputs: Tensor, targets: Tensor
) -> tuple[Gradients, Tensor]:
    """One example after the other: the definition, which every other way is tested against."""
    rows, losses = [], []
    for x, y in zip(inputs, targets, strict=True):
        one = _only(loss(model(x[None]), y[None]))
        rows.append(torch.autograd.grad(one, list(parameters.values()), materialize_grads=True))
        losses.append(one.detach())
    columns = zip(parameters, zip(*rows, strict=True), strict=True)
    return {name: torch.stack(column) for name, column in columns}, torch.stack(losses)


def by_torch_func(
    model: nn.Module, parameters: Mapping[str, Tensor], loss: Loss, inputs: Tensor, targets: Tensor
) -> tuple[Gradients, Tensor]:
    """All examples at once, by vectorising the gradient of one."""
    fixed = {name: p.detach() for name, p in model.named_parameters() if name not in parameters}
    buffers = {name: b.detach() for name, b in model.named_buffers()}

    def one(values: dict[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
        return _only(loss(torch.func.functional_call(model, (values, fixed, buffers), (x[None],)), y[None]))

    values = {name: p.detach() for name, p in parameters.items()}
    both = torch.func.vmap(torch.func.grad_and_value(one), in_dims=(None, 0, 0), randomness="different")
    gradients, losses = both(values, inputs, targets)
    return gradients, losses


def clip_each(gradients: Gradients, losses: Tensor, clip_norm: float) -> ClippedSum:
    """Measure every example's gradient, shorten it, add it up."""
    lengths = [torch.linalg.vector_norm(g.reshape(len(g), -1), dim=1, dtype=torch.float64) for g in gradients.values()]
    norms = torch.linalg.vector_norm(torch.stack(lengths), dim=0)
    fits = torch.isfinite(norms) & ~(clip_norm / norms < TINY)
    if not fits.all():
        # No length, no clipping: an example whose gradient overflows or is not a number contributes nothing; nor does
        # one so long that its weight would have lost its digits.
        gradients = {name: torch.where(fits.view(-1, *[1] * (g.dim() - 1)), g, 0.0) for name, g in gradients.items()}
    weights = torch.where(fits, (clip_norm / norms).clamp(max=1), 0.0)  # norm 0: clip / 0 is infinite, the weight 1
    total = {name: torch.tensordot(weights.to(g.dtype), g, 1) for name, g in gradients.items()}
    return ClippedSum(norms.to(losses.dtype), losses, total)


def _only(losses: Tensor) -> Tensor:
    if losses.shape != (1,):
        raise ValueError(f"loss must give one number for each of 1 examples, got shape {tuple(losses.shape)}")
    return losses[0]
