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
from dpcourse.sgd.layers import RULES, unknown_because

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
        reason = why_slow(model)
        if reason is None:
            return _fast(model, parameters, inputs, targets, loss, clip)
        warnings.warn(f"clipping the slow way, by torch.func: {reason}", SlowPathWarning, stacklevel=2)
        method = "func"
    gradients, losses = (_loop if method == "loop" else _func)(model, parameters, inputs, targets, loss)
    norms = sum(g.flatten(1).square().sum(1) for g in gradients.values()).sqrt()  # type: ignore[union-attr]
    weights = (clip / norms).clamp(max=1)  # norm 0: clip / 0 is infinite, and the weight 1
    total = {name: torch.tensordot(weights, g, 1) for name, g in gradients.items()}
    return Clipped(total, norms, losses)


def why_slow(model: nn.Module) -> str | None:
    """Why the fast path cannot take this model, or None if it can."""
    owners: dict[int, str] = {}
    for name, layer in model.named_modules():
        own = [p for p in layer.parameters(recurse=False) if p.requires_grad]
        if not own:
            continue
        reason = unknown_because(layer)
        if reason is not None:
            return f"{reason} (at {name!r})"
        for parameter in own:
            if id(parameter) in owners:
                return f"{owners[id(parameter)]!r} and {name!r} share a parameter"
            owners[id(parameter)] = name
    return None


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


def _fast(
    model: nn.Module, parameters: dict[str, nn.Parameter], inputs: Tensor, targets: Tensor, loss: Loss, clip: float
) -> Clipped:
    """One forward pass, one backward pass to the layers' outputs only, and then each weight's gradient once.

    Plain SGD computes the same three things. What is new are the norms, and they are cheap: see ``layers``.
    """
    calls: list[tuple[str, nn.Module, Tensor, Tensor]] = []

    def note(name: str) -> Callable[[nn.Module, tuple[Tensor, ...], Tensor], Tensor]:
        def hook(layer: nn.Module, given: tuple[Tensor, ...], made: Tensor) -> Tensor:
            if not made.requires_grad:
                made.requires_grad_()  # the first layers: their inputs need no gradient, their outputs do
            calls.append((name, layer, given[0].detach(), made))
            return made

        return hook

    learning = {name: layer for name, layer in model.named_modules() if type(layer) in RULES}
    learning = {n: m for n, m in learning.items() if any(p.requires_grad for p in m.parameters(recurse=False))}
    hooks = [layer.register_forward_hook(note(name)) for name, layer in learning.items()]
    try:
        for parameter in parameters.values():
            parameter.requires_grad_(False)  # no gradient of the weights in this pass: they come weighted, below
        losses = loss(model(inputs), targets)
        outputs = torch.autograd.grad(losses.sum(), [made for *_, made in calls])
    finally:
        for parameter in parameters.values():
            parameter.requires_grad_(True)
        for handle in hooks:
            handle.remove()
    if losses.shape != (len(inputs),):
        raise ValueError(
            f"loss must give one number for each of {len(inputs)} examples, got shape {tuple(losses.shape)}"
        )
    if len({name for name, *_ in calls}) < len(calls) or any(len(g) != len(inputs) for g in outputs):
        # A layer used twice, or on something that is no lot: its calls would have to be added before squaring.
        again = clipped_sum(model, inputs, targets, loss, clip=clip, method="func")
        warnings.warn("clipping the slow way: a layer is used twice in one pass", SlowPathWarning, stacklevel=3)
        return again
    found = [RULES[type(layer)].squares(layer, a, g) for (_, layer, a, _), g in zip(calls, outputs, strict=True)]
    norms = torch.stack([squares for squares, _ in found]).sum(0).clamp(min=0).sqrt()
    weights = (clip / norms).clamp(max=1)
    sums: dict[str, Tensor] = {}
    for (name, layer, a, _), g, (_, kept) in zip(calls, outputs, found, strict=True):
        for own, gradient in RULES[type(layer)].weighted(layer, a, g, weights, kept).items():
            sums[f"{name}.{own}" if name else own] = gradient.detach()
    # In the parameters' order; a layer that the pass did not use has gradient 0.
    total = {name: sums[name] if name in sums else torch.zeros_like(p) for name, p in parameters.items()}
    return Clipped(total, norms.detach(), losses.detach())
