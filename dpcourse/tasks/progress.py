"""A sign of life for what takes over a second: one line that counts the seconds, and goes when the verdict comes."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator

PATIENCE, STEP = 1.0, 0.5  # seconds before the first sign, and between two


@contextlib.contextmanager
def sign_of_life(words: str) -> Iterator[None]:
    """Write ``words`` and the seconds so far, from a second thread, until the block ends."""
    out, start, over = sys.stdout, time.monotonic(), threading.Event()
    longest = 0

    def tell() -> None:
        nonlocal longest
        wait = PATIENCE
        while not over.wait(wait):
            line = f"{words} ... {time.monotonic() - start:.0f} s"
            longest, wait = max(longest, len(line)), STEP
            with contextlib.suppress(Exception):  # a stream that was closed
                out.write(f"\r{line}")
                out.flush()

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        if longest:
            out.write("\r" + " " * longest + "\r")
            out.flush()
