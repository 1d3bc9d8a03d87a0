"""Who writes the gradebook: a process of its own, because nbgrader takes seconds to load, and workers must not wait.

Writing is all or nothing and can be repeated, so a scribe that is lost is replaced, and writes its batch again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any

from autograder.console import Problem
from autograder.course.course import Course
from autograder.examine.forked import Forked
from autograder.examine.records import Record
from autograder.intake.submission import Submission

Graded = tuple[Record, Submission]
MOST_LOSSES = 20


def _serve(connection: Connection, course: Course) -> None:
    """Do one thing after the other; say what went wrong ("" if nothing), and what came out.

    What is to be done is the name of a method of ``Writer``, and its arguments.
    """
    from autograder.gradebook.write import Writer

    try:
        with Writer(course) as writer:
            connection.send(("", None))
            while (work := connection.recv()) is not None:
                connection.send(("", getattr(writer, work[0])(*work[1:])))
    except EOFError:
        return
    except Exception as error:
        said = str(error) if isinstance(error, Problem) else f"{type(error).__name__}: {error}"
        connection.send((said, None))


class Scribe:
    """The process that writes; one batch at a time."""

    def __init__(self, course: Course) -> None:
        self._course, self._losses = course, 0
        self._work: tuple[Any, ...] = ()  # what was sent and is not yet known to be done
        self._outcome: Any = None
        self._start()

    def _start(self) -> None:
        self._forked = Forked(_serve, self._course)
        self._connection = self._forked.connection
        self._busy = True  # until it says that it is ready

    def idle(self) -> bool:
        """Has it written everything?"""
        if self._busy and self._connection.poll():
            self.wait()
        return not self._busy

    def write(self, batch: Sequence[Graded]) -> None:
        """Let it write; whatever it still had to do is done first."""
        self.wait()
        if batch:
            self._work = ("write", batch)
            self._send()

    def update_penalties(self, homework: str, students: Sequence[str] | None = None) -> list[str]:
        """Bring the late penalties of a homework up to date; whose were changed."""
        return list(self._do("update_penalties", homework, students))

    def students_to_write(self, records: Sequence[Record]) -> set[str]:
        """Whose points in the gradebook are not those of these records."""
        return set(self._do("students_to_write", records))

    def differences(self, homework: str) -> list[str]:
        """Where source, records and gradebook say different things."""
        return list(self._do("differences", homework))

    def _do(self, *work: Any) -> Any:
        self.wait()
        self._work = work
        self._send()
        self.wait()
        return self._outcome

    def _send(self) -> None:
        self._busy = True
        with contextlib.suppress(OSError):  # it has died: that is noticed when its answer is read
            self._connection.send(self._work)

    def wait(self) -> None:
        """Until it has written. What it could not write is a :class:`Problem`."""
        while self._busy:
            try:
                wrong, self._outcome = self._connection.recv()
            except (EOFError, OSError):
                self._replace()
                continue
            self._busy = False
            if wrong:
                raise Problem(f"the gradebook cannot be written: {wrong}")
            self._work = ()

    def _replace(self) -> None:
        self.close()
        self._losses += 1
        if self._losses > MOST_LOSSES:
            raise Problem("the process that writes the gradebook was lost again and again; the records are kept")
        self._start()
        if self._work:
            wrong = ""
            with contextlib.suppress(EOFError, OSError):
                wrong, _ = self._connection.recv()  # ready
            if wrong:
                raise Problem(f"the gradebook cannot be written: {wrong}")
            self._send()

    def close(self) -> None:
        """End it."""
        with contextlib.suppress(OSError):
            self._connection.send(None)
            self._forked.process.join(10)
        self._forked.kill()
