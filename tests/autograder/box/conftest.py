"""A sandbox and its boxes, for the tests of the wall."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from autograder.box.process import Remote
from autograder.box.sandbox import Sandbox


@pytest.fixture(scope="session")
def small_sandbox(bubblewrap: str) -> Iterator[Sandbox]:
    """A sandbox with numpy only."""
    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def boxes(small_sandbox: Sandbox) -> Iterator[Callable[[], Remote]]:
    """``boxes()``: one more box, open until the test ends."""
    opened: list[Remote] = []

    def one_more() -> Remote:
        opened.append(Remote(small_sandbox, 60.0))
        return opened[-1]

    yield one_more
    for remote in opened:
        remote.close()
    end = time.monotonic() + 5.0
    while processes_in_boxes(small_sandbox) and time.monotonic() < end:  # the kernel takes a moment
        time.sleep(0.01)


def processes_in_boxes(sandbox: Sandbox) -> list[int]:
    """The numbers that the machine gives to the processes of the open boxes."""
    assert sandbox._process is not None
    (first,) = psutil.Process(sandbox._process.pid).children()
    return [child.pid for child in first.children()]


def mounts_of(process: int) -> list[dict[str, str]]:
    """What the kernel says is mounted for a process (man 5 proc, /proc/pid/mountinfo)."""
    mounts = []
    for line in Path(f"/proc/{process}/mountinfo").read_text(encoding="ascii").splitlines():
        mount, _, system = line.partition(" - ")
        _, _, _, root, place, options, *_ = mount.split()
        kind, source, settings = system.split(" ", 2)
        mounts.append({"root": root, "place": place, "options": options, "kind": kind, "source": source,
                       "settings": settings})  # fmt: skip
    return mounts
