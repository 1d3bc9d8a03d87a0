"""The box in which students' code runs: bubblewrap around one process with everything loaded, which forks.

Inside there is no network, a read-only system, an empty home and /tmp, no other process to see, and a dpcourse without
mechanisms. Each submission gets a process of its own; when it is done, everything it started or wrote is gone. A box
that is not clean afterwards, or does not answer, is thrown away.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.box import syscalls
from autograder.box.wire import Channel

INSTALL = "sudo apt-get install bubblewrap"
HERE = Path(__file__).resolve().parent
TASKS = HERE.parents[1] / "dpcourse" / "tasks"

PARTS = ("__init__", "zygote", "child", "cells", "answering")

#: What the sandbox sees of this project: path inside -> file here.
INSIDE = {
    "autograder/__init__.py": HERE.parent / "__init__.py",
    "autograder/box/__init__.py": HERE / "__init__.py",
    "autograder/box/wire.py": HERE / "wire.py",
    **{f"autograder/box/inside/{name}.py": HERE / "inside" / f"{name}.py" for name in PARTS},
    "dpcourse/__init__.py": HERE / "inside" / "stub_dpcourse.py",
    "dpcourse/accounting.py": HERE / "inside" / "stub_services.py",
    "dpcourse/data.py": HERE / "inside" / "stub_services.py",
    "dpcourse/tasks/__init__.py": HERE / "inside" / "stub_tasks.py",
    "dpcourse/tasks/answers.py": TASKS / "answers.py",
    "dpcourse/tasks/student.py": TASKS / "student.py",
}  # fmt: skip

#: Loaded once, before any submission: what nearly everybody uses.
ALWAYS = ("math", "random", "statistics", "numpy", "IPython.core.inputtransformer2")
#: Loaded once, too, if a submission or the homework mentions them.
KNOWN = ("scipy", "scipy.stats", "scipy.special", "pandas", "torch", "sympy", "matplotlib.pyplot", "sklearn")

STARTS_WITHIN = 60.0
STOPS_WITHIN = 10.0


class NoSandbox(RuntimeError):
    """Grading cannot start: what is missing, and the line that installs it."""


class Broken(RuntimeError):
    """This box cannot be used any more."""


@dataclass(frozen=True)
class Limits:
    """Of one submission. The clocks of single questions are the tasks'."""

    cpu_seconds: int = 400
    memory: int = 700 * 2**20  # beyond what is loaded
    file_size: int = 16 * 2**20
    written: int = 64 * 2**20  # in each of /tmp, /dev/shm and the home


def check() -> None:
    """Can a box be made here? If not, :class:`NoSandbox` says what is missing."""
    program = shutil.which("bwrap")
    if program is None:
        raise NoSandbox(f"grading needs bubblewrap, which is not installed: {INSTALL}")
    tried = subprocess.run(
        [program, "--unshare-all", "--ro-bind", "/", "/", "true"], capture_output=True, text=True, check=False
    )
    if tried.returncode:
        raise NoSandbox(f"bubblewrap cannot make a sandbox here: {tried.stderr.strip()[:200]}")
    try:
        syscalls.student_filter()
    except OSError as error:
        raise NoSandbox(str(error)) from None


