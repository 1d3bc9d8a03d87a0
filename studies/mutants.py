"""Do the tests notice a wrong line? ``python -m studies.mutants`` (``make mutants``).

Plants random wrong lines, one at a time, in a copy of the repository: another comparison, ``or`` for ``and``, ``+`` for
``-``, a number that is somewhat larger, a condition turned round. The tests of the line's room have to fail, or to take
three times as long as ever. Prints what survived. Survivors that are no faults (the same behaviour, speed only) are
listed with their reason in ``mutants_excused.toml``.

Why a planter of our own: mutmut 3.8 leaves out properties and constants of modules, where half of what went unnoticed
was; cosmic-ray has neither a random sample nor a room's own tests. Both would run for days over all lines.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
EXCUSED = Path(__file__).with_name("mutants_excused.toml")
ROOMS = {
    "mechanisms": ("dpcourse/mechanisms", "tests/mechanisms"),
    "accounting": ("dpcourse/accounting", "tests/accounting"),
    "audit": ("dpcourse/audit", "tests/audit"),
    "adaptive_ldp": ("dpcourse/adaptive_ldp", "tests/adaptive_ldp"),
    "privacy_loss": ("dpcourse/privacy_loss", "tests/privacy_loss"),
    "sgd": ("dpcourse/sgd", "tests/sgd"),
    "judges": ("dpcourse/tasks/judges", "tests/tasks"),
}
OTHER: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div, ast.Pow: ast.Mult,
}  # fmt: skip
OTHER_NAME = {"max": "min", "min": "max", "maximum": "minimum", "minimum": "maximum", "any": "all", "all": "any"}


class Mutant(NamedTuple):
    """A file of a room with one expression replaced."""

    room: str
    file: str
    text: str  # of the whole file

    def __str__(self) -> str:
        sides = ((ROOT / self.file).read_text(encoding="utf-8").splitlines(), self.text.splitlines())
        return "\n".join(difflib.unified_diff(*sides, self.file, self.file, n=0, lineterm=""))

    def is_excused(self) -> bool:
        """Whether somebody has said why this one is no fault."""
        removed, added = (
            " ".join(line[1:].strip() for line in str(self).splitlines()[3:] if line[0] == s) for s in "-+"
        )
        known = tomllib.loads(EXCUSED.read_text(encoding="utf-8"))["survivor"]
        return (self.file, removed, added) in [(one["file"], one["line"], one["wrong"]) for one in known]


def changed(node: ast.AST) -> str | None:
    """Another expression in place of this one, or None."""
    text = ast.unparse(node)
    match node:
        case ast.Compare(ops=[op]) if type(op) in OTHER:
            return ast.unparse(ast.Compare(node.left, [OTHER[type(op)]()], node.comparators))  # type: ignore[list-item]
        case ast.BoolOp(op=op):
            return f"({ast.unparse(ast.BoolOp(OTHER[type(op)](), node.values))})"  # type: ignore[arg-type]
        case ast.BinOp(op=op) if type(op) in OTHER:
            return f"({ast.unparse(ast.BinOp(node.left, OTHER[type(op)](), node.right))})"  # type: ignore[arg-type]
        case ast.Constant(value=bool()):
            return str(not node.value)
        case ast.Constant(value=int()):
            return str(node.value + max(1, node.value // 2))
        case ast.Constant(value=float()):
            return repr(node.value * 1.5 or 0.01)
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            return f"({ast.unparse(node.operand)})"
        case ast.IfExp():
            return f"({ast.unparse(ast.IfExp(node.test, node.orelse, node.body))})"
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in OTHER_NAME:
            return text.removesuffix(name) + OTHER_NAME[name]
    return None


def expressions(node: ast.AST) -> Iterator[ast.AST]:
    """The expressions that count: no annotations, no words of errors, nothing inside a formatted text."""
    if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr):
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from expressions(child)


def mutants(room: str, file: str, source: bytes) -> Iterator[Mutant]:
    """Every wrong line that can be planted in a file."""
    starts = [0, *accumulate(map(len, source.splitlines(keepends=True)))]
    for node in expressions(ast.parse(source)):
        new = changed(node)
        if new is not None and isinstance(node, ast.expr):
            begin = starts[node.lineno - 1] + node.col_offset  # in bytes
            end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
            yield Mutant(room, file, (source[:begin] + new.encode() + source[end:]).decode())


def sampled(rooms: list[str], number: int, seed: int) -> list[Mutant]:
    """A random sample, as many from each room as from any other."""
    rng, sample = random.Random(seed), list[Mutant]()
    for i, room in enumerate(rooms):
        files = sorted((ROOT / ROOMS[room][0]).rglob("*.py"))
        known = [one for file in files for one in mutants(room, str(file.relative_to(ROOT)), file.read_bytes())]
        sample += rng.sample(known, min(len(known), (number + i) // len(rooms)))
    return sample


def passes(copy: Path, room: str, seconds: float | None = None) -> bool:
    """Whether the room's tests pass in this copy, within the time."""
    command = [
        sys.executable,
        "-B",
        "-m",
        "pytest",
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "-m",
        "not slow",
        ROOMS[room][1],
    ]
    try:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(copy), os.environ.get("PYTHONPATH", "")])}
        return not subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=seconds).returncode
    except subprocess.TimeoutExpired:
        return False


def survives(copy: Path, mutant: Mutant, seconds: float) -> bool:
    """Plant it, run the tests of its room, and take it out again."""
    before = (copy / mutant.file).read_bytes()
    (copy / mutant.file).write_text(mutant.text, encoding="utf-8")
    try:
        return passes(copy, mutant.room, seconds)
    finally:
        (copy / mutant.file).write_bytes(before)


def main(arguments: list[str]) -> None:
    asked = argparse.ArgumentParser(description="Plant wrong lines and see which of them the tests notice.")
    asked.add_argument("--number", type=int, default=60)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--rooms", nargs="*", choices=tuple(ROOMS), default=list(ROOMS))
    options = asked.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for name in filter(None, listing.split("\0")):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
        sample = sampled(options.rooms, options.number, options.seed)
        for room in options.rooms:
            start = time.perf_counter()
            if not passes(copy, room):
                raise SystemExit(f"{ROOMS[room][1]} fails without any wrong line")
            limit = 3 * (time.perf_counter() - start) + 30
            planted = [one for one in sample if one.room == room]
            survivors = [one for one in planted if survives(copy, one, limit)]
            excused = [one for one in survivors if one.is_excused()]
            print(f"{room}: {len(planted)} planted, {len(planted) - len(survivors)} noticed, {len(excused)} excused")
            print(*(one for one in survivors if one not in excused), sep="\n\n", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
