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
from collections.abc import Collection
from functools import cache
from pathlib import Path

from autograder.box.elf import linked
from autograder.box.packages import ALWAYS, files_below, files_of, with_requirements

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
        for name in ("answers", "complaints", "respondent", "student", "wording")
    },
}  # fmt: skip

VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
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
        for distribution in with_requirements([*ALWAYS, *packages]).values():
            for place, path in files_of(distribution):
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
        for path in files_below(base / "lib" / VERSION):
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
