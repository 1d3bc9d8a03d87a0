"""Which files a box holds: Python, the packages that a homework needs, and the system libraries these ask for.

It is an allow list: what is not named here does not exist inside. The files are copied into memory once for all boxes
of a sandbox (``inside/furnish``), for two reasons. No path of this machine is mounted. And reading a file takes as long
whoever has read it before, since there is no disk to wait for: the page cache carries no message from one box to
another.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

from autograder.box.elf import linked

BOX = Path(__file__).resolve().parent
TASKS = BOX.parents[1] / "dpcourse" / "tasks"
PARTS = ("__init__", "kernel", "furnish", "first", "child", "cells", "answering")

#: What the sandbox sees of this project: path inside -> file here.
OURS = {
    "autograder/__init__.py": BOX.parent / "__init__.py",
    "autograder/box/__init__.py": BOX / "__init__.py",
    "autograder/box/wire.py": BOX / "wire.py",
    **{f"autograder/box/inside/{name}.py": BOX / "inside" / f"{name}.py" for name in PARTS},
    "dpcourse/__init__.py": BOX / "inside" / "stub_dpcourse.py",
    "dpcourse/accounting.py": BOX / "inside" / "stub_services.py",
    "dpcourse/data.py": BOX / "inside" / "stub_services.py",
    "dpcourse/tasks/__init__.py": BOX / "inside" / "stub_tasks.py",
    **{
        f"dpcourse/tasks/{name}.py": TASKS / f"{name}.py"
        for name in ("answers", "bounded", "complaints", "respondent", "student")
    },
}  # fmt: skip

#: Packages that students may use in every homework: import name -> distribution.
COURSE = {
    "scipy": "scipy", "pandas": "pandas", "torch": "torch", "sympy": "sympy", "matplotlib": "matplotlib",
    "sklearn": "scikit-learn", "tqdm": "tqdm",
}  # fmt: skip
ALWAYS = ("numpy", "ipython")  # what runs inside needs them
NEVER = frozenset({"dpcourse", "autograder"})

VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
BYTECODE = re.compile(rf".*\.{sys.implementation.cache_tag}\.pyc")
LEFT_OUT = frozenset({  # folders that no program loads code from
    "site-packages", "dist-packages", "test", "tests", "idlelib", "tkinter", "turtledemo", "ensurepip", "lib2to3",
    "pydoc_data", "include", "share", "sample_data", "licenses",
})  # fmt: skip
PROGRAMS = {"bin": {"torch_shm_manager"}}  # torch looks for it, and does not need to start it
USELESS = frozenset({
    ".pyi", ".h", ".hpp", ".cuh", ".cu", ".c", ".cpp", ".pyx", ".pxd", ".pxi", ".a", ".lib", ".exe", ".md", ".rst",
    ".html", ".map", ".orig", ".f", ".f90",
})  # fmt: skip
#: Libraries of a conda environment that others open by name only when they need them.
OPENED_BY_NAME = ("libmkl_*.so*", "libiomp5.so*")

#: Where things stand inside.
PYTHON_HOME, PACKAGES, LIBRARIES, OWN = "/python", "/packages/lib/site-packages", "/libraries", "/inside"
PYTHON = f"{PYTHON_HOME}/bin/{VERSION}"


class Library:
    """The files of one kind of box: ``files`` maps a path inside to the file here."""

    def __init__(self, packages: Collection[str] = ()) -> None:
        self.files: dict[str, Path] = {}
        self._add_python()
        for distribution in _with_requirements([*ALWAYS, *packages]).values():
            for place, path in _files_of(distribution):
                self._add(f"{PACKAGES}/{place}", path)
        self.files |= {f"{OWN}/{place}": path for place, path in OURS.items()}
        self._add_libraries()

    @property
    def size(self) -> int:
        """Bytes of all files, each in whole pages."""
        page = os.sysconf("SC_PAGE_SIZE")
        return sum(-(-path.stat().st_size // page) * page for path in self.files.values())

    def _add(self, inside: str, path: Path) -> None:
        """Take a file in if everybody on this machine may read it."""
        try:
            mode = path.stat().st_mode
        except OSError:
            return
        if stat.S_ISREG(mode) and mode & stat.S_IROTH:
            self.files[inside] = path

    def _add_python(self) -> None:
        base = Path(sys.base_prefix).resolve()
        self._add(PYTHON, base / "bin" / VERSION)
        for path in _below(base / "lib" / VERSION):
            if not path.parent.name.startswith("config-") and not path.name.startswith("_tkinter"):
                self._add(f"{PYTHON_HOME}/lib/{path.relative_to(base / 'lib')}", path)

    def _add_libraries(self) -> None:
        """The system libraries that programs and packages ask for, and those that these ask for."""
        waiting = [path for place, path in self.files.items() if ".so" in path.name or place == PYTHON]
        own = {path.name for path in waiting}
        seen = set[str]()
        while waiting:
            asks = linked(waiting.pop())
            if asks.interpreter:
                self._add(asks.interpreter, Path(asks.interpreter))
            for name in asks.needed:
                path = _system_library(name)
                if name not in seen and name not in own and path is not None:
                    seen.add(name)
                    self._add(f"{LIBRARIES}/{name}", path)
                    waiting.append(path)
        for pattern in OPENED_BY_NAME if (Path(sys.prefix) / "conda-meta").is_dir() else ():
            for path in Path(sys.prefix, "lib").glob(pattern):
                self._add(f"{LIBRARIES}/{path.name}", path)


@cache
def library(packages: tuple[str, ...]) -> Library:
    """The library with these distributions, looked for once."""
    return Library(packages)


def allowed_packages(source: Iterable[str]) -> dict[str, str]:
    """Import name -> distribution, of what students may use: the course's, and what the homework itself imports."""
    imported = set(re.findall(r"^\s*(?:import|from)\s+([A-Za-z_]\w*)", "\n".join(source), re.MULTILINE)) - NEVER
    here = metadata.packages_distributions()
    return COURSE | {name: here[name][0] for name in sorted(imported) if name in here and name not in COURSE}


