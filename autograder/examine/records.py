"""What grading leaves behind for each submission: one record, one file, written whole or not at all.

``message`` of a task is for the instructor and may speak of the fresh probes. ``feedback`` is for the student: it is
made from the public probes, so it gives away nothing that a later grading could ask.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from autograder.course.homework import Assignment
from autograder.examine.seeds import is_guessable

STATUSES = ("graded", "partial", "rejected")

#: What ``dpcourse grade --json`` shows of a task and of a submission, in this order.
TASK_FIELDS = ("task", "points", "max_points", "status", "mistake", "message")
FIELDS = ("student", "assignment", "status", "score", "max_score", "seconds", "tasks")


@dataclass(frozen=True, kw_only=True)
class TaskRecord:
    """The verdict on one task. ``status``: passed, failed, error, timeout or missing (see ``dpcourse.tasks``)."""

    task: str
    points: float
    max_points: float
    status: str
    mistake: str = ""
    message: str = ""
    feedback: str = ""
    picture: str = ""  # of the answers to the public probes, as ``pictures`` keeps it
    wasteful: bool = False
    seconds: float = 0.0
    doubt: str = ""  # why a person should decide: it is not sure what the student meant to hand in


ENDED = "While it ran, its process was lost or stopped. Your instructor can see how."


@dataclass(frozen=True, kw_only=True)
class Record:
    """One submission. ``status``: graded (every task has its verdict), partial (something of it was broken or missing,
    ``notes`` says what), rejected (nothing of it could be read). Points are those given by machine.
    """

    student: str
    assignment: str
    status: str
    tasks: tuple[TaskRecord, ...] = ()
    notes: tuple[str, ...] = ()
    happened: tuple[str, ...] = ()  # those of the notes that tell how its processes ended
    seconds: float = 0.0
    seed: int = 0
    fingerprint: str = ""  # of the file that was handed in
    run: str = ""  # the run of ``dpcourse grade`` that wrote it
    sandbox: str = "bubblewrap"
    answers: dict[str, str] = field(default_factory=dict)  # grade_id -> what the student wrote

    @property
    def score(self) -> float:
        """The points given by machine."""
        return round(sum(task.points for task in self.tasks), 6)

    @property
    def max_score(self) -> float:
        """The points that the machine could give."""
        return round(sum(task.max_points for task in self.tasks), 6)

    @property
    def is_trial(self) -> bool:
        """Were its probes drawn from a number that students could find out? Then its points are not to be trusted."""
        return is_guessable(self.seed)

    @property
    def student_notes(self) -> list[str]:
        """The notes for the student's eyes.

        How a process ends is its own choice, down to a number; one that met fresh probes could tell of them by it.
        """
        told = [note for note in self.notes if note not in self.happened]
        return [*told, ENDED] if self.happened else told

    def for_machines(self) -> dict[str, Any]:
        """As ``--json`` prints it."""
        tasks = [{name: getattr(task, name) for name in TASK_FIELDS} for task in self.tasks]
        plain = {name: getattr(self, name) for name in FIELDS if name != "tasks"}
        return {**plain, "notes": list(self.notes), "tasks": tasks}

    def in_points_of(self, homework: Assignment) -> Record | None:
        """The same verdicts in the points that the homework gives now; None if it asks for what was not examined."""
        known = {task.task: task for task in self.tasks}
        tasks = []
        for cell in homework.cells:
            if cell.role != "task":
                continue
            task = known.get(cell.grade_id)
            if task is None or task.max_points == 0 < cell.points:  # the share of nothing is not known
                return None
            share = task.points / task.max_points if task.max_points else 0.0
            same = task.max_points == cell.points
            tasks.append(task if same else replace(task, points=round(share * cell.points, 4), max_points=cell.points))
        return self if tuple(tasks) == self.tasks else replace(self, tasks=tuple(tasks))

    def of_run(self, run: str) -> Record:
        """The same, marked as that run's."""
        return replace(self, run=run)

    def save(self, folder: Path) -> Path:
        """Write ``folder/<student>.json``: afterwards it is all there, or as it was before."""
        place = self.place(folder)
        write_whole(place, self.content)
        return place

    def place(self, folder: Path) -> Path:
        """Its file among a homework's records."""
        return folder / f"{self.student}.json"

    @property
    def content(self) -> bytes:
        """What its file holds."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False).encode("utf-8")

    @classmethod
    def load(cls, path: Path) -> Record:
        """Read it back. A file that is no record raises ValueError, with its name."""
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))
            tasks = tuple(TaskRecord(**task) for task in kept.pop("tasks"))
            texts = {name: tuple(kept.get(name, ())) for name in ("notes", "happened")}
            known = {name: kept[name] for name in cls.__dataclass_fields__ if name in kept}
            return cls(**{**known, "tasks": tasks, **texts})
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"{path} is not a grading record: {error}") from None


def records_in(folder: Path) -> Iterator[Record]:
    """Every record of a folder, by student. What cannot be read is left out: it will be graded again."""
    for path in sorted(folder.glob("*.json")):
        try:
            yield Record.load(path)
        except ValueError:
            continue


@contextmanager
def written_together(contents: Mapping[Path, bytes]) -> Iterator[None]:
    """Put these files in their places after what is done inside, and none of them if that fails."""
    prepared = {}
    try:
        for place, content in contents.items():
            prepared[place] = _prepared(place, content)
        yield
        for place, name in prepared.items():
            name.replace(place)
    finally:
        for name in prepared.values():
            name.unlink(missing_ok=True)


def write_whole(place: Path, content: bytes) -> None:
    """Write a file so that a crash leaves the old one or the new one, never a part."""
    with written_together({place: content}):
        pass


def _prepared(place: Path, content: bytes) -> Path:
    """The content on the disk, beside its place."""
    place.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name[:40]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return Path(name)
