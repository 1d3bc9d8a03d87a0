"""A sandbox that is always there: started when needed, with what the class imports, and replaced when it breaks."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from autograder.box.process import Remote
from autograder.box.sandbox import KNOWN, Broken, Sandbox
from autograder.box.services import SERVICES


class Box:
    """A sandbox that is replaced when it breaks."""

    def __init__(self, *, preload: Sequence[str] = (), unsafe: bool = False) -> None:
        self.preload, self.unsafe = tuple(preload), unsafe
        self._sandbox: Sandbox | None = None
        self._aside: Box | None = None

    @property
    def aside(self) -> Box:
        """Another sandbox, for processes that must not hear of fresh probes.

        Within one, a process can leave word to the next, by how far it moves the counter of process numbers.
        """
        if self._aside is None:
            self._aside = Box(preload=self.preload, unsafe=self.unsafe)
        return self._aside

    def remote(self, seconds: float, services: Collection[str] = tuple(SERVICES)) -> Remote:
        """A fresh process for a submission, with these services."""
        for attempt in (1, 2, 3):
            if self._sandbox is None:
                self._sandbox = Sandbox(preload=self.preload, unsafe=self.unsafe)
            try:
                return Remote(self._sandbox, seconds, services)
            except Broken:
                self.close()
                if attempt == 3:
                    raise
        raise AssertionError

    def close(self) -> None:
        """Tear it down."""
        if self._aside is not None:
            self._aside.close()
        if self._sandbox is not None:
            self._sandbox.close()
            self._sandbox = None


def mentioned(sources: Sequence[str]) -> list[str]:
    """The known packages that these cells mention: worth loading once, before any of them runs."""
    text = "\n".join(sources)
    found = {name for name in KNOWN if name.partition(".")[0] in text}
    return sorted(found | ({"pandas"} if "dpcourse import data" in text else set()))
