"""A course's own tasks: a file ``tasks.py`` with a tuple TASKS, beside the course's settings or in what students get.

To load it is to run it. So a file that is looked for is loaded only if it defines TASKS, and belongs to you, to the
administrator, or to whoever owns the folder you work in.
"""

from __future__ import annotations

import ast
import json
import os
import re
import stat
import sys
import traceback
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType, ModuleType

from dpcourse.tasks.task import Task

FILE = "tasks.py"
SETTINGS = "nbgrader_config.py"
BUNDLE = ".dpcourse-bundle.json"  # in a bundle: what `dpcourse bundle` wrote, file -> sha256
COURSE = ".dpcourse-course.json"  # in a bundle: the course's name, and the libraries that it allows
TOPS = (".git", SETTINGS, BUNDLE)
NOTHING: Mapping[str, Task] = MappingProxyType({})


def tasks_near(start: Path | None = None) -> Mapping[str, Task]:
    """The tasks of the nearest ``tasks.py``, from this folder (without one: the working directory) upwards."""
    for folder in folders_from(start):
        place = folder / FILE
        source = _read_trusted(place, start)
        if source is not None and defines_tasks(source):
            return read_tasks(source, str(place))
    return NOTHING


def libraries_near(start: Path | None = None) -> tuple[str, ...]:
    """What a student of this course may import, as the bundle says; () where there is no bundle."""
    for folder in folders_from(start):
        try:
            names = json.loads((folder / COURSE).read_text(encoding="utf-8"))["libraries"]
            return tuple(str(name) for name in names)
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return ()


def load_tasks(place: Path) -> Mapping[str, Task]:
    """The tasks of this file, by name. No file: none. ValueError says what is wrong with it, and quotes its path."""
    try:
        source = place.read_bytes()
    except FileNotFoundError:
        return NOTHING
    return read_tasks(source, str(place))


@cache
def read_tasks(source: bytes, place: str) -> Mapping[str, Task]:
    """The tasks that this source makes. ``place`` is where it stands, for errors."""
    module = ModuleType(f"course_tasks_{re.sub(r'[^0-9A-Za-z]', '_', place)}")
    module.__file__ = place
    sys.modules[module.__name__] = module  # dataclasses look themselves up there
    try:
        exec(compile(source, place, "exec", dont_inherit=True), module.__dict__)
    except (Exception, SystemExit) as error:
        raise ValueError(f"{place} cannot be loaded: {type(error).__name__}: {error}{_line(error, place)}") from None
    tasks = getattr(module, "TASKS", None)
    if not isinstance(tasks, tuple | list) or not all(isinstance(task, Task) for task in tasks):
        raise ValueError(f"{place} needs a tuple TASKS of dpcourse.tasks.Task, but TASKS is {tasks!r:.80}")
    names = [task.name for task in tasks]
    if len(set(names)) < len(names):
        raise ValueError(f"{place} has two tasks of one name: {sorted(names)}")
    return MappingProxyType(dict(zip(names, tasks, strict=True)))


def defines_tasks(source: bytes) -> bool:
    """Does this file give the name TASKS to something? Other programs have files called ``tasks.py``, too."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return re.search(rb"^TASKS\b", source, re.MULTILINE) is not None  # one of ours that is broken says so
    return any(
        (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == "TASKS")
        or (isinstance(node, ast.alias) and (node.asname or node.name) == "TASKS")
        for node in ast.walk(tree)
    )


def folders_from(start: Path | None = None) -> Iterator[Path]:
    """The folder, and those above it, up to the top of its course, project or bundle, or the home folder."""
    try:
        folder = Path.cwd() if start is None else start.resolve()
        home = Path.home().resolve()
    except (OSError, RuntimeError):  # the working directory was deleted, or there is no home
        return
    for above in (folder, *folder.parents):
        yield above
        if above == home or any(os.path.lexists(above / name) for name in TOPS):
            return


def _read_trusted(place: Path, start: Path | None) -> bytes | None:
    """What is in a file that may be run; None if it is nobody's, or somebody's who could have put it there.

    It is opened once, and what was looked at is what is read: a name may point elsewhere a moment later.
    """
    try:
        of_folder = (start or Path.cwd()).stat().st_uid
        handle = os.open(place, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(file.fileno())
            me = os.getuid() if hasattr(os, "getuid") else status.st_uid
            others_may_write = hasattr(os, "getuid") and status.st_mode & stat.S_IWOTH
            if not stat.S_ISREG(status.st_mode) or status.st_uid not in (0, me, of_folder) or others_may_write:
                return None
            return file.read()
    except OSError:
        return None


def _line(error: BaseException, place: str) -> str:
    """Where in the file it happened; a SyntaxError says so itself."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == place]
    return f" (line {lines[-1]})" if lines else ""
