"""What must hold before clipping means anything: no example changes another's gradient, and nothing is kept unnoised.

Known layers are refused by name. What a model does by itself is tried out, once for each model and shape of input, on
two examples: the first of them must come out the same with and without the second, and no buffer may change.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

_CHECKED: WeakKeyDictionary[nn.Module, set[tuple[object, ...]]] = WeakKeyDictionary()


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


def check_examples_stay_apart(model: nn.Module, inputs: Tensor) -> None:
    """Refuse a model that mixes examples in some way of its own, or that writes what it sees into a buffer."""
    key = (model.training, tuple(inputs.shape[1:]), inputs.dtype)
    known = _CHECKED.setdefault(model, set())
    if key in known or len(inputs) < 2 or torch.equal(inputs[0], inputs[1]):
        return
    buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        model(inputs[:2])
        changed = [name for name, buffer in model.named_buffers() if not _same(buffer, buffers[name])]
        for name, buffer in model.named_buffers():
            buffer.copy_(buffers[name])
        if changed:
            raise ValueError(f"training changes the buffer {changed[0]!r}: it would store data without any noise on it")
        with settled(model, inputs[:2]):
            alone, together = model(inputs[:1]), model(inputs[:2])
    if isinstance(alone, Tensor) and len(alone) == 1 and len(together) == 2 and not _same(alone[0], together[0]):
        raise ValueError(
            "the model mixes the examples of a lot: the first one's output changes with the second one. One person "
            "then changes everybody's gradient, and clipping no longer bounds what a person can do."
        )
    known.add(key)


@contextmanager
def settled(model: nn.Module, inputs: Tensor) -> Iterator[None]:
    """The model without its own randomness (Dropout): two passes can be compared. As it was, if it has none."""
    modes = {module: module.training for module in model.modules()}
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        first, second = model(inputs), model(inputs)
    if isinstance(first, Tensor) and not _same(first, second):
        model.eval()
    try:
        yield
    finally:
        for module, training in modes.items():
            module.training = training


def _same(one: Tensor, other: Tensor) -> bool:
    """Equal up to rounding; not-a-number equals itself."""
    if one.shape != other.shape:
        return False
    if not one.is_floating_point():
        return torch.equal(one, other)
    finite = one[one.isfinite()]
    scale = float(finite.abs().max()) if finite.numel() else 0.0
    return torch.allclose(one, other, rtol=1e-4, atol=1e-5 * scale, equal_nan=True)
