"""`make hooks` and `make quick`: the hooks exist and find faults; what quick leaves out has not moved away."""

import importlib.util
import re
import shlex
import subprocess
import sys

import pytest
from pre_commit.clientlib import load_config

from testing import ROOT

HOOKS = {hook["id"]: hook for repo in load_config(ROOT / ".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]}
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def test_the_hooks_are_those_of_the_house_and_need_no_network():
    assert HOOKS.keys() == {"ruff-check", "ruff-format", "mypy", "stripped-notebooks"}
    assert {hook["language"] for hook in HOOKS.values()} <= {"system", "unsupported"}


@pytest.mark.parametrize("hook", HOOKS.values(), ids=HOOKS)
def test_what_a_hook_runs_is_there(hook):
    python, flag, module, *arguments = shlex.split(hook["entry"])
    assert (python, flag) == (".venv/bin/python", "-m")
    assert importlib.util.find_spec(module)
    paths = [word for word in arguments if "/" in word or (module == "mypy" and not word.startswith("-"))]
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_mypy_reads_the_same_rooms_as_in_make_lint():
    typed = re.search(r"^TYPED *:= *\$\(wildcard ([^)]*)\)", MAKEFILE, re.MULTILINE)
    assert typed
    assert shlex.split(HOOKS["mypy"]["entry"])[3:] == typed[1].split()


@pytest.mark.parametrize(
    ("hook", "file", "text"),
    [
        ("ruff-check", "one.py", "import os\n"),
        ("ruff-format", "one.py", "x  =  1\n"),
    ],
)
def test_a_hook_finds_a_fault(hook, file, text, tmp_path):
    (tmp_path / file).write_text(text, encoding="utf-8")
    command = [sys.executable, *shlex.split(HOOKS[hook]["entry"])[1:], file]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 1


def test_the_notebook_hook_picks_a_test():
    command = [sys.executable, *shlex.split(HOOKS["stripped-notebooks"]["entry"])[1:], "--collect-only"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "test_notebooks_are_stripped" in listed.stdout


def test_what_quick_leaves_out_exists():
    rooms = re.search(r"\$\(addprefix --ignore tests/,([^)]*)\)", MAKEFILE)
    assert rooms
    assert [room for room in rooms[1].split() if not (ROOT / "tests" / room).is_dir()] == []
