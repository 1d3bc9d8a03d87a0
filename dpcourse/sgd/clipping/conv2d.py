"""The rule of a convolution: per-example norms of its kernel's gradient, and their weighted sum. See ``layers``."""

from __future__ import annotations

import math
import threading
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.grad import conv2d_weight

from dpcourse.sgd.clipping.sums import Found, add_in_parts, is_long, norms_of, product_norms, scaled

CACHED = 2**18  # numbers of patches that are held at once, by each of torch's threads: what stays in a core's cache
KEPT = 2**22  # numbers of gradients, of a whole lot, that are written and read again faster than computed anew
HELD = threading.local()  # memory for patches and products, by thread


def _seen(layer: nn.Conv2d, a: Tensor, shared: bool) -> tuple[Tensor, int]:
    """What the kernel sees, as a view: (examples, bands, wide, rows, kernel, inputs); and how many bands it is high.

    A band is as many rows of the image as the kernel moves on by. Where it stands next, it sees the same bands but one:
    shared, each is copied once, not once for every position that sees it. Otherwise a band is all that a position sees.
    """
    (high, wide), (down, right), (skip, apart) = layer.kernel_size, layer.stride, layer.dilation
    top, side = (int(n) for n in layer.padding)  # numbers, not words: see unknown_because
    count = (a.shape[2] + 2 * top - skip * (high - 1) - 1) // down + 1
    deep, rows, bottom = 1, high, top
    if shared:
        deep, rows = -(-high // down), down
        count += deep - 1
        bottom = max(0, count * down - top - a.shape[2])  # some only fill up the last band: they are never multiplied
    image = a.permute(0, 2, 3, 1)  # copied, a row of the kernel lies in one piece that way
    if top or side or bottom:
        image = F.pad(image, (0, 0, side, side, top, bottom))
    across = (image.shape[2] - apart * (wide - 1) - 1) // right + 1
    each, y, x, channel = image.stride()
    shape = (len(a), count, across, rows, wide, a.shape[1])
    return image.as_strided(shape, (each, y * down, x * right, y * skip, x * apart, channel)), deep


def _copied(seen: Tensor) -> Tensor:
    """The same in one piece: (examples, bands, wide, rows x kernel x inputs)."""
    copied = _room("seen", seen.shape, seen)
    for into, row in zip(copied.unbind(3), seen.unbind(3), strict=True):  # torch copies long inner loops faster
        into.copy_(row)
    return copied.flatten(3)


def _most_often_seen(layer: nn.Conv2d) -> int:
    """In how many windows a pixel lies, at most."""
    sizes = zip(layer.kernel_size, layer.stride, layer.dilation, strict=True)
    return math.prod(-(-size * math.gcd(step, apart) // step) for size, step, apart in sizes)


def _room(name: str, shape: tuple[int, ...], like: Tensor) -> Tensor:
    """Memory that is used again in the next step: to get it from the system anew takes longer than to fill it."""
    size, held = math.prod(shape), getattr(HELD, name, None)
    if held is None or held.numel() < size or (held.dtype, held.device) != (like.dtype, like.device):
        held = like.new_empty(size)
        setattr(HELD, name, held)
    return held[:size].view(shape)


def convolution(layer: nn.Conv2d, a: Tensor, g: Tensor) -> Found:
    """Of a two-dimensional convolution with zeros around the image."""
    by_channel = g.sum((2, 3))  # every example's gradient of the bias
    kept: list[Tensor] | None = None
    norms, added, positions = norms_of(by_channel), None, g.shape[2] * g.shape[3]
    lengths: tuple[Tensor, ...] = ()
    long = is_long(positions) and not _is_formed(layer, g)
    if layer.weight.requires_grad:
        of_kernel, lengths, added, kept = _of_the_kernel(layer, a, g)
        norms = torch.hypot(of_kernel, norms) if layer.bias is not None and layer.bias.requires_grad else of_kernel
    if kept is not None:
        a = g = by_channel  # no longer needed: let them go

    def add(weights: Tensor, onto: dict[str, Tensor], factor: float) -> None:
        if "bias" in onto:
            onto["bias"].addmv_(by_channel.T, weights, alpha=factor)
        if kept is not None:
            total = torch.cat([torch.mv(each.flatten(1).T, weights) for each in kept])
            total = total.view(*layer.kernel_size, -1, layer.out_channels).permute(3, 2, 0, 1)
            onto["weight"].add_(total, alpha=factor)
        elif "weight" in onto:
            short, shape = scaled(g, weights), layer.weight.shape
            how: Any = (layer.stride, layer.padding, layer.dilation, layer.groups)
            convolve = lambda sum_, g, a: sum_.add_(conv2d_weight(a, shape, g, *how), alpha=factor)  # noqa: E731
            add_in_parts(onto["weight"], positions, (short, a), convolve, precise=long)

    # What is added up of a formed gradient is bounded by the length of all patches together: no two positions can hold
    # it all, and the partial sums are shorter by the root of their number.
    return Found(norms, lengths, added, add, 1 if long else math.isqrt(positions) if is_long(positions) else positions)


def _is_formed(layer: nn.Conv2d, g: Tensor) -> bool:
    """Whether every example's gradient is formed: where it is not much larger than its own patches and outputs are."""
    channels, positions = g.shape[1], g.shape[2] * g.shape[3]
    kernel = layer.in_channels * math.prod(layer.kernel_size)
    return layer.groups == 1 and channels * kernel <= 4 * positions * (channels + kernel)


def _of_the_kernel(
    layer: nn.Conv2d, a: Tensor, g: Tensor
) -> tuple[Tensor, tuple[Tensor, ...], Tensor | None, list[Tensor] | None]:
    """Norms, lengths and sums of every example's gradient of the kernel, see ``Found``; and the gradients, if kept."""
    channels, high, wide = g.shape[1:]
    positions, kernel = high * wide, layer.in_channels // layer.groups * math.prod(layer.kernel_size)
    form = _is_formed(layer, g)
    # Kept in place of its input and output where it is the smaller, or where all of them do not take much.
    own = channels * kernel
    keep = form and (own <= a.shape[1:].numel() + g.shape[1:].numel() or own * len(g) <= KEPT)
    seen, deep = _seen(layer, a, shared=form and layer.dilation[0] == 1)
    pieces = -(-seen.numel() // (CACHED * torch.get_num_threads()))
    size = -(-len(g) // pieces)
    parts = [slice(start, start + size) for start in range(0, len(g), size)]
    if not form:
        found = [_by_group(layer, _copied(seen[part]).flatten(1, 2), g[part].flatten(2)) for part in parts]
        norms, longest, added = (torch.cat(values) for values in zip(*found, strict=True))
        return norms, (longest,), added, None
    outward, band = g.flatten(2).transpose(1, 2), seen.shape[3:].numel()
    widths = [min(band, kernel - band * i) for i in range(deep)]  # of the kernel's gradient, band by band
    made = [g.new_empty(len(g), width, channels) for width in widths] if keep else []
    lengths = g.new_empty(deep, len(g))
    for part in parts:
        bands, out = _copied(seen[part]), outward[part]
        for i, width in enumerate(widths):
            # bands[:, i : i + high, :, :width] with all positions in a row, turned: a product of matrices as they lie
            shape, lie = (len(out), width, positions), (bands.stride(0), 1, band)
            patches = bands.as_strided(shape, lie, bands.storage_offset() + i * wide * band)
            each = made[i][part] if keep else _room("products", (len(out), width, channels), g)
            torch.bmm(patches, out, out=each)
            lengths[i, part] = norms_of(each)
    norms = torch.linalg.vector_norm(lengths, dim=0)
    if keep:
        return norms, (), None, made
    # By Cauchy and Schwarz the sum without signs is no more than the patches' length times that of g.
    inward, out_length = norms_of(a) * math.sqrt(_most_often_seen(layer)), norms_of(g)
    return norms, (inward, out_length), inward * out_length, None


def _by_group(layer: nn.Conv2d, patches: Tensor, out: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The same without forming the gradients: every group of channels is a product of its own."""
    inward = patches.unflatten(2, (-1, layer.groups, layer.in_channels // layer.groups)).permute(0, 3, 1, 2, 4)
    outward = out.unflatten(1, (layer.groups, -1)).transpose(2, 3)
    found = product_norms(inward.flatten(3).flatten(0, 1), outward.flatten(0, 1))
    norms, longest, added = (values.view(-1, layer.groups) for values in found)
    return torch.linalg.vector_norm(norms, dim=1), longest.amax(1), added.sum(1)
