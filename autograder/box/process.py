"""One submission's process behind the border: its cells are run there, and its functions are asked."""

from __future__ import annotations

import signal
import time
from collections.abc import Collection
from typing import Any

from autograder.box.sandbox import Sandbox
from autograder.box.services import served
from autograder.box.wire import BadFrame, Ended, Silence
from dpcourse.tasks.complaints import Late, error_names, received
from dpcourse.tasks.notebook import SERVICES
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.student import MOST_PATIENCE, ON_THE_WALL, PATIENCE

GRACE = 3.0  # seconds beyond the function's own clock, which tells how far it came
CELL_SECONDS = 20.0
MOST_SERVICES = 5_000
LONGEST = 1_500  # characters of what is said of a cell
ENDED = {
    -signal.SIGXFSZ: "it wrote too large a file",
    **dict.fromkeys((-signal.SIGSEGV, -signal.SIGBUS, -signal.SIGABRT, -signal.SIGFPE), "it crashed Python itself"),
    -signal.SIGSYS: "it made a call of the system in the manner of another machine",
}
TOO_LONG = "it took too much computing time"


class CellError(str):
    """What went wrong in a cell, in a sentence; "" if nothing did. ``errors``: the types of what stopped it."""

    errors: tuple[str, ...] = ()


class Lost(Exception):
    """The submission's process is gone, by its own doing. The text says why, as far as one can know."""


class KilledFromOutside(Exception):
    """Something that is neither the grader nor the submission has killed its process: it is to be asked again.

    In its box a process cannot kill itself (it is the first one of its namespace, which the kernel shields from its own
    SIGKILL), and its computing time is known. What is left is an operator, or a machine that has run out of memory.
    """


class Remote:
    """One submission's process. ``seconds`` is the time for all of it; who uses it up gets no more answers."""

    def __init__(self, sandbox: Sandbox, seconds: float, services: Collection[str] = tuple(SERVICES)) -> None:
        self._services = services
        self._sandbox, self._left, self._number, self._served = sandbox, seconds, 0, 0
        self._box = sandbox.open()
        self.alive = True

    def run(self, cell: str, source: str) -> str:
        """Run a cell; what went wrong, as a :class:`CellError`."""
        reply = self._ask({"do": "run", "cell": cell, "source": source}, CELL_SECONDS)
        error = reply.get("error")
        told = CellError(error[:LONGEST] if isinstance(error, str) else "The cell gave no answer.")
        told.errors = error_names(reply.get("errors"))
        return told

    def ask(self, task: str, probe: Probe, times: int, seed: int, seconds: float) -> Any:
        """What the function answers, still as it came; a complaint is raised."""
        question = {
            "do": "ask", "task": task, "probe": dict(probe), "times": times, "seed": seed, "seconds": seconds
        }  # fmt: skip
        reply = self._ask(question, ON_THE_WALL * (seconds + min(PATIENCE * times, MOST_PATIENCE)) + GRACE)
        if "answers" in reply:
            return reply["answers"]
        raise received(reply)

    def _ask(self, question: dict[str, Any], seconds: float) -> dict[str, Any]:
        """A question and its reply, within the time. Requests for services are served on the way."""
        if not self.alive:
            raise Lost("it was stopped")
        self._number += 1
        start = time.monotonic()
        end = start + min(seconds, self._left)
        try:
            self._box.channel.send({"number": self._number, **question}, max(0.1, end - time.monotonic()))
            while True:
                reply = self._box.channel.receive(max(0.0, end - time.monotonic()))
                if not isinstance(reply, dict):
                    raise BadFrame("not a reply")
                if "service" in reply and self._served < MOST_SERVICES:
                    self._served += 1
                    self._box.channel.send(served(reply, self._services), max(0.1, end - time.monotonic()))
                elif reply.get("number") == self._number:
                    return reply
                else:
                    raise BadFrame("an answer to no question")
        except Silence:
            short = self._left < seconds
            self.close()
            text = "All the time for this notebook is used up" if short else f"No answer came within {seconds:.0f} s"
            raise Late(f"{text}: it was stopped.") from None
        except Ended:
            self.alive = False
            raise self._how_it_ended() from None
        except BadFrame as bad:
            self.close()
            raise Lost(f"it sent {bad}") from None
        except ValueError as error:  # what was to be sent: a cell of the student's that no message can hold
            self.close()
            raise Lost(f"what it was to run cannot be sent: {error}") from None
        finally:
            self._left -= time.monotonic() - start

    @property
    def left(self) -> float:
        """Seconds that this submission still has."""
        return self._left

    def _how_it_ended(self) -> Exception:
        """Why the process is no more. :class:`Broken` if the sandbox itself is gone."""
        ending = self._box.ending()
        if ending.stopped:
            return Lost("it closed its channel to the grader")
        if ending.cpu_seconds >= self._sandbox.limits.cpu_seconds - 1 or ending.code == -signal.SIGXCPU:
            return Lost(TOO_LONG)
        if ending.code == -signal.SIGKILL:
            return KilledFromOutside("it was killed from outside")
        return Lost(ENDED.get(ending.code, f"it ended by itself (code {ending.code})"))

    def close(self) -> None:
        """End the process, and its box with it."""
        self.alive = False
        self._box.close()
