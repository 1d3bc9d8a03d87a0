"""What a box can take at most, and how many of them a machine has room for."""

import errno
import re
from pathlib import Path

import psutil
import pytest

from autograder.box.limits import boxes_that_fit
from autograder.box.process import Remote
from autograder.box.sandbox import WRITABLE, Sandbox
from autograder.course.course import Course
from autograder.examine import workers
from autograder.examine.batch import grade
from autograder.examine.forked import Forked
from testing.five_tasks import HOMEWORK
from tests.autograder.box.conftest import processes_in_boxes

MB = 2**20
GREEDY = f"""
import errno, os, resource
kept, files, block = [], [], b"x" * {MB}
for size in (2**24, 2**20, 2**16):
    try:
        while True:
            kept.append(bytearray(os.urandom(16)) * (size // 16))
    except MemoryError:
        pass
for place in {WRITABLE!r}:
    for number in range(100):
        try:
            with open(f"{{place}}/{{number}}", "wb", buffering=0) as file:
                for _ in range(8):
                    file.write(block)
        except OSError as error:
            files.append(error.errno)
            break
del kept[-1]
raise ValueError(f"<{{resource.getrlimit(resource.RLIMIT_AS)[0]}} {{sorted(set(files))}}>")
"""


def test_a_box_takes_no_more_than_it_says(bubblewrap):
    """With packages loaded that are larger than what is added to them: a program may write over these, too."""
    with Sandbox(preload=["scipy.stats", "pandas", "sklearn"]) as sandbox:
        remote = Remote(sandbox, 60.0)
        said = remote.run("greedy", GREEDY)
        (process,) = processes_in_boxes(sandbox)
        taken = psutil.Process(process).memory_info().rss
        remote.close()
    space, errors = re.search(r"<(\d+) (\S+)>", said).groups()  # type: ignore[union-attr]
    assert errors == f"[{errno.ENOSPC}]"
    written = len(WRITABLE) * sandbox.limits.written
    assert sandbox.largest_box is not None
    assert taken > sandbox.limits.memory / 2  # it was greedy
    assert taken + written < sandbox.largest_box
    assert int(space) + written < sandbox.largest_box


def machine(root: Path, files: dict[str, str]) -> Path:
    for place, text in files.items():
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        (root / place).write_text(text)
    return root


FREE = {"proc/meminfo": f"MemTotal: {9 * 1024 * 1024} kB\nMemAvailable: {4 * 1024 * 1024} kB\n"}
GROUPS = {
    "the whole machine": ({}, 4),
    "a container": ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": f"{3 * 1024 * MB}\n",
                     "sys/fs/cgroup/memory.current": f"{1024 * MB}\n"}, 2),
    "a service": ({"proc/self/cgroup": "0::/system.slice/x\n", "sys/fs/cgroup/system.slice/x/memory.max": f"{MB}\n",
                   "sys/fs/cgroup/system.slice/x/memory.current": "0\n"}, 1),
    "no limit": ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n",
                  "sys/fs/cgroup/memory.current": "7\n"}, 4),
    "an older container": ({"proc/self/cgroup": "4:memory:/docker/abc\n",
                            "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{3 * 1024 * MB}\n",
                            "sys/fs/cgroup/memory/memory.usage_in_bytes": "0\n"}, 3),
}  # fmt: skip


@pytest.mark.parametrize("kind", GROUPS)
def test_free_memory_is_what_machine_and_control_group_leave(kind, tmp_path):
    files, number = GROUPS[kind]
    assert boxes_that_fit(1024 * MB, machine(tmp_path, {**FREE, **files})) == number


def test_a_system_that_does_not_tell_sets_no_limit(tmp_path):
    assert boxes_that_fit(1024 * MB, tmp_path) is None


def test_no_more_boxes_than_fit_into_the_free_memory(handed_in, bubblewrap, monkeypatch, capsys):
    asked: list[int] = []
    monkeypatch.setattr(workers, "boxes_that_fit", lambda box: asked.append(box) or 1)
    started: list[object] = []
    monkeypatch.setattr(workers, "Forked", lambda *args: started.append(args) or Forked(*args))
    records = grade(Course.find(handed_in(4)), [HOMEWORK], jobs=3, seed=2**62)
    assert len(records) == 4
    assert len(started) == 1  # nobody beside it, not even while it rests
    assert asked[0] > 700 * MB
    assert "1 at a time instead of 3" in capsys.readouterr().err
