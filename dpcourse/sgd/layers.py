"""Per-example gradient norms of one layer, without the per-example gradients.

A layer with input a and parameters W turns the gradient g of the loss with respect to its output into the gradient of
W. For one example that is a product of a and g, and the norm of a product can be had without forming it: a Linear
layer's is ||a|| ||g||, with T positions it needs two T x T matrices (Goodfellow 2015, arXiv:1510.01799; Li et al. 2022,
"Large Language Models Can Be Strong Differentially Private Learners", ICLR). Where a gradient is smaller than what it
is made of (a small kernel over many positions), it is formed after all, and kept.

A rule takes a layer, its input a and the gradient g, and gives the squared norm of every example's gradient over the
layer's own parameters; how much of each example is added up without its gradient being formed (the sum without signs,
which tells whether rounding can hurt; 0 where it is formed); and a function of the weights: the sum over examples of
these gradients, each times its weight. That function holds what it needs of a and g, and nothing more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.grad import conv2d_weight

from dpcourse.sgd.attention import Projection, unknown_attention

CANCELLED = 0.01  # of the sum without signs: below it, rounding (1e-7 of that sum) would show in the fifth digit
HUGE = 1e8  # inputs longer than this are done apart: their gradients may be too short to be squared
CHUNK = 32  # examples whose patches are held at once: few enough to stay in the processor's cache
Weighted = Callable[[Tensor], dict[str, Tensor]]  # the examples' weights -> the weighted sum of their gradients
Rule = Callable[[Any, Tensor, Tensor], tuple[Tensor, Tensor, Weighted]]


def _rest(values: Tensor) -> Tensor:
    """The sum over everything but the examples."""
    return values.flatten(1).sum(1)


def _norms(values: Tensor) -> Tensor:
    """Every example's l2 norm, in one pass."""
    return torch.linalg.vector_norm(values.flatten(1), dim=1)


def _positions(values: Tensor) -> Tensor:
    """(examples, positions, features), whatever lay between."""
    return values.reshape(values.shape[0], -1, values.shape[-1])


def _product_squares(a: Tensor, g: Tensor) -> tuple[Tensor, Tensor]:
    """The squared Frobenius norm of sum_t g_t a_t^T for every example, by two T x T matrices or by forming it; and
    sum_t |g_t| |a_t|, which is what was added up."""
    lengths = torch.linalg.vector_norm(a, dim=2)
    added = (lengths * torch.linalg.vector_norm(g, dim=2)).sum(1)
    added = torch.where(lengths.amax(1) < HUGE, added, math.inf) if a.shape[1] else added
    if a.shape[1] ** 2 > a.shape[2] * g.shape[2]:
        return _norms(torch.bmm(g.transpose(1, 2), a)).square(), added
    squares = _rest(torch.bmm(a, a.transpose(1, 2)) * torch.bmm(g, g.transpose(1, 2)))
    # If positions cancel, rounding remains: then the product is formed after all. An attacker could arrange for it.
    form = lambda rows: _norms(torch.bmm(g[rows].transpose(1, 2), a[rows])).square()  # noqa: E731
    return _mended(squares, added.square(), form), added


def _mended(squares: Tensor, most: Tensor, form: Callable[[Tensor], Tensor]) -> Tensor:
    """The squares, computed anew by ``form`` for the rows where they are small against what was added up."""
    rows = torch.nonzero(squares < CANCELLED * most).flatten()
    if len(rows):
        squares[rows] = form(rows)
    return squares


def _scaled(g: Tensor, weights: Tensor) -> Tensor:
    """Each example's part of g times its weight."""
    return g * weights.reshape(-1, *[1] * (g.dim() - 1))


def _linear(layer: nn.Linear, a: Tensor, g: Tensor) -> tuple[Tensor, Tensor, Weighted]:
    bias: Tensor | None = layer.bias
    counted = bias is not None and bias.requires_grad
    each = g  # every example's gradient of the bias
    if a.dim() == 2 and layer.weight.requires_grad:  # ||g||^2 ||a||^2 for the weight, ||g||^2 for the bias
        lengths = torch.linalg.vecdot(a, a)
        squares = torch.linalg.vecdot(g, g) * (lengths + 1 if counted else lengths)
        added = torch.where(lengths < HUGE**2, 0.0, math.inf)
    else:
        a, g = _positions(a), _positions(g)
        each = g.sum(1)
        squares, added = _product_squares(a, g) if layer.weight.requires_grad else (g.new_zeros(len(g)),) * 2
        squares = squares + _norms(each).square() if counted else squares

    def weighted(weights: Tensor) -> dict[str, Tensor]:
        found = {} if bias is None else {"bias": torch.mv(each.T, weights)}
        if layer.weight.requires_grad:
            found["weight"] = _scaled(g, weights).flatten(0, -2).T @ a.flatten(0, -2)
        return found

    return squares, added, weighted


