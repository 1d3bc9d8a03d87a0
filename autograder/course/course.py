"""Where the things of a course are: nbgrader's folders, its gradebook, our records, the tasks."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.console import Problem
from autograder.course.names import BadName, safe_name, shown
from autograder.system.install import not_installed

if TYPE_CHECKING:
    from traitlets.config import Config

    from dpcourse.tasks import Task

CONFIG = "nbgrader_config.py"


@dataclass(frozen=True)
class Course:
    """A folder with an ``nbgrader_config.py``. ``db_url`` is the address of the gradebook, as nbgrader takes it."""

    root: Path
    name: str
    db_url: str

    @classmethod
    def find(cls, start: Path) -> Course:
        """The course in this folder, or in ``exercises`` below it."""
        start = Path(start).expanduser().resolve()
        for root in (start, start / "exercises"):
            if (root / CONFIG).is_file():
                settings = settings_of(root).get("CourseDirectory", {})
                place = (root / str(settings.get("root", "."))).resolve()
                db_url = str(settings.get("db_url", "")) or f"sqlite:///{place / 'gradebook.db'}"
                return cls(place, str(settings.get("course_id", "")) or place.name, db_url)
        raise Problem(
            f"there is no course in {start}: neither {CONFIG} nor exercises/{CONFIG} is there; go to the course's "
            f"folder, or name it by --course DIR"
        )

    def source(self, assignment: str) -> Path:
        """The instructor's notebook, with solutions."""
        return self.root / "source" / assignment / f"{assignment}.ipynb"

    def release(self, assignment: str) -> Path:
        """The students' notebook, without solutions."""
        return self.root / "release" / assignment / f"{assignment}.ipynb"

    def submitted(self, student: str, assignment: str) -> Path:
        """The folder with what a student handed in."""
        return self.root / "submitted" / student / assignment

    def records(self, assignment: str) -> Path:
        """The folder with our records, one file a student."""
        return self.root / "grading" / assignment

    def record_folders(self) -> list[str]:
        """The homeworks that were ever graded, also those whose source is gone."""
        return sorted(path.name for path in (self.root / "grading").glob("*") if path.is_dir())

    def feedback(self, student: str, assignment: str) -> Path:
        """The page that a student gets back."""
        return self.root / "feedback" / student / assignment / f"{assignment}.html"

    def has_feedback(self, assignment: str) -> bool:
        """Has any student a page about it, made by ``dpcourse feedback`` or by nbgrader?"""
        settings = settings_of(self.root).get("CourseDirectory", {})
        folders = {self.root / "feedback", self.root / str(settings.get("feedback_directory", "feedback"))}
        return any((place / assignment).is_dir() for folder in folders if folder.is_dir() for place in folder.iterdir())

    def assignments(self) -> list[str]:
        """The homeworks that have a source notebook of their own name."""
        return sorted(path.stem for path in (self.root / "source").glob("*/*.ipynb") if path.stem == path.parent.name)

    def chosen(self, names: list[str] | None) -> list[str]:
        """These homeworks, or all; a name that is none is refused."""
        known = self.assignments()
        if not known:
            raise Problem(f"{self.root / 'source'} holds no homework: each is a notebook source/NAME/NAME.ipynb")
        for name in names or ():
            if name not in known:
                raise Problem(f"there is no homework {name!r} in {self.root / 'source'}; there are: {', '.join(known)}")
        return list(dict.fromkeys(names)) if names else known

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Two that write at a time would overwrite each other's work."""
        import fcntl  # not on Windows, where nobody grades

        folder = self.root / "grading"
        folder.mkdir(exist_ok=True)
        with (folder / ".lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise Problem(f"another grading is at work in {self.root}: wait for it, or stop it") from None
            yield

    def students_of(self, assignment: str) -> list[str]:
        """Who handed something in, by the names of their folders."""
        return sorted(name for name in self._folders(assignment) if not _why_not(name))

    def left_out(self, assignment: str) -> list[str]:
        """Folders whose names cannot be a student's (``dpcourse collect`` would not have made them): why, each."""
        return sorted(filter(None, map(_why_not, self._folders(assignment))))

    def _folders(self, assignment: str) -> list[str]:
        found = (self.root / "submitted").glob(f"*/{assignment}")
        return [path.parent.name for path in found if path.is_dir() and not path.parent.name.startswith(".")]

    @property
    def tasks_file(self) -> Path:
        """The course's own tasks, if it has any."""
        return self.root / "tasks.py"

    def own_tasks(self) -> Mapping[str, Task]:
        """The course's own tasks, by name."""
        from dpcourse.tasks.own_course import load_tasks

        try:
            return load_tasks(self.tasks_file)
        except ValueError as error:
            raise Problem(str(error)) from None

    def task(self, name: str) -> Task:
        """The task of that name: the course's own, else one of ``dpcourse.tasks``."""
        from dpcourse.tasks import task_named

        return task_named(name, self.own_tasks())


@cache
def heading(notebook: Path) -> str:
    """The first heading of a notebook; its name if it has none."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    return found.group(1).strip() if found else notebook.stem


def _why_not(name: str) -> str:
    """Why a folder's name cannot be a student's, or ""."""
    try:
        return "" if safe_name(name) == name else f"{shown(name)} is spelt in another way than it is shown"
    except BadName as reason:
        return str(reason)


def settings_of(root: Path) -> Config:
    """nbgrader's settings, read by its own loader."""
    try:
        from traitlets.config.loader import PyFileConfigLoader
    except ModuleNotFoundError as error:
        raise Problem(not_installed(error.name or "traitlets")) from None
    try:
        return PyFileConfigLoader(CONFIG, path=str(root)).load_config()
    except Exception as error:
        raise Problem(f"{root / CONFIG} cannot be read: {type(error).__name__}: {error}") from None
