"""A call that reads what nobody trusts, in a process of its own with so much memory and time.

What takes more costs itself, and nobody else: the process is ended, and the next call gets a new one.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from autograder.examine.forked import Forked

SECONDS = 60.0
MEMORY = 2 * 2**30  # bytes beyond what the process has when it starts

Result = TypeVar("Result")

_process: Forked | None = None
_owner = 0


class OverLimit(Exception):
    """The call took too much; the text says of what."""


def within_limits(
    function: Callable[..., Result], *arguments: Any, seconds: float = SECONDS, memory: int = MEMORY
) -> Result:
    """``function(*arguments)``; its errors are raised here. :class:`OverLimit` if it takes more.

    The function is one of a module, and what goes in and comes out can be pickled.
    """
    global _process, _owner
    if _process is None or _owner != os.getpid() or not _process.process.is_alive():
        _process, _owner = Forked(_serve), os.getpid()
    try:
        _process.connection.send((function, arguments, memory))
        if not _process.connection.poll(seconds):
            raise OverLimit(f"it took longer than {seconds:g} seconds")
        result, error = _process.connection.recv()
    except (EOFError, OSError):
        _end()
        raise OverLimit("the process that read it was lost") from None
    except BaseException:
        _end()
        raise
    if isinstance(error, MemoryError):
        _end()
        raise OverLimit(f"it took more than {memory // 2**20:,} MB of memory")
    if error is not None:
        raise error
    return result


def limit_memory(more: int) -> None:
    """From now on this process may take so many bytes beyond what it has. Where the system cannot, nothing changes."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            most = int(file.read().split()[0]) * resource.getpagesize() + more
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    except (OSError, ValueError):
        return


def _end() -> None:
    global _process
    if _process is not None:
        _process.kill()
        _process = None


def _serve(connection: Connection) -> None:
    """Answer calls until the other side is gone."""
    os.closerange(3, connection.fileno())  # a lock or a gradebook that is open there must not stay open here
    os.closerange(connection.fileno() + 1, 4096)
    while True:
        function, arguments, memory = connection.recv()
        limit_memory(memory)
        answer: tuple[Any, Exception | None]
        try:
            answer = function(*arguments), None
        except MemoryError:
            answer = (None, MemoryError())
        except Exception as error:
            answer = (None, error)
        connection.send(answer)
