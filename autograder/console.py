"""What all commands share: an error in one sentence, a progress bar, output for machines."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from autograder.examine.records import write_whole

Item = TypeVar("Item")


class Problem(ValueError):
    """Something the user can mend. Its text is one sentence that quotes the value and says what to do."""


def note(text: str) -> None:
    """A line for the person at the terminal. Not on stdout: that belongs to the result."""
    _show(text, sys.stderr)


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


def bar(words: str, total: int | None = None) -> Any:
    """A progress bar on stderr, silent where nobody watches. ``bar.update(1)`` moves it; it is a context manager."""
    try:
        from tqdm import tqdm
    except ImportError:  # nobody has to install it
        return _NoBar()
    quiet = not sys.stderr.isatty() or total in (0, 1)
    return tqdm(total=total, desc=words, file=sys.stderr, disable=quiet, leave=False)


class _NoBar:
    """In the place of a progress bar."""

    def update(self, _: int) -> None:
        """Nothing to show."""

    def __enter__(self) -> _NoBar:
        return self

    def __exit__(self, *_: object) -> None:
        return


def watched(items: Iterable[Item], words: str) -> Iterator[Item]:
    """Each item, while the bar moves."""
    everything = list(items)
    with bar(words, len(everything)) as shown:
        for item in everything:
            yield item
            shown.update(1)


def write_json(target: str | None, value: Any) -> None:
    """For machines: to a file (written whole), to stdout for "-", or not at all."""
    if target is None:
        return
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    if target == "-":
        sys.stdout.buffer.write(text.encode("utf-8"))
        sys.stdout.flush()
    else:
        write_whole(in_a_folder(target), text.encode("utf-8"))


def in_a_folder(name: str) -> Path:
    """The place of a file to be written, if its folder is there. (A folder that is misspelt would be made.)"""
    place = Path(name).expanduser()
    if not place.parent.is_dir():
        raise Problem(f"there is no folder {str(place.parent)!r} for {name!r}; make it, or choose another place")
    if place.is_dir():
        raise Problem(f"{name!r} is a folder; give the name of a file")
    return place


def tell(options: Any, text: str) -> None:
    """The result for a person: on stdout, unless the machine's result goes there."""
    _show(text, sys.stderr if options.json == "-" else sys.stdout)


def _show(text: str, stream: Any) -> None:
    """A line, above the progress bar if there is one."""
    if sys.modules.get("tqdm") is not None:
        from tqdm import tqdm

        tqdm.write(text, file=stream)
        stream.flush()
    else:
        print(text, file=stream, flush=True)


def new_file(name: str, force: bool) -> Path:
    """A place to write to: nothing of the user's is there, unless they say so."""
    place = in_a_folder(name)
    if place.exists() and not force:
        raise Problem(f"{name!r} exists; choose another name, or overwrite it by --force")
    return place
