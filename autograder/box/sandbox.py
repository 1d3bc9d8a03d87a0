"""The sandbox in which students' code runs: behind a wall, one process with everything loaded, which gives out boxes.

Each submission gets a box of its own: a process that sees no other, in memory and file systems that end with it. There
is no network, no file of this machine, and a dpcourse without mechanisms. ``forget`` and every start mean a fresh box.
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
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.box import library, syscalls
from autograder.box.limits import Limits
from autograder.box.packages import COURSE, places_of
from autograder.box.walls import Bubblewrap, NoSandbox, NoWall, Wall
from autograder.box.wire import BadFrame, Channel, Ended, Silence

#: Loaded once, before any submission: what nearly everybody uses.
ALWAYS = ("math", "random", "statistics", "numpy", "IPython.core.inputtransformer2")
#: Loaded once, too, if a submission or the homework mentions them.
KNOWN = ("scipy", "scipy.stats", "scipy.special", "pandas", "torch", "sympy", "matplotlib.pyplot", "sklearn")
HOME = "/home/student"
WRITABLE = ("/tmp", "/dev/shm", HOME)
LINKS = "lib/site-packages"  # without walls: links to the packages that may be used
STARTS_WITHIN = 60.0
ANSWERS_WITHIN = 10.0
ENDS_WITHIN = 1.0  # a process that has closed its channel


class Broken(RuntimeError):
    """This sandbox cannot be used any more. It is nobody's fault who is examined in it."""


def missing() -> str:
    """Why no sandbox can be made here, and what helps; "" if one can."""
    try:
        syscalls.student_filter()
    except OSError as error:
        return str(error)
    return Bubblewrap().missing()


def check() -> None:
    """Can a sandbox be made here? If not, :class:`NoSandbox` says what is missing."""
    why = missing()
    if why:
        raise NoSandbox(why)


def mentioned(sources: Sequence[str]) -> list[str]:
    """The known modules that these cells mention: worth loading once, before any of them runs."""
    text = "\n".join(sources)
    names = {name for name in KNOWN if name.partition(".")[0] in text}
    return sorted(names | ({"pandas"} if "dpcourse import data" in text else set()))


@dataclass(frozen=True)
class Ending:
    """How a submission's process ended: Python's exit code (negative: the signal), its computing time.

    ``stopped``: it had closed its channel and went on, so the grader ended it.
    """

    code: int
    cpu_seconds: float
    stopped: bool = False


class OpenBox:
    """One box: the channel to the process in it, and the leash that ends it."""

    def __init__(self, channel: Channel, leash: socket.socket) -> None:
        self.channel, self._leash = channel, leash

    def ending(self) -> Ending:
        """How the process has ended, after its channel has. :class:`Broken` if nobody can say."""
        try:
            said = self._said(ENDS_WITHIN)
            stopped = said is None
            if said is None:
                with contextlib.suppress(BrokenPipeError):  # it has just been told how the box ended
                    self._leash.send(b"stop")
                said = self._said(ANSWERS_WITHIN)
            if said is not None:
                return Ending(int(said["code"]), float(said["cpu_seconds"]), stopped)
            raise Broken("the sandbox does not say how a box ended")
        except (OSError, ValueError, KeyError) as error:
            raise Broken(f"the sandbox does not say how a box ended: {error}") from None
        finally:
            self.close()

    def _said(self, seconds: float) -> Any:
        self._leash.settimeout(seconds)
        try:
            return json.loads(self._leash.recv(1024))
        except TimeoutError:
            return None

    def close(self) -> None:
        """End the process, and everything in its box."""
        self.channel.close()
        self._leash.close()


