"""The first process of the sandbox: it loads the packages once, and gives each submission a process of its own.

It listens on a socket that no submission ever holds. ``run`` comes with the end of a fresh channel: fork, and let the
child answer there. ``stop``: kill whatever is left, wipe what was written, and say how the child ended. As process 1 of
its own process namespace it cannot be killed by what it started, and everything ends with it.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import shutil
import signal
import socket
import sys
from pathlib import Path
from typing import Any

PR_SET_DUMPABLE = 4
ALONE = 1  # the process number of whoever owns its process namespace


def main() -> None:
    """Serve until the trusted side hangs up."""
    control = socket.socket(fileno=int(sys.argv[1]))
    settings = json.loads(control.recv(2**16))
    program = control.recv(2**16) if settings["filtered"] else b""
    sys.path[:] = [*settings["path"], *sys.path]
    sys.prefix = settings["prefix"]  # frames of libraries are known by it
    with contextlib.suppress(Exception):
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)  # no submission may look into this process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in settings["preload"]:
        with contextlib.suppress(Exception):  # a package that is not installed: the student's import says so
            importlib.import_module(name)
    from autograder.inside.child import serve

    gc.collect()
    gc.freeze()  # else the collector touches, and so copies, every page in every child
    control.send(b"ready")
    child = 0
    while True:
        message, received, _, _ = socket.recv_fds(control, 16, 1)
        if message == b"run":
            child = os.fork()
            if child == 0:
                control.close()
                serve(received[0], settings, program)
                os._exit(0)
            os.close(received[0])
        elif message == b"stop":
            control.send(json.dumps(_cleaned(child, settings)).encode())
            child = 0
        else:
            return


def _cleaned(child: int, settings: dict[str, Any]) -> dict[str, Any]:
    """Nothing of the submission outlives this: no process, no file."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.getpid() == ALONE:
            os.kill(-1, signal.SIGKILL)  # everybody here but this process
        elif child:
            os.killpg(child, signal.SIGKILL)
    ended, others = 0, 0
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.wait()
            if pid == child:
                ended = os.waitstatus_to_exitcode(status)
            else:
                others += 1
    clean = all([_wiped(Path(folder)) for folder in settings["wipe"]])
    return {"ended": ended, "others": others, "clean": clean}


def _wiped(folder: Path) -> bool:
    for place in folder.iterdir():
        with contextlib.suppress(OSError):
            if place.is_dir() and not place.is_symlink():
                shutil.rmtree(place, ignore_errors=True)
            else:
                place.unlink()
    return not any(folder.iterdir())


if __name__ == "__main__":
    main()
