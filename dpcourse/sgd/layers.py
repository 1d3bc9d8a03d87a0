"""Per-example gradient norms of one layer, without the per-example gradients.

A layer with input a and parameters W turns the gradient g of the loss with respect to its output into the gradient of
W. For one example that is a product of a and g, and the norm of a product can be had without forming it: a Linear
layer's is ||a|| ||g||, with T positions it needs two T x T matrices (Goodfellow 2015, arXiv:1510.01799; Li et al. 2022,
"Large Language Models Can Be Strong Differentially Private Learners", ICLR). Where a gradient is smaller than what it
is made of (a small kernel over many positions), it is formed after all, and kept. Each rule gives two things:

* ``squares(layer, a, g)``: the squared norm of every example's gradient over the layer's own parameters, and what it
  kept of the way there (or None);
* ``weighted(layer, a, g, weights, kept)``: the sum over examples of these gradients, each times its weight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.grad import conv2d_weight

CHUNK = 32  # examples whose patches are held at once: few enough to stay in the processor's cache
Kept = Tensor | None  # every example's gradient of the weight, where it was formed


@dataclass(frozen=True)
class Rule:
    """How one kind of layer is clipped."""

    squares: Callable[[Any, Tensor, Tensor], tuple[Tensor, Kept]]
    weighted: Callable[[Any, Tensor, Tensor, Tensor, Kept], dict[str, Tensor]]


def _rest(values: Tensor) -> Tensor:
    """The sum over everything but the examples."""
    return values.flatten(1).sum(1)


def _norms(values: Tensor) -> Tensor:
    """Every example's l2 norm, in one pass."""
    return torch.linalg.vector_norm(values.flatten(1), dim=1)


def _positions(values: Tensor) -> Tensor:
    """(examples, positions, features), whatever lay between."""
    return values.reshape(values.shape[0], -1, values.shape[-1])


def _product_squares(a: Tensor, g: Tensor) -> Tensor:
    """The squared Frobenius norm of sum_t g_t a_t^T for every example: by two T x T matrices, or by forming it."""
    positions = a.shape[1]
    if positions == 1:
        return (_norms(a) * _norms(g)).square()
    if positions * positions <= a.shape[2] * g.shape[2]:
        return _rest(torch.bmm(a, a.transpose(1, 2)) * torch.bmm(g, g.transpose(1, 2)))
    return _norms(torch.bmm(g.transpose(1, 2), a)).square()


def _scaled(g: Tensor, weights: Tensor) -> Tensor:
    """Each example's part of g times its weight."""
    return g * weights.reshape(-1, *[1] * (g.dim() - 1))


def _linear_squares(layer: nn.Linear, a: Tensor, g: Tensor) -> tuple[Tensor, Kept]:
    a, g = _positions(a), _positions(g)
    squares = _product_squares(a, g) if layer.weight.requires_grad else g.new_zeros(len(g))
    bias: Tensor | None = layer.bias
    if bias is not None and bias.requires_grad:
        squares = squares + g.sum(1).square().sum(1)
    return squares, None


def _linear_weighted(layer: nn.Linear, a: Tensor, g: Tensor, weights: Tensor, kept: Kept) -> dict[str, Tensor]:
    g = _scaled(g, weights)
    flat_a, flat_g = a.reshape(-1, a.shape[-1]), g.reshape(-1, g.shape[-1])
    found = {"weight": flat_g.T @ flat_a}
    if layer.bias is not None:
        found["bias"] = flat_g.sum(0)
    return found


def _patches(layer: nn.Conv2d, a: Tensor) -> Tensor:
    """What the kernel sees: (examples, positions, inputs x kernel)."""
    if layer.dilation != (1, 1):
        how: dict[str, Any] = {"dilation": layer.dilation, "padding": layer.padding, "stride": layer.stride}
        return F.unfold(a, layer.kernel_size, **how).transpose(1, 2)
    (high, wide), (down, across) = layer.kernel_size, layer.stride
    top, side = (int(n) for n in layer.padding)  # numbers, not words: see unknown_because
    windows = F.pad(a, (side, side, top, top)).unfold(2, high, down).unfold(3, wide, across)
    return windows.permute(0, 2, 3, 1, 4, 5).reshape(a.shape[0], windows.shape[2] * windows.shape[3], -1)


def _conv_squares(layer: nn.Conv2d, a: Tensor, g: Tensor) -> tuple[Tensor, Kept]:
    squares = g.new_zeros(len(g))
    if layer.bias is not None and layer.bias.requires_grad:
        squares = squares + g.sum((2, 3)).square().sum(1)
    if not layer.weight.requires_grad:
        return squares, None
    positions = g.shape[2] * g.shape[3]
    kernel = layer.weight[0].numel()
    # One example's gradient against its own patches and outputs: formed and kept where it is the smaller of the two.
    form = layer.groups == 1 and g.shape[1] * kernel <= 4 * positions * (g.shape[1] + kernel)
    kept = torch.empty(g.shape[0], g.shape[1], kernel, dtype=g.dtype, device=g.device) if form else None
    for start in range(0, g.shape[0], CHUNK):
        part = slice(start, start + CHUNK)
        patches, out = _patches(layer, a[part]), g[part].flatten(2)
        if kept is not None:
            torch.bmm(out, patches, out=kept[part])
            squares[part] += _norms(kept[part]).square()
            continue
        for group in range(layer.groups):
            ins = patches.unflatten(2, (layer.groups, -1))[:, :, group]
            outs = out.unflatten(1, (layer.groups, -1))[:, group]
            squares[part] += _product_squares(ins, outs.transpose(1, 2))
    return squares, kept


def _conv_weighted(layer: nn.Conv2d, a: Tensor, g: Tensor, weights: Tensor, kept: Kept) -> dict[str, Tensor]:
    found = {}
    if kept is not None:
        found["weight"] = torch.mv(kept.flatten(1).T, weights).view_as(layer.weight)
    else:
        how: Any = (layer.stride, layer.padding, layer.dilation, layer.groups)
        found["weight"] = conv2d_weight(a, layer.weight.shape, _scaled(g, weights), *how)
    if layer.bias is not None:
        found["bias"] = torch.mv(g.sum((2, 3)).T, weights)
    return found


def _embedding_squares(layer: nn.Embedding, a: Tensor, g: Tensor) -> tuple[Tensor, Kept]:
    words, g = a.reshape(a.shape[0], -1), _without_padding(layer, a, g)
    same = (words[:, :, None] == words[:, None, :]).to(g.dtype)  # the same word twice adds up before it is squared
    return _rest(torch.bmm(g, g.transpose(1, 2)) * same), None


def _embedding_weighted(layer: nn.Embedding, a: Tensor, g: Tensor, weights: Tensor, kept: Kept) -> dict[str, Tensor]:
    g = _scaled(_without_padding(layer, a, g), weights)
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


def _norm_squares(layer: nn.LayerNorm, a: Tensor, g: Tensor) -> tuple[Tensor, Kept]:
    squares = g.new_zeros(len(g))
    own: tuple[Tensor | None, Tensor | None] = (layer.weight, layer.bias)
    for values, parameter in zip(_norm_products(layer, a, g), own, strict=True):
        if parameter is not None and parameter.requires_grad:
            squares = squares + _norms(values).square()
    return squares, None


def _norm_weighted(layer: nn.LayerNorm, a: Tensor, g: Tensor, weights: Tensor, kept: Kept) -> dict[str, Tensor]:
    weight, bias = _norm_products(layer, a, g)
    return {"weight": torch.tensordot(weights, weight, 1), "bias": torch.tensordot(weights, bias, 1)}


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
