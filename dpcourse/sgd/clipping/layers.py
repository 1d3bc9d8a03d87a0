"""The rules of the layers: per-example gradient norms of one layer, without the per-example gradients; and how to add
a rule for a layer of your own.

A layer with input a and parameters W turns the gradient g of the loss with respect to its output into the gradient of
W. For one example that is a product of a and g, and the norm of a product can be had without forming it: a Linear
layer's is ||a|| ||g||, with T positions it needs two T x T matrices (Goodfellow 2015, arXiv:1510.01799; Li et al. 2022,
"Large Language Models Can Be Strong Differentially Private Learners", ICLR). Where a gradient is smaller than what it
is made of (a scale, a small kernel over many positions), it is formed after all.

A rule of your own forms every example's gradients, by the parameters' names::

    @register_rule(Scaled)
    def scaled(layer, inputs, output_gradients):
        return {"scale": (inputs * output_gradients).sum(1)}

It is tried out on the first lot, against a loop over examples: a wrong one is not used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dpcourse.sgd.clipping.attention import Projection, unknown_attention
from dpcourse.sgd.clipping.conv2d import ConvolutionRule, unknown_convolution
from dpcourse.sgd.clipping.sums import (
    LONG,
    LayerGradients,
    add_in_pieces,
    by_position,
    formed,
    in_double,
    mended,
    norms_of,
    product_norms,
    scaled,
)

_ONE = torch.tensor(1.0)  # once for all: a number would become a tensor in every step
Rule = Callable[[Any, Tensor, Tensor], "LayerGradients | Mapping[str, Tensor]"]  # (layer, its input, g of its output)
AnyRule = TypeVar("AnyRule", bound="Rule | type")


@dataclass(frozen=True)
class _Entry:
    rule: Any
    unless: Callable[[Any], str | None]


RULES: dict[type, _Entry] = {}


def register_rule(*layers: type, unless: Callable[[Any], str | None] = lambda layer: None) -> Callable[[Any], Any]:
    """Register the decorated rule for layers of these very types; ``unless`` may say why it does not fit one of them.

    A rule takes a layer, its input and the gradient of its output, and returns every example's gradients by the names
    of the layer's own parameters (or ``LayerGradients``, where their norms are cheaper than they are). A rule that
    needs memory from step to step is a class: every ``Clipper`` makes one of its own.
    """

    def decorate(rule: AnyRule) -> AnyRule:
        for layer in layers:
            RULES[layer] = _Entry(rule, unless)
        return rule

    return decorate


def unknown_because(layer: nn.Module) -> str | None:
    """Why there is no rule for this layer, or None if there is one."""
    if type(layer) is nn.MultiheadAttention:
        return "an attention with a forward of its own" if "forward" in vars(layer) else unknown_attention(layer)
    if type(layer) not in RULES:  # a subclass may compute something else: not taken for its parent
        return f"{type(layer).__name__} has no rule"
    return RULES[type(layer)].unless(layer)


def rule_of(layer: Any) -> Rule:
    """The rule of a layer that has one."""
    rule = RULES[type(layer)].rule
    own: Rule = rule() if isinstance(rule, type) else rule
    return own


def learning(layer: Any) -> dict[str, Tensor]:
    """The layer's own parameters that training changes."""
    return {name: p for name, p in layer._parameters.items() if p is not None and p.requires_grad}


@register_rule(nn.Linear, nn.modules.linear.NonDynamicallyQuantizableLinear, Projection)  # the last two: of attention
def linear(layer: nn.Linear, a: Tensor, g: Tensor) -> LayerGradients:
    """g a^T for the weight, g for the bias, each added up over positions."""
    bias: Tensor | None = layer.bias
    counted = bias is not None and bias.requires_grad
    of_bias, positions, unsigned = g, 1, None
    lengths: tuple[Tensor, ...] = ()
    if a.dim() == 2 and layer.weight.requires_grad:  # ||g|| ||a|| for the weight, ||g|| for the bias
        lengths = inward, outward = norms_of(a), norms_of(g)
        norms = outward * (torch.hypot(inward, _ONE) if counted else inward)
    else:
        a, g = by_position(a), by_position(g)
        of_bias, positions = g.sum(1), g.shape[1]
        norms = norms_of(of_bias) if counted else g.new_zeros(len(g))
        if layer.weight.requires_grad:
            of_weight, longest, unsigned = product_norms(a, g)
            norms, lengths = torch.hypot(of_weight, norms) if counted else of_weight, (longest,)

    def add(weights: Tensor, onto: dict[str, Tensor], factor: float) -> None:
        if "bias" in onto:
            onto["bias"].addmv_(of_bias.T, weights, alpha=factor)
        if "weight" in onto:
            multiply = lambda sum_, g, a: sum_.addmm_(g.flatten(0, -2).T, a.flatten(0, -2), alpha=factor)  # noqa: E731
            add_in_pieces(onto["weight"], positions, (scaled(g, weights), a), multiply, precise=positions > LONG)

    return LayerGradients(norms, add, lengths, unsigned, 1 if positions > LONG else positions)


