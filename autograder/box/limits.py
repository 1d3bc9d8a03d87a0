"""What one submission may take, and how many boxes a machine has room for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

OVERHEAD = 200 * 2**20  # of a box, in the kernel: page tables, buffers, the names of files and links


@dataclass(frozen=True)
class Limits:
    """Of one submission. The clocks of single questions are the tasks'."""

    cpu_seconds: int = 400
    memory: int = 700 * 2**20  # address space beyond what is loaded; there is one process only
    file_size: int = 16 * 2**20
    written: int = 64 * 2**20  # in each of the places that may be written to
    entries: int = 10_000  # files and folders in each of them

    def largest(self, address_space: int, places: int) -> int:
        """Bytes that a box can take at most: it may write over all of its address space, also what was loaded."""
        return address_space + places * self.written + OVERHEAD


def boxes_that_fit(box: int, root: Path = Path("/")) -> int | None:
    """How many boxes of this size fit into the free memory, at least 1; None where the system does not tell.

    So no box makes the machine run out of memory, where its killer would choose whom to end.
    """
    free = min(_free_memory(root), default=None)
    return None if free is None else max(1, free // box)


def _free_memory(root: Path) -> Iterator[int]:
    """What is free in the machine, and below each limit that holds for this process's control group."""
    for line in _text(root / "proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            yield int(line.split()[1]) * 1024
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers not in ("", "memory"):
            continue
        limit, used = (
            ("memory.max", "memory.current") if not controllers else ("memory.limit_in_bytes", "memory.usage_in_bytes")
        )
        base = root / "sys/fs/cgroup" / controllers
        for folder in (base / path.strip("/"), base):  # in a container the path may be the host's
            most, now = _text(folder / limit).strip(), _text(folder / used).strip()
            if most.isdecimal() and now.isdecimal() and int(most) < 2**60:
                yield max(0, int(most) - int(now))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except OSError:
        return ""