class Sandbox:
    """One box; ``open`` gives a channel to a fresh process in it, ``stop`` ends that process."""

    def __init__(self, *, preload: Sequence[str] = (), limits: Limits | None = None, unsafe: bool = False) -> None:
        self.limits, self.unsafe = limits or Limits(), unsafe
        self.preload = [*ALWAYS, *(name for name in KNOWN if name in preload)]
        self._folder = tempfile.TemporaryDirectory(prefix="dpcourse-") if unsafe else None
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with theirs:
                self._process = subprocess.Popen(
                    self._command(theirs.fileno()), pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=self._environment(), start_new_session=True,
                )  # fmt: skip
            self._greet()
        except BaseException:
            self.close()
            raise

    def _greet(self) -> None:
        program = b"" if self.unsafe else syscalls.student_filter()
        self._control.settimeout(STARTS_WITHIN)
        try:
            self._control.send(json.dumps(self._settings(bool(program))).encode())
            if program:
                self._control.send(program)
            if self._control.recv(16) == b"ready":
                return
        except OSError:
            pass
        self._process.kill()
        assert self._process.stderr is not None
        why = self._process.stderr.read().decode(errors="replace").strip().splitlines()
        raise NoSandbox(f"the sandbox does not start: {why[-1] if why else 'it says nothing'}")

    def open(self) -> Channel:
        """A fresh process, and the channel to it."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self._control.settimeout(STOPS_WITHIN)
                socket.send_fds(self._control, [b"run"], [theirs.fileno()])
            except OSError as error:
                ours.close()
                raise Broken(str(error)) from None
        return Channel(ours)

    def stop(self) -> int:
        """End the process and everything it left; how it had ended by itself (-9: it was killed, as now)."""
        try:
            self._control.settimeout(STOPS_WITHIN)
            self._control.send(b"stop")
            told = json.loads(self._control.recv(1024))
        except (OSError, ValueError) as error:
            self.close()  # what it might still say would be taken for the next answer
            raise Broken(f"the box does not answer: {error}") from None
        if not told["clean"]:  # nobody else gets a process in it
            self.close()
        return int(told["ended"])

    def close(self) -> None:
        """Tear the box down."""
        self._control.close()
        process = getattr(self, "_process", None)
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            process.wait()
            process.stderr.close()
        if self._folder is not None:
            self._folder.cleanup()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _settings(self, filtered: bool) -> dict[str, Any]:
        folder = Path(self._folder.name) if self._folder else None
        writable = [str(folder / "home")] if folder else ["/tmp", "/dev/shm", "/home/student"]
        return {
            "filtered": filtered, "preload": self.preload, "home": writable[-1], "wipe": writable,
            "path": [str(folder / "inside"), *_packages()] if folder else ["/inside", *_inside_packages().values()],
            "prefix": sys.prefix if folder else "/packages",
            "cpu_seconds": self.limits.cpu_seconds, "memory": self.limits.memory, "file_size": self.limits.file_size,
        }  # fmt: skip

    def _environment(self) -> dict[str, str]:
        home = "/home/student" if self._folder is None else str(Path(self._folder.name) / "home")
        return {
            "HOME": home, "TMPDIR": "/tmp" if self._folder is None else home, "USER": "student", "LOGNAME": "student",
            "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONHASHSEED": "0", "MPLBACKEND": "Agg",
            "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
        }  # fmt: skip

    def _command(self, descriptor: int) -> list[str]:
        if self._folder is not None:
            return _unboxed(Path(self._folder.name), descriptor)
        program = shutil.which("bwrap")
        if program is None:
            raise NoSandbox(f"grading needs bubblewrap, which is not installed: {INSTALL}")
        size = str(self.limits.written)
        binds = [part for inside, here in INSIDE.items() for part in ("--ro-bind", str(here), f"/inside/{inside}")]
        packages = [part for here, there in _inside_packages().items() for part in ("--ro-bind", here, there)]
        for here in _inside_packages():  # an installed dpcourse or autograder is not to be found
            for name in ("dpcourse", "autograder"):
                if (Path(here) / name).is_dir():
                    packages += ["--tmpfs", f"{_inside_packages()[here]}/{name}"]
        empty = [part for place in ("/tmp", "/home/student", "/dev/shm") for part in ("--size", size, "--tmpfs", place)]
        return [
            program, "--unshare-all", "--unshare-user", "--uid", "1000", "--gid", "1000", "--hostname", "sandbox",
            "--die-with-parent", "--as-pid-1", "--new-session", "--cap-drop", "ALL",
            *_system(), *packages, *binds, "--proc", "/proc", "--dev", "/dev", *empty,
            "--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/home/student",
            _python(), "-I", "-S", "-B", "/inside/autograder/box/inside/zygote.py", str(descriptor),
        ]  # fmt: skip


def _system() -> list[str]:
    """The read-only system: programs' libraries and Python's own, nothing else of this machine."""
    found = ["--ro-bind", "/usr", "/usr"]
    for name in ("lib", "lib64", "lib32", "bin"):
        place = Path("/") / name
        if place.is_symlink():
            found += ["--symlink", str(place.readlink()), str(place)]
        elif place.is_dir():
            found += ["--ro-bind", str(place), str(place)]
    found += ["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
    base = Path(sys.base_prefix).resolve()
    if not base.is_relative_to("/usr"):
        found += ["--ro-bind", str(base), str(base)]
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    installed = [base / "lib" / version / "site-packages", Path("/usr/lib/python3/dist-packages")]
    installed += [Path("/usr/local/lib") / version / kind for kind in ("site-packages", "dist-packages")]
    for place in installed:  # packages are mounted elsewhere, without dpcourse
        if place.is_dir():
            found += ["--tmpfs", str(place)]
    return found


def _python() -> str:
    """Python itself, not the link to it in a virtual environment, which is not there inside."""
    return str(Path(sys.base_prefix).resolve() / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}")


def _packages() -> list[str]:
    return list(dict.fromkeys([sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]))


def _inside_packages() -> dict[str, str]:
    """Folder of packages here -> its place inside, in the form that frames of libraries are known by."""
    return {here: f"/packages/lib/{number}/site-packages" for number, here in enumerate(_packages())}


def _unboxed(folder: Path, descriptor: int) -> list[str]:
    """The same without a box: for a student's own notebook, or for whoever insists."""
    (folder / "home").mkdir()
    for inside, here in INSIDE.items():
        place = folder / "inside" / inside
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(here, place)
    zygote = folder / "inside" / "autograder" / "box" / "inside" / "zygote.py"
    return [os.path.realpath(sys.executable), "-I", "-S", "-B", str(zygote), str(descriptor)]
