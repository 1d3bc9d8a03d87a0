"""A course of somebody's own: the one of the guide's chapter, made by the very lines that stand there."""

from __future__ import annotations

import atexit
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from testing import ROOT
from testing.classroom import answering, solved
from tools.check_readme import SHELLS, Block, blocks

CHAPTER = "A course of your own"
HW = "hw1"

WRONG_TAIL = """
import math
from scipy.stats import norm

def log_tail(z):
    return norm.logsf(z)
"""
EQUAL_GROUPS = """
def draw_group(sizes, rng):
    return rng.integers(len(sizes))
"""


@cache
def programs() -> str:
    """A folder with the command ``dpcourse`` of this very tree, whatever is installed."""
    folder = Path(tempfile.mkdtemp(prefix="dpcourse-programs-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    program = folder / "dpcourse"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m autograder "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return str(folder)


def environment(**more: str) -> dict[str, str]:
    """As in a terminal in which this environment is active."""
    path = os.pathsep.join([programs(), str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **more}


def run(folder: Path, *words: str, code: int = 0, **more: str) -> str:
    """Run a program in this folder, in a fresh process; what it said."""
    done = subprocess.run(words, cwd=folder, env=environment(**more), capture_output=True, text=True, check=False)
    assert done.returncode == code, f"{words} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def chapter() -> list[Block]:
    """The blocks of the chapter."""
    guide = (ROOT / "autograder" / "README.md").read_text(encoding="utf-8")
    text = guide.partition(f"\n## {CHAPTER}\n")[2]
    return blocks(re.split(r"\n## ", text)[0])


def follow(folder: Path, chapter: list[Block]) -> Path:
    """Do what the blocks say, from this folder on: write the files, run the commands. The folder where it ends."""
    end = folder / "ended_in.txt"
    for block in chapter:
        if block.language in SHELLS:
            run(folder, "bash", "-euo", "pipefail", "-c", f"{block.text}\npwd > $ENDED_IN", ENDED_IN=str(end))
            folder = Path(end.read_text(encoding="utf-8").strip())
        else:
            name = re.match(r"# (\w+\.py)\n", block.text)
            assert name, f"the block of line {block.line} does not say which file it is"
            (folder / name[1]).write_text(block.text, encoding="utf-8")
    return folder


def notebook(course: Path, answers: Mapping[str, str] | None = None) -> dict[str, Any]:
    """What a student hands in: all right, but for these cells (task -> source)."""
    book = solved(course / "source" / HW / f"{HW}.ipynb")
    return answering(book, {f"{task}-solution": source for task, source in (answers or {}).items()})


def write_notebook(place: Path, book: dict[str, Any]) -> Path:
    """Write it."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(book), encoding="utf-8")
    return place
