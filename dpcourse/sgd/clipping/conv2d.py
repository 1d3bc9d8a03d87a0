"""The rule of a convolution: per-example norms of its kernel's gradient, and their weighted sum. See ``layers``."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.grad import conv2d_weight

from dpcourse.sgd.clipping.sums import LONG, LayerGradients, add_in_pieces, norms_of, product_norms, scaled

CACHED_NUMBERS = 2**18  # of patches, at once, by each of torch's threads: what stays in a core's cache
HELD_NUMBERS = 2**22  # of a whole lot's gradients: up to so many are written and read again faster than computed anew
Pair = tuple[int, int]


class Kernel(NamedTuple):
    """How a convolution looks at an image; of one dimension, at an image of one row."""

    size: Pair
    stride: Pair
    padding: Pair
    dilation: Pair
    groups: int
    inputs: int
    outputs: int

    @staticmethod
    def of(layer: nn.Conv1d | nn.Conv2d) -> Kernel:
        sizes: Any = (
            layer.kernel_size,
            layer.stride,
            layer.padding,
            layer.dilation,
        )  # padding: in numbers
        if isinstance(layer, nn.Conv1d):
            sizes = [(least, *size) for least, size in zip((1, 1, 0, 1), sizes, strict=True)]
        size, stride, padding, dilation = sizes
        return Kernel(size, stride, padding, dilation, layer.groups, layer.in_channels, layer.out_channels)

    @property
    def weight_shape(self) -> tuple[int, ...]:
        return self.outputs, self.inputs // self.groups, *self.size

    @property
    def most_often_seen(self) -> int:
        """In how many windows a pixel lies, at most."""
        sizes = zip(self.size, self.stride, self.dilation, strict=True)
        return math.prod(-(-size * math.gcd(step, apart) // step) for size, step, apart in sizes)

    def is_formed(self, positions: int) -> bool:
        """Whether every example's gradient is formed: where it is not much larger than its own patches and outputs."""
        seen = self.inputs * math.prod(self.size)
        return self.groups == 1 and self.outputs * seen <= 4 * positions * (self.outputs + seen)


def unknown_convolution(layer: nn.Conv1d | nn.Conv2d) -> str | None:
    """Why this convolution has no rule, or None if it has one: zeros around the image, told in numbers."""
    if layer.padding_mode != "zeros" or isinstance(layer.padding, str):
        return f"{type(layer).__name__} pads with {layer.padding_mode!r}, {layer.padding!r}"
    return None


def patches_of(kernel: Kernel, a: Tensor, shared: bool) -> tuple[Tensor, int]:
    """What the kernel sees, as a view: (examples, bands, wide, rows, kernel, inputs); and how many bands it is high.

    A band is as many rows of the image as the kernel moves on by. Where it stands next, it sees the same bands but one:
    shared, each is copied once, not once for every position that sees it. Otherwise a band is all that a position sees.
    """
    (high, wide), (down, right), (skip, apart) = kernel.size, kernel.stride, kernel.dilation
    top, side = kernel.padding
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


class KernelGradients(NamedTuple):
    """Norms, lengths and unsigned sums, see ``LayerGradients``; and the gradients band by band, if they are held."""

    norms: Tensor
    lengths: tuple[Tensor, ...] = ()
    unsigned: Tensor | None = None
    gradients: tuple[Tensor, ...] = ()


