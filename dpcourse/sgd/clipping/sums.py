"""Norms and sums of per-example gradients in floating point: what every layer's rule shares.

Two things must hold of single precision, whatever an attacker hands in: a norm is not too short, and a sum does not
lose one example's part beside another's. Where rounding could break either, numbers are added up in double precision,
in pieces, or the example is done apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

CANCELLED = 0.01  # of the sum without signs: below it, rounding (1e-7 of that sum) would show in the fifth digit
HUGE = 1e8  # inputs and gradients longer than this are done apart: the other factor may be too short to be squared
MANY = 2**14  # squares that single precision adds up to four digits, whatever they are
AT_ONCE = 2**13  # positions that are added up in one sum: beside a large one, many small ones are rounded away
LONG = 256  # positions of one example: more of them are added up in double precision, for the same reason
PIECE = 2**20  # numbers that are held in double precision at once
TINY = torch.finfo(torch.float32).tiny
CANCELS = 300.0  # an example's terms, without their signs, in units of C: what rounding (6e-8) of them may cost
IN_A_ROW = 1e4  # the same times the number of additions in a row: rounded the same way, they cost 6e-4 C
# (the examples' weights, the layer's part of the sum by parameter name, a factor): adds the weighted sum onto that part
AddWeighted = Callable[[Tensor, dict[str, Tensor], float], object]


class LayerGradients(NamedTuple):
    """What a rule tells about the gradients of a layer's own parameters, one for every example of a lot."""

    norms: Tensor
    add: AddWeighted  # holds what it needs of inputs and gradients, and nothing more
    lengths: tuple[Tensor, ...] = ()  # of what they are made of, inputs and gradients, if it must be shorter than HUGE
    unsigned: Tensor | None = None  # what is added up, without signs: can rounding hurt? None if nothing cancels
    additions: int = 1  # so many in a row, each of which rounds


def formed(gradients: dict[str, Tensor]) -> LayerGradients:
    """The same of gradients that are there: by parameter name, one for every example."""
    norms = torch.linalg.vector_norm(
        torch.stack([norms_of(each.reshape(len(each), -1)) for each in gradients.values()]), dim=0
    )

    def add(weights: Tensor, onto: dict[str, Tensor], factor: float) -> None:
        for name, total in onto.items():
            total.add_(torch.tensordot(weights.to(total.dtype), gradients[name], 1), alpha=factor)

    return LayerGradients(norms, add)


def weigh(layers: Iterable[LayerGradients], clip_norm: float) -> tuple[Tensor, Tensor, Tensor]:
    """Norms over all layers together, weights min(1, C / norm), and which examples fit into one sum.

    All positions of all examples are added up at once. If those of one example are huge and cancel, rounding would
    erase the others; such an example, or one without a finite length, does not fit. (One number for each example:
    vectors so short that a call takes longer than its arithmetic, and numpy's calls are short.)
    """
    norms: Any = np.float32(0)
    longest = roughest = norms
    with np.errstate(all="ignore"):  # what overflows or is no number does not fit, and that is all there is to say
        for layer in layers:
            norms = np.hypot(norms, layer.norms.numpy(force=True))
            for length in layer.lengths:
                longest = np.maximum(longest, length.numpy(force=True))
            if layer.unsigned is not None:
                rough = layer.unsigned.numpy(force=True) * max(1 / CANCELS, layer.additions / IN_A_ROW)
                roughest = np.maximum(roughest, rough)
        if math.isfinite(clip_norm):
            weights = clip_norm / np.maximum(norms, clip_norm)
            # A weight below the smallest normal number has lost its digits: too coarse to shorten anything to C. An
            # infinite norm has the weight 0, and one that is no number a weight that is none.
            fits = (weights >= TINY) & (longest < HUGE) & (weights * roughest <= clip_norm)
        else:
            weights, fits = np.ones_like(norms), ~np.isnan(norms)
    where = layer.norms.device
    return torch.from_numpy(norms).to(where), torch.from_numpy(weights).to(where), torch.from_numpy(fits).to(where)