def packages_for(source: Iterable[str], submissions: Iterable[bytes]) -> tuple[str, ...]:
    """The distributions that a homework's box holds: what is allowed, and named in its source or in a submission.

    A name is enough, wherever it stands: a package that nobody names would only take memory.
    """
    texts = list(source)
    allowed = allowed_packages(texts)
    left = {name: re.compile(rb"\b" + name.encode() + rb"\b") for name in allowed}
    left["pandas"] = re.compile(rb"\bpandas\b|\bimport data\b")  # the course's tables are pandas'
    wanted = set[str]()
    for text in (*(text.encode() for text in texts), *submissions):
        now = {name for name, pattern in left.items() if pattern.search(text)}
        wanted |= now
        for name in now:
            del left[name]
    return tuple(sorted(allowed[name] for name in wanted))


def _with_requirements(names: Iterable[str]) -> dict[str, metadata.Distribution]:
    """These distributions and all that they require, as far as they are installed."""
    every, waiting = dict[str, metadata.Distribution](), list(names)
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in every or name in NEVER:
            continue
        try:
            every[name] = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        requires = [line for line in every[name].requires or () if "extra ==" not in line]
        waiting += [re.match(r"[A-Za-z0-9._-]+", line)[0] for line in requires]  # type: ignore[index]
    return every


def _files_of(distribution: metadata.Distribution) -> Iterator[tuple[str, Path]]:
    """Path below the folder of packages, and the file: the folders and modules of a distribution."""
    tops = {file.parts[0] for file in distribution.files or () if file.parts[0] not in ("..", "__pycache__")}
    for top in sorted(tops):
        place = Path(str(distribution.locate_file(top)))
        for path in [place] if place.is_file() else _below(place):
            yield str(path.relative_to(place.parent)), path


def _below(folder: Path) -> Iterator[Path]:
    """The files of a folder that a program may load."""
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT)
        for name in sorted(files):
            if not name.endswith(".pyc") or BYTECODE.fullmatch(name):
                path = Path(place, name)
                if path.suffix not in USELESS and name in PROGRAMS.get(path.parent.name, (name,)):
                    yield path


def _system_library(name: str) -> Path | None:
    """The library of that name: Python's own folder goes before the linker's table."""
    for folder in dict.fromkeys((sys.base_prefix, sys.prefix)):
        path = Path(folder).resolve() / "lib" / name
        if path.is_file():
            return path
    return _linker_table().get(name)


@cache
def _linker_table() -> dict[str, Path]:
    """Name -> file, of every library that the dynamic linker knows."""
    program = next((path for path in ("/sbin/ldconfig", "/usr/sbin/ldconfig") if os.path.exists(path)), "ldconfig")
    listed = subprocess.run([program, "-p"], capture_output=True, text=True, check=True).stdout
    table = dict[str, Path]()
    for line in listed.splitlines():
        match = re.match(r"\s+(\S+) \((.*)\) => (\S+)$", line)
        if match and ("x86-64" in match[2] or "AArch64" in match[2] or "64bit" in match[2] or "x86" not in match[2]):
            table.setdefault(match[1], Path(match[3]))
    return table
