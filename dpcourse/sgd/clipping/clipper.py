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
from dpcourse.sgd.clipping.ghost import fast_pass, why_slow
from dpcourse.sgd.clipping.model_checks import (
    Loss,
    a_few,
    check_examples_stay_apart,
    check_layers,
    clipping_length,
    nothing_remembered,
    situation,
    without_dropout,
)
from dpcourse.sgd.clipping.parts import Parts, parts_of
from dpcourse.sgd.clipping.weighing import TINY

Add = Callable[[dict[str, Tensor], float], None]  # (sum by parameter name, a factor): changes the sum
_TRUSTED: WeakKeyDictionary[nn.Module, dict[tuple[object, ...] | None, str]] = WeakKeyDictionary()


class SlowPathWarning(UserWarning):
    """The fast path does not know a layer; the result is the same, but takes longer."""


@dataclass(frozen=True)
class Lot:
    """Each example's norm, before clipping, and loss."""

    norms: Tensor
    losses: Tensor


@dataclass(frozen=True)
class Clipped(Lot):
    """The sum of the clipped gradients by parameter name, too."""

    total: dict[str, Tensor]

    def add(self, onto: dict[str, Tensor], factor: float) -> None:
        """Add the sum, times a factor, onto what is there."""
        for name, total in self.total.items():
            onto[name].add_(total, alpha=factor)


def clipped_sum(
    model: nn.Module, inputs: Tensor, targets: Tensor, loss: Loss, *, clip: float, method: str = "fast"
) -> Clipped:
    """The sum of the clipped gradients of a lot. An empty lot gives zeros: the caller still adds its noise.

    One thread at a time: the model is listened to while it works.
    """
    parts = parts_of(model)
    lot, add = measured(parts, inputs, targets, loss, clip=clip, method=method)
    total = {name: torch.zeros_like(p) for name, p in parts.parameters.items()}
    add(total, 1.0)
    return Clipped(lot.norms, lot.losses, total)


def measured(
    parts: Parts, inputs: Tensor, targets: Tensor, loss: Loss, *, clip: float, method: str = "fast"
) -> tuple[Lot, Add]:
    """The norms and losses of a lot, and a function that adds the sum of its clipped gradients onto what is there."""
    clip = clipping_length(clip)
    door.one_of("method", method, tuple(_METHODS))
    check_layers(parts.layers)
    for name, value in (("inputs", inputs), ("targets", targets)):
        if getattr(value, "dim", int)() == 0:  # also where it has none
            raise TypeError(f"{name} must be a tensor with one entry for each example, got {value!r}")
    if not callable(loss):
        raise TypeError(f"loss must be a function of outputs and targets, got {loss!r}")
    if len(inputs) != len(targets):
        raise ValueError(f"inputs and targets must be equally many, got {len(inputs)} and {len(targets)}")
    if torch.is_inference_mode_enabled():
        raise ValueError("inference mode is on: there are no gradients to clip in it")
    if torch.is_autocast_enabled("cpu"):
        raise ValueError("autocast is on: its half-precision gradients are too coarse to clip exactly")
    if len(inputs) == 0:
        return Lot(torch.zeros(0), torch.zeros(0)), lambda onto, factor: None
    # Of images whose channels lie last, torch's convolutions leave some outputs unwritten (kernels as wide as the image
    # that move by more than one), and whatever was in that memory would get into the sum. And rows that share memory
    # (windows of a series) would be mixed by a model that works in place.
    if inputs.dim() > 2 or not inputs.is_contiguous():
        inputs = inputs.reshape(-1).view_as(inputs)  # also tells how images of one channel lie: contiguous() does not
    key = situation(parts, inputs, loss)
    check_examples_stay_apart(parts.model, inputs, targets, loss, key)
    with nothing_remembered(parts), torch.enable_grad():
        if method == "fast":
            reason = why_slow(parts, inputs) or _disagreement(parts, inputs, targets, loss, key)
            try:
                if not reason:
                    return _fast(parts, inputs, targets, loss, clip)
            except NotImplementedError as error:  # a layer is used in another way than it was when tried out
                reason = str(error)
            warnings.warn(
                f"clipping the slow way, by torch.func, with the same result: {reason}", SlowPathWarning, stacklevel=3
            )
            method = "func"
        each = _clip_each(*_METHODS[method](parts, inputs, targets, loss), clip)
        return Lot(each.norms, each.losses), each.add


def _fast(parts: Parts, inputs: Tensor, targets: Tensor, loss: Loss, clip: float) -> tuple[Lot, Add]:
    """The fast path, and torch.func for the examples that it cannot add up exactly (an attacker's, as a rule)."""
    first = fast_pass(parts, inputs, targets, loss, clip)
    sound, lot = first.sound, Lot(first.norms, first.losses)
    if sound.all():
        return lot, first.add
    again = fast_pass(parts, inputs[sound], targets[sound], loss, clip) if sound.any() else None
    if again is not None and not again.sound.all():  # other coins (Dropout) may bring others to light
        each = _clip_each(*_func(parts, inputs, targets, loss), clip)
        return Lot(each.norms, each.losses), each.add
    others = _clip_each(*_func(parts, inputs[~sound], targets[~sound], loss), clip)
    lot.norms[~sound] = others.norms.to(lot.norms.dtype)

    def add(onto: dict[str, Tensor], factor: float) -> None:
        others.add(onto, factor)
        if again is not None:
            again.add(onto, factor)

    return lot, add


