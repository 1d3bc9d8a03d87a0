"""The sum of clipped per-example gradients, in three ways that agree: fast, by ``torch.func``, and by a loop.

Clipping: g_i <- g_i / max(1, ||g_i|| / C), where ||g_i|| is the l2 norm over *all* parameters together. After it no
example moves the sum by more than C, however odd it is (Abadi et al. 2016, Algorithm 1).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from dpcourse import checks
from dpcourse.sgd.clipping.ghost import GhostLot, GhostPass
from dpcourse.sgd.clipping.model_checks import (
    SMALLEST_CLIP_NORM,
    Loss,
    a_few,
    check_examples_stay_apart,
    check_model,
    clipping_length,
    trainable,
    without_dropout,
)
from dpcourse.sgd.clipping.per_example import ClippedSum, Lot, by_loop, by_torch_func, clip_each

AddSum = Callable[[dict[str, Tensor], float], None]  # (sum by parameter name, a factor): adds the clipped sum onto it
METHODS = {
    "fast": "without the gradients themselves",
    "func": "by torch.func",
    "loop": "one example after the other",
}  # each faster than the next
LARGER = 1.1  # than any lot before: then it is looked at, too


class SlowPathWarning(UserWarning):
    """The fast way does not know a layer; the result is the same, but takes longer."""


class Clipper:
    """Clips the gradients of one model's examples under one loss, lot after lot.

    The model is looked over here, once. The first lot tells the rest: whether examples stay apart in it, and the
    fastest way, of those from ``method`` on, that agrees with a loop over a few of them. Use one thread at a time: the
    model is listened to while it works.
    """

    def __init__(self, model: nn.Module, loss: Loss, *, method: str = "fast") -> None:
        check_model(model)
        if not callable(loss):
            raise TypeError(f"loss must be a function of outputs and targets, got {loss!r}")
        self.model, self.loss, self.parameters = model, loss, trainable(model)
        self.methods = list(METHODS)[list(METHODS).index(checks.one_of("method", method, tuple(METHODS))) :]
        self._anatomy, self._layers = _anatomy(model), list(model.modules())
        self._ghost = GhostPass(model, self.parameters.values())
        self._aliases = len(self._layers) < len(list(model.named_modules(remove_duplicate=False)))
        self._choices: dict[tuple[object, ...], str] = {}  # of a method, by situation
        self._largest: dict[tuple[object, ...], int] = {}  # the largest lot that was looked at, by situation
        self._warnings: set[str] = set()

    def clipped_sum(self, inputs: Tensor, targets: Tensor, *, clip_norm: float) -> ClippedSum:
        """The sum of the clipped gradients of a lot. An empty lot gives zeros: the caller still adds its noise."""
        lot, add = self.measure(inputs, targets, clipping_length(clip_norm))
        total = {name: torch.zeros_like(p) for name, p in self.parameters.items()}
        add(total, 1.0)
        return ClippedSum(lot.norms, lot.losses, total)

    def measure(self, inputs: Tensor, targets: Tensor, clip_norm: float) -> tuple[Lot, AddSum]:
        """The norms and losses of a lot, and a function that adds the sum of its clipped gradients onto what is there
        (zeros, or the noise: a product is added as fast as it is written, and nothing has to be held twice)."""
        for name, value in (("inputs", inputs), ("targets", targets)):
            if getattr(value, "dim", int)() == 0:  # also where it has none
                raise TypeError(f"{name} must be a tensor with one entry for each example, got {value!r}")
        if len(inputs) != len(targets):
            raise ValueError(f"inputs and targets must be equally many, got {len(inputs)} and {len(targets)}")
        if torch.is_inference_mode_enabled():
            raise ValueError("inference mode is on: there are no gradients to clip in it")
        if torch.is_autocast_enabled("cpu"):
            raise ValueError("autocast is on: its half-precision gradients are too coarse to clip exactly")
        if _anatomy(self.model) != self._anatomy:
            raise ValueError(
                "layers or parameters of the model have changed since it was looked over: make a new Clipper"
            )
        if len(inputs) == 0:
            return Lot(torch.zeros(0), torch.zeros(0)), lambda onto, factor: None
        # Of images whose channels lie last, torch's convolutions leave some outputs unwritten (kernels as wide as the
        # image that move by more than one), and whatever was in that memory would get into the sum. And rows that share
        # memory (windows of a series) would be mixed by a model that works in place.
        if inputs.dim() > 2 or not inputs.is_contiguous():
            inputs = inputs.reshape(-1).view_as(inputs)  # also tells how images of one channel lie: contiguous() not
        with torch.enable_grad():
            method = self._method(inputs, targets)
            before = _buffer_versions(self._layers)
            try:
                lot, add = self._measure_by(method, inputs, targets, clip_norm)
            except NotImplementedError as error:  # a layer is used in another way than it was when tried out
                self._warn("loop", str(error))
                lot, add = self._measure_by("loop", inputs, targets, clip_norm)
            if before != _buffer_versions(self._layers):
                raise ValueError("training changes a buffer of the model: it would store data without any noise on it")
        return lot, add

    def _measure_by(self, method: str, inputs: Tensor, targets: Tensor, clip_norm: float) -> tuple[Lot, AddSum]:
        if method != "fast":
            form = by_loop if method == "loop" else by_torch_func
            each = clip_each(*form(self.model, self.parameters, self.loss, inputs, targets), clip_norm)
            return Lot(each.norms, each.losses), each.add_to
        lot = self._ghost.run(inputs, targets, self.loss, clip_norm)
        if lot.fits.all():
            return Lot(lot.norms, lot.losses), lot.add_to
        return self._done_apart(lot, inputs, targets, clip_norm)

    def _done_apart(self, first: GhostLot, inputs: Tensor, targets: Tensor, clip_norm: float) -> tuple[Lot, AddSum]:
        """By the slow way those examples that the fast one cannot add up exactly (an attacker's, as a rule)."""
        slow = partial(self._measure_by, "loop" if self._aliases else "func", clip_norm=clip_norm)
        fits, norms = first.fits, first.norms
        again = self._ghost.run(inputs[fits], targets[fits], self.loss, clip_norm) if fits.any() else None
        if again is not None and not again.fits.all():  # other coins (Dropout) may bring others to light
            return slow(inputs, targets)
        others, add_others = slow(inputs[~fits], targets[~fits])
        norms[~fits] = others.norms.to(norms.dtype)

        def add(onto: dict[str, Tensor], factor: float) -> None:
            add_others(onto, factor)
            if again is not None:
                again.add_to(onto, factor)

        return Lot(norms, first.losses), add

    def _method(self, inputs: Tensor, targets: Tensor) -> str:
        """The way to take in this situation: tried out on the first lot, which is looked at as a whole, too."""
        situation = (self.model.training, inputs.shape[1:], inputs.dtype)
        if len(inputs) > LARGER * self._largest.get(situation, 0):
            check_examples_stay_apart(self.model, self.loss, inputs, targets)
            self._largest[situation] = len(inputs)
        return self._choices.get(situation) or self._try_methods(situation, *a_few(inputs, targets))

    def _try_methods(self, situation: tuple[object, ...], x: Tensor, y: Tensor) -> str:
        """The first method that agrees with the loop on a few examples; remembered, if they tell anything."""
        apart = without_dropout(self.model, self.loss, x, y)
        with apart, torch.random.fork_rng(devices=[]), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch.func on how it goes about it
            gradients, losses = by_loop(self.model, self.parameters, self.loss, x.clone(), y)
            norms = clip_each(gradients, losses, math.inf).norms
            some = norms[(norms > SMALLEST_CLIP_NORM) & norms.isfinite()]  # shorter ones cannot be told from rounding
            shortest = float(some.min()) if some.numel() else 1.0
            reasons: list[str] = []
            for method in self.methods:
                right = partial(clip_each, gradients, losses)
                reason = "" if method == "loop" else self._disagreement(method, x, y, right, shortest)
                if not reason:
                    break
                reasons.append(reason)
        if reasons:
            self._warn(method, "; ".join(reasons))
        if reasons or (len(x) > 1 and bool(norms.gt(SMALLEST_CLIP_NORM).all())):  # from zeros nothing is learnt
            self._choices[situation] = method
        return method

    def _disagreement(
        self, method: str, x: Tensor, y: Tensor, right_at: Callable[[float], ClippedSum], shortest: float
    ) -> str:
        """Why this method is not to be trusted here; empty if it gives what the loop gives."""
        if method == "fast" and self._ghost.slow_because:
            return self._ghost.slow_because
        if method == "func" and self._aliases:
            return "torch.func would not put the parameters of a layer with two names back in their place"
        for clip_norm in (math.inf, shortest):  # as they are: which gradient is wrong; all equally long: none hides
            total = {name: torch.zeros_like(p) for name, p in self.parameters.items()}
            try:
                apart = method == "fast" and not self._ghost.run(x.clone(), y, self.loss, clip_norm).fits.all()
                if apart and clip_norm == shortest:
                    break
                lot, add = self._measure_by(method, x.clone(), y, clip_norm)
                add(total, 1.0)
            except (RuntimeError, NotImplementedError) as error:
                return f"{METHODS[method]} it fails with {str(error)[:100]!r}"
            right = right_at(clip_norm)
            wrong = [name for name, value in right.total.items() if not _close(total[name], value, shortest)]
            if wrong:
                return f"{METHODS[method]} the gradient of {wrong[0]!r} would be another than one by one"
            norms = lot.norms.double(), right.norms.double()  # targets in double precision make losses that are
            if not torch.allclose(*norms, rtol=1e-3, atol=1e-6 * shortest):
                return f"{METHODS[method]} the norms would be others than one by one"
        return ""

    def _warn(self, method: str, reason: str) -> None:
        """Once for every reason."""
        if reason not in self._warnings:
            self._warnings.add(reason)
            text = f"clipping the slow way, {METHODS[method]}, with the same result: {reason}"
            warnings.warn(text, SlowPathWarning, stacklevel=2)


def _anatomy(model: nn.Module) -> list[object]:
    """The layers, their parameters, and which of these learn: what must stay as it was looked over."""
    parts: list[object] = []
    for layer in model.modules():
        parts.append(layer)
        for parameter in layer._parameters.values():
            if parameter is not None:
                parts += id(parameter), parameter.requires_grad
    return parts


def _buffer_versions(layers: list[nn.Module]) -> list[tuple[int, int]]:
    """By which a buffer is known that was changed, or another one put in its place."""
    versions = []
    for layer in layers:
        for buffer in layer._buffers.values():
            if buffer is not None:
                versions.append((id(buffer), buffer._version))
    return versions


def clipped_sum(
    model: nn.Module, inputs: Tensor, targets: Tensor, loss: Loss, *, clip_norm: float, method: str = "fast"
) -> ClippedSum:
    """The sum of the clipped gradients of one lot, by a :class:`Clipper` that is used once."""
    return Clipper(model, loss, method=method).clipped_sum(inputs, targets, clip_norm=clip_norm)


def _close(one: Tensor, right: Tensor, length: float) -> bool:
    """Equal up to rounding, where every example's gradient is that long and all of them together may cancel."""
    largest = float(right.abs().max()) if right.numel() else 0.0
    return torch.allclose(one, right, rtol=1e-3, atol=max(1e-4 * largest, 1e-6 * length))
