"""Per-example gradient norms of one layer, without the per-example gradients.

A layer with input a and parameters W turns the gradient g of the loss with respect to its output into the gradient of
W. For one example that is a product of a and g, and the norm of a product can be had without forming it: a Linear
layer's is ||a|| ||g||, with T positions it needs two T x T matrices (Goodfellow 2015, arXiv:1510.01799; Li et al. 2022,
"Large Language Models Can Be Strong Differentially Private Learners", ICLR). Where a gradient is smaller than what it
is made of (a small kernel over many positions), it is formed after all.

A rule takes a layer, its input a and the gradient g, and gives what it found (``products.Found``): the norm of every
example's gradient over the layer's own parameters; what tells whether rounding can hurt; and a function that adds the
sum over examples of these gradients, each times its weight, onto what is there (zeros, or the noise: a product is added
as fast as it is written, and nothing has to be held twice).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dpcourse.sgd.clipping.attention import Projection, unknown_attention
from dpcourse.sgd.clipping.conv2d import convolution
from dpcourse.sgd.clipping.sums import (
    Found,
    add_in_parts,
    by_position,
    in_double,
    is_long,
    mended,
    norms_of,
    product_norms,
    scaled,
    total_of,
)

_ONE = torch.tensor(1.0)  # made once: a number would be made a tensor in every step
Rule = Callable[[Any, Tensor, Tensor], Found]


def _linear(layer: nn.Linear, a: Tensor, g: Tensor) -> Found:
    bias: Tensor | None = layer.bias
    counted = bias is not None and bias.requires_grad
    each, positions, added = g, 1, None  # each: every example's gradient of the bias
    lengths: tuple[Tensor, ...] = ()
    if a.dim() == 2 and layer.weight.requires_grad:  # ||g|| ||a|| for the weight, ||g|| for the bias
        lengths = inward, outward = norms_of(a), norms_of(g)
        norms = outward * (torch.hypot(inward, _ONE) if counted else inward)
    else:
        a, g = by_position(a), by_position(g)
        each, positions = g.sum(1), g.shape[1]
        norms = norms_of(each) if counted else g.new_zeros(len(g))
        if layer.weight.requires_grad:
            of_weight, longest, added = product_norms(a, g)
            norms, lengths = torch.hypot(of_weight, norms) if counted else of_weight, (longest,)

    def add(weights: Tensor, onto: dict[str, Tensor], factor: float) -> None:
        if "bias" in onto:
            onto["bias"].addmv_(each.T, weights, alpha=factor)
        if "weight" in onto:
            multiply = lambda sum_, g, a: sum_.addmm_(g.flatten(0, -2).T, a.flatten(0, -2), alpha=factor)  # noqa: E731
            add_in_parts(onto["weight"], positions, (scaled(g, weights), a), multiply, precise=is_long(positions))

    return Found(norms, lengths, added, add, 1 if is_long(positions) else positions)


def _embedding(layer: nn.Embedding, a: Tensor, g: Tensor) -> Found:
    words, g = a.reshape(a.shape[0], -1), _without_padding(layer, a, g)
    long = is_long(words.shape[1])

    def add(weights: Tensor, onto: dict[str, Tensor], factor: float) -> None:
        count = lambda sum_, g, words: sum_.index_add_(0, words.flatten(), g.flatten(0, 1), alpha=factor)  # noqa: E731
        add_in_parts(onto["weight"], words.shape[1], (scaled(g, weights), words), count, precise=long)

    lengths = torch.linalg.vector_norm(g, dim=2)
    if long:
        return Found(in_double(_formed, words, g).sqrt(), (), lengths.sum(1), add)
    same = (words[:, :, None] == words[:, None, :]).to(g.dtype)  # the same word twice adds up before it is squared
    squares = total_of(torch.bmm(g, g.transpose(1, 2)) * same)
    most = (lengths * torch.bmm(same, lengths[:, :, None])[:, :, 0]).sum(1)
    norms = mended(squares, most, lambda rows: _formed(words[rows], g[rows]))
    return Found(norms, (), most.sqrt(), add, words.shape[1])


def _formed(words: Tensor, g: Tensor) -> Tensor:
    """Squared norms of the gradients of each text's words, which are formed for it."""
    found = []
    for text, gradients in zip(words, g, strict=True):
        distinct, where = text.unique(return_inverse=True)
        found.append(g.new_zeros(len(distinct), g.shape[2]).index_add_(0, where, gradients).square().sum())
    return torch.stack(found)


def _without_padding(layer: nn.Embedding, a: Tensor, g: Tensor) -> Tensor:
    g = by_position(g)
    if layer.padding_idx is None:
        return g
    return g * (a.reshape(a.shape[0], -1, 1) != layer.padding_idx)


def _layer_norm(layer: nn.LayerNorm, a: Tensor, g: Tensor) -> Found:
    """Every example's gradient of a LayerNorm is small enough to be formed."""
    shape = (g.shape[0], -1, *layer.normalized_shape)
    each = {
        "weight": (g * F.layer_norm(a, layer.normalized_shape, None, None, layer.eps)).reshape(shape).sum(1),
        "bias": g.reshape(shape).sum(1),
    }
    own = {name: p for name, p in layer.named_parameters(recurse=False) if p.requires_grad}
    norms = torch.linalg.vector_norm(torch.stack([norms_of(each[name]) for name in own]), dim=0)

    def add(weights: Tensor, onto: dict[str, Tensor], factor: float) -> None:
        for name, total in onto.items():
            total.add_(torch.tensordot(weights, each[name], 1), alpha=factor)

    return Found(norms, (), None, add)


RULES: dict[type, Rule] = {
    nn.Linear: _linear,
    nn.modules.linear.NonDynamicallyQuantizableLinear: _linear,  # the last part of nn.MultiheadAttention
    Projection: _linear,
    nn.Conv2d: convolution,
    nn.Embedding: _embedding,
    nn.LayerNorm: _layer_norm,
}


def unknown_because(layer: nn.Module) -> str | None:
    """Why the fast path cannot take this layer, or None if it can."""
    name = type(layer).__name__
    if type(layer) is nn.MultiheadAttention:
        return "an attention with a forward of its own" if "forward" in vars(layer) else unknown_attention(layer)
    if type(layer) not in RULES:  # a subclass may compute something else: not taken for its parent
        return f"{name} has no rule"
    if isinstance(layer, nn.Conv2d) and (layer.padding_mode != "zeros" or isinstance(layer.padding, str)):
        return f"{name} pads with {layer.padding_mode!r}, {layer.padding!r}"
    odd = isinstance(layer, nn.Embedding) and (layer.scale_grad_by_freq or layer.sparse)
    if odd or getattr(layer, "max_norm", None) is not None:
        return f"{name} rescales its own rows or gradients"
    return None
