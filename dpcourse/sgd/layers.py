"""Per-example gradient norms of one layer, without the per-example gradients.

A layer with input a and parameters W turns the gradient g of the loss with respect to its output into the gradient of
W. For one example that is a product of a and g, and the norm of a product can be had without forming it: a Linear
layer's is ||a|| ||g||, with T positions it needs two T x T matrices (Goodfellow 2015, arXiv:1510.01799; Li et al. 2022,
"Large Language Models Can Be Strong Differentially Private Learners", ICLR). Where a gradient is smaller than what it
is made of (a small kernel over many positions), it is formed after all.

A rule takes a layer, its input a and the gradient g, and gives the squared norm of every example's gradient over the
layer's own parameters; how much of each example is added up without its gradient being kept (the sum without signs,
which tells whether rounding can hurt; 0 where it is kept); and a function of the weights: the sum over examples of
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
_NOTHING_OR_ALL = torch.tensor(0.0), torch.tensor(math.inf)  # made once: a number would be made a tensor in every step
CACHED = 2**20  # numbers: so many of the patches are held at once, few enough to stay in the processor's cache
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
        lengths = _norms(a).square()
        squares = _norms(g).square() * (lengths + 1 if counted else lengths)
        added = torch.where(lengths < HUGE**2, *_NOTHING_OR_ALL)
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
    """What the kernel sees: (examples, positions, kernel x inputs). A row of the kernel lies in one piece that way."""
    top, side = (int(n) for n in layer.padding)  # numbers, not words: see unknown_because
    windows = a.permute(0, 2, 3, 1).contiguous()
    if top or side:
        windows = F.pad(windows, (0, 0, side, side, top, top))
    for dim in (1, 2):
        apart, size, step = layer.dilation[dim - 1], layer.kernel_size[dim - 1], layer.stride[dim - 1]
        windows = windows.unfold(dim, apart * (size - 1) + 1, step)[..., ::apart]
    return windows.permute(0, 1, 2, 4, 5, 3).reshape(a.shape[0], windows.shape[1] * windows.shape[2], -1)


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
            total = torch.mv(kept.flatten(1).T, weights)
            found["weight"] = total.view(layer.out_channels, *layer.kernel_size, -1).permute(0, 3, 1, 2)
        elif layer.weight.requires_grad:
            how: Any = (layer.stride, layer.padding, layer.dilation, layer.groups)
            found["weight"] = conv2d_weight(a, layer.weight.shape, _scaled(g, weights), *how)
        return found

    return squares, added, weighted


def _one_plane(layer: nn.Conv2d, a: Tensor, g: Tensor) -> Tensor:
    """Every example's gradient of the kernel, for inputs of one channel: one convolution in which the examples are the
    groups, and stride and dilation change places (Rochette et al. 2019, arXiv:1912.06015). No patches are copied."""
    how: Any = {"stride": layer.dilation, "padding": layer.padding, "dilation": layer.stride, "groups": len(g)}
    made = F.conv2d(a.transpose(0, 1), g.flatten(0, 1)[:, None], **how)
    high, wide = layer.kernel_size
    return made[0, :, :high, :wide].reshape(*g.shape[:2], -1)  # a stride may leave a margin that no kernel saw


def _conv_products(layer: nn.Conv2d, a: Tensor, g: Tensor, squares: Tensor, added: Tensor) -> Tensor | None:
    """Add the kernel's squared norms to ``squares``; every example's gradient of the kernel where it was kept, and
    otherwise what will be added up, to ``added``."""
    channels, positions, kernel = g.shape[1], g.shape[2] * g.shape[3], layer.weight[0].numel()
    # One example's gradient against its own patches and outputs: formed where it is not much larger than they are ...
    form = layer.groups == 1 and channels * kernel <= 4 * positions * (channels + kernel)
    # ... and kept in place of its input and output where it is the smaller: memory takes longer than computing it anew.
    keep = form and channels * kernel <= a[0].numel() + g[0].numel()
    if keep and layer.in_channels == 1 and torch.backends.mkldnn.is_available():
        each = _one_plane(layer, a, g)
        squares += _norms(each).square()
        return each
    chunk = min(len(g), 1 + CACHED // (positions * kernel))
    made = g.new_empty(len(g) if keep else chunk, channels, kernel) if form else None
    for start in range(0, len(g), chunk):
        part = slice(start, start + chunk)
        patches, out = _patches(layer, a[part]), g[part].flatten(2)
        if made is not None:
            squares[part] += _norms(torch.bmm(out, patches, out=made[part if keep else slice(len(out))])).square()
            if not keep:
                lengths = _norms(patches)  # by Cauchy and Schwarz no less than the sum without signs
                added[part] = torch.where(lengths < HUGE, lengths * _norms(out), math.inf)
            continue
        for group in range(layer.groups):
            ins = patches.unflatten(2, (-1, layer.groups, a.shape[1] // layer.groups))[:, :, :, group].flatten(2)
            outs = out.unflatten(1, (layer.groups, -1))[:, group]
            found = _product_squares(ins, outs.transpose(1, 2))
            squares[part] += found[0]
            added[part] += found[1]
    return made if keep else None


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