def _unknown_embedding(layer: nn.Embedding) -> str | None:
    return "Embedding with scale_grad_by_freq rescales its own gradients" if layer.scale_grad_by_freq else None


@register_rule(nn.Embedding, unless=_unknown_embedding)
def embedding(layer: nn.Embedding, a: Tensor, g: Tensor) -> LayerGradients:
    """A row's gradient is the sum of g over the positions that look it up."""
    words, g = a.reshape(a.shape[0], -1), by_position(g)
    if layer.padding_idx is not None:
        g = g * (words != layer.padding_idx)[:, :, None]
    positions = words.shape[1]

    def add(weights: Tensor, onto: dict[str, Tensor], factor: float) -> None:
        count = lambda sum_, g, words: sum_.index_add_(0, words.flatten(), g.flatten(0, 1), alpha=factor)  # noqa: E731
        add_in_pieces(onto["weight"], positions, (scaled(g, weights), words), count, precise=positions > LONG)

    lengths = torch.linalg.vector_norm(g, dim=2)
    if positions > LONG:
        return LayerGradients(in_double(_squared_by_text, words, g).sqrt(), add, unsigned=lengths.sum(1))
    same = (words[:, :, None] == words[:, None, :]).to(g.dtype)  # the same word twice adds up before it is squared
    squares = (torch.bmm(g, g.transpose(1, 2)) * same).sum((1, 2))
    unsigned = (lengths * torch.bmm(same, lengths[:, :, None])[:, :, 0]).sum(1)
    norms = mended(squares, unsigned, lambda rows: _squared_by_text(words[rows], g[rows]))
    return LayerGradients(norms, add, unsigned=unsigned.sqrt(), additions=positions)


def _squared_by_text(words: Tensor, g: Tensor) -> Tensor:
    """Squared norms of the gradients of each text's words, which are formed for it."""
    squares = []
    for text, gradients in zip(words, g, strict=True):
        distinct, where = text.unique(return_inverse=True)
        squares.append(g.new_zeros(len(distinct), g.shape[2]).index_add_(0, where, gradients).square().sum())
    return torch.stack(squares)


@register_rule(nn.LayerNorm)
def layer_norm(layer: nn.LayerNorm, a: Tensor, g: Tensor) -> LayerGradients:
    """The gradient of a norm's scale is g times the normalised input, small enough to be formed."""
    return _of_norm(layer, F.layer_norm(a, layer.normalized_shape, None, None, layer.eps), g, layer.normalized_shape)


@register_rule(nn.RMSNorm)
def rms_norm(layer: nn.RMSNorm, a: Tensor, g: Tensor) -> LayerGradients:
    """The same, without a mean and a shift."""
    return _of_norm(layer, F.rms_norm(a, layer.normalized_shape, None, layer.eps), g, layer.normalized_shape)


@register_rule(nn.GroupNorm)
def group_norm(layer: nn.GroupNorm, a: Tensor, g: Tensor) -> LayerGradients:
    """The same, with a scale for every channel."""
    normal = F.group_norm(a, layer.num_groups, None, None, layer.eps)
    last = (normal.flatten(2).transpose(1, 2), g.flatten(2).transpose(1, 2)) if g.dim() > 2 else (normal, g)
    return _of_norm(layer, *last, (layer.num_channels,))


def _of_norm(layer: nn.Module, normal: Tensor, g: Tensor, scales: tuple[int, ...]) -> LayerGradients:
    shape, own = (len(g), -1, *scales), learning(layer)
    terms = {"weight": lambda: g * normal, "bias": lambda: g}
    return formed({name: terms[name]().reshape(shape).sum(1) for name in own})


register_rule(nn.Conv2d, nn.Conv1d, unless=unknown_convolution)(ConvolutionRule)