def _clip_each(gradients: dict[str, Tensor], losses: Tensor, clip: float) -> Clipped:
    """Every example's gradient is there: measure, shorten, add."""
    lengths = [torch.linalg.vector_norm(g.reshape(len(g), -1), dim=1, dtype=torch.float64) for g in gradients.values()]
    norms = torch.linalg.vector_norm(torch.stack(lengths), dim=0)
    sound = torch.isfinite(norms) & ~(clip / norms < TINY)
    if not sound.all():
        # No length, no clipping: an example whose gradient overflows or is not a number contributes nothing; nor does
        # one so long that its weight would have lost its digits.
        gradients = {name: torch.where(_like(sound, g), g, 0.0) for name, g in gradients.items()}
    weights = torch.where(sound, (clip / norms).clamp(max=1), 0.0)  # norm 0: clip / 0 is infinite, and the weight 1
    total = {name: torch.tensordot(weights.to(g.dtype), g, 1) for name, g in gradients.items()}
    return Clipped(norms.to(losses.dtype), losses, total)


def _like(mask: Tensor, values: Tensor) -> Tensor:
    return mask.reshape(-1, *[1] * (values.dim() - 1))


def _disagreement(parts: Parts, inputs: Tensor, targets: Tensor, loss: Loss, key: tuple[object, ...] | None) -> str:
    """Why the fast path is not to be trusted here. Asked once, on a few examples: torch.func knows the answer."""
    known = _TRUSTED.setdefault(parts.model, {})
    if key in known:
        return known[key]
    x, y = a_few(inputs, targets)
    with without_dropout(parts.model, x, y, loss), torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch.func on how it goes about it
        gradients, losses = _func(parts, x, y, loss)
        right = _clip_each(gradients, losses, math.inf)
        some = right.norms[(right.norms > 0) & right.norms.isfinite()]
        shortest = float(some.min()) if some.numel() else 1.0
        try:
            found = fast_pass(parts, x, y, loss, shortest)  # all equally long, so that none hides another
            if found.sound.all():
                right = _clip_each(gradients, losses, shortest)
            else:
                found = fast_pass(parts, x, y, loss, math.inf)
            total = {name: torch.zeros_like(p) for name, p in parts.parameters.items()}
            found.add(total, 1.0)
        except (RuntimeError, NotImplementedError) as error:
            reason = f"the fast path fails with {str(error)[:100]!r}"
            if key is not None:
                known[key] = reason
            return reason
    wrong = [name for name, value in right.total.items() if not _close(total[name], value, shortest)]
    reason = f"the fast path disagrees with it on {wrong[0]!r}" if wrong else ""
    norms = found.norms.double(), right.norms.double()  # targets in double precision make losses that are
    if not reason and not torch.allclose(*norms, rtol=1e-3, atol=1e-6 * shortest):
        reason = "the fast path disagrees with it on the norms"
    if key is not None and (reason or (len(x) > 1 and bool(right.norms.gt(0).all()))):  # from zeros nothing is learnt
        known[key] = reason
    return reason


def _close(found: Tensor, right: Tensor, length: float) -> bool:
    """Equal up to rounding, where every example's gradient is that long and all of them together may cancel."""
    largest = float(right.abs().max()) if right.numel() else 0.0
    return torch.allclose(found, right, rtol=1e-3, atol=max(1e-4 * largest, 1e-6 * length))


def _one_loss(losses: Tensor) -> Tensor:
    if losses.shape != (1,):
        raise ValueError(f"loss must give one number for each of 1 examples, got shape {tuple(losses.shape)}")
    return losses[0]


def _loop(parts: Parts, inputs: Tensor, targets: Tensor, loss: Loss) -> tuple[dict[str, Tensor], Tensor]:
    """One example after the other: the definition, to be read and to test the others against."""
    rows, losses = [], []
    for x, y in zip(inputs, targets, strict=True):
        one = _one_loss(loss(parts.model(x[None]), y[None]))
        rows.append(torch.autograd.grad(one, list(parts.parameters.values()), allow_unused=True))
        losses.append(one.detach())
    gradients = {
        name: torch.stack([torch.zeros_like(p) if row[i] is None else row[i] for row in rows])
        for i, (name, p) in enumerate(parts.parameters.items())
    }
    return gradients, torch.stack(losses)


def _func(parts: Parts, inputs: Tensor, targets: Tensor, loss: Loss) -> tuple[dict[str, Tensor], Tensor]:
    """All examples at once, by vectorising the gradient of one (torch.func)."""
    model, learnt = parts.model, parts.parameters
    if len(list(model.named_modules(remove_duplicate=False))) > len(parts.layers):
        # functional_call would not put the parameters of a layer with two names back in their place
        return _loop(parts, inputs, targets, loss)
    fixed = {name: p.detach() for name, p in model.named_parameters() if name not in learnt}
    buffers = {name: b.detach() for name, b in model.named_buffers()}

    def one(values: dict[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
        return _one_loss(loss(torch.func.functional_call(model, (values, fixed, buffers), (x[None],)), y[None]))

    detached = {name: p.detach() for name, p in learnt.items()}
    both = torch.func.vmap(torch.func.grad_and_value(one), in_dims=(None, 0, 0), randomness="different")
    gradients, losses = both(detached, inputs, targets)
    return gradients, losses


_METHODS = {"fast": _func, "func": _func, "loop": _loop}  # how each finds every example's gradient, if it must
