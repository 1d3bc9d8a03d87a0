"""What a cell of Python defines and uses at its top level, as far as that can be read without running it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

LONGEST = 100_000  # characters that are parsed
#: In a program that does not parse: a name at the start of a line.
DEFINITION = re.compile(
    r"^(?:async[ \t]+)?(?:def|class)[ \t]+([A-Za-z_]\w*)|^([A-Za-z_]\w*)[ \t]*(?::[^=\n]*)?=(?!=)", re.MULTILINE
)
MAGIC = re.compile(r"^([ \t]*)[%!].*$", re.MULTILINE)
#: Cells that are Python in spite of their first line.
STILL_PYTHON = ("%%time", "%%capture", "%%prun")


@dataclass(frozen=True)
class Program:
    """``functions``: what can be called; ``variables``: other names that get a value; ``uses``: names that it reads."""

    functions: frozenset[str] = frozenset()
    variables: frozenset[str] = frozenset()
    uses: frozenset[str] = frozenset()


@lru_cache(maxsize=2_000)
def read_program(source: str) -> Program:
    """The names of a cell. A cell of another language (``%%writefile``, ``%%bash``) defines nothing."""
    if source.lstrip().startswith("%%") and not source.lstrip().startswith(STILL_PYTHON):
        return Program()
    try:
        tree = ast.parse(MAGIC.sub(r"\1pass", source)) if len(source) <= LONGEST else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        tree = None
    if tree is None:
        pairs = DEFINITION.findall(source)
        names = frozenset(function or variable for function, variable in pairs)
        return Program(names, frozenset(), frozenset())
    functions, variables = set[str](), set[str]()
    for name, value in _definitions(tree.body):
        (functions if _can_be_called(name, value) else variables).add(name)
    uses = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return Program(frozenset(functions), frozenset(variables - functions), frozenset(uses))


def _definitions(body: list[ast.stmt]) -> Iterator[tuple[str, ast.AST | None]]:
    """Each name that these statements define, and its value (None: part of a tuple, or unknown)."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                for part in ast.walk(target):
                    if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                        yield part.id, node.value if part is target else None
        for block in ("body", "orelse", "finalbody", "handlers"):
            if isinstance(node, ast.If | ast.Try | ast.With | ast.For | ast.While):
                for inner in getattr(node, block, []):
                    yield from _definitions(inner.body if isinstance(inner, ast.ExceptHandler) else [inner])


def _can_be_called(name: str, value: ast.AST | None) -> bool:
    """A function, a class, another name for one, or what wraps one; not a number, nor the function's own result."""
    if isinstance(value, ast.Call):
        return not (isinstance(value.func, ast.Name) and value.func.id == name)
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Name, ast.Attribute)
    return value is None or isinstance(value, kinds)
