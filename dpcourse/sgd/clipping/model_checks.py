"""What must hold before clipping means anything: no example changes another's gradient, and nothing is kept unnoised.

Known layers are refused by name. What a model or a loss does by itself is tried out on a few examples, once for each
model, loss and shape of input: one example is spoilt (not-a-number where that is possible, and another's target), and
all others' losses must stay as they were; a second pass must repeat the first; no buffer may change. That finds the
usual ways of mixing and remembering, not every way there is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from weakref import WeakKeyDictionary, ref

import torch
from torch import Tensor, nn

from dpcourse import door
from dpcourse.sgd.clipping.parts import Parts

Loss = Callable[[Tensor, Tensor], Tensor]  # (outputs, targets) -> one loss for each example
_FEW, MODERATE = 5, 1e4  # examples that are tried, and how large their numbers may be
SMALLEST = 1e-8  # clipping length: below it, products of the lengths of layers' inputs and outputs may underflow
_LOOKED_OVER: WeakKeyDictionary[nn.Module, set[tuple[object, ...] | None]] = WeakKeyDictionary()


def clipping_length(clip: float) -> float:
    """The length C, or an error if no length could be told from rounding there."""
    clip = door.positive("clip", clip)
    if clip < SMALLEST:
        raise ValueError(f"clip must be at least {SMALLEST}, so that lengths can be told from rounding, got {clip!r}")
    return clip


def check_model(model: nn.Module) -> None:
    """Refuse layers that let one example change another's gradient: clipping would then bound nothing."""
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch module, got {model!r}")
    check_layers(model.named_modules())


def check_layers(layers: Iterable[tuple[str, nn.Module]]) -> None:
    """The same for the layers of a model by name."""
    for name, layer in layers:
        if isinstance(layer, nn.modules.batchnorm._BatchNorm):
            raise ValueError(
                f"{type(layer).__name__} (at {name!r}) mixes the examples of a lot: one person changes everybody's "
                f"gradient, so clipping no longer bounds what a person can do. Use LayerNorm or GroupNorm instead."
            )
        if isinstance(layer, nn.modules.instancenorm._InstanceNorm) and layer.track_running_stats:
            raise ValueError(
                f"{type(layer).__name__} (at {name!r}) stores running statistics of the data, without any noise on them"
            )


class _Itself:
    """Equal to itself only, while it lives; keeps nothing alive (a loss may know its model)."""

    def __init__(self, one: object) -> None:
        self.one, self.number = ref(one), id(one)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and self.one() is not None and self.one() is other.one()

    def __hash__(self) -> int:
        return hash(self.number)


def _known_by(value: object) -> object:
    """What a value is known by from one step to the next: numbers and words by what they are, others by themselves.

    A TypeError for lists and the like, which nobody can follow."""
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return type(value), value
    return _Itself(value)


def situation(parts: Parts, inputs: Tensor, loss: Loss) -> tuple[object, ...] | None:
    """What decides how a model behaves: what was found out in one situation is asked again in another.

    A loss that is written anew for every step is known by its code and by all that it carries along. None if that
    cannot be told: then everything is asked every time.
    """
    carried: list[object] = [loss]
    try:
        if hasattr(loss, "__code__"):  # a function, or the method of some object
            cells = [cell.cell_contents for cell in loss.__closure__ or ()]
            named = (loss.__kwdefaults__ or {}).values()
            carried = [loss.__code__, getattr(loss, "__self__", None), *cells, *(loss.__defaults__ or ()), *named]
        known = tuple(_known_by(value) for value in carried)
    except (TypeError, ValueError):  # nobody can follow it; or a cell is still empty
        return None
    return parts.model.training, inputs.shape[1:], inputs.dtype, tuple(parts.parameters), parts.made_of, known


def a_few(inputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """Some examples with which something can be tried out: ordinary ones first, and then others, their numbers cut to
    a moderate size."""
    rows = torch.arange(len(inputs))
    if inputs.is_floating_point() and inputs[0].numel():
        odd = ~(inputs.abs().reshape(len(inputs), -1).amax(1) <= MODERATE)  # not-a-number is not <= anything
        rows = torch.argsort(odd.int(), stable=True)
    x, y = inputs[rows[:_FEW]], targets[rows[:_FEW]]
    return (x.nan_to_num(0.0).clamp(-MODERATE, MODERATE) if x.is_floating_point() else x), y


def check_examples_stay_apart(
    model: nn.Module, inputs: Tensor, targets: Tensor, loss: Loss, key: tuple[object, ...] | None
) -> None:
    """Refuse a model or a loss that mixes examples in some way of its own, or that remembers what it sees.

    ``key`` is the situation: in each one the question is asked once.
    """
    known = _LOOKED_OVER.setdefault(model, set())
    if key in known or len(inputs) < 2:
        return
    x, y = a_few(inputs, targets)
    buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}
    try:
        first, second = losses_of(model, x, y, loss), losses_of(model, x, y, loss)
        changed = [name for name, buffer in model.named_buffers() if not same(buffer, buffers[name])]
        if changed:
            raise ValueError(f"training changes the buffer {changed[0]!r}: it would store data without any noise on it")
        if not same(first, second):
            raise ValueError("the model remembers: it answers the same examples differently the second time")
        spoilt, labels = x.clone(), y.clone()
        spoilt[-1] = float("nan") if x.is_floating_point() else x[0]
        labels[-1] = y[0]
        third = losses_of(model, spoilt, labels, loss)
    finally:
        for name, buffer in model.named_buffers():
            buffer.copy_(buffers[name])
    if first.shape == third.shape == (len(x),) and not same(first[:-1], third[:-1]):
        raise ValueError(
            "the model or the loss mixes the examples of a lot: the first one's loss changes with the last one. One "
            "person then changes everybody's gradient, and clipping no longer bounds what a person can do."
        )
    if len(x) == _FEW and key is not None:  # fewer examples may not show what more would
        known.add(key)


def losses_of(model: nn.Module, inputs: Tensor, targets: Tensor, loss: Loss) -> Tensor:
    """The losses, with the same coins (Dropout) every time."""
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return loss(model(inputs), targets)


@contextmanager
def nothing_remembered(parts: Parts) -> Iterator[None]:
    """A pass that leaves every buffer as it was; otherwise an error."""
    before = [(id(buffer), buffer._version) for buffer in parts.buffers()]
    yield
    if before != [(id(buffer), buffer._version) for buffer in parts.buffers()]:
        raise ValueError("training changes a buffer of the model: it would store data without any noise on it")


@contextmanager
def without_dropout(model: nn.Module, inputs: Tensor, targets: Tensor, loss: Loss) -> Iterator[None]:
    """The model without its own randomness, so that two ways can be compared; as it is, if it has none."""
    modes = {module: module.training for module in model.modules()}
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        other = loss(model(inputs), targets)
    if not same(losses_of(model, inputs, targets, loss), other):
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
