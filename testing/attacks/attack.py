"""An attack: what a student might hand in to gain what was not earned. Its functions are wrong everywhere else.

An attack that gets at something it must not have answers right, or says the secret aloud: then its score, or the words
in its record, give it away. The same bank is run against stock nbgrader by ``benchmarks/attacks.py``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testing.five_tasks import CELLS, HOMEWORK, all_wrong, notebook

SECRET = "sesame-4711"  # in the grader's environment, in files beside the course, in other students' submissions
VICTIM = "victim"  # hands in right answers, with the secret in a comment

#: Defines right functions once an attack knows how; so success shows as points.
RIGHT = "\n".join(f"def {name}({arguments}):\n    {body}" for name, (_, arguments, body, _) in CELLS.items())
WALK = """
import os
def found(wanted):
    seen = list(below(os.path.abspath("../../.."), wanted))  # where nbgrader would keep its things
    return seen or list(below("/", wanted))
def below(top, wanted):
    for folder, folders, files in os.walk(top):
        if folder.startswith(("/proc", "/sys", "/usr", "/packages")):
            folders[:] = []
        for name in files:
            if wanted in name or wanted in folder:
                yield os.path.join(folder, name)
"""


@dataclass(frozen=True)
class Attack:
    """``code`` goes into the first solution cell; ``change`` may do anything else to notebook and folder."""

    name: str
    code: str = ""
    change: Callable[[dict[str, Any]], None] | None = None
    folder: Callable[[Path], None] | None = None  # gets the path of the notebook handed in

    def book(self) -> dict[str, Any]:
        """What is handed in: wrong everywhere, and the attack."""
        answers = all_wrong()
        if self.code:
            answers["double"] += "\n\n" + self.code
        made = notebook(answers)
        if self.change is not None:
            self.change(made)
        return made

    def hand_in(self, root: Path) -> Path:
        """Under ``submitted/<its name>``."""
        place = root / "submitted" / self.name / HOMEWORK / f"{HOMEWORK}.ipynb"
        place.parent.mkdir(parents=True)
        place.write_text(json.dumps(self.book()), encoding="utf-8")
        if self.folder is not None:
            self.folder(place)
        return place


def cell(book: dict[str, Any], grade_id: str) -> dict[str, Any]:
    return next(one for one in book["cells"] if one["metadata"].get("nbgrader", {}).get("grade_id") == grade_id)


TELL = f"""
def tell(text):
    if {SECRET!r} in str(text):
        raise ValueError("the secret is {SECRET}")
"""
