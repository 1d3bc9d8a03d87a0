"""The fast way to clip: the norms without the gradients, and one weighted sum (ghost clipping, book-keeping).

Li et al. 2022, "Large Language Models Can Be Strong Differentially Private Learners" (ICLR); Bu et al. 2023,
"Differentially Private Optimization on Large Model at Small Cost" (ICML). The rules of the layers are in ``layers``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from dpcourse.sgd.clipping.attention import written_out
from dpcourse.sgd.clipping.layers import Rule, learning, linear, rule_of, unknown_because
from dpcourse.sgd.clipping.sums import LayerGradients, formed, weigh

_TOKEN = torch.zeros((), requires_grad=True)  # what every first layer hangs on: its gradient comes by all of them


@dataclass(frozen=True)
class Site:
    """A layer that learns: where it is, its own parameters' names, and its rule."""

    where: str
    layer: nn.Module
    names: tuple[str, ...]
    rule: Rule


@dataclass
class Use:
    """One use of a layer: its input, and then what its rule tells."""

    site: Site
    layer: Any
    inputs: Tensor | None
    gradients: LayerGradients | None = None

    def hear(self, gradient: Tensor) -> None:
        """Take the gradient of the layer's output."""
        assert self.inputs is not None
        answer = self.site.rule(self.layer, self.inputs, gradient)
        if not isinstance(answer, LayerGradients):
            silent = set(self.site.names) - answer.keys()
            if silent:
                raise NotImplementedError(f"the rule of {self.site.where!r} gives no gradient of {min(silent)!r}")
            answer = formed({name: answer[name] for name in self.site.names})
        self.gradients, self.inputs = answer, None  # the rule holds what it needs


@dataclass(frozen=True)
class GhostLot:
    """What one pass over a lot tells: norms, losses, and which examples fit into the sum of the clipped gradients
    (``weigh`` decides); the others must be left out and done apart."""

    norms: Tensor
    losses: Tensor
    fits: Tensor
    weights: Tensor
    uses: list[Use]

    def add_to(self, onto: dict[str, Tensor], factor: float) -> None:
        """Add the sum of the clipped gradients, times a factor, onto what is there by the parameters' names."""
        for use in self.uses:
            own, where = {}, use.site.where
            for name in use.site.names:
                own[name] = onto[where + name]
            assert use.gradients is not None
            use.gradients.add(self.weights, own, factor)


class GhostPass:
    """One forward pass, one backward pass to the layers' outputs only, and each weight's gradient once, weighted.

    Plain SGD computes the same three things; what is new are the norms, and they are cheap. The model is looked over
    here, once: ``slow_because`` says why it cannot be clipped this way.
    """

    def __init__(self, model: nn.Module, parameters: Iterable[nn.Parameter]) -> None:
        self.model, self.parameters = model, list(parameters)
        self.slow_because = _why_slow(model)
        self._layers: list[Site] = []
        self._attentions: list[Site] = []
        for name, layer in model.named_modules() if not self.slow_because else ():
            where, own = f"{name}." if name else "", tuple(learning(layer))
            if isinstance(layer, nn.MultiheadAttention):
                if any(p.requires_grad for p in layer.parameters()):
                    names = tuple(one.removeprefix("in_proj_") for one in own)
                    self._attentions.append(Site(f"{where}in_proj_", layer, names, linear))
            elif own:
                self._layers.append(Site(where, layer, own, rule_of(layer)))

    def run(
        self, inputs: Tensor, targets: Tensor, loss: Callable[[Tensor, Tensor], Tensor], clip_norm: float
    ) -> GhostLot:
        """The pass. NotImplementedError, if a layer is used in a way that its rule does not cover."""
        uses: dict[str, Use] = {}
        with self._listening(uses, len(inputs)):
            losses = loss(self.model(inputs.detach()), targets)
        if losses.shape != (len(inputs),):
            raise ValueError(
                f"loss must give one number for each of {len(inputs)} examples, got shape {tuple(losses.shape)}"
            )
        if losses.requires_grad:
            torch.autograd.grad(losses, _TOKEN, torch.ones_like(losses), allow_unused=True)
        active, gradients = [], []
        for use in uses.values():
            if use.gradients is not None:  # others do not touch the loss
                active.append(use)
                gradients.append(use.gradients)
        if not active:
            raise NotImplementedError("no layer that learns touches the loss")
        norms, weights, fits = weigh(gradients, clip_norm)
        return GhostLot(norms, losses.detach(), fits, weights, active)

    @contextmanager
    def _listening(self, uses: dict[str, Use], size: int) -> Iterator[None]:
        """Note every use of a layer; and no gradients of the weights in this pass: they come weighted, later."""
        handles: list[Any] = []
        try:
            for site in self._attentions:
                show = partial(_note, uses, size, site)
                site.layer.forward = written_out(site.layer, show)  # type: ignore[arg-type]
            for site in self._layers:
                handles.append(site.layer.register_forward_hook(partial(_note, uses, size, site)))
            for parameter in self.parameters:
                parameter.requires_grad_(False)
            yield
        finally:
            for parameter in self.parameters:
                parameter.requires_grad_(True)
            for handle in handles:
                handle.remove()
            for site in self._attentions:
                vars(site.layer).pop("forward", None)


def _why_slow(model: nn.Module) -> str:
    """Why the fast way cannot take this model; empty if it can."""
    owners: dict[int, str] = {}
    for name, layer in model.named_modules():
        own = learning(layer)
        reason = unknown_because(layer) if own else None
        if reason is not None:
            return f"{reason} (at {name!r})" if name else reason
        for parameter in own.values():
            if id(parameter) in owners:
                return f"{owners[id(parameter)]!r} and {name!r} share a parameter"
            owners[id(parameter)] = name
    return ""


def _note(
    uses: dict[str, Use], size: int, site: Site, layer: Any, inputs: tuple[Tensor, ...], output: Any
) -> Tensor | None:
    """Note a use of a layer, and hear the gradient of its output. A rule covers one use in a pass, on the examples."""
    name = site.where.rstrip(".")
    if not inputs:
        raise NotImplementedError(f"{name!r} is called with its input as a keyword")
    if site.where in uses:
        raise NotImplementedError(f"{name!r} is used twice in one pass: add before you square")
    if not isinstance(output, Tensor) or not len(inputs[0]) == len(output) == size:
        raise NotImplementedError(f"{name!r} works on something else in a lot of {size}: not on the examples")
    use = uses[site.where] = Use(site, layer, inputs[0].detach())
    if not output.requires_grad:
        tapped: Tensor = _Tap.apply(output, _TOKEN, use.hear)
        return tapped
    # Of a view (what a Linear layer makes of texts) its base is asked: changed in place, a view loses its own hooks.
    base, shape = output._base, output.shape
    if base is not None and base.numel() == output.numel() and base.is_contiguous() and output.is_contiguous():
        base.register_hook(lambda gradient: use.hear(gradient.reshape(shape)))
    else:
        output.register_hook(use.hear)
    return None


class _Tap(torch.autograd.Function):
    """The identity on the output of a first layer that hands the gradient passing backwards to ``hear``.

    Nothing before a first layer needs a gradient, so autograd would stop before it; the token makes it come.
    """

    @staticmethod
    def forward(ctx: Any, output: Tensor, token: Tensor, hear: Callable[[Tensor], None]) -> Tensor:
        ctx.hear = hear
        ctx.mark_dirty(output)
        return output

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        ctx.hear(gradients[0])
        return gradients[0], None, None
