"""What is in the students' repository: the homeworks, and what is needed to work on them.

A course in this repository brings its lectures and the whole package along; a course of somebody's own, elsewhere, a
list of what is to be installed (``own_course``).
"""

from __future__ import annotations

import json
import re
import shutil
from functools import partial
from pathlib import Path

from autograder.console import Problem
from autograder.course.course import Course, heading
from autograder.course.libraries import libraries_of
from autograder.handout.leaks import OWN_TASKS
from autograder.handout.own_course import STUDENTS, environment, front_page, more_requirements, requirements
from dpcourse.tasks.own_course import COURSE

FOLDERS = ("lectures", "dpcourse", "autograder")
FILES = (
    "pyproject.toml", "environment.yml", "constraints.txt", "postBuild", "tools/install_torch.py", "CITATION.cff",
    "LICENSE", "LICENSE-NOTEBOOKS.md", "exercises/README.md",
)  # fmt: skip
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", ".*", "students", "*.tmp")
TARGETS = ("help", "setup", "lab", "clean")  # of the Makefile
IGNORED = ".venv/\n__pycache__/\n*.egg-info/\n.ipynb_checkpoints/\n"
BINDER = "\n[![Open in Binder](https://mybinder.org/badge_logo.svg)](https://mybinder.org/v2/gh/{0}/HEAD?urlpath=lab)\n"
MORE = "\nSome homework needs more, once: `.venv/bin/python -m pip install -r requirements.txt`.\n"


def fill(target: Path, course: Course, homeworks: list[str], releases: Path, address: str = "") -> None:
    """Write the students' repository to an empty folder. ``releases/<homework>`` are without solutions."""
    libraries, own_tasks = libraries_of(course), course.own_tasks()
    if is_beside_package(course):
        copy_package(target, course, homeworks)
        add_requirements(target, more_requirements(libraries))
    else:
        lines = requirements(course, libraries)
        write(target / "requirements.txt", "\n".join(lines) + "\n")
        write(target / "environment.yml", environment(course, lines))
    for homework in homeworks:
        place = target / "exercises" / homework
        shutil.copytree(releases / homework, place, ignore=LEFT_OUT)
        for notebook in place.rglob("*.ipynb"):
            nearer_links(notebook)
    if own_tasks:
        shutil.copyfile(course.tasks_file, target / OWN_TASKS)
    about = {"course": course.name, "libraries": sorted(libraries, key=str.lower)}
    write(target / COURSE, json.dumps(about, indent=1) + "\n")
    write(target / ".gitignore", IGNORED)
    notebooks = [f"exercises/{homework}/{homework}.ipynb" for homework in homeworks]
    badge = BINDER.format(address) if address else ""
    page = readme if is_beside_package(course) else partial(front_page, course=course, libraries=libraries)
    write(target / "README.md", page(target, notebooks=notebooks, badge=badge))
    for link in (path for path in target.rglob("*") if path.is_symlink()):
        raise Problem(f"{link.relative_to(target)} is a link; a bundle holds files only")


def is_beside_package(course: Course) -> bool:
    """Does the course lie in a copy of this repository, whose lectures and package its students get?"""
    return (course.root.parent / "dpcourse" / "__init__.py").is_file()


def folders_of(course: Course) -> list[Path]:
    """The folders that are bundled as a whole."""
    return [course.root.parent / name for name in FOLDERS] if is_beside_package(course) else []


def copy_package(target: Path, course: Course, homeworks: list[str]) -> None:
    """The lectures, the package, its environment, and the guide for students."""
    home = course.root.parent
    for name in (*FOLDERS, *FILES, "Makefile"):
        if not (home / name).exists():
            raise Problem(
                f"{home} has no {name}: a bundle is made from a copy of the whole repository around the course"
            )
    for name in FOLDERS:
        shutil.copytree(home / name, target / name, ignore=LEFT_OUT, symlinks=True)
    (target / "autograder" / "README.md").unlink(missing_ok=True)  # for instructors
    for name in FILES:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(home / name, target / name)
    guide = target / "exercises" / "README.md"
    write(guide, only_these(guide.read_text(encoding="utf-8"), homeworks, course.assignments()))
    write(target / "Makefile", for_students((home / "Makefile").read_text(encoding="utf-8")))


def write(place: Path, text: str) -> None:
    """A text file, the same on every system."""
    place.write_text(text, encoding="utf-8", newline="\n")


def only_these(guide: str, homeworks: list[str], known: list[str]) -> str:
    """The students' guide without the sections on homeworks that are not handed out (yet), and with their number."""
    first, *sections = re.split(r"^(?=## )", guide, flags=re.MULTILINE)
    absent = {f"## {homework}" for homework in known if homework not in homeworks}
    text = first + "".join(one for one in sections if one.partition("\n")[0].strip() not in absent)
    if absent:
        text = re.sub(r"^\w+ homeworks, one after each lecture\. Each", "Each homework", text, flags=re.MULTILINE)
    return text.rstrip() + "\n"


def nearer_links(notebook: Path) -> None:
    """A release lies one folder deeper in the course than in the bundle; its links to the lectures follow."""
    book = json.loads(notebook.read_text(encoding="utf-8"))
    for cell in book["cells"]:
        if cell["cell_type"] == "markdown":
            lines = cell["source"] if isinstance(cell["source"], list) else cell["source"].splitlines(keepends=True)
            cell["source"] = [line.replace("](../../../", "](../../") for line in lines]
    write(notebook, json.dumps(book, indent=1, ensure_ascii=False) + "\n")


def for_students(makefile: str) -> str:
    """The Makefile with the targets that a student can use. Blocks are parted by blank lines."""
    kept = []
    for block in makefile.split("\n\n"):
        target = re.match(r"([a-z][a-z-]*):", block)
        if (target is None or target.group(1) in TARGETS) and ".peers" not in block:
            kept.append(block)
    text = "\n\n".join(kept).rstrip() + "\n"
    text = re.sub(r"^EXTRAS := .*$", "EXTRAS := student", text, flags=re.MULTILINE)
    text = re.sub(r"^\.PHONY: .*$", f".PHONY: {' '.join(TARGETS)}", text, flags=re.MULTILINE)
    text = re.sub(r"^# `make lab`.*$", "# `make lab` opens the course.", text, flags=re.MULTILINE)
    return re.sub(r"^(TYPED|JOBS|SYSTEM|# program:package).*\n", "", text, flags=re.MULTILINE)


def add_requirements(target: Path, lines: list[str]) -> None:
    """What this course needs beside the package and what that brings along: pip's list is the last one for conda."""
    if lines:
        write(target / "requirements.txt", "\n".join(lines) + "\n")
        pip = "".join(f"      - {json.dumps(line)}\n" for line in lines)
        write(target / "environment.yml", (target / "environment.yml").read_text(encoding="utf-8") + pip)


def readme(target: Path, *, notebooks: list[str], badge: str) -> str:
    """The students' front page."""
    lectures = sorted(path.name for path in (target / "lectures").glob("*.ipynb"))
    template = (STUDENTS / "README.md").read_text(encoding="utf-8")
    return template.format(
        badge=badge,
        more=MORE if (target / "requirements.txt").is_file() else "",
        lectures="\n".join(f"- [{heading(target / 'lectures' / name)}](lectures/{name})" for name in lectures),
        homeworks="\n".join(f"- [{heading(target / name)}]({name})" for name in notebooks),
        example=notebooks[0],
    )
