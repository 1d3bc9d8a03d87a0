"""The rule of a convolution: per-example norms of its kernel's gradient, and their weighted sum. See ``layers``."""

from __future__ import annotations

import math
import threading
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.grad import conv2d_weight

from dpcourse.sgd.products import HUGE, AddWeighted, norms_of, product_squares, scaled

# Numbers of patches that are held at once. For one thread, what stays in its cache; several wait for each other after
# every piece of work, so that they are given large ones.
CACHED, LARGE = 2**18, 2**21
HELD = threading.local()  # memory for patches and products, by thread


def _patches(layer: nn.Conv2d, a: Tensor) -> Tensor:
    """What the kernel sees: (examples, positions, kernel x inputs). A row of the kernel lies in one piece that way."""
    top, side = (int(n) for n in layer.padding)  # numbers, not words: see unknown_because
    windows = a.permute(0, 2, 3, 1).contiguous()
    if top or side:
        windows = F.pad(windows, (0, 0, side, side, top, top))
    for dim in (1, 2):
        apart, size, step = layer.dilation[dim - 1], layer.kernel_size[dim - 1], layer.stride[dim - 1]
        windows = windows.unfold(dim, apart * (size - 1) + 1, step)[..., ::apart]
    windows = windows.permute(0, 1, 2, 4, 5, 3)
    patches = _room("patches", windows.shape, a).copy_(windows)
    return patches.view(a.shape[0], windows.shape[1] * windows.shape[2], -1)


def _room(name: str, shape: tuple[int, ...], like: Tensor) -> Tensor:
    """Memory that is used again in the next step: to get it from the system anew takes longer than to fill it."""
    size, held = math.prod(shape), getattr(HELD, name, None)
    if held is None or held.numel() < size or held.dtype != like.dtype:
        held = like.new_empty(size)
        setattr(HELD, name, held)
    return held[:size].view(shape)


def convolution(layer: nn.Conv2d, a: Tensor, g: Tensor) -> tuple[Tensor, Tensor, AddWeighted]:
    """Of a two-dimensional convolution with zeros around the image."""
    by_channel = g.sum((2, 3))  # every example's gradient of the bias
    squares, added = g.new_zeros(len(g)), g.new_zeros(len(g))
    if layer.bias is not None and layer.bias.requires_grad:
        squares = squares + by_channel.square().sum(1)
    kept = _conv_products(layer, a, g, squares, added) if layer.weight.requires_grad else None
    if kept is not None:
        a = g = by_channel  # no longer needed: let them go

    def add(weights: Tensor, onto: dict[str, Tensor], factor: float) -> None:
        if "bias" in onto:
            onto["bias"].addmv_(by_channel.T, weights, alpha=factor)
        if kept is not None:
            total = torch.mv(kept.flatten(1).T, weights)
            total = total.view(layer.out_channels, *layer.kernel_size, -1).permute(0, 3, 1, 2)
            onto["weight"].add_(total, alpha=factor)
        elif "weight" in onto:
            how: Any = (layer.stride, layer.padding, layer.dilation, layer.groups)
            onto["weight"].add_(conv2d_weight(a, layer.weight.shape, scaled(g, weights), *how), alpha=factor)

    return squares, added, add


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
        squares += norms_of(each).square()
        return each
    numbers = CACHED if torch.get_num_threads() == 1 else LARGE
    chunk = min(len(g), 1 + numbers // (positions * kernel * layer.groups))
    made: Tensor | None = None
    if form:
        made = g.new_empty(len(g), channels, kernel) if keep else _room("products", (chunk, channels, kernel), g)
    for start in range(0, len(g), chunk):
        part = slice(start, start + chunk)
        patches, out = _patches(layer, a[part]), g[part].flatten(2)
        if made is not None:
            squares[part] += norms_of(torch.bmm(out, patches, out=made[part if keep else slice(len(out))])).square()
            if not keep:
                lengths = norms_of(patches)  # by Cauchy and Schwarz no less than the sum without signs
                added[part] = torch.where(lengths < HUGE, lengths * norms_of(out), math.inf)
            continue
        for group in range(layer.groups):
            ins = patches.unflatten(2, (-1, layer.groups, a.shape[1] // layer.groups))[:, :, :, group].flatten(2)
            outs = out.unflatten(1, (layer.groups, -1))[:, group]
            found = product_squares(ins, outs.transpose(1, 2))
            squares[part] += found[0]
            added[part] += found[1]
    return made if keep else None
