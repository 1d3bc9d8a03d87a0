"""What all commands share: an error in one sentence, a progress bar, output for machines."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from autograder.examine.records import write_whole

if TYPE_CHECKING:
    from rich.console import Console

Item = TypeVar("Item")


class Problem(ValueError):
    """Something the user can mend. Its text is one sentence that quotes the value and says what to do."""


def note(text: str) -> None:
    """A line for the person at the terminal. Not on stdout: that belongs to the result."""
    _show(text, stderr=True)


def without_controls(text: str) -> str:
    """What others wrote, for a terminal: its lines stay, but nothing in it moves the cursor or turns the writing."""
    return "".join(letter if letter.isprintable() or letter == "\n" else "\ufffd" for letter in text.expandtabs(4))


def one_line(text: str, most: int = 300) -> str:
    """What others wrote, for a terminal: one line, not endless, and nothing in it that moves the cursor."""
    line = without_controls(" ".join(text.split()))
    return line if len(line) <= most else f"{line[:most]}..."


def counted(number: int, word: str) -> str:
    """1 submission, 2 submissions."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def in_words(time: timedelta) -> str:
    """2 days 3 h, 5 h 10 min, 3 min; "" for none."""
    minutes = -(-int(time.total_seconds()) // 60)
    days, hours, minutes = minutes // 1440, minutes // 60 % 24, minutes % 60
    parts = [counted(days, "day") if days else "", f"{hours} h" if hours else "", f"{minutes} min" if minutes else ""]
    return " ".join([part for part in parts if part][:2])


def refused_by_system(error: OSError) -> str:
    """What the system would not do, in one sentence that quotes the file or folder it is about."""
    why = error.strerror or str(error)
    if not isinstance(error.filename, str | bytes):
        return why
    why = why.lower()
    place = Path(os.fsdecode(error.filename))
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        if not os.path.lexists(place):  # what was to be made there
            place = place.parent
        return f"{str(place)!r} may not be read or written ({why}): change its rights, or choose another place"
    return f"{str(place)!r} cannot be used: {why}"


@contextmanager
def bar(words: str, total: int | None = None) -> Iterator[Callable[..., None]]:
    """A progress bar on stderr, silent where nobody watches. Each call of what it gives moves it by one."""
    if total in (0, 1) or not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich import progress

    columns = (progress.BarColumn(), progress.MofNCompleteColumn(), progress.TimeElapsedColumn())
    text = progress.TextColumn("{task.description}", markup=False)
    with progress.Progress(
        text, *columns, console=_console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False,
        auto_refresh=False,  # that would be a thread, and processes are forked meanwhile
    ) as shown:  # fmt: skip
        task = shown.add_task(words, total=total)
        yield lambda *_: shown.update(task, advance=1, refresh=True)


def watched(items: Iterable[Item], words: str) -> Iterator[Item]:
    """Each item, while the bar moves."""
    everything = list(items)
    with bar(words, len(everything)) as advance:
        for item in everything:
            yield item
            advance()


@dataclass(frozen=True)
class Output:
    """Where the result of a command goes. ``file``: the one for machines, "-" for stdout, None for none."""

    file: str | None = None

    def __post_init__(self) -> None:
        """The folder of that file is looked for before the work, not after it."""
        if self.file not in (None, "-"):
            in_a_folder(str(self.file))

    def tell(self, text: str) -> None:
        """The result for a person: on stdout, unless the machine's result goes there."""
        _show(text, stderr=self.file == "-")

    def write_json(self, value: Any) -> None:
        """The result for a machine; a file is written whole."""
        if self.file is None:
            return
        text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        if self.file == "-":
            sys.stdout.buffer.write(text.encode("utf-8"))
            sys.stdout.flush()
        else:
            write_whole(in_a_folder(self.file), text.encode("utf-8"))


def in_a_folder(name: str) -> Path:
    """The place of a file to be written, if its folder is there. (A folder that is misspelt would be made.)"""
    place = Path(name).expanduser()
    if not place.parent.is_dir():
        raise Problem(f"there is no folder {str(place.parent)!r} for {name!r}; make it, or choose another place")
    if place.is_dir():
        raise Problem(f"{name!r} is a folder; give the name of a file")
    return place


def new_file(name: str, force: bool) -> Path:
    """A place to write to: nothing of the user's is there, unless they say so."""
    place = in_a_folder(name)
    if place.exists() and not force:
        raise Problem(f"{name!r} exists; choose another name, or overwrite it by --force")
    return place


@cache
def _console(*, stderr: bool) -> Console:
    from rich.console import Console

    return Console(stderr=stderr, force_jupyter=False)


def _show(text: str, *, stderr: bool) -> None:
    """A line as it is: no markup, no colour, no other line breaks. Above the bar, which is on stderr's console."""
    from rich.segment import Segment, Segments

    same_terminal = sys.stdout.isatty() and sys.stderr.isatty()
    _console(stderr=stderr or same_terminal).print(Segments([Segment(f"{text}\n")]), crop=False)