def norms_of(values: Tensor) -> Tensor:
    """Every example's l2 norm, in one pass. Very many numbers are added up in double precision: one by one, beside a
    large one, small ones would be rounded away."""
    values = values.flatten(1)
    precision = torch.float64 if values.shape[1] > MANY else values.dtype
    return torch.linalg.vector_norm(values, dim=1, dtype=precision).to(values.dtype)


def by_position(values: Tensor) -> Tensor:
    """(examples, positions, features), whatever lay between."""
    return values.reshape(values.shape[0], -1, values.shape[-1])


def product_norms(a: Tensor, g: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The Frobenius norm of sum_t g_t a_t^T for every example, by two T x T matrices or by forming it; the length of
    the longest a_t or g_t; and sum_t |g_t| |a_t|, which is what was added up."""
    lengths, outward = torch.linalg.vector_norm(a, dim=2), torch.linalg.vector_norm(g, dim=2)
    unsigned = (lengths * outward).sum(1)
    longest = torch.maximum(lengths, outward).amax(1) if a.shape[1] else unsigned
    if a.shape[1] > LONG and a.dtype != torch.float64:
        return in_double(lambda a, g: product_norms(a, g)[0], a, g), longest, unsigned
    if a.shape[1] ** 2 > a.shape[2] * g.shape[2]:
        return norms_of(torch.bmm(g.transpose(1, 2), a)), longest, unsigned
    squares = (torch.bmm(a, a.transpose(1, 2)) * torch.bmm(g, g.transpose(1, 2))).sum((1, 2))
    # If positions cancel, rounding remains: then the product is formed after all. An attacker could arrange for it.
    form = lambda rows: norms_of(torch.bmm(g[rows].transpose(1, 2), a[rows])).square()  # noqa: E731
    return mended(squares, unsigned.square(), form), longest, unsigned


def mended(squares: Tensor, largest: Tensor, form: Callable[[Tensor], Tensor]) -> Tensor:
    """Norms from their squares, which ``form`` computes anew where they are small against what was added up."""
    rows = torch.nonzero(squares < CANCELLED * largest).flatten()
    if len(rows):
        squares[rows] = form(rows)
    return squares.clamp(min=0).sqrt()


def in_double(compute: Callable[..., Tensor], *lot: Tensor) -> Tensor:
    """One number for each example, computed in double precision, a few examples at a time."""
    size = max(1, PIECE // max(1, max(values[:1].numel() for values in lot)))
    pieces = zip(*(values.split(size) for values in lot), strict=True)
    return torch.cat([compute(*map(_double, piece)) for piece in pieces]).to(lot[-1].dtype)


def _double(values: Tensor) -> Tensor:
    return values.double() if values.is_floating_point() else values


def scaled(g: Tensor, weights: Tensor) -> Tensor:
    """Each example's part of g times its weight."""
    return g * weights.reshape(-1, *[1] * (g.dim() - 1))


def add_in_pieces(
    total: Tensor, positions: int, lot: tuple[Tensor, ...], add: Callable[..., object], *, precise: bool
) -> None:
    """Let ``add(onto, *piece)`` add the pieces of a lot onto a total. Of several, each has a sum of its own first.

    Single precision holds 24 bits: were all positions of all examples added up one by one, a long gradient at the
    beginning would swallow the others' small ones, and whether it is there would move the sum by more than its length.
    The same can happen within one example that has very many positions: ``precise`` adds them up in double precision.
    """
    size, precise = max(1, AT_ONCE // max(1, positions)), precise and total.dtype != torch.float64
    if len(lot[0]) <= size and not precise:
        add(total, *lot)
        return
    for piece in zip(*(values.split(size) for values in lot), strict=True):
        own = torch.zeros_like(total, dtype=torch.float64 if precise else None)
        add(own, *(map(_double, piece) if precise else piece))
        total += own
