"""What keeps students' code in. A wall starts the sandbox's first process where nothing of the machine is in reach."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from typing import Protocol

INSTALL = "sudo apt-get install bubblewrap"


class NoSandbox(RuntimeError):
    """Grading cannot start: what is missing, and the line that installs it."""


class Wall(Protocol):
    """What every wall must provide.

    Behind it, ``inside/furnish`` must be able to mount file systems and to make namespaces of processes and mounts, or
    the wall must see to it in another way that each submission has its own. ``boxed`` says whether it does: without, a
    submission runs with the rights of whoever started it.
    """

    name: str
    boxed: bool

    def missing(self) -> str:
        """Why it cannot be used here, and what helps; "" if it can."""

    def command(self, program: Sequence[str]) -> list[str]:
        """The command that runs this program behind the wall."""


class Bubblewrap:
    """Namespaces of the kernel, made by ``bwrap``: no network, no other process, a user without rights.

    The machine's files are there, read-only, until the first process has copied what it needs and let go of them. It
    keeps one right in its own namespace, to make mounts; the process of a submission has none.
    """

    name = "bubblewrap"
    boxed = True

    def missing(self) -> str:
        """Bubblewrap is not installed, or the system does not let it work."""
        if shutil.which("bwrap") is None:
            return f"grading needs bubblewrap, which is not installed: {INSTALL}"
        tried = subprocess.run(self.command(["true"]), capture_output=True, text=True, check=False)
        if tried.returncode:
            return f"bubblewrap cannot make a sandbox here: {tried.stderr.strip()[:200]}"
        return ""

    def command(self, program: Sequence[str]) -> list[str]:
        """``bwrap`` around the program."""
        bubblewrap = shutil.which("bwrap")
        if bubblewrap is None:
            raise NoSandbox(self.missing())
        return [
            bubblewrap, "--unshare-all", "--unshare-user", "--uid", "1000", "--gid", "1000", "--hostname", "sandbox",
            "--die-with-parent", "--as-pid-1", "--new-session", "--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN",
            "--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev", *program,
        ]  # fmt: skip


class NoWall:
    """None: for a student's own notebook on their own machine, or for whoever insists."""

    name = "none"
    boxed = False

    def missing(self) -> str:
        """Nothing."""
        return ""

    def command(self, program: Sequence[str]) -> list[str]:
        """The program itself."""
        return list(program)
