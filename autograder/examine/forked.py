"""A process forked from this one, with a pipe to it: it ends with its parent, and Ctrl-C is the parent's business."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

PR_SET_PDEATHSIG = 1


class Forked:
    """``target(connection, *given)`` runs there; ``connection`` is this side's end of the pipe."""

    def __init__(self, target: Callable[..., None], *given: Any) -> None:
        context = multiprocessing.get_context("fork")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_begin, args=(target, self.connection, theirs, given), daemon=True)
        self.process.start()
        theirs.close()

    def kill(self) -> None:
        """End it at once."""
        if self.process.pid is not None and self.process.is_alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.process.pid, signal.SIGKILL)
        self.process.join()
        self.connection.close()


def _begin(target: Callable[..., None], ours: Connection, theirs: Connection, given: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(Exception):  # where there is no such call, the closed pipe tells
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    ours.close()
    with contextlib.suppress(EOFError, BrokenPipeError):
        target(theirs, *given)
