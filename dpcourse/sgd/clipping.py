"""The sum of clipped per-example gradients, in three ways that agree: a loop, ``torch.func``, and the fast path.

Clipping: g_i <- g_i / max(1, ||g_i|| / C), where ||g_i|| is the l2 norm over *all* parameters together. After it no
example moves the sum by more than C, however odd it is (Abadi et al. 2016, Algorithm 1).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from dpcourse import door
from dpcourse.sgd.fast import fast_sum, why_slow
from dpcourse.sgd.guards import check_examples_stay_apart, check_model, settled

METHODS = ("fast", "func", "loop")
_TRUSTED: WeakKeyDictionary[nn.Module, dict[tuple[object, ...], str]] = WeakKeyDictionary()
Loss = Callable[[Tensor, Tensor], Tensor]  # (outputs, targets) -> one loss for each example


class SlowPathWarning(UserWarning):
    """The fast path does not know a layer; the result is the same, but takes longer."""


@dataclass(frozen=True)
class Clipped:
    """The sum of the clipped gradients by parameter name, and each example's norm (before clipping) and loss."""

    total: dict[str, Tensor]
    norms: Tensor
    losses: Tensor


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
    check_examples_stay_apart(model, inputs)
    if method == "fast":
        reason = why_slow(model, inputs) or _disagreement(model, parameters, inputs, targets, loss)
        if reason:
            warnings.warn(f"clipping the slow way, by torch.func: {reason}", SlowPathWarning, stacklevel=2)
            method = "func"
    found = _METHODS[method](model, parameters, inputs, targets, loss, clip)
    sound = torch.isfinite(found.norms)
    if sound.all():
        return found
    # No length, no clipping: an example whose gradient overflows or is not a number contributes nothing.
    rest = clipped_sum(model, inputs[sound], targets[sound], loss, clip=clip, method=method)
    return Clipped(rest.total, found.norms, found.losses)


def _disagreement(
    model: nn.Module, parameters: dict[str, nn.Parameter], inputs: Tensor, targets: Tensor, loss: Loss
) -> str:
    """Why the fast path is not to be trusted here. Asked once, on two examples: torch.func knows the right answer."""
    key = (model.training, tuple(inputs.shape[1:]), tuple(parameters))
    known = _TRUSTED.setdefault(model, {})
    if key not in known:
        known[key] = _compare(model, parameters, inputs[:2], targets[:2], loss)
    return known[key]


def _compare(model: nn.Module, parameters: dict[str, nn.Parameter], inputs: Tensor, targets: Tensor, loss: Loss) -> str:
    with settled(model, inputs), torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch.func on how it goes about it
        slow = _by_func(model, parameters, inputs, targets, loss, math.inf)
        try:
            quick = _by_rules(model, parameters, inputs, targets, loss, math.inf)
        except RuntimeError as error:
            return f"the fast path fails with {str(error)[:100]!r}"
    for name, right in slow.total.items():
        scale = float(right.abs().max())
        if not torch.allclose(quick.total[name], right, rtol=1e-3, atol=1e-4 * scale, equal_nan=True):
            return f"{name!r} is used outside its layer, too"
    return ""


def _by_rules(
    model: nn.Module, parameters: dict[str, nn.Parameter], inputs: Tensor, targets: Tensor, loss: Loss, clip: float
) -> Clipped:
    return Clipped(*fast_sum(model, parameters, inputs, targets, loss, clip))


def _by_func(
    model: nn.Module, parameters: dict[str, nn.Parameter], inputs: Tensor, targets: Tensor, loss: Loss, clip: float
) -> Clipped:
    return _clip_each(*_func(model, parameters, inputs, targets, loss), clip)


def _by_loop(
    model: nn.Module, parameters: dict[str, nn.Parameter], inputs: Tensor, targets: Tensor, loss: Loss, clip: float
) -> Clipped:
    return _clip_each(*_loop(model, parameters, inputs, targets, loss), clip)


def _clip_each(gradients: dict[str, Tensor], losses: Tensor, clip: float) -> Clipped:
    """Every example's gradient is there: measure, shorten, add."""
    norms = sum(g.flatten(1).square().sum(1) for g in gradients.values()).sqrt()  # type: ignore[union-attr]
    weights = (clip / norms).clamp(max=1)  # norm 0: clip / 0 is infinite, and the weight 1
    return Clipped({name: torch.tensordot(weights, g, 1) for name, g in gradients.items()}, norms, losses)


def _one_loss(losses: Tensor) -> Tensor:
    if losses.shape != (1,):
        raise ValueError(f"loss must give one number for each of 1 examples, got shape {tuple(losses.shape)}")
    return losses[0]


def _loop(
    model: nn.Module, parameters: dict[str, nn.Parameter], inputs: Tensor, targets: Tensor, loss: Loss
) -> tuple[dict[str, Tensor], Tensor]:
    """One example after the other: the definition, to be read and to test the others against."""
    rows, losses = [], []
    for x, y in zip(inputs, targets, strict=True):
        one = _one_loss(loss(model(x[None]), y[None]))
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
        return _one_loss(loss(torch.func.functional_call(model, (values, fixed, buffers), (x[None],)), y[None]))

    detached = {name: p.detach() for name, p in parameters.items()}
    both = torch.func.vmap(torch.func.grad_and_value(one), in_dims=(None, 0, 0), randomness="different")
    gradients, losses = both(detached, inputs, targets)
    return gradients, losses


_METHODS = {"fast": _by_rules, "func": _by_func, "loop": _by_loop}
