"""Formulas that are the same but for tidying up: the order of terms and factors, and what cancels.

``tidied`` writes a formula as a sum of products. Like terms are added up and equal factors cancel; within the brackets
of a function products are also multiplied out, so that exp(a*(b + c) - a*b) is exp(a*c). On the outermost level they
are not: from q*(x - 1) to q*x - q is a step of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dpcourse.tasks.proofs.formulas import Formula

#: A product: what is multiplied, each with its power.
Product = frozenset[tuple[Any, Fraction]]
#: A sum: products, each with its number in front.
Sum = dict[Product, Fraction]
ONE: Product = frozenset()
MOST_TERMS = 200  # products of long sums are left as they are


def tidied(formula: Formula, *, inside: bool = False) -> Sum:
    """The formula as a sum; ``inside`` the brackets of a function everything is multiplied out."""
    if formula.kind == "number":
        return _sum({ONE: Fraction(str(formula.value))})
    parts = [tidied(part, inside=inside or formula.kind in _CALLS) for part in formula.parts]
    if formula.kind in ("+", "-"):
        return _plus(parts[0], parts[1], Fraction(1 if formula.kind == "+" else -1))
    if formula.kind == "negative":
        return _plus({}, parts[0], Fraction(-1))
    if formula.kind == "*":
        return _times(parts[0], parts[1], inside)
    if formula.kind == "/":
        return _times(parts[0], _power(parts[1], Fraction(-1)), inside)
    if formula.kind == "**" and set(parts[1]) <= {ONE}:
        return _power(parts[0], parts[1].get(ONE, Fraction(0)))
    if formula.kind == "exp" and not parts[0]:
        return {ONE: Fraction(1)}
    if formula.kind == "abs":
        parts[0] = _without_sign(parts[0])
        if set(parts[0]) <= {ONE}:
            return parts[0]
    atom = formula.kind, formula.value, tuple(frozenset(part.items()) for part in parts)
    return {frozenset({(atom, Fraction(1))}): Fraction(1)}


_CALLS = ("abs", "exp", "log", "sqrt", "min", "max", "sum", "prod")


def _sum(terms: Mapping[Product, Fraction]) -> Sum:
    return {product: factor for product, factor in terms.items() if factor}


def _plus(one: Sum, other: Sum, sign: Fraction) -> Sum:
    return _sum({term: one.get(term, Fraction(0)) + sign * other.get(term, Fraction(0)) for term in {**one, **other}})


def _multiplied(one: Product, other: Product) -> Product:
    powers = dict(one)
    for what, power in other:
        powers[what] = powers.get(what, Fraction(0)) + power
    return frozenset((what, power) for what, power in powers.items() if power)


def _times(one: Sum, other: Sum, inside: bool) -> Sum:
    if inside and len(one) * len(other) <= MOST_TERMS:
        terms = Sum()
        for (left, factor), (right, times) in ((a, b) for a in one.items() for b in other.items()):
            terms = _plus(terms, {_multiplied(left, right): factor * times}, Fraction(1))
        return terms
    one, other = _as_product(one), _as_product(other)
    return _sum({_multiplied(left, right): a * b for left, a in one.items() for right, b in other.items()})


def _leading(terms: Sum) -> Fraction:
    """The number in front of the first product, in an order that does not depend on the way it was written."""
    return terms[min(terms, key=_spelling)]


def _spelling(part: Any) -> str:
    if isinstance(part, frozenset):
        return "{" + ",".join(sorted(_spelling(one) for one in part)) + "}"
    return "(" + ",".join(_spelling(one) for one in part) + ")" if isinstance(part, tuple) else str(part)


def _as_product(terms: Sum) -> Sum:
    """A sum of several products as one factor, with the number in front of its first product taken out."""
    if len(terms) < 2:
        return terms
    first = _leading(terms)
    factor = "factor", frozenset((product, number / first) for product, number in terms.items())
    return {frozenset({(factor, Fraction(1))}): first}


def _power(terms: Sum, power: Fraction) -> Sum:
    product = _as_product(terms)
    if not product or power.denominator != 1 or abs(power) > 20:
        return {frozenset({(("power", frozenset(terms.items()), power), Fraction(1))}): Fraction(1)}
    ((factors, number),) = product.items()
    return _sum({frozenset((what, times * power) for what, times in factors if power): number ** int(power)})


def _without_sign(terms: Sum) -> Sum:
    """What stands within bars, with a plus in front of its first product."""
    return _plus({}, terms, Fraction(-1)) if terms and _leading(terms) < 0 else terms
