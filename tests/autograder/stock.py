"""nbgrader's own commands, run as an instructor would: in the course's folder, by its config."""

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from testing import ROOT

#: For tests only: whoever reads this knows it.
SEED = 2**62 + 1

#: One after the other in one process: its start alone takes four seconds.
RUN = """
import sys
from nbgrader.apps import NbGraderApp
from traitlets.config import Application
for words in sys.argv[1:]:
    try:
        NbGraderApp.launch_instance(words.split())
    except SystemExit as end:
        if end.code:
            raise
    Application.instance().clear_instance()  # the command's own, which has taken the place of NbGraderApp's
"""


@contextlib.contextmanager
def quick_folder() -> Iterator[Path]:
    """A new folder, in memory where that can be had: nbgrader commits hundreds of times, each time to the disk."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        yield Path(folder)


def tried(course: Path, *commands: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run nbgrader's commands with a fixed seed, however they end."""
    home = course.parent / "home"
    home.mkdir(exist_ok=True)
    places = {"JUPYTER_CONFIG_DIR": home, "JUPYTER_DATA_DIR": home, "JUPYTER_RUNTIME_DIR": home, "IPYTHONDIR": home}
    settings = {"DPCOURSE_GRADING_SEED": str(SEED), "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **environment}
    return subprocess.run(
        [sys.executable, "-c", RUN, *commands], cwd=course, capture_output=True, text=True, check=False,
        env={**os.environ, **{name: str(place) for name, place in places.items()}, **settings},
    )  # fmt: skip


def nbgrader(course: Path, *commands: str) -> str:
    """Run them, and see that they succeed; a failure shows the log. What was logged."""
    done = tried(course, *commands)
    assert done.returncode == 0, f"nbgrader {commands}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr
