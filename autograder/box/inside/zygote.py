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
import signal
import socket
import sys
from typing import Any

PR_SET_DUMPABLE = 4
ALONE = 1  # the process number of whoever owns its process namespace
MOST_FILES = 20_000  # in each folder that a submission may write to: empty ones take the kernel's memory, too
LOOKS_EVERY = 0.5  # seconds


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
    from autograder.box.inside.child import serve

    gc.collect()
    gc.freeze()  # else the collector touches, and so copies, every page in every child
    control.send(b"ready")
    child = 0
    while True:
        control.settimeout(LOOKS_EVERY if child else None)
        try:
            message, received, _, _ = socket.recv_fds(control, 16, 1)
        except TimeoutError:
            if os.getpid() == ALONE and any(_files(folder) > MOST_FILES for folder in settings["wipe"]):
                os.kill(child, signal.SIGKILL)
            continue
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
    clean = all([_wiped(folder) for folder in settings["wipe"]])
    return {"ended": ended, "others": others, "clean": clean}


def _files(folder: str) -> int:
    """How many files and folders are in it: it is a file system of its own."""
    found = os.statvfs(folder)
    return found.f_files - found.f_ffree


def _wiped(folder: str) -> bool:
    """Empty it, one level at a time: inner folders are opened and brought up first, so none is locked or too deep."""
    number, mark = 0, os.urandom(8).hex()
    with contextlib.suppress(OSError):
        os.chmod(folder, 0o755)
        while entries := list(os.scandir(folder)):
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    os.unlink(entry.path)
                    continue
                os.chmod(entry.path, 0o700)
                for inner in list(os.scandir(entry.path)):
                    if inner.is_dir(follow_symlinks=False):
                        os.chmod(inner.path, 0o700)  # else it cannot be moved
                        number += 1
                        os.rename(inner.path, os.path.join(folder, f"{mark}-{number}"))
                    else:
                        os.unlink(inner.path)
                os.rmdir(entry.path)
        return True
    return False


if __name__ == "__main__":
    main()
