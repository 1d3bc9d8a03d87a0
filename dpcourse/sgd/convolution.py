"""The rule of a convolution: per-example norms of its kernel's gradient, and their weighted sum. See ``layers``."""

from __future__ import annotations

import math
import threading
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.grad import conv2d_weight

from dpcourse.sgd.products import HUGE, AddWeighted, add_in_parts, norms_of, product_squares, scaled

CACHED = 2**18  # numbers of patches that are held at once, by each of torch's threads: what stays in a core's cache
HELD = threading.local()  # memory for patches and products, by thread


def _windows(layer: nn.Conv2d, a: Tensor) -> Tensor:
    """A view of what the kernel sees: (examples, high, wide, kernel, kernel, inputs). A row of the kernel lies in one
    piece that way."""
    top, side = (int(n) for n in layer.padding)  # numbers, not words: see unknown_because
    windows = a.permute(0, 2, 3, 1).contiguous()
    if top or side:
        windows = F.pad(windows, (0, 0, side, side, top, top))
    for dim in (1, 2):
        apart, size, step = layer.dilation[dim - 1], layer.kernel_size[dim - 1], layer.stride[dim - 1]
        windows = windows.unfold(dim, apart * (size - 1) + 1, step)[..., ::apart]
    return windows.permute(0, 1, 2, 4, 5, 3)


def _copied(windows: Tensor) -> Tensor:
    """The patches: (examples, positions, kernel x inputs)."""
    patches = _room("patches", windows.shape, windows).copy_(windows)
    return patches.view(len(windows), windows.shape[1] * windows.shape[2], -1)


def _most_often_seen(layer: nn.Conv2d) -> int:
    """In how many windows a pixel lies, at most."""
    sizes = zip(layer.kernel_size, layer.stride, layer.dilation, strict=True)
    return math.prod(-(-size * math.gcd(step, apart) // step) for size, step, apart in sizes)


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
    kept: Tensor | None = None
    if layer.weight.requires_grad:
        squares, added, kept = _of_the_kernel(layer, a, g)
    else:
        squares = added = g.new_zeros(len(g))
    if layer.bias is not None and layer.bias.requires_grad:
        squares = squares + norms_of(by_channel).square()
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
            short, shape = scaled(g, weights), layer.weight.shape
            how: Any = (layer.stride, layer.padding, layer.dilation, layer.groups)
            add_in_parts(
                onto["weight"],
                len(g),
                g.shape[2] * g.shape[3],
                lambda sum_, part: sum_.add_(conv2d_weight(a[part], shape, short[part], *how), alpha=factor),
            )

    return squares, added, add


def _one_plane(layer: nn.Conv2d, a: Tensor, g: Tensor) -> Tensor:
    """Every example's gradient of the kernel, for inputs of one channel: one convolution in which the examples are the
    groups, and stride and dilation change places (Rochette et al. 2019, arXiv:1912.06015). No patches are copied."""
    how: Any = {"stride": layer.dilation, "padding": layer.padding, "dilation": layer.stride, "groups": len(g)}
    made = F.conv2d(a.transpose(0, 1), g.flatten(0, 1)[:, None], **how)
    high, wide = layer.kernel_size
    return made[0, :, :high, :wide].reshape(*g.shape[:2], -1)  # a stride may leave a margin that no kernel saw


def _of_the_kernel(layer: nn.Conv2d, a: Tensor, g: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
    """Squared norms of every example's gradient of the kernel; what will be added up; the gradients, if kept."""
    channels, positions, kernel = g.shape[1], g.shape[2] * g.shape[3], layer.weight[0].numel()
    # One example's gradient against its own patches and outputs: formed where it is not much larger than they are ...
    form = layer.groups == 1 and channels * kernel <= 4 * positions * (channels + kernel)
    # ... and kept in place of its input and output where it is the smaller: memory takes longer than computing it anew.
    keep = form and channels * kernel <= a[0].numel() + g[0].numel()
    if keep and layer.in_channels == 1 and torch.backends.mkldnn.is_available():
        each = _one_plane(layer, a, g)
        return norms_of(each).square(), g.new_zeros(len(g)), each
    pieces = -(-len(g) * positions * kernel * layer.groups // (CACHED * torch.get_num_threads()))
    size = -(-len(g) // pieces)
    parts = [slice(start, start + size) for start in range(0, len(g), size)]
    if not form:
        found = [_by_group(layer, _copied(_windows(layer, a[part])), g[part].flatten(2)) for part in parts]
        return torch.cat([squares for squares, _ in found]), torch.cat([added for _, added in found]), None
    windows, norms = _windows(layer, a), g.new_empty(len(g))
    made = g.new_empty(len(g), channels, kernel) if keep else _room("products", (size, channels, kernel), g)
    for part in parts:
        out = g[part].flatten(2)
        each = made[part] if keep else made[: len(out)]
        torch.bmm(out, _copied(windows[part]), out=each)
        torch.linalg.vector_norm(each.flatten(1), dim=1, out=norms[part])
    if keep:
        return norms.square(), g.new_zeros(len(g)), made
    # By Cauchy and Schwarz the sum without signs is no more than the patches' length times that of g.
    lengths, outward = norms_of(a) * math.sqrt(_most_often_seen(layer)), norms_of(g)
    added = torch.where(torch.maximum(lengths, outward) < HUGE, lengths * outward, math.inf)
    return norms.square(), added, None


def _by_group(layer: nn.Conv2d, patches: Tensor, out: Tensor) -> tuple[Tensor, Tensor]:
    """The same without forming the gradients, one group of channels after the other."""
    squares, added = out.new_zeros(len(out)), out.new_zeros(len(out))
    inward = patches.unflatten(2, (-1, layer.groups, layer.in_channels // layer.groups))
    outward = out.unflatten(1, (layer.groups, -1))
    for group in range(layer.groups):
        found = product_squares(inward[:, :, :, group].flatten(2), outward[:, group].transpose(1, 2))
        squares += found[0]
        added += found[1]
    return squares, added
