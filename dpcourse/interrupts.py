"""How long work takes an interruption: between two steps, never in the middle of one."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C waits for the end of the step, so that nothing is caught half changed (a model, a ledger, a survey)."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed = 0

    def note(number: int, frame: Any) -> None:
        nonlocal pressed
        pressed += 1
        if pressed > 1:  # a second time: at once
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt
