"""Which libraries the students of a course may import: a list for every course, and what this one adds to it.

The setting is ``c.DpCourse.libraries`` in ``nbgrader_config.py``: names as one imports them, or as pip installs them.
What the course's homeworks import themselves needs no setting.
"""

from __future__ import annotations

import contextlib
import re
import shlex
import sys
from collections.abc import Collection, Iterator, Mapping

from autograder.box.packages import NEVER, allowed_packages, imported_in, is_copied, packages_named
from autograder.console import Problem
from autograder.course.course import CONFIG, Course, settings_of
from autograder.course.homework import Assignment

SETTING = "c.DpCourse.libraries"
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9._-]*")


def libraries_in_settings(course: Course) -> tuple[str, ...]:
    """What the setting names."""
    names = settings_of(course.root).get("DpCourse", {}).get("libraries", [])
    if hasattr(names, "get_value"):  # c.DpCourse.libraries.append("seaborn"), which traitlets keeps for later
        names = names.get_value([])
    if not isinstance(names, list | tuple | set):
        raise Problem(f"{SETTING} in {course.root / CONFIG} is a list of names, not {names!r:.80}")
    for name in names:
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise Problem(f"{SETTING} in {course.root / CONFIG} needs the name of a library, not {name!r:.80}")
        if name.lower() in NEVER:
            raise Problem(f"{SETTING} in {course.root / CONFIG} names {name!r}, which would give students the answers")
    return tuple(dict.fromkeys(names))


def libraries_of(course: Course) -> dict[str, str]:
    """Import name -> distribution, of all that students of this course may import beside Python's own library.

    The same for each of its homeworks, however many of them are graded at a time.
    """
    return {"numpy": "numpy"} | allowed_packages(_sources(course), libraries_in_settings(course))


def need_libraries(course: Course) -> dict[str, str]:
    """The same; a :class:`Problem` says which of those that the setting names would not be there."""
    for name, why in absent_libraries(course).items():
        raise Problem(f"{SETTING} names {name!r}, which {why}: {pip_line([name])}")
    return libraries_of(course)


def absent_libraries(course: Course) -> dict[str, str]:
    """What the setting names and no box would have -> why."""
    absent = {}
    for name in libraries_in_settings(course):
        packages = packages_named([name])
        if not packages:
            absent[name] = "is not installed"
        elif not any(is_copied(top, distribution) for top, distribution in packages.items()):
            absent[name] = "has no files that could be copied into a box (was it installed by `pip install -e`?)"
    return absent


def absent_imports(course: Course) -> list[str]:
    """What the homeworks import and is not installed here."""
    names = imported_in(_sources(course)) - {*sys.stdlib_module_names, *libraries_in_settings(course)}
    return sorted(names - packages_named(names).keys())


def pip_line(names: Collection[str]) -> str:
    """The line that installs these libraries into the Python that runs now."""
    return shlex.join([sys.executable, "-m", "pip", "install", *names])


def in_words(libraries: Mapping[str, str]) -> str:
    """For people: their names."""
    return ", ".join(sorted(libraries, key=str.lower))


def _sources(course: Course) -> Iterator[str]:
    """The code cells of every homework; one that cannot be read says nothing here."""
    for name in course.assignments():
        with contextlib.suppress(ValueError, OSError):
            yield from (cell.source for cell in Assignment.read(course.source(name)).cells if cell.kind == "code")
