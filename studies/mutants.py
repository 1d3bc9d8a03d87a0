"""Do the tests notice a wrong line? ``python -m studies.mutants`` (``make mutants``).

Plants random wrong lines, one at a time, in a copy of the repository: another comparison, ``or`` for ``and``, a number
half as large again. The tests of the line's room have to fail, or to take three times as long as without it. Prints
what survived; ``mutants_excused.toml`` says of some lines why no test has to notice them.

Why our own: mutmut 3.8 leaves out properties and constants of modules; cosmic-ray has no sample and no tests by room.
"""

from __future__ import annotations

import argparse
import ast
import difflib
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
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
EXCUSED = ROOT / "studies/mutants_excused.toml"
ROOMS = ("mechanisms", "accounting", "audit", "adaptive_ldp", "privacy_loss", "sgd", "tasks/judges")
OTHER: dict[type[ast.AST], Any] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div, ast.Pow: ast.Mult,
}  # fmt: skip
OTHER_NAME = {"max": "min", "min": "max", "maximum": "minimum", "minimum": "maximum", "any": "all", "all": "any"}


class Mutant(NamedTuple):
    """A file of a room with one expression replaced."""

    room: str
    file: str
    before: str  # the whole file
    after: str

    def __str__(self) -> str:
        before, after = self.before.splitlines(), self.after.splitlines()
        return "\n".join(difflib.unified_diff(before, after, self.file, n=0, lineterm=""))

    def is_excused(self) -> bool:
        """Whether somebody has said why no test has to notice this one."""
        lines = str(self).splitlines()[3:]
        removed, added = (" ".join(line[1:].strip() for line in lines if line[0] == sign) for sign in "-+")
        known = tomllib.loads(EXCUSED.read_text("utf-8"))["survivor"]
        return any((one["file"], one["line"], one["wrong"]) == (self.file, removed, added) for one in known)


def changed(node: ast.AST) -> str | None:
    """A wrong expression in place of this one, or None."""
    match node:
        case ast.Compare(left=left, ops=[op], comparators=right) if type(op) in OTHER:
            return f"({ast.unparse(ast.Compare(left, [OTHER[type(op)]()], right))})"
        case ast.BoolOp(op=op, values=values):
            return f"({ast.unparse(ast.BoolOp(OTHER[type(op)](), values))})"
        case ast.BinOp(left=left, op=op, right=other) if type(op) in OTHER:
            return f"({ast.unparse(ast.BinOp(left, OTHER[type(op)](), other))})"
        case ast.Constant(value=bool() as value):
            return str(not value)
        case ast.Constant(value=int() as value):
            return str(value + max(1, value // 2))
        case ast.Constant(value=float() as value):
            return repr(value * 1.5 or 0.01)
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            return f"({ast.unparse(node.operand)})"
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in OTHER_NAME:
            return ast.unparse(node).removesuffix(name) + OTHER_NAME[name]
    return None


def expressions(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions that count: no annotations, no words of errors, nothing inside a formatted text."""
    if isinstance(node, ast.expr):
        yield node
    for name, part in ast.iter_fields(node):
        if name not in ("annotation", "returns", "decorator_list"):
            for child in part if isinstance(part, list) else [part]:
                if isinstance(child, ast.AST) and not isinstance(child, ast.Raise | ast.Assert | ast.JoinedStr):
                    yield from expressions(child)


def sampled(room: str, number: int, seed: int) -> list[Mutant]:
    """Some of the wrong lines that can be planted in a room, at random."""
    known = list[Mutant]()
    for file in sorted((ROOT / "dpcourse" / room).rglob("*.py")):
        source = file.read_bytes()
        starts = [0, *accumulate(map(len, source.splitlines(keepends=True)))]
        for node in expressions(ast.parse(source)):
            if (new := changed(node)) is not None:
                begin = starts[node.lineno - 1] + node.col_offset  # in bytes
                end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
                after = source[:begin] + new.encode() + source[end:]
                known.append(Mutant(room, str(file.relative_to(ROOT)), source.decode(), after.decode()))
    return random.Random(f"{seed} {room}").sample(known, min(len(known), number))


def passes(copy: Path, room: str, seconds: float | None, *options: str) -> bool:
    """Whether the room's tests pass in this copy, within the time."""
    command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "-m", "not slow", *options, f"tests/{room}"]
    try:
        return subprocess.run(command, cwd=copy, capture_output=True, timeout=seconds).returncode in (0, 5)  # 5: none
    except subprocess.TimeoutExpired:
        return False


def survives(copy: Path, mutant: Mutant, seconds: float) -> bool:
    """Whether nobody notices: neither the tests that are known to run through the line nor all of the room."""
    (copy / mutant.file).write_text(mutant.after, encoding="utf-8")
    try:
        first, then = ("--testmon-forceselect", "--testmon-nocollect"), ("-p", "no:testmon")
        return passes(copy, mutant.room, seconds, *first) and passes(copy, mutant.room, seconds, *then)
    finally:
        (copy / mutant.file).write_text(mutant.before, encoding="utf-8")


def main(arguments: list[str]) -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("--number", type=int, default=60)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--rooms", nargs="*", choices=ROOMS, default=ROOMS)
    options = asked.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for name in listing.rstrip("\0").split("\0"):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
        for i, room in enumerate(options.rooms):
            start = time.perf_counter()
            assert passes(copy, room, None, "--testmon"), f"tests/{room} fails without any wrong line"
            limit = 3 * (time.perf_counter() - start) + 30
            planted = sampled(room, (options.number + i) // len(options.rooms), options.seed)
            survivors = [one for one in planted if survives(copy, one, limit)]
            excused = [one for one in survivors if one.is_excused()]
            print(f"{room}: {len(planted) - len(survivors)} of {len(planted)} noticed, {len(excused)} more excused")
            print(*(one for one in survivors if one not in excused), sep="\n", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
