"""The fast path of clipping: the norms without the gradients, and one weighted sum (ghost clipping, book-keeping).

Li et al. 2022, "Large Language Models Can Be Strong Differentially Private Learners" (ICLR); Bu et al. 2023,
"Differentially Private Optimization on Large Model at Small Cost" (ICML). The rules of the layers are in ``layers``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from dpcourse.sgd.clipping.attention import written_out
from dpcourse.sgd.clipping.layers import RULES, unknown_because
from dpcourse.sgd.clipping.parts import Parts, learning
from dpcourse.sgd.clipping.sums import Found
from dpcourse.sgd.clipping.weighing import weigh

Listener = Callable[[str, Any, Tensor, Tensor], Tensor | None]  # where, layer, input, output -> another output
_TOKEN = torch.zeros((), requires_grad=True)  # what every first layer hangs on: its gradient comes by all of them
_ODD: WeakKeyDictionary[nn.Module, dict[tuple[object, ...], str]] = WeakKeyDictionary()  # by model, mode and shape


def why_slow(parts: Parts, inputs: Tensor) -> str | None:
    """Why the fast path cannot take this model, or None if it can."""
    model = parts.model
    owners: dict[int, str] = {}
    for name, layer in parts.layers:
        own = [p for p in layer._parameters.values() if p is not None and p.requires_grad]
        if not own:
            continue
        reason = unknown_because(layer)
        if reason is not None:
            return f"{reason} (at {name!r})" if name else reason
        for parameter in own:
            if id(parameter) in owners:
                return f"{owners[id(parameter)]!r} and {name!r} share a parameter"
            owners[id(parameter)] = name
    key = (model.training, tuple(inputs.shape[1:]), tuple(owners.values()), parts.made_of)
    known = _ODD.setdefault(model, {})
    if key not in known:
        known[key] = _odd_use(parts, inputs)
    return known[key] or None


def _odd_use(parts: Parts, inputs: Tensor) -> str:
    """Why a layer's rule does not cover its use: not exactly once in a pass, or not on the examples. Asked once.

    It is asked with lots of 1 and of 2. The length of a layer's output alone would not tell: a lot of 32 examples looks
    like a text of 32 positions.
    """
    uses: dict[str, int] = {}

    def note(where: str, layer: Any, given: Tensor, made: Tensor) -> None:
        if where in uses:
            raise NotImplementedError(f"{where!r} is used twice in one pass: add before you square")
        if len(made) != size or len(given) != size:
            raise NotImplementedError(f"{where!r} works on {len(made)} rows in a lot of {size}: not on the examples")
        uses[where] = size

    needed = {f"{name}." if name else "" for name, layer in parts.layers if type(layer) in RULES and learning(layer)}
    for size in (1, 2):
        uses.clear()
        with torch.no_grad(), torch.random.fork_rng(devices=[]), _listening(parts, note):
            try:
                parts.model(inputs[:1].repeat(size, *[1] * (inputs.dim() - 1)))  # copies: it may work in place
            except NotImplementedError as reason:
                return str(reason)
        unused = needed - uses.keys()
        if unused:
            return f"{min(unused)!r} is passed by"
    return ""


@contextmanager
def _listening(parts: Parts, listener: Listener) -> Iterator[None]:
    """Show the listener every use of a layer that learns: where it is, itself, its input and its output."""

    def hook_of(where: str) -> Callable[[nn.Module, tuple[Tensor, ...], Tensor], Tensor | None]:
        def hook(layer: nn.Module, given: tuple[Tensor, ...], made: Tensor) -> Tensor | None:
            if not given:
                raise NotImplementedError(f"{where!r} is called with its input as a keyword")
            return listener(where, layer, given[0], made)

        return hook

    def show_of(where: str) -> Callable[[Any, Tensor, Tensor], Tensor | None]:
        return lambda layer, given, made: listener(where, layer, given, made)

    attentions: list[tuple[nn.MultiheadAttention, str]] = []
    listened: list[tuple[nn.Module, str]] = []
    handles: list[Any] = []
    for name, layer in parts.layers:
        if type(layer) is nn.MultiheadAttention and any(p.requires_grad for p in layer.parameters()):
            attentions.append((layer, f"{name}." if name else ""))
        elif type(layer) in RULES and learning(layer):
            listened.append((layer, f"{name}." if name else ""))
    try:
        for attention, where in attentions:
            attention.forward = written_out(attention, show_of(f"{where}in_proj_"))  # type: ignore[method-assign]
        handles.extend(layer.register_forward_hook(hook_of(where)) for layer, where in listened)
        yield
    finally:
        for handle in handles:
            handle.remove()
        for attention, _ in attentions:
            vars(attention).pop("forward", None)


class _Tap(torch.autograd.Function):
    """The identity on the output of a first layer that hands the gradient passing backwards to ``sink``.

    Nothing before a first layer needs a gradient, so autograd would stop before it; the token makes it come.
    """

    @staticmethod
    def forward(ctx: Any, made: Tensor, token: Tensor, sink: Callable[[Tensor], None]) -> Tensor:
        ctx.sink = sink
        ctx.mark_dirty(made)
        return made

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        ctx.sink(gradients[0])
        return gradients[0], None, None


def _hear(made: Tensor, sink: Callable[[Tensor], None]) -> None:
    """Hand the gradient of an output to ``sink``, also if a later layer works in place; keeps no output alive.

    Of a view (what a Linear layer makes of texts) its base is asked: changed in place, a view loses its own hooks.
    """
    base, shape = made._base, made.shape
    if base is None or base.numel() != made.numel() or not (base.is_contiguous() and made.is_contiguous()):
        made.register_hook(sink)
    else:
        base.register_hook(lambda gradient: sink(gradient.reshape(shape)))


@dataclass
class _Use:
    """One use of a layer: its input, and then what its rule gives."""

    layer: Any
    given: Tensor | None
    found: Found | None = None

    def sink(self, gradient: Tensor) -> None:
        assert self.given is not None
        self.found = RULES[type(self.layer)](self.layer, self.given, gradient)
        self.given = None  # the rule holds what it needs


@dataclass(frozen=True)
class Pass:
    """What one pass over a lot found: norms, losses, and which examples fit into the sum of the clipped gradients
    (``weigh`` decides); the others must be left out and done apart."""

    norms: Tensor
    losses: Tensor
    sound: Tensor
    _weights: Tensor
    _found: dict[str, Found]

    def add(self, onto: dict[str, Tensor], factor: float) -> None:
        """Add the sum of the clipped gradients, times a factor, onto what is there by the parameters' names."""
        for where, found in self._found.items():
            own = {p: onto[where + p] for p in ("weight", "bias") if where + p in onto}
            found.add(self._weights, own, factor)


