"""Per-example gradient norms of one layer, without the per-example gradients.

A layer with input a and parameters W turns the gradient g of the loss with respect to its output into the gradient of
W. For one example that is a product of a and g, and the norm of a product can be had without forming it: a Linear
layer's is ||a|| ||g||, with T positions it needs two T x T matrices (Goodfellow 2015, arXiv:1510.01799; Li et al. 2022,
"Large Language Models Can Be Strong Differentially Private Learners", ICLR). Each rule gives two things:

* ``squares(layer, a, g)``: the squared norm of every example's gradient over the layer's own parameters;
* ``weighted(layer, a, g)``: the sum over examples of these gradients, where g already carries each example's weight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.grad import conv2d_weight

CHUNK = 128  # examples whose unfolded images are held at once


@dataclass(frozen=True)
class Rule:
    """How one kind of layer is clipped."""

    squares: Callable[[Any, Tensor, Tensor], Tensor]
    weighted: Callable[[Any, Tensor, Tensor], dict[str, Tensor]]


def _rest(values: Tensor) -> Tensor:
    """The sum over everything but the examples."""
    return values.flatten(1).sum(1)


def _positions(values: Tensor) -> Tensor:
    """(examples, positions, features), whatever lay between."""
    return values.reshape(values.shape[0], -1, values.shape[-1])


def _product_squares(a: Tensor, g: Tensor) -> Tensor:
    """The squared Frobenius norm of sum_t g_t a_t^T for every example: by two T x T matrices, or by forming it."""
    positions = a.shape[1]
    if positions == 1:
        return _rest(a.square()) * _rest(g.square())
    if positions * positions <= a.shape[2] * g.shape[2]:
        return _rest(torch.bmm(a, a.transpose(1, 2)) * torch.bmm(g, g.transpose(1, 2)))
    return _rest(torch.bmm(g.transpose(1, 2), a).square())


def _linear_squares(layer: nn.Linear, a: Tensor, g: Tensor) -> Tensor:
    a, g = _positions(a), _positions(g)
    squares = torch.zeros(g.shape[0], dtype=g.dtype, device=g.device)
    if layer.weight.requires_grad:
        squares = squares + _product_squares(a, g)
    bias: Tensor | None = layer.bias
    if bias is not None and bias.requires_grad:
        squares = squares + g.sum(1).square().sum(1)
    return squares


def _linear_weighted(layer: nn.Linear, a: Tensor, g: Tensor) -> dict[str, Tensor]:
    flat_a, flat_g = a.reshape(-1, a.shape[-1]), g.reshape(-1, g.shape[-1])
    found = {"weight": flat_g.T @ flat_a}
    if layer.bias is not None:
        found["bias"] = flat_g.sum(0)
    return found


def _conv_squares(layer: nn.Conv2d, a: Tensor, g: Tensor) -> Tensor:
    squares = torch.zeros(g.shape[0], dtype=g.dtype, device=g.device)
    if layer.bias is not None and layer.bias.requires_grad:
        squares = squares + g.sum((2, 3)).square().sum(1)
    if not layer.weight.requires_grad:
        return squares
    how: dict[str, Any] = {"dilation": layer.dilation, "padding": layer.padding, "stride": layer.stride}
    for start in range(0, g.shape[0], CHUNK):
        part = slice(start, start + CHUNK)
        patches = F.unfold(a[part], layer.kernel_size, **how)  # examples, inputs x kernel, positions
        out = g[part].flatten(2)
        for group in range(layer.groups):
            ins = patches.unflatten(1, (layer.groups, -1))[:, group]
            outs = out.unflatten(1, (layer.groups, -1))[:, group]
            squares[part] += _product_squares(ins.transpose(1, 2), outs.transpose(1, 2))
    return squares


def _conv_weighted(layer: nn.Conv2d, a: Tensor, g: Tensor) -> dict[str, Tensor]:
    how = (layer.stride, layer.padding, layer.dilation, layer.groups)
    found = {"weight": conv2d_weight(a, layer.weight.shape, g, *how)}
    if layer.bias is not None:
        found["bias"] = g.sum((0, 2, 3))
    return found


def _embedding_squares(layer: nn.Embedding, a: Tensor, g: Tensor) -> Tensor:
    words, g = a.reshape(a.shape[0], -1), _without_padding(layer, a, g)
    same = (words[:, :, None] == words[:, None, :]).to(g.dtype)  # the same word twice adds up before it is squared
    return _rest(torch.bmm(g, g.transpose(1, 2)) * same)


def _embedding_weighted(layer: nn.Embedding, a: Tensor, g: Tensor) -> dict[str, Tensor]:
    g = _without_padding(layer, a, g)
    total = torch.zeros_like(layer.weight)
    return {"weight": total.index_add_(0, a.reshape(-1), g.reshape(-1, g.shape[-1]))}


def _without_padding(layer: nn.Embedding, a: Tensor, g: Tensor) -> Tensor:
    g = _positions(g)
    if layer.padding_idx is None:
        return g
    return g * (a.reshape(a.shape[0], -1, 1) != layer.padding_idx)


def _norm_products(layer: nn.LayerNorm, a: Tensor, g: Tensor) -> tuple[Tensor, Tensor]:
    """Every example's gradient of a LayerNorm: small enough to be formed."""
    shape = layer.normalized_shape
    scaled = g * F.layer_norm(a, shape, None, None, layer.eps)
    batch = g.shape[0]
    return scaled.reshape(batch, -1, *shape).sum(1), g.reshape(batch, -1, *shape).sum(1)


def _norm_squares(layer: nn.LayerNorm, a: Tensor, g: Tensor) -> Tensor:
    squares = torch.zeros(g.shape[0], dtype=g.dtype, device=g.device)
    own: tuple[Tensor | None, Tensor | None] = (layer.weight, layer.bias)
    for values, parameter in zip(_norm_products(layer, a, g), own, strict=True):
        if parameter is not None and parameter.requires_grad:
            squares = squares + _rest(values.square())
    return squares


def _norm_weighted(layer: nn.LayerNorm, a: Tensor, g: Tensor) -> dict[str, Tensor]:
    weight, bias = _norm_products(layer, a, g)
    return {"weight": weight.sum(0), "bias": bias.sum(0)}


RULES: dict[type[nn.Module], Rule] = {
    nn.Linear: Rule(_linear_squares, _linear_weighted),
    nn.Conv2d: Rule(_conv_squares, _conv_weighted),
    nn.Embedding: Rule(_embedding_squares, _embedding_weighted),
    nn.LayerNorm: Rule(_norm_squares, _norm_weighted),
}


def unknown_because(layer: nn.Module) -> str | None:
    """Why the fast path cannot take this layer, or None if it can."""
    name = type(layer).__name__
    if type(layer) not in RULES:  # a subclass may compute something else: not taken for its parent
        return f"{name} has no rule"
    if isinstance(layer, nn.Conv2d) and (layer.padding_mode != "zeros" or isinstance(layer.padding, str)):
        return f"{name} pads with {layer.padding_mode!r}, {layer.padding!r}"
    odd = isinstance(layer, nn.Embedding) and (layer.scale_grad_by_freq or layer.sparse)
    if odd or getattr(layer, "max_norm", None) is not None:
        return f"{name} rescales its own rows or gradients"
    return None
