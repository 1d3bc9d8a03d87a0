"""The rules of the house, as far as a program can check them: see CONTRIBUTING.md."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import yaml

from testing import ROOT

#: Imports go one way: each room of dpcourse, and the rooms that it may import. Nobody imports the front door.
TOOLS = "checks guarantee randomness solve interrupts"
MAY_IMPORT = {
    "checks": "", "guarantee": "checks", "randomness": "checks", "solve": "checks", "interrupts": "checks",
    "sensitivity": TOOLS, "data": TOOLS, "audit": TOOLS, "privacy_loss": TOOLS, "scenes": TOOLS,
    "mechanisms": f"{TOOLS} privacy_loss sensitivity",
    "accounting": f"{TOOLS} privacy_loss mechanisms",
    "adaptive_ldp": f"{TOOLS} privacy_loss mechanisms",
    "sgd": f"{TOOLS} privacy_loss mechanisms accounting audit data",
    "attacks": f"{TOOLS} privacy_loss mechanisms data",
    "explore": f"{TOOLS} privacy_loss mechanisms sensitivity accounting audit data adaptive_ldp sgd attacks scenes",
    "tasks": f"{TOOLS} privacy_loss mechanisms sensitivity accounting audit data adaptive_ldp scenes",
}  # fmt: skip
#: A noun's operations build larger nouns of its own kind: the only lazy imports that close a circle, each on purpose.
OPERATIONS = {
    "dpcourse.privacy_loss.base": {
        "dpcourse.privacy_loss.composed", "dpcourse.privacy_loss.subsampled", "dpcourse.privacy_loss.either_direction",
    },
}  # fmt: skip
HEAVY = ["torch", "matplotlib", "ipywidgets", "scipy.stats", "pandas"]


def imported(source: str, package: list[str]) -> Iterator[list[str]]:
    """Every module that a file imports, anywhere in it, as a list of names; relative imports start at `package`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            base = base + (node.module.split(".") if node.module else [])
            yield from ([*base, alias.name] for alias in node.names)


def wrong_way_imports(path: str, source: str) -> Iterator[str]:
    """The imports of one file of dpcourse that go against the direction. `path` is relative to the repository."""
    parts = Path(path).with_suffix("").parts
    room = parts[1]
    allowed = {room, *MAY_IMPORT.get(room, "").split()}
    for name in imported(source, list(parts[:-1])):
        outside = name[0] in ("autograder", "tests", "testing", "benchmarks", "tools", "studies", "experiments")
        inside = name[0] == "dpcourse" and room != "__init__"
        if outside or (inside and (len(name) == 1 or name[1] not in allowed)):
            yield f"{path} imports {'.'.join(name)}"


def notebook_faults(notebook: dict[str, Any]) -> Iterator[str]:
    """What keeps a notebook from being committed."""
    if (notebook["nbformat"], notebook["nbformat_minor"]) < (4, 5):
        yield "is older than format 4.5, which gives every cell an id"
    ids = [cell.get("id") for cell in notebook["cells"]]
    if None in ids or len(set(ids)) < len(ids):
        yield "has a cell without an id of its own"
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    if any(cell["outputs"] or cell["execution_count"] is not None for cell in code):
        yield "has outputs or execution counts"


# As patterns, so that this file does not contain what it looks for.
HOSTS = [
    r"pypi\.(?:org|python\.org)",
    r"pythonhosted\.org",
    r"download\.pytorch\.org",
    r"(?:conda\.)?anaconda\.(?:org|com)",
    r"registry\.(?:npmjs|yarnpkg)\.",
    r"(?:deb|security)\.debian\.org",
    r"archive\.ubuntu\.com",
    r"mirrors?\.[a-z]+\.(?:org|com)",
]
PATHS = [
    r"/r[o]ot/[\w.]",
    r"/w[o]rk/(?:main|shared|\.)",
    r"/o[p]t/(?:wheels|pypi)",
    r"/home/(?!student\b|jovyan\b)\w+/",
    r"/Users/\w+/",
    r"[A-Z]:\\Users\\",
]
MACHINE = re.compile("|".join([*HOSTS, *(rf"(?<![\w.]){path}" for path in PATHS)]))


def machine_names(text: str) -> list[str]:
    """The addresses of package registries and the paths of somebody's machine in a text."""
    return [match.group() for match in MACHINE.finditer(text)]


