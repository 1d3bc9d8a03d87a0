"""What students handed in by nbgrader's exchange, taken in by nbgrader's own collect."""

from __future__ import annotations

import logging
from hashlib import sha256
from pathlib import Path
from typing import Any

from autograder.console import Problem, watched
from autograder.course.course import Course, settings_of
from autograder.examine.records import write_whole


def from_exchange(course: Course, homeworks: list[str]) -> list[dict[str, Any]]:
    """Collect each homework. A later submission takes the place of an earlier one, which is kept in ``earlier/``."""
    from nbgrader.apps.api import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory

    config: Any = settings_of(course.root)
    config.CourseDirectory.root = str(course.root)
    config.CourseDirectory.db_url = course.db_url
    log = logging.getLogger("traitlets")
    log.addHandler(logging.NullHandler())
    outcomes = []
    for homework in watched(homeworks, "collecting"):
        before = {path: path.read_bytes() for path in notebooks(course, homework)}
        api = NbGraderAPI(CourseDirectory(config=config), config=config)
        result = api.collect(homework, update=True)
        if not result["success"]:
            said = (result.get("error") or result.get("log") or "").strip().splitlines()
            raise Problem(
                f"nbgrader's exchange gave nothing for {homework!r}: {said[-1] if said else 'no reason given'}"
            )
        for path, old in before.items():
            if not path.is_file() or path.read_bytes() != old:
                student = path.parents[1].name
                name = f"{sha256(old).hexdigest()[:12]}.ipynb"
                write_whole(course.root / "earlier" / student / homework / name, old)
        for path in notebooks(course, homework):
            same = before.get(path) == path.read_bytes()
            outcome = "unchanged" if same else "replaced" if path in before else "collected"
            where = path.relative_to(course.root).as_posix()
            outcomes.append({"where": where, "outcome": outcome, "why": "", "student": path.parents[1].name,
                             "assignment": homework})  # fmt: skip
    return outcomes


def notebooks(course: Course, homework: str) -> list[Path]:
    """Every notebook of a homework that was handed in."""
    return sorted((course.root / "submitted").glob(f"*/{homework}/*.ipynb"))
