"""Formulas that a student types, read without running them: a small grammar, and two ways to evaluate it.

Allowed: the task's symbols, numbers, + - * / **, brackets, and abs, exp, log, sqrt, min, max; for symbols that are
vectors also sum and prod over their coordinates. Nothing is ever passed to ``eval``: the text is parsed by ``ast`` and
every node is looked at. A formula is evaluated by numpy at many points at once, or by SymPy at one, with 60 digits.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse.tasks.complaints import Complaint

LONGEST = 400  # characters
LARGEST_POWER = 100
DIGITS = 60
FUNCTIONS = ("abs", "exp", "log", "sqrt", "min", "max", "sum", "prod")
_ELEMENTWISE = ("abs", "exp", "log", "sqrt")
_OPERATORS: dict[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}


@dataclass(frozen=True)
class Formula:
    """One node: ``kind`` is "number", "symbol", an operator or a function; ``vector`` says if it has coordinates."""

    kind: str
    parts: tuple[Formula, ...] = ()
    value: Any = None
    vector: bool = False
    text: str = ""

    def count(self, kind: str) -> int:
        """How often a function or an operator occurs."""
        return (self.kind == kind) + sum(part.count(kind) for part in self.parts)

    def size(self) -> int:
        """How many nodes it has."""
        return 1 + sum(part.size() for part in self.parts)

    def symbols(self) -> set[str]:
        """The symbols that occur."""
        found = {self.value} if self.kind == "symbol" else set()
        return found.union(*(part.symbols() for part in self.parts))


def parse(text: str, symbols: Mapping[str, bool], *, number: bool = True) -> Formula:
    """Read a formula in these symbols (name -> is it a vector?); what is not understood is a :class:`Complaint`.

    ``number``: it must be one number, and not a vector.
    """
    if len(text) > LONGEST:
        raise Complaint(f"`{text[:40]}...` has {len(text)} characters; {LONGEST} are enough for every line here.")
    if "^" in text:
        raise Complaint(f"In `{text}`: a power is written `**`, so x squared is `x**2`.")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Complaint(
            f"I cannot read `{text}`. Write products with `*` (2*b, not 2b), absolute values as abs(x), and close "
            f"every bracket."
        ) from None
    found = _node(tree.body, symbols, text, 0)
    if found.vector and number:
        raise Complaint(f"`{text}` is a vector, one number for each coordinate. Is a sum(...) or prod(...) missing?")
    return Formula(found.kind, found.parts, found.value, found.vector, text)


def _node(node: ast.expr, symbols: Mapping[str, bool], text: str, depth: int) -> Formula:
    if depth > 40:
        raise Complaint(f"`{text}` is nested too deeply.")
    if isinstance(node, ast.Constant) and type(node.value) in (int, float) and -1e12 < node.value < 1e12:  # type: ignore[operator]
        return Formula("number", value=node.value)
    if isinstance(node, ast.Name):
        if node.id in symbols:
            return Formula("symbol", value=node.id, vector=symbols[node.id])
        hint = " (e to the x is exp(x))" if node.id == "e" else ""
        raise Complaint(f"In `{text}`: I do not know `{node.id}`{hint}. The symbols are {', '.join(symbols)}.")
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        inner = _node(node.operand, symbols, text, depth + 1)
        return inner if isinstance(node.op, ast.UAdd) else Formula("negative", (inner,), vector=inner.vector)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        parts = tuple(_node(side, symbols, text, depth + 1) for side in (node.left, node.right))
        return Formula(_OPERATORS[type(node.op)], parts, vector=any(part.vector for part in parts))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        return _call(node.func.id, tuple(_node(one, symbols, text, depth + 1) for one in node.args), text)
    raise Complaint(f"In `{text}`: I understand only numbers, symbols, + - * / ** and {', '.join(FUNCTIONS)}.")


def _call(name: str, parts: tuple[Formula, ...], text: str) -> Formula:
    if name not in FUNCTIONS:
        raise Complaint(f"In `{text}`: I do not know the function `{name}`; there are {', '.join(FUNCTIONS)}.")
    if name in ("min", "max") and len(parts) > 1:
        return Formula(name, parts, vector=any(part.vector for part in parts))
    if len(parts) != 1:
        raise Complaint(f"In `{text}`: {name} takes one argument, and got {len(parts)}.")
    if name in _ELEMENTWISE:
        return Formula(name, parts, vector=parts[0].vector)
    if not parts[0].vector:
        raise Complaint(f"In `{text}`: {name}(...) runs over coordinates, and there is no vector in its brackets.")
    return Formula(name, parts)


class Undefined(Exception):
    """A formula has no value at some point. ``where`` says at which of the points."""

    def __init__(self, where: np.ndarray) -> None:
        super().__init__("undefined")
        self.where = where


Point = Mapping[str, np.ndarray]


def at_points(formula: Formula, points: Point) -> np.ndarray:
    """The values at many points, (points, 1): symbols are arrays (points, 1), vectors (points, coordinates)."""
    number = len(next(iter(points.values())))
    with np.errstate(all="ignore"):
        value = _evaluate(formula, lambda name: points[name], float, _NUMPY)
    return np.broadcast_to(value, (number, value.shape[1]))


def at_one_point(formula: Formula, point: Point) -> Any:
    """The value at one point of short decimals, as a SymPy number of 60 digits: 44 more than numpy's."""
    import sympy

    def exact(number: float) -> Any:
        return sympy.Float(str(number), DIGITS)

    def rational(name: str) -> np.ndarray:
        return np.array([[exact(float(one)) for one in np.ravel(point[name])]], dtype=object)

    # Not SymPy's Abs, Min, Max and exp: they first ask what is known about their arguments, which takes four times as
    # long as to compute. A power of e with 60 digits has 60 digits, too.
    e = sympy.E.evalf(DIGITS)
    quick: dict[str, Callable[[Any], Any]] = {"abs": abs, "exp": lambda x: e**x}
    each = {name: np.frompyfunc(quick.get(name) or getattr(sympy, name), 1, 1) for name in _ELEMENTWISE}
    rules: dict[str, Callable[..., Any]] = {
        **_NUMPY, **each,
        "min": lambda *parts: _reduced(np.frompyfunc(min, 2, 1), parts),
        "max": lambda *parts: _reduced(np.frompyfunc(max, 2, 1), parts),
    }  # fmt: skip
    return np.ravel(_evaluate(formula, rational, exact, rules, finite=False))[0]