def _patches(layer: nn.Conv2d, a: Tensor) -> Tensor:
    """What the kernel sees: (examples, positions, inputs x kernel)."""
    if layer.dilation != (1, 1):
        how: dict[str, Any] = {"dilation": layer.dilation, "padding": layer.padding, "stride": layer.stride}
        return F.unfold(a, layer.kernel_size, **how).transpose(1, 2)
    (high, wide), (down, across) = layer.kernel_size, layer.stride
    top, side = (int(n) for n in layer.padding)  # numbers, not words: see unknown_because
    windows = F.pad(a, (side, side, top, top)).unfold(2, high, down).unfold(3, wide, across)
    return windows.permute(0, 2, 3, 1, 4, 5).reshape(a.shape[0], windows.shape[2] * windows.shape[3], -1)


def _conv(layer: nn.Conv2d, a: Tensor, g: Tensor) -> tuple[Tensor, Tensor, Weighted]:
    by_channel = g.sum((2, 3))  # every example's gradient of the bias
    squares, added = g.new_zeros(len(g)), g.new_zeros(len(g))
    if layer.bias is not None and layer.bias.requires_grad:
        squares = squares + by_channel.square().sum(1)
    kept = _conv_products(layer, a, g, squares, added) if layer.weight.requires_grad else None
    if kept is not None:
        a = g = by_channel  # no longer needed: let them go

    def weighted(weights: Tensor) -> dict[str, Tensor]:
        found = {} if layer.bias is None else {"bias": torch.mv(by_channel.T, weights)}
        if kept is not None:
            found["weight"] = torch.mv(kept.flatten(1).T, weights).view_as(layer.weight)
        elif layer.weight.requires_grad:
            how: Any = (layer.stride, layer.padding, layer.dilation, layer.groups)
            found["weight"] = conv2d_weight(a, layer.weight.shape, _scaled(g, weights), *how)
        return found

    return squares, added, weighted


def _conv_products(layer: nn.Conv2d, a: Tensor, g: Tensor, squares: Tensor, added: Tensor) -> Tensor | None:
    """Add the kernel's squared norms to ``squares``; every example's gradient of the kernel where it was formed, and
    otherwise what was added up, to ``added``."""
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
            found = _product_squares(ins, outs.transpose(1, 2))
            squares[part] += found[0]
            added[part] += found[1]
    return kept


def _embedding(layer: nn.Embedding, a: Tensor, g: Tensor) -> tuple[Tensor, Tensor, Weighted]:
    words, g = a.reshape(a.shape[0], -1), _without_padding(layer, a, g)
    same = (words[:, :, None] == words[:, None, :]).to(g.dtype)  # the same word twice adds up before it is squared

    def weighted(weights: Tensor) -> dict[str, Tensor]:
        total = torch.zeros_like(layer.weight)
        return {"weight": total.index_add_(0, words.flatten(), _scaled(g, weights).flatten(0, 1))}

    def form(rows: Tensor) -> Tensor:
        found = []
        for row in rows:
            distinct, where = words[row].unique(return_inverse=True)
            found.append(g.new_zeros(len(distinct), g.shape[2]).index_add_(0, where, g[row]).square().sum())
        return torch.stack(found)

    lengths = torch.linalg.vector_norm(g, dim=2)
    squares = _rest(torch.bmm(g, g.transpose(1, 2)) * same)
    most = (lengths * torch.bmm(same, lengths[:, :, None])[:, :, 0]).sum(1)
    return _mended(squares, most, form), most.sqrt(), weighted


def _without_padding(layer: nn.Embedding, a: Tensor, g: Tensor) -> Tensor:
    g = _positions(g)
    if layer.padding_idx is None:
        return g
    return g * (a.reshape(a.shape[0], -1, 1) != layer.padding_idx)


def _layer_norm(layer: nn.LayerNorm, a: Tensor, g: Tensor) -> tuple[Tensor, Tensor, Weighted]:
    """Every example's gradient of a LayerNorm is small enough to be formed."""
    shape = (g.shape[0], -1, *layer.normalized_shape)
    each = {
        "weight": (g * F.layer_norm(a, layer.normalized_shape, None, None, layer.eps)).reshape(shape).sum(1),
        "bias": g.reshape(shape).sum(1),
    }
    own = {name: p for name, p in layer.named_parameters(recurse=False) if p.requires_grad}
    squares = torch.stack([_norms(each[name]).square() for name in own]).sum(0)
    formed = torch.zeros_like(squares)
    return squares, formed, lambda weights: {name: torch.tensordot(weights, each[name], 1) for name in own}


RULES: dict[type, Rule] = {
    nn.Linear: _linear,
    nn.modules.linear.NonDynamicallyQuantizableLinear: _linear,  # the last part of nn.MultiheadAttention
    Projection: _linear,
    nn.Conv2d: _conv,
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
