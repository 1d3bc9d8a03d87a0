"""One submission's process behind the border: its cells are run there, and its functions are asked."""

from __future__ import annotations

import signal
import time
from collections.abc import Collection, Mapping
from typing import Any

from autograder.box.sandbox import Sandbox
from autograder.box.services import SERVICES, served
from autograder.box.wire import BadFrame, Channel, Ended, Silence
from dpcourse.tasks.answers import Complaint, Late, Unwritten
from dpcourse.tasks.student import MOST_PATIENCE, PATIENCE, Probe

GRACE = 3.0  # seconds beyond the function's own clock, which tells how far it came
CELL_SECONDS = 20.0
MOST_SERVICES = 5_000
LONGEST = 1_500  # characters of a complaint
KINDS: Mapping[str, type[Complaint]] = {"error": Complaint, "timeout": Late, "missing": Unwritten}
KILLED = {
    -signal.SIGKILL: "it was stopped",
    -signal.SIGXCPU: "it took too much computing time",
    -signal.SIGXFSZ: "it wrote too large a file",
    **dict.fromkeys((-signal.SIGSEGV, -signal.SIGBUS, -signal.SIGABRT, -signal.SIGFPE), "it crashed Python itself"),
    77: "the sandbox could not be closed",
}


class Lost(Exception):
    """The submission's process is gone. The text says why, as far as one can know."""


class Remote:
    """One submission's process. ``seconds`` is the time for all of it; who uses it up gets no more answers."""

    def __init__(self, sandbox: Sandbox, seconds: float, services: Collection[str] = tuple(SERVICES)) -> None:
        self._services = services
        self._sandbox, self._left, self._number, self._served = sandbox, seconds, 0, 0
        self._channel: Channel = sandbox.open()
        self.alive = True

    def run(self, cell: str, source: str) -> str:
        """Run a cell; what went wrong, in a sentence, or ""."""
        reply = self._ask({"do": "run", "cell": cell, "source": source}, CELL_SECONDS)
        error = reply.get("error")
        return error[:LONGEST] if isinstance(error, str) else "The cell gave no answer."

    def ask(self, task: str, probe: Probe, times: int, seed: int, seconds: float) -> Any:
        """What the function answers, still as it came; a complaint is raised."""
        question = {
            "do": "ask", "task": task, "probe": dict(probe), "times": times, "seed": seed, "seconds": seconds
        }  # fmt: skip
        reply = self._ask(question, seconds + min(PATIENCE * times, MOST_PATIENCE) + GRACE)
        if "answers" in reply:
            return reply["answers"]
        status, text = reply.get("status"), reply.get("text")
        kind = KINDS.get(status, Complaint) if isinstance(status, str) else Complaint
        raise kind(text[:LONGEST] if isinstance(text, str) else "Your function gave no answer that I could read.")

    def _ask(self, question: dict[str, Any], seconds: float) -> dict[str, Any]:
        """A question and its reply, within the time. Requests for services are served on the way."""
        if not self.alive:
            raise Lost("it was stopped")
        self._number += 1
        start = time.monotonic()
        end = start + min(seconds, self._left)
        try:
            self._channel.send({"number": self._number, **question}, max(0.1, end - time.monotonic()))
            while True:
                reply = self._channel.receive(max(0.0, end - time.monotonic()))
                if not isinstance(reply, dict):
                    raise BadFrame("not a reply")
                if "service" in reply and self._served < MOST_SERVICES:
                    self._served += 1
                    self._channel.send(served(reply, self._services), max(0.1, end - time.monotonic()))
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
            ended = self.close()
            raise Lost(KILLED.get(ended, f"it ended by itself (code {ended})")) from None
        except BadFrame as bad:
            self.close()
            raise Lost(f"it sent {bad}") from None
        finally:
            self._left -= time.monotonic() - start

    @property
    def left(self) -> float:
        """Seconds that this submission still has."""
        return self._left

    def close(self) -> int:
        """End the process; how it had ended. A box that is not clean afterwards is ``Broken``."""
        if not self.alive:
            return 0
        self.alive = False
        self._channel.close()
        return self._sandbox.stop()
