"""What must hold before clipping means anything: no example changes another's gradient, and nothing is kept unnoised.

Known layers are refused by name. What a model or a loss does by itself is tried out on a lot, the first one that comes:
an example is spoilt (not-a-number where that is possible, and another's target), and all others' losses must stay as
they were; a second pass must repeat the first; no buffer may change. That finds the usual ways of mixing and
remembering, not every way there is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from dpcourse import checks

Loss = Callable[[Tensor, Tensor], Tensor]  # (outputs, targets) -> one loss for each example
_FEW, MODERATE = 5, 1e4  # examples that are tried, and how large their numbers may be
SMALLEST_CLIP_NORM = 1e-8  # below it, products of the lengths of layers' inputs and outputs may underflow


def clipping_length(clip_norm: float) -> float:
    """The length C, or an error if no length could be told from rounding there."""
    clip_norm = checks.positive("clip_norm", clip_norm)
    if clip_norm < SMALLEST_CLIP_NORM:
        raise ValueError(
            f"clip_norm must be at least {SMALLEST_CLIP_NORM}, so that lengths can be told from rounding, "
            f"got {clip_norm!r}"
        )
    return clip_norm


def check_model(model: nn.Module) -> None:
    """Refuse what is no model, and layers whose examples or whose memory no clipping can bound."""
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch module, got {model!r}")
    for name, layer in model.named_modules():
        kind = f"{type(layer).__name__} (at {name!r})"
        if isinstance(layer, nn.modules.batchnorm._BatchNorm):
            raise ValueError(
                f"{kind} mixes the examples of a lot: one person changes everybody's gradient, so clipping no longer "
                f"bounds what a person can do. Use LayerNorm or GroupNorm instead."
            )
        if isinstance(layer, nn.modules.instancenorm._InstanceNorm) and layer.track_running_stats:
            raise ValueError(f"{kind} stores running statistics of the data, without any noise on them")
        if isinstance(layer, nn.Embedding | nn.EmbeddingBag):
            if layer.max_norm is not None:
                raise ValueError(
                    f"{kind} with max_norm = {layer.max_norm!r} shortens the rows that a lot looks up, without any "
                    f"noise on them: that tells which words were there. Use max_norm=None."
                )
            if layer.sparse:
                raise ValueError(f"{kind} with sparse=True leaves out the rows that no lot looked up: use sparse=False")


def trainable(model: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters that training changes, by name; an error if there are none, or if they are too coarse."""
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch module, got {model!r}")
    parameters = {name: p for name, p in model.named_parameters() if p.requires_grad}
    for name, parameter in parameters.items():
        if parameter.dtype not in (torch.float32, torch.float64):
            raise ValueError(f"{name!r} has {parameter.dtype}, which is too coarse to clip exactly: use float32")
    if not parameters:
        raise ValueError("the model has no parameter to train")
    return parameters


def a_few(inputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """Some examples with which something can be tried out: ordinary ones first, and then others, their numbers cut to
    a moderate size."""
    rows = torch.arange(len(inputs))
    if inputs.is_floating_point() and inputs[0].numel():
        odd = ~(inputs.abs().reshape(len(inputs), -1).amax(1) <= MODERATE)  # not-a-number is not <= anything
        rows = torch.argsort(odd.int(), stable=True)
    return _moderate(inputs[rows[:_FEW]]), targets[rows[:_FEW]]


def _moderate(inputs: Tensor) -> Tensor:
    return inputs.nan_to_num(0.0).clamp(-MODERATE, MODERATE) if inputs.is_floating_point() else inputs


def check_examples_stay_apart(model: nn.Module, loss: Loss, inputs: Tensor, targets: Tensor) -> None:
    """Refuse a model or a loss that mixes examples in some way of its own, or that remembers what it sees.

    A few examples show best what each does to the others; a whole lot, what is done to whole lots only.
    """
    buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}
    try:
        for x, y in (a_few(inputs, targets), (_moderate(inputs), targets)):
            if len(x) > 1:
                _check_apart(model, loss, x, y, buffers)
    finally:
        for name, buffer in model.named_buffers():
            buffer.copy_(buffers[name])


def _check_apart(model: nn.Module, loss: Loss, x: Tensor, y: Tensor, buffers: dict[str, Tensor]) -> None:
    first, second = losses_of(model, loss, x, y), losses_of(model, loss, x, y)
    changed = [name for name, buffer in model.named_buffers() if not same(buffer, buffers[name])]
    if changed:
        raise ValueError(f"training changes the buffer {changed[0]!r}: it would store data without any noise on it")
    if not same(first, second):
        raise ValueError("the model remembers: it answers the same examples differently the second time")
    for row, others in ((-1, slice(None, -1)), (0, slice(1, None))):
        spoilt, labels = x.clone(), y.clone()
        spoilt[row] = float("nan") if x.is_floating_point() else x[_unlike(x, row)]
        labels[row] = y[_unlike(y, row)]
        third = losses_of(model, loss, spoilt, labels)
        if first.shape == third.shape == (len(x),) and not same(first[others], third[others]):
            raise ValueError(
                "the model or the loss mixes the examples of a lot: the others' losses change with one example. One "
                "person then changes everybody's gradient, and clipping no longer bounds what a person can do."
            )


def _unlike(values: Tensor, row: int) -> int:
    """The first example that differs from this one, if there is any."""
    differ = (values != values[row]).reshape(len(values), -1).any(1).nonzero()
    return int(differ[0]) if len(differ) else ~row


def losses_of(model: nn.Module, loss: Loss, inputs: Tensor, targets: Tensor, seed: int = 0) -> Tensor:
    """The losses, with the same coins (Dropout) every time."""
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return loss(model(inputs.clone()), targets)  # a clone: the model may work in place


@contextmanager
def without_dropout(model: nn.Module, loss: Loss, inputs: Tensor, targets: Tensor) -> Iterator[None]:
    """The model without its own randomness, so that two ways can be compared; as it is, if it has none."""
    modes = {module: module.training for module in model.modules()}
    if not same(losses_of(model, loss, inputs, targets), losses_of(model, loss, inputs, targets, seed=1)):
        model.eval()
    try:
        yield
    finally:
        for module, training in modes.items():
            module.training = training


def same(one: Tensor, other: Tensor) -> bool:
    """Equal up to rounding; not-a-number equals itself."""
    if one.shape != other.shape:
        return False
    if not one.is_floating_point():
        return torch.equal(one, other)
    finite = one[one.isfinite()]  # the middle one tells the scale: a single huge number must not hide the others
    scale = float(finite.abs().median()) if finite.numel() else 0.0
    return torch.allclose(one, other, rtol=1e-4, atol=1e-5 * scale, equal_nan=True)