def fast_pass(
    parts: Parts, inputs: Tensor, targets: Tensor, loss: Callable[[Tensor, Tensor], Tensor], clip: float
) -> Pass:
    """One forward pass, and one backward pass to the layers' outputs only; ``add`` then takes each weight's gradient
    once. Plain SGD computes the same three things; what is new are the norms, and they are cheap.
    """
    uses: dict[str, _Use] = {}

    def note(where: str, layer: Any, given: Tensor, made: Tensor) -> Tensor:
        if where in uses or len(given) != len(inputs):
            raise NotImplementedError(f"{where!r} is not used once, on the examples")
        use = uses[where] = _Use(layer, given.detach())
        if made.requires_grad:
            _hear(made, use.sink)
            return made
        tapped: Tensor = _Tap.apply(made, _TOKEN, use.sink)
        return tapped

    parameters = parts.parameters.values()
    with _listening(parts, note):
        try:
            for parameter in parameters:
                parameter.requires_grad_(False)  # no gradient of the weights in this pass: they come weighted, below
            losses = loss(parts.model(inputs.detach()), targets)
        finally:
            for parameter in parameters:
                parameter.requires_grad_(True)
    if losses.shape != (len(inputs),):
        raise ValueError(
            f"loss must give one number for each of {len(inputs)} examples, got shape {tuple(losses.shape)}"
        )
    torch.autograd.grad(losses, _TOKEN, torch.ones_like(losses), allow_unused=True)
    found = {where: use.found for where, use in uses.items() if use.found is not None}  # others do not touch the loss
    if not found:
        raise NotImplementedError("no layer that learns touches the loss")
    norms, weights, sound = weigh(list(found.values()), clip)
    return Pass(norms, losses.detach(), sound, weights, found)
