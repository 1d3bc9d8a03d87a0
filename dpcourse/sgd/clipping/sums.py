"""Norms of sums of products, example by example, with and without forming them: what the rules of the layers share."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

CANCELLED = 0.01  # of the sum without signs: below it, rounding (1e-7 of that sum) would show in the fifth digit
HUGE = 1e8  # inputs and gradients longer than this are done apart: the other factor may be too short to be squared
MANY = 2**14  # squares that single precision adds up to four digits, whatever they are
AT_ONCE = 2**13  # positions that are added up in one sum: beside a large one, many small ones are rounded away
LONG = 256  # positions of one example: more of them are added up in double precision, for the same reason
PIECE = 2**20  # numbers that are held in double precision at once
# (the examples' weights, the layer's part of the sum by parameter name, a factor): adds the weighted sum onto that part
AddWeighted = Callable[[Tensor, dict[str, Tensor], float], object]


class Found(NamedTuple):
    """What a rule finds out about the gradients of a layer's own parameters, one for every example of a lot."""

    norms: Tensor
    lengths: tuple[Tensor, ...]  # of what they are made of, inputs and gradients, if it must be shorter than HUGE
    added: Tensor | None  # what is added up, without signs: tells whether rounding can hurt; None if nothing cancels
    add: AddWeighted  # holds what it needs of inputs and gradients, and nothing more
    rounded: int = 1  # so many additions in a row, each of which rounds


def total_of(values: Tensor) -> Tensor:
    """The sum over everything but the examples."""
    return values.flatten(1).sum(1)


def norms_of(values: Tensor) -> Tensor:
    """Every example's l2 norm, in one pass. Very many numbers are added up in double precision: one by one, beside a
    large one, small ones would be rounded away."""
    values = values.flatten(1)
    kind = torch.float64 if values.shape[1] > MANY else values.dtype
    return torch.linalg.vector_norm(values, dim=1, dtype=kind).to(values.dtype)


def by_position(values: Tensor) -> Tensor:
    """(examples, positions, features), whatever lay between."""
    return values.reshape(values.shape[0], -1, values.shape[-1])


def product_norms(a: Tensor, g: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The Frobenius norm of sum_t g_t a_t^T for every example, by two T x T matrices or by forming it; the length of
    the longest a_t or g_t; and sum_t |g_t| |a_t|, which is what was added up."""
    lengths, outward = torch.linalg.vector_norm(a, dim=2), torch.linalg.vector_norm(g, dim=2)
    added = (lengths * outward).sum(1)
    longest = torch.maximum(lengths, outward).amax(1) if a.shape[1] else added
    if is_long(a.shape[1]) and a.dtype != torch.float64:
        return in_double(lambda a, g: product_norms(a, g)[0], a, g), longest, added
    if a.shape[1] ** 2 > a.shape[2] * g.shape[2]:
        return norms_of(torch.bmm(g.transpose(1, 2), a)), longest, added
    squares = total_of(torch.bmm(a, a.transpose(1, 2)) * torch.bmm(g, g.transpose(1, 2)))
    # If positions cancel, rounding remains: then the product is formed after all. An attacker could arrange for it.
    form = lambda rows: norms_of(torch.bmm(g[rows].transpose(1, 2), a[rows])).square()  # noqa: E731
    return mended(squares, added.square(), form), longest, added


def is_long(positions: int) -> bool:
    """Whether so many positions of one example are added up in double precision."""
    return positions > LONG


def in_double(compute: Callable[..., Tensor], *lot: Tensor) -> Tensor:
    """One number for each example, computed in double precision, a few examples at a time."""
    size = max(1, PIECE // max(1, max(values[:1].numel() for values in lot)))
    parts = zip(*(values.split(size) for values in lot), strict=True)
    return torch.cat([compute(*map(_double, part)) for part in parts]).to(lot[-1].dtype)


def _double(values: Tensor) -> Tensor:
    return values.double() if values.is_floating_point() else values


def mended(squares: Tensor, most: Tensor, form: Callable[[Tensor], Tensor]) -> Tensor:
    """Norms from their squares, which ``form`` computes anew where they are small against what was added up."""
    rows = torch.nonzero(squares < CANCELLED * most).flatten()
    if len(rows):
        squares[rows] = form(rows)
    return squares.clamp(min=0).sqrt()


def scaled(g: Tensor, weights: Tensor) -> Tensor:
    """Each example's part of g times its weight."""
    return g * weights.reshape(-1, *[1] * (g.dim() - 1))


def add_in_parts(
    total: Tensor, positions: int, lot: tuple[Tensor, ...], add: Callable[..., object], *, precise: bool
) -> None:
    """Let ``add(onto, *part)`` add the parts of a lot onto a total. Of several, each has a sum of its own first.

    Single precision holds 24 bits: were all positions of all examples added up one by one, a long gradient at the
    beginning would swallow the others' small ones, and whether it is there would move the sum by more than its length.
    The same can happen within one example that has very many positions: ``precise`` adds them up in double precision.
    """
    size, precise = max(1, AT_ONCE // max(1, positions)), precise and total.dtype != torch.float64
    if len(lot[0]) <= size and not precise:
        add(total, *lot)
        return
    for part in zip(*(values.split(size) for values in lot), strict=True):
        own = torch.zeros_like(total, dtype=torch.float64 if precise else None)
        add(own, *(map(_double, part) if precise else part))
        total += own
