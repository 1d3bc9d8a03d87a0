"""The first process of the sandbox: it loads the packages once, and gives each submission a box of its own.

It listens on a socket that no submission ever holds. ``run`` comes with two ends: of the channel on which the child
answers, and of a leash. The child gets namespaces and file systems of its own, in which it is the only process. When it
has ended, how it ended is told on the leash; when the leash is let go, the child is killed. What it wrote and how far
it moved any counter is gone with it, so there is nothing to clean. No student's code runs in this process.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import resource
import selectors
import shutil
import signal
import socket
import sys
import tempfile
from typing import Any

NO_BOX = -1  # in the place of a descriptor: there are no walls here


def main() -> None:
    """Serve until the trusted side hangs up."""
    control = socket.socket(fileno=int(sys.argv[1]))
    processes, memory = (int(word) for word in sys.argv[2:4])
    settings = json.loads(control.recv(2**16))
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))  # a judge's limit is not the sandbox's
    program = control.recv(2**16) if settings["filtered"] else b""
    sys.path[:] = [*settings["path"], *sys.path]
    sys.prefix = settings["prefix"]  # frames of libraries are known by it
    os.environ.pop("LD_LIBRARY_PATH", None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from autograder.box.inside import kernel

    if processes != NO_BOX:
        kernel.hide_memory()
        _furnish(settings)  # some packages write when they are imported
    for name in settings["preload"]:
        with contextlib.suppress(Exception):  # a package that is not installed: the student's import says so
            importlib.import_module(name)
    from autograder.box.inside import child  # noqa: F401  (loaded now, for all)

    if processes != NO_BOX:
        for folder in settings["writable"]:
            kernel.unmount(folder)
    gc.collect()
    gc.freeze()  # else the collector touches, and so copies, every page in every child
    settings["memory"] = _address_space(memory, settings["memory"])
    control.send(json.dumps({"address_space": settings["memory"]}).encode())
    _Boxes(control, settings, program, processes).serve()


def _address_space(memory: int, more: int) -> int:
    """What this process has loaded, and ``more`` bytes. Without limit where the system does not tell."""
    try:
        if memory == NO_BOX:
            memory = os.open("/proc/self/statm", os.O_RDONLY)
        return int(os.pread(memory, 200, 0).split()[0]) * resource.getpagesize() + more
    except OSError:
        return resource.RLIM_INFINITY


def _furnish(settings: dict[str, Any]) -> None:
    """The places that may be written to: in memory, of a limited size, without programs and devices."""
    from autograder.box.inside import kernel

    for folder in settings["writable"]:
        flags = kernel.NO_SUID | kernel.NO_DEVICES | kernel.NO_PROGRAMS
        kernel.mount_memory(folder, settings["written"], settings["entries"], flags, mode="700")


class _Boxes:
    """The children that run now, by process number, and the leash of each."""

    def __init__(self, control: socket.socket, settings: dict[str, Any], program: bytes, processes: int) -> None:
        self.control, self.settings, self.program, self.processes = control, settings, program, processes
        self.leashes: dict[int, socket.socket] = {}
        self.homes: dict[int, str] = {}
        self.selector = selectors.DefaultSelector()
        self.selector.register(control, selectors.EVENT_READ, 0)
        self.bell, ring = os.pipe()
        for descriptor in (self.bell, ring):
            os.set_blocking(descriptor, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(ring, warn_on_full_buffer=False)
        self.selector.register(self.bell, selectors.EVENT_READ, -1)

    def serve(self) -> None:
        """Start, kill and report, until nobody holds the other end of the control socket."""
        while True:
            for key, _ in self.selector.select():
                if key.data == 0 and not self._start():
                    return
                if key.data == -1:
                    os.read(self.bell, 4096)
                    self._report()
                if key.data > 0 and key.data in self.leashes:  # let go
                    self.selector.unregister(self.leashes[key.data])
                    self._kill(key.data)

    def _start(self) -> bool:
        """One more child; False if the trusted side has hung up."""
        message, ends, _, _ = socket.recv_fds(self.control, 16, 2)
        if message != b"run" or len(ends) != 2:
            return False
        from autograder.box.inside import kernel
        from autograder.box.inside.child import serve

        boxed = self.processes != NO_BOX
        settings = dict(self.settings)
        if not boxed:
            settings["home"] = tempfile.mkdtemp(dir=settings["home"])
        if boxed:
            kernel.unshare(kernel.NEW_PROCESSES)
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            with contextlib.suppress(Exception):
                if boxed:
                    kernel.unshare(kernel.NEW_MOUNTS)
                    _furnish(settings)
                serve(ends[0], settings, self.program)
            os._exit(0)
        if boxed:
            kernel.enter_namespace(self.processes, kernel.NEW_PROCESSES)
        os.close(ends[0])
        self.leashes[pid], self.homes[pid] = socket.socket(fileno=ends[1]), settings["home"]
        self.selector.register(self.leashes[pid], selectors.EVENT_READ, pid)
        return True

    def _kill(self, pid: int) -> None:
        """End a child at once. With walls it is the first process of its namespace: all of it ends."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            (os.kill if self.processes != NO_BOX else os.killpg)(pid, signal.SIGKILL)

    def _report(self) -> None:
        """Tell of every child that has ended how it ended, and what computing time it took."""
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status, used = os.wait4(-1, os.WNOHANG)
                if pid == 0:
                    return
                leash = self.leashes.pop(pid, None)
                if leash is None:  # without walls: something that a submission started
                    continue
                ended = {"code": os.waitstatus_to_exitcode(status), "cpu_seconds": used.ru_utime + used.ru_stime}
                with contextlib.suppress(OSError):
                    # What is left unread when a socket is closed reaches the other end as an error, before our words.
                    leash.shutdown(socket.SHUT_RD)
                    leash.setblocking(False)
                    while leash.recv(16):
                        pass
                with contextlib.suppress(OSError):
                    leash.send(json.dumps(ended).encode())
                with contextlib.suppress(KeyError, ValueError):
                    self.selector.unregister(leash)
                leash.close()
                home = self.homes.pop(pid)
                if self.processes == NO_BOX:
                    self._kill(pid)  # and with it what it started
                    shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
