"""The process of one submission: it runs the cells, and puts the probes it is sent to the student's functions.

A student's code can reach and change everything here. It gains nothing by that: what it sends is read as numbers, and
judged elsewhere.
"""

from __future__ import annotations

import ctypes
import os
import resource
import socket
from typing import Any

from autograder.box.inside.answering import answered
from autograder.box.inside.cells import Notebook
from autograder.box.wire import Channel, Ended

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, MODE_FILTER = 22, 38, 2

#: The channel to the trusted side, for the services of the course (see ``stub_services``).
channel: Channel | None = None


def serve(descriptor: int, settings: dict[str, Any], program: bytes) -> None:
    """Answer until the trusted side hangs up."""
    global channel
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    os.closerange(3, descriptor)
    os.closerange(descriptor + 1, 1024)
    _limit(settings)
    os.chdir(settings["home"])
    if program:
        _filter(program)
    channel = Channel(socket.socket(fileno=descriptor))
    notebook = Notebook()
    try:
        while True:
            asked = channel.receive()
            reply = notebook.run(asked) if asked["do"] == "run" else answered(notebook.names, asked)
            channel.send({"number": asked["number"], **reply})
    except Ended:
        return


def _limit(settings: dict[str, Any]) -> None:
    """Time, memory, file sizes, open files, threads. The hard limits, too: they cannot be raised again."""
    with open("/proc/self/statm", encoding="ascii") as file:
        taken = int(file.read().split()[0]) * resource.getpagesize()
    limits = {
        resource.RLIMIT_CPU: settings["cpu_seconds"],
        resource.RLIMIT_AS: taken + settings["memory"],
        resource.RLIMIT_FSIZE: settings["file_size"],
        resource.RLIMIT_NOFILE: 128,
        resource.RLIMIT_NPROC: 64,
        resource.RLIMIT_CORE: 0,
    }
    for kind, most in limits.items():
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def _filter(program: bytes) -> None:
    """From here on the kernel refuses what the filter forbids. If that cannot be had, nothing is run."""
    libc = ctypes.CDLL(None, use_errno=True)
    what = _Program(len(program) // 8, program)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, MODE_FILTER, ctypes.byref(what), 0, 0):
        os._exit(77)