def _reduced(pair: Any, parts: tuple[Any, ...]) -> Any:
    if len(parts) == 1:
        return pair.reduce(parts[0], axis=1, keepdims=True)
    value = parts[0]
    for part in parts[1:]:
        value = pair(value, part)
    return value


_NUMPY: dict[str, Callable[..., Any]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b,
    "**": lambda a, b: a**b, "negative": lambda a: -a,
    "abs": np.abs, "exp": np.exp, "log": np.log, "sqrt": np.sqrt,
    "sum": lambda a: np.sum(a, axis=1, keepdims=True), "prod": lambda a: np.prod(a, axis=1, keepdims=True),
    "min": lambda *parts: _reduced(np.minimum, parts), "max": lambda *parts: _reduced(np.maximum, parts),
}  # fmt: skip


def _evaluate(
    formula: Formula,
    symbol: Callable[[str], Any],
    number: Callable[[Any], Any],
    rules: Mapping[str, Any],
    finite: bool = True,
) -> Any:
    if formula.kind == "number":
        return np.array([[number(formula.value)]])
    if formula.kind == "symbol":
        return symbol(formula.value)
    parts = [_evaluate(part, symbol, number, rules, finite) for part in formula.parts]
    if formula.kind == "**" and finite and not formula.parts[1].symbols() and (np.abs(parts[1]) > LARGEST_POWER).any():
        raise Complaint(f"A power of more than {LARGEST_POWER}? Nothing here needs one.")
    value = rules[formula.kind](*parts)
    if finite and not np.isfinite(value).all():  # every step on the way, so that exact arithmetic later stays small
        raise Undefined(~np.isfinite(value).all(axis=1))
    return value
