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

from dpcourse.sgd.layers import RULES, Weighted, unknown_because

Listener = Callable[[str, nn.Module, Tensor, Tensor], Tensor | None]
_USES: WeakKeyDictionary[nn.Module, str] = WeakKeyDictionary()  # model -> why its layers are used oddly, or ""


def why_slow(model: nn.Module, inputs: Tensor) -> str | None:
    """Why the fast path cannot take this model, or None if it can."""
    owners: dict[int, str] = {}
    for name, layer in model.named_modules():
        own = [p for p in layer._parameters.values() if p is not None and p.requires_grad]
        if not own:
            continue
        reason = unknown_because(layer)
        if reason is not None:
            return f"{reason} (at {name!r})"
        for parameter in own:
            if id(parameter) in owners:
                return f"{owners[id(parameter)]!r} and {name!r} share a parameter"
            owners[id(parameter)] = name
    if model not in _USES:
        _USES[model] = _odd_use(model, inputs)
    return _USES[model] or None


def _odd_use(model: nn.Module, inputs: Tensor) -> str:
    """Whether a layer is used twice in a pass, or on something that is no lot. Asked once, of one and of two examples.

    The length of a layer's output alone would not tell: a lot of 32 examples looks like a text of 32 positions.
    """
    reason = ""
    uses: list[str] = []

    def note(name: str, layer: nn.Module, given: Tensor, made: Tensor) -> None:
        nonlocal reason
        if name in uses:
            reason = f"{name!r} is used twice in one pass: its gradients would have to be added before squaring"
        elif len(made) != size or len(given) != size:
            reason = f"{name!r} works on {len(made)} rows where the lot has {size}: they are not the examples"
        uses.append(name)

    for size in (1, 2):
        uses.clear()
        with torch.no_grad(), torch.random.fork_rng(devices=[]), _listening(model, note):
            model(inputs[:1].expand(size, *inputs.shape[1:]))
    return reason


@contextmanager
def _listening(model: nn.Module, listener: Listener) -> Iterator[None]:
    """Show the listener every use of a layer that learns: its name, itself, its input and its output."""

    def hook_of(name: str) -> Callable[[nn.Module, tuple[Tensor, ...], Tensor], Tensor | None]:
        return lambda layer, given, made: listener(name, layer, given[0], made)

    learning = [
        layer.register_forward_hook(hook_of(name))
        for name, layer in model.named_modules()
        if type(layer) in RULES and any(p is not None and p.requires_grad for p in layer._parameters.values())
    ]
    try:
        yield
    finally:
        for handle in learning:
            handle.remove()


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


@dataclass
class _Use:
    """One use of a layer: its input, and then the squared norms and the weighted sum that its rule gives."""

    layer: nn.Module
    given: Tensor | None
    found: tuple[Tensor, Weighted] | None = None

    def sink(self, gradient: Tensor) -> None:
        assert self.given is not None
        self.found = RULES[type(self.layer)](self.layer, self.given, gradient)
        self.given = None  # the rule holds what it needs


def fast_sum(
    model: nn.Module,
    parameters: dict[str, nn.Parameter],
    inputs: Tensor,
    targets: Tensor,
    loss: Callable[[Tensor, Tensor], Tensor],
    clip: float,
) -> tuple[dict[str, Tensor], Tensor, Tensor]:
    """The sum of the clipped gradients, the norms and the losses.

    One forward pass, one backward pass to the layers' outputs only, and then each weight's gradient once. Plain SGD
    computes the same three things; what is new are the norms, and they are cheap.
    """
    uses: dict[str, _Use] = {}
    token = torch.zeros((), requires_grad=True)  # every first layer hangs on it: its gradient comes by all of them

    def note(name: str, layer: nn.Module, given: Tensor, made: Tensor) -> Tensor:
        uses[name] = _Use(layer, given.detach())
        if made.requires_grad:
            made.register_hook(uses[name].sink)  # keeps no output alive, and allows a layer that works in place
            return made
        tapped: Tensor = _Tap.apply(made, token, uses[name].sink)
        return tapped

    with _listening(model, note):
        try:
            for parameter in parameters.values():
                parameter.requires_grad_(False)  # no gradient of the weights in this pass: they come weighted, below
            losses = loss(model(inputs.detach()), targets)
        finally:
            for parameter in parameters.values():
                parameter.requires_grad_(True)
    if losses.shape != (len(inputs),):
        raise ValueError(
            f"loss must give one number for each of {len(inputs)} examples, got shape {tuple(losses.shape)}"
        )
    torch.autograd.grad(losses.sum(), token, allow_unused=True)
    found = {name: use.found for name, use in uses.items() if use.found is not None}  # others do not touch the loss
    norms = torch.stack([squares for squares, _ in found.values()]).sum(0).clamp(min=0).sqrt()
    weights = (clip / norms).clamp(max=1)  # norm 0: clip / 0 is infinite, and the weight 1
    sums: dict[str, Tensor] = {}
    for name, (_, weighted) in found.items():
        for own, gradient in weighted(weights).items():
            sums[f"{name}.{own}" if name else own] = gradient.detach()
    # In the parameters' order; a layer that the pass did not use has gradient 0.
    total = {name: sums[name] if name in sums else torch.zeros_like(p) for name, p in parameters.items()}
    return total, norms.detach(), losses.detach()
