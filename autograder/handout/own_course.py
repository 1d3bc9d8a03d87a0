"""What students of a course of somebody's own get beside its homeworks: a front page, and what is to be installed."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from autograder.box.packages import COURSE
from autograder.console import Problem, note
from autograder.course.course import CONFIG, Course, heading, settings_of
from autograder.course.libraries import in_words
from autograder.system.install import origin

STUDENTS = Path(__file__).parent / "students"
SETTING = "c.DpCourse.requirement"


def requirements(course: Course, libraries: Mapping[str, str]) -> list[str]:
    """What pip has to install: dpcourse with the libraries of every course, and those that this course adds."""
    return [_of_dpcourse(course), *more_requirements(libraries)]


def more_requirements(libraries: Mapping[str, str]) -> list[str]:
    """What pip has to install beside dpcourse with its libraries for students."""
    return sorted({_at_least(libraries[name]) for name in libraries.keys() - COURSE.keys() - {"numpy"}})


def environment(course: Course, lines: list[str]) -> str:
    """The same for conda and for Binder, with the Python that grades."""
    name = re.sub(r"[^\w.-]+", "-", course.name)
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    pip = "".join(f"      - {json.dumps(line)}\n" for line in lines)
    return (
        f"name: {name}\nchannels:\n  - conda-forge\n  - nodefaults\n"
        f"dependencies:\n  - python={python}\n  - pip\n  - pip:\n{pip}"
    )


def front_page(target: Path, course: Course, notebooks: list[str], libraries: Mapping[str, str], badge: str) -> str:
    """The README."""
    return (STUDENTS / "OWN_COURSE.md").read_text(encoding="utf-8").format(
        name=course.name, badge=badge, example=notebooks[0], libraries=in_words(libraries),
        homeworks="\n".join(f"- [{heading(target / name)}]({name})" for name in notebooks),
    )  # fmt: skip


def _of_dpcourse(course: Course) -> str:
    """Where students get dpcourse from: as the instructor says, else from where it came here."""
    line = settings_of(course.root).get("DpCourse", {}).get("requirement", "")
    if not isinstance(line, str) or "\n" in line:
        raise Problem(f"{SETTING} in {course.root / CONFIG} is one line for pip, not {line!r:.80}")
    if line:
        return line
    address = origin()
    if address and not address.startswith("file:"):
        return f"dpcourse[student] @ {address}"
    version = f"dpcourse[student]=={metadata.version('dpcourse')}"
    if address:
        note(f"students will install {version}, for dpcourse was installed from a folder here; {SETTING} changes that")
    return version


def _at_least(distribution: str) -> str:
    """A distribution, no older than the one that grades."""
    try:
        return f"{distribution}>={metadata.version(distribution).partition('+')[0]}"
    except metadata.PackageNotFoundError:
        return distribution
