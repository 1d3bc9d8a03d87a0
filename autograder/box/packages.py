"""Which packages a box holds: what the course allows, as far as somebody names it, and what that requires."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path

#: Packages that students may use in every homework: import name -> distribution.
COURSE = {
    "scipy": "scipy", "pandas": "pandas", "torch": "torch", "sympy": "sympy", "matplotlib": "matplotlib",
    "sklearn": "scikit-learn", "tqdm": "tqdm",
}  # fmt: skip
ALWAYS = ("numpy", "ipython")  # what runs inside needs them
NEVER = frozenset({"dpcourse", "autograder"})

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


def imported_in(source: Iterable[str]) -> set[str]:
    """The top names of what these cells import."""
    return set(re.findall(r"^\s*(?:import|from)\s+([A-Za-z_]\w*)", "\n".join(source), re.MULTILINE)) - NEVER


def packages_named(names: Iterable[str]) -> dict[str, str]:
    """Import name -> distribution, of these libraries, each by the name that one imports or that pip installs.

    What is not installed is left out.
    """
    here = metadata.packages_distributions()
    packages = dict[str, str]()
    for name in names:
        by_pip = [top for top, owners in here.items() if _canonical(name) in map(_canonical, owners)]
        for top in [name] if name in here else by_pip:
            if top not in NEVER:
                packages[top] = here[top][0] if top == name else name
    return packages


def allowed_packages(source: Iterable[str], names: Iterable[str] = ()) -> dict[str, str]:
    """Import name -> distribution, of what students may use.

    That is the list for every course, what the homeworks import themselves, and what the instructor has named.
    """
    return packages_named(sorted(imported_in(source))) | packages_named(names) | COURSE


def packages_for(
    source: Iterable[str], submissions: Iterable[bytes], allowed: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """The distributions that a homework's box holds: what is allowed, and named in its source or in a submission.

    A name is enough, wherever it stands: a package that nobody names would only take memory.
    """
    texts = list(source)
    allowed = allowed_packages(texts) if allowed is None else allowed
    left = {name: re.compile(rb"\b" + re.escape(name.encode()) + rb"\b") for name in allowed}
    if "pandas" in allowed:
        left["pandas"] = re.compile(rb"\bpandas\b|\bimport data\b")  # the course's tables are pandas'
    wanted = set[str]()
    for text in (*(text.encode() for text in texts), *submissions):
        now = {name for name, pattern in left.items() if pattern.search(text)}
        wanted |= now
        for name in now:
            del left[name]
    return tuple(sorted({allowed[name] for name in wanted}))


def is_copied(name: str, distribution: str) -> bool:
    """Would a box with this distribution hold the module of this name? Not if pip only left a link to its files."""
    try:
        files = files_of(metadata.distribution(distribution))
        return any(re.split(r"[/.]", place)[0] == name and path.stat().st_mode & stat.S_IROTH for place, path in files)
    except (metadata.PackageNotFoundError, OSError):
        return False


def places_of(packages: Iterable[str]) -> dict[str, Path]:
    """Name -> file or folder, of all that a box with these distributions holds beside each other."""
    every = with_requirements([*ALWAYS, *packages]).values()
    return {top: path for distribution in every for top, path in _tops(distribution)}


def _canonical(name: str) -> str:
    """Names of distributions that differ in these signs only are the same one."""
    return re.sub(r"[-_.]+", "-", name).lower()


def with_requirements(names: Iterable[str]) -> dict[str, metadata.Distribution]:
    """These distributions and all that they require, as far as they are installed."""
    every, waiting = dict[str, metadata.Distribution](), list(names)
    while waiting:
        name = _canonical(waiting.pop())
        if name in every or name in NEVER:
            continue
        try:
            every[name] = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        requires = [line for line in every[name].requires or () if "extra ==" not in line]
        waiting += [re.match(r"[A-Za-z0-9._-]+", line)[0] for line in requires]  # type: ignore[index]
    return every


def files_of(distribution: metadata.Distribution) -> Iterator[tuple[str, Path]]:
    """Path below the folder of packages, and the file: the folders and modules of a distribution."""
    for _, place in _tops(distribution):
        for path in [place] if place.is_file() else files_below(place):
            yield str(path.relative_to(place.parent)), path


def _tops(distribution: metadata.Distribution) -> Iterator[tuple[str, Path]]:
    """The names of a distribution's folders and modules, and where they stand."""
    names = {file.parts[0] for file in distribution.files or () if file.parts[0] not in ("..", "__pycache__")}
    for name in sorted(names):
        yield name, Path(str(distribution.locate_file(name)))


def files_below(folder: Path) -> Iterator[Path]:
    """The files of a folder that a program may load."""
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT)
        for name in sorted(files):
            if not name.endswith(".pyc") or BYTECODE.fullmatch(name):
                path = Path(place, name)
                if path.suffix not in USELESS and name in PROGRAMS.get(path.parent.name, (name,)):
                    yield path
