"""The process of one submission: it runs the cells, and puts the probes it is sent to the student's functions.

A student's code can reach and change everything here. It gains nothing by that: what it sends is read as numbers, and
judged elsewhere.
"""

from __future__ import annotations

import os
import resource
import socket
from typing import Any

from autograder.box.inside import kernel
from autograder.box.inside.answering import answered
from autograder.box.inside.cells import Notebook
from autograder.box.wire import Channel, Ended

#: The channel to the trusted side, for the services of the course (see ``stub_services``).
channel: Channel | None = None


def serve(descriptor: int, settings: dict[str, Any], program: bytes) -> None:
    """Close the box, say so, and answer until the trusted side hangs up."""
    global channel
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    os.closerange(3, descriptor)
    os.closerange(descriptor + 1, 1024)
    os.chdir(settings["home"])
    os.environ["HOME"] = settings["home"]
    channel = Channel(socket.socket(fileno=descriptor))
    if program:  # with walls: threads and signals are counted for each user, so each box has its own
        kernel.unshare(kernel.NEW_USER)
    _limit(settings)
    if program:
        kernel.drop_capabilities()
        kernel.forbid_new_privileges()
        kernel.filter_calls(program)
    channel.send({"ready": True})
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
    limits = {
        resource.RLIMIT_CPU: settings["cpu_seconds"],
        resource.RLIMIT_FSIZE: settings["file_size"],
        resource.RLIMIT_NOFILE: 128,
        resource.RLIMIT_NPROC: 64,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_SIGPENDING: 256,
        resource.RLIMIT_AS: settings["memory"],
    }
    for kind, most in limits.items():
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))