class Sandbox:
    """``open`` gives a fresh box. It starts when it is first needed, and starts anew when it has broken.

    ``preload``: modules to load once for all boxes; ``packages``: distributions that are there (``library``).
    ``libraries``: what may be imported, by name, for words about what may not. With such a list only ``packages`` are
    found without walls, too; else everything that is installed.
    Processes that are forked from the one that started it share it; each of them can use it, only that one ends it.
    """

    def __init__(
        self, *, preload: Sequence[str] = (), packages: Collection[str] = (), limits: Limits | None = None,
        wall: Wall | None = None, libraries: Collection[str] = (),
    ) -> None:  # fmt: skip
        self.limits, self.wall = limits or Limits(), wall or Bubblewrap()
        self.preload = [*ALWAYS, *(name for name in KNOWN if name in preload)]
        roots = {name.partition(".")[0] for name in preload}
        self.packages = tuple(sorted({*packages, *(COURSE[name] for name in roots & COURSE.keys())}))
        self.libraries = tuple(libraries)
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._owner = 0
        self._address_space = 0

    @property
    def largest_box(self) -> int | None:
        """Bytes that one box can take at most, once the sandbox has started; None where the system does not tell."""
        space = self._address_space
        return self.limits.largest(space, len(WRITABLE)) if space > 0 else None

    @property
    def is_alive(self) -> bool:
        """Has it been started, and is it still there?"""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start the first process. :class:`NoSandbox` says why it does not."""
        self.close()
        self._owner = os.getpid()
        self._folder = None if self.wall.boxed else tempfile.TemporaryDirectory(prefix="dpcourse-")
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

    def open(self) -> OpenBox:
        """A fresh box, whose process is ready."""
        for attempt in (1, 2, 3):
            if self._control is None:
                self.start()
            try:
                return self._opened()
            except Broken:
                self.close()
                if attempt == 3:
                    raise
        raise AssertionError

    def _opened(self) -> OpenBox:
        assert self._control is not None
        ours, theirs = socket.socketpair()
        leash, their_leash = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        box = OpenBox(Channel(ours), leash)
        try:
            with theirs, their_leash:
                self._control.settimeout(ANSWERS_WITHIN)
                socket.send_fds(self._control, [b"run"], [theirs.fileno(), their_leash.fileno()])
            if box.channel.receive(ANSWERS_WITHIN) == {"ready": True}:
                return box
            raise BadFrame("not ready")
        except (OSError, Silence, Ended, BadFrame) as error:
            box.close()
            raise Broken(f"the sandbox gives no box: {type(error).__name__} {error}") from None

    def close(self) -> None:
        """Tear it down, if it is this process's own."""
        if self._control is not None:
            self._control.close()
        process, self._process, self._control = self._process, None, None
        if process is None or os.getpid() != self._owner:
            return
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()
        if self._folder is not None:
            self._folder.cleanup()

    def __enter__(self) -> Sandbox:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _greet(self) -> None:
        assert self._control is not None
        assert self._process is not None
        assert self._process.stderr is not None
        messages = [json.dumps(self._settings()).encode()]
        if self.wall.boxed:
            self._send_plan(self._control)
            messages.append(syscalls.student_filter())
        self._control.settimeout(STARTS_WITHIN)
        with contextlib.suppress(OSError):  # it has ended: what it said of that follows
            for message in messages:
                self._control.send(message)
            ready = self._control.recv(100)
            if ready:
                self._address_space = int(json.loads(ready)["address_space"])
                return
        self._process.kill()
        why = self._process.stderr.read().decode(errors="replace").strip().splitlines()
        raise NoSandbox(f"the sandbox does not start: {why[-1][:300] if why else 'it says nothing'}")

    def _send_plan(self, control: socket.socket) -> None:
        """What the first process builds its world from: which files, and where they go."""
        here = library.library(self.packages)
        plan = {
            "size": here.size + 32 * 2**20, "entries": 2 * len(here.files) + 1_000, "writable": WRITABLE,
            "libraries": library.LIBRARIES, "python": library.PYTHON,
            "command": [library.PYTHON, "-I", "-S", "-B", f"{library.OWN}/autograder/box/inside/first.py"],
        }  # fmt: skip
        with tempfile.TemporaryFile() as file:
            file.write(json.dumps({inside: str(path) for inside, path in here.files.items()}).encode())
            file.seek(0)
            socket.send_fds(control, [json.dumps(plan).encode()], [file.fileno()])

    def _settings(self) -> dict[str, Any]:
        folder = self._folder.name if self._folder else ""
        packages = list(dict.fromkeys([sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]))
        prefix = sys.prefix if folder else "/packages"
        if folder and Path(folder, LINKS).is_dir():
            packages, prefix = [f"{folder}/{LINKS}"], folder
        return {
            "filtered": self.wall.boxed, "preload": self.preload, "home": folder or HOME, "writable": WRITABLE,
            "path": [f"{folder}/inside", *packages] if folder else [library.OWN, library.PACKAGES],
            "prefix": prefix,
            "cpu_seconds": self.limits.cpu_seconds, "memory": self.limits.memory, "file_size": self.limits.file_size,
            "written": self.limits.written, "entries": self.limits.entries,
        }  # fmt: skip

    def _environment(self) -> dict[str, str]:
        home = self._folder.name if self._folder else HOME
        return {
            "HOME": home, "TMPDIR": self._folder.name if self._folder else "/tmp", "USER": "student",
            "LOGNAME": "student", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONHASHSEED": "0",
            "MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
        }  # fmt: skip

    def _command(self, descriptor: int) -> list[str]:
        python = [os.path.realpath(sys.executable), "-I", "-S", "-B"]
        if self._folder is None:
            furnish = library.BOX / "inside" / "furnish.py"
            return self.wall.command([*python, str(furnish), str(library.BOX.parents[1]), str(descriptor)])
        for inside, here in library.OURS.items():
            place = Path(self._folder.name) / "inside" / inside
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(here, place)
        if self.libraries:
            self._link_packages(Path(self._folder.name, LINKS))
        first = Path(self._folder.name, "inside", "autograder", "box", "inside", "first.py")
        return self.wall.command([*python, str(first), str(descriptor), "-1", "-1"])

    def _link_packages(self, folder: Path) -> None:
        """A folder with what a box would hold of packages. Where pip does not know what it installed, there is none."""
        places = places_of(self.packages)
        if not {"numpy", "IPython"} <= places.keys():
            return
        folder.mkdir(parents=True)
        for name, place in places.items():
            (folder / name).symlink_to(place)


def without_walls(**settings: Any) -> Sandbox:
    """A sandbox that keeps nobody in: for a student's own notebook, or for whoever insists."""
    return Sandbox(wall=NoWall(), **settings)