def tracked(*patterns: str) -> list[Path]:
    """The files that git tracks and that are there."""
    command = ["git", "ls-files", "-z", "--", *patterns]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listing.returncode:
        pytest.skip(f"not a git checkout: {listing.stderr.strip()}")
    return [ROOT / name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_imports_go_one_way():
    files = {file.relative_to(ROOT).as_posix(): file for file in (ROOT / "dpcourse").rglob("*.py")}
    assert files
    sources = {path: file.read_text(encoding="utf-8") for path, file in files.items()}
    assert [fault for path, source in sorted(sources.items()) for fault in wrong_way_imports(path, source)] == []


def cycles(sources: dict[str, str], on_purpose: Mapping[str, set[str]] = MappingProxyType({})) -> list[str]:
    """The modules of these sources (name -> text) that import themselves by way of others; lazy imports count."""
    graph: dict[str, set[str]] = {}
    for name, source in sources.items():
        names = {".".join(parts) for parts in imported(source, name.split("."))}
        wanted = {one if one in sources else one.rpartition(".")[0] for one in names}  # a module, or a name in one
        graph[name] = wanted & (sources.keys() - {name}) - on_purpose.get(name, set())

    def reachable(start: str) -> set[str]:
        seen, waiting = set[str](), [start]
        while waiting:
            new = graph[waiting.pop()] - seen
            seen |= new
            waiting += new
        return seen

    return sorted(name for name in graph if name in reachable(name))


def modules_below(room: Path) -> dict[str, str]:
    """Module name -> source."""
    names = {file: ".".join(file.relative_to(ROOT).with_suffix("").parts) for file in room.rglob("*.py")}
    return {name.removesuffix(".__init__"): file.read_text(encoding="utf-8") for file, name in names.items()}


@pytest.mark.parametrize("package", ["dpcourse", "autograder"])
def test_no_module_imports_itself_by_way_of_others(package):
    """Lazy imports count, and so do those between rooms."""
    sources = modules_below(ROOT / package)
    sources.pop("dpcourse", None)  # the front door: a test above says that nobody inside imports it
    room = sources.pop("dpcourse.tasks", "")  # gathers names from its modules: none of them may import it
    assert [
        name for name, text in sources.items() if room and "from dpcourse.tasks import" in text and ".tasks." in name
    ] == []
    assert cycles(sources, OPERATIONS) == []


def test_nothing_but_the_tests_imports_the_tests():
    folders = ("dpcourse", "autograder", "tools", "testing", "studies", "experiments", "benchmarks")
    sources = {name: text for folder in folders for name, text in modules_below(ROOT / folder).items()}
    assert len(sources) > 300
    assert [
        name for name, text in sources.items() if any(one[0] == "tests" for one in imported(text, name.split(".")))
    ] == []


def test_the_search_for_cycles_can_fail():
    a, b, c = "import m.b", "def f():\n    from m import c", "from m.a import x"
    assert cycles({"m.a": a, "m.b": b, "m.c": c}) == ["m.a", "m.b", "m.c"]
    assert cycles({"m.a": a, "m.b": b, "m.c": ""}) == []


def test_import_dpcourse_is_light():
    probe = f"import sys, dpcourse; print([name for name in {HEAVY} if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (loaded.stdout.strip(), loaded.returncode) == ("[]", 0), loaded.stderr


def test_notebooks_are_stripped():
    found = []
    for file in tracked("lectures/*.ipynb", "exercises/*.ipynb"):
        notebook = json.loads(file.read_text(encoding="utf-8"))
        found += [f"{file.relative_to(ROOT)} {fault}" for fault in notebook_faults(notebook)]
    assert found == []


def test_no_machine_in_the_repository():
    found = []
    for file in tracked():
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture
        found += [f"{file.relative_to(ROOT)}: {name}" for name in machine_names(text)]
    assert found == []


def test_one_version_everywhere():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"] == version
    assert metadata.version("dpcourse") == version


@pytest.mark.parametrize(
    ("path", "source", "wrong"),
    [
        ("dpcourse/mechanisms/laplace.py", "import numpy\nfrom .base import M\nfrom ..checks import positive", False),
        ("dpcourse/mechanisms/laplace.py", "def f():\n    from ..scenes import paint", True),
        ("dpcourse/mechanisms/laplace.py", "from dpcourse import explore", True),
        ("dpcourse/explore/laplace.py", "from dpcourse import Laplace", True),
        ("dpcourse/privacy_loss/base.py", "def f():\n    from dpcourse.mechanisms import Laplace", True),
        ("dpcourse/accounting/__init__.py", "from ..sgd import train", True),
        ("dpcourse/sgd/train.py", "from dpcourse.mechanisms import Gaussian", False),
        ("dpcourse/sgd/train.py", "import dpcourse.scenes.painter", True),
        ("dpcourse/explore/laplace.py", "from ..scenes import Scene", False),
        ("dpcourse/scenes/scene.py", "from .. import explore", True),
        ("dpcourse/tasks/check.py", "from autograder import Grade", True),
        ("dpcourse/__init__.py", "from .mechanisms import Laplace", False),
    ],
)
def test_the_import_check_can_fail(path, source, wrong):
    assert bool(list(wrong_way_imports(path, source))) is wrong


CELL = {"cell_type": "code", "id": "a", "outputs": [], "execution_count": None, "source": "1"}


@pytest.mark.parametrize(
    ("minor", "cells", "complaint"),
    [
        (5, [CELL, {"cell_type": "markdown", "id": "b"}], ""),
        (4, [CELL], "older"),
        (5, [CELL, CELL], "without an id"),
        (5, [{**CELL, "id": None}], "without an id"),
        (5, [{**CELL, "outputs": [{}]}], "outputs"),
        (5, [{**CELL, "execution_count": 3}], "outputs"),
    ],
)
def test_the_notebook_check_can_fail(minor, cells, complaint):
    faults = " ".join(notebook_faults({"nbformat": 4, "nbformat_minor": minor, "cells": cells}))
    assert complaint in faults
    assert bool(faults) is bool(complaint)


@pytest.mark.parametrize(
    ("pieces", "found"),
    [
        (("https://pypi", ".org/simple"), True),
        (("https://files.python", "hosted.org/x"), True),
        (("cd /ro", "ot/course"), True),
        (("cd /ho", "me/ada/course"), True),
        (("--chdir /ho", "me/student/x"), False),
        (("https://example.org/ro", "ot/x"), False),
        (("/usr/bin", "/chromium"), False),
    ],
)
def test_the_machine_check_can_fail(pieces, found):
    assert bool(machine_names("".join(pieces))) is found