class ConvolutionRule:
    """Of a convolution with zeros around the image. Every clipper has one of its own, which keeps its memory: to get
    that from the system anew in every step takes longer than to fill it."""

    def __init__(self) -> None:
        self.memory: dict[str, Tensor] = {}

    def __call__(self, layer: nn.Conv1d | nn.Conv2d, a: Tensor, g: Tensor) -> LayerGradients:
        kernel = Kernel.of(layer)
        if a.dim() == 3:
            a, g = a.unsqueeze(2), g.unsqueeze(2)
        of_bias = g.sum((2, 3))
        of_kernel, positions = KernelGradients(norms_of(of_bias)), g.shape[2] * g.shape[3]
        norms = of_kernel.norms
        long = positions > LONG and not kernel.is_formed(positions)
        if layer.weight.requires_grad:
            of_kernel = self.of_kernel(kernel, a, g)
            counted = layer.bias is not None and layer.bias.requires_grad
            norms = torch.hypot(of_kernel.norms, norms) if counted else of_kernel.norms
        if of_kernel.gradients:
            a = g = of_bias  # no longer needed: let them go

        def add(weights: Tensor, onto: dict[str, Tensor], factor: float) -> None:
            if "bias" in onto:
                onto["bias"].addmv_(of_bias.T, weights, alpha=factor)
            if of_kernel.gradients:
                total = torch.cat([torch.mv(each.flatten(1).T, weights) for each in of_kernel.gradients])
                total = total.view(*kernel.size, -1, kernel.outputs).permute(3, 2, 0, 1)
                onto["weight"].view(kernel.weight_shape).add_(total, alpha=factor)
            elif "weight" in onto:
                shape, how = kernel.weight_shape, (kernel.stride, kernel.padding, kernel.dilation, kernel.groups)
                convolve = lambda sum_, g, a: sum_.add_(conv2d_weight(a, shape, g, *how), alpha=factor)  # noqa: E731
                lot = (scaled(g, weights), a)
                add_in_pieces(onto["weight"].view(shape), positions, lot, convolve, precise=long)

        # What is added up of a formed gradient is bounded by the length of all patches together: no two positions can
        # hold it all, and the partial sums are shorter by the root of their number.
        additions = 1 if long else math.isqrt(positions) if positions > LONG else positions
        return LayerGradients(norms, add, of_kernel.lengths, of_kernel.unsigned, additions)

    def of_kernel(self, kernel: Kernel, a: Tensor, g: Tensor) -> KernelGradients:
        """Every example's gradient of the kernel."""
        channels, high, wide = g.shape[1:]
        positions, size = high * wide, kernel.inputs // kernel.groups * math.prod(kernel.size)
        form = kernel.is_formed(positions)
        # Kept in place of its input and output where it is the smaller, or where all of them do not take much.
        own = channels * size
        keep = form and (own <= a.shape[1:].numel() + g.shape[1:].numel() or own * len(g) <= HELD_NUMBERS)
        seen, deep = patches_of(kernel, a, shared=form and kernel.dilation[0] == 1)
        at_once = -(-len(g) // -(-seen.numel() // (CACHED_NUMBERS * torch.get_num_threads())))
        pieces = [slice(start, start + at_once) for start in range(0, len(g), at_once)]
        if not form:
            columns = [self.by_group(kernel, seen[piece], g[piece]) for piece in pieces]
            norms, longest, unsigned = (torch.cat(column) for column in zip(*columns, strict=True))
            return KernelGradients(norms, (longest,), unsigned)
        outward, band = g.flatten(2).transpose(1, 2), seen.shape[3:].numel()
        widths = [min(band, size - band * i) for i in range(deep)]  # of the kernel's gradient, band by band
        gradients = tuple(g.new_empty(len(g), width, channels) for width in widths) if keep else ()
        lengths = g.new_empty(deep, len(g))
        for piece in pieces:
            bands, out = self.copied(seen[piece]), outward[piece]
            for i, width in enumerate(widths):
                # bands[:, i : i + high, :, :width] with all positions in a row, turned: a product as they lie
                shape, lie = (len(out), width, positions), (bands.stride(0), 1, band)
                patches = bands.as_strided(shape, lie, bands.storage_offset() + i * wide * band)
                each = gradients[i][piece] if keep else self.room("products", (len(out), width, channels), g)
                torch.bmm(patches, out, out=each)
                lengths[i, piece] = norms_of(each)
        norms = torch.linalg.vector_norm(lengths, dim=0)
        if keep:
            return KernelGradients(norms, gradients=gradients)
        # By Cauchy and Schwarz the sum without signs is no more than the patches' length times that of g.
        inward, out_length = norms_of(a) * math.sqrt(kernel.most_often_seen), norms_of(g)
        return KernelGradients(norms, (inward, out_length), inward * out_length)

    def by_group(self, kernel: Kernel, seen: Tensor, g: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The same without forming the gradients: every group of channels is a product of its own."""
        patches = self.copied(seen).flatten(1, 2)
        inward = patches.unflatten(2, (-1, kernel.groups, kernel.inputs // kernel.groups)).permute(0, 3, 1, 2, 4)
        outward = g.flatten(2).unflatten(1, (kernel.groups, -1)).transpose(2, 3)
        products = product_norms(inward.flatten(3).flatten(0, 1), outward.flatten(0, 1))
        norms, longest, unsigned = (values.view(-1, kernel.groups) for values in products)
        return torch.linalg.vector_norm(norms, dim=1), longest.amax(1), unsigned.sum(1)

    def copied(self, seen: Tensor) -> Tensor:
        """The patches in one piece: (examples, bands, wide, rows x kernel x inputs)."""
        copy = self.room("patches", seen.shape, seen)
        for into, row in zip(copy.unbind(3), seen.unbind(3), strict=True):  # torch copies long inner loops faster
            into.copy_(row)
        return copy.flatten(3)

    def room(self, name: str, shape: tuple[int, ...], like: Tensor) -> Tensor:
        """Memory that is used again in the next step."""
        size, memory = math.prod(shape), self.memory.get(name)
        if memory is None or memory.numel() < size or (memory.dtype, memory.device) != (like.dtype, like.device):
            memory = self.memory[name] = like.new_empty(size)
        return memory[:size].view(shape)
