"""Which of two submissions of one student is the later one, as far as that is known.

Beside a submission, ``.collected.json`` keeps what its source said about it; it counts while the file is the same. So
two files of one run are compared by the same rule as one of today and one of last week.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from autograder.course.roster import Identity
from autograder.examine.records import write_whole
from autograder.intake.archives import Handed, time_of

KNOWN = ".collected.json"


def remember(folder: Path, handed: Handed) -> None:
    """Write down what is known about the submission in this folder."""
    known = {
        "sha256": sha256(handed.content).hexdigest(),
        "identity": handed.identity.label,
        "file": handed.file,
        "time": handed.time.isoformat() if handed.time else None,
        "number": handed.number,
        "version": handed.version,
        "changed": handed.changed.isoformat() if handed.changed else None,
    }
    write_whole(folder / KNOWN, json.dumps(known).encode())


def before(folder: Path, content: bytes) -> Handed:
    """What is known about the submission that is there: its time, and what :func:`remember` wrote."""
    there = Handed("", Identity("", ""), "", time_of(folder))
    try:
        place = folder / KNOWN
        if place.is_symlink():
            return there
        known = json.loads(place.read_text(encoding="utf-8"))
        if known["sha256"] != sha256(content).hexdigest():
            return there
        changed = datetime.fromisoformat(known["changed"]) if known["changed"] else None
        again = datetime.fromisoformat(known["time"]) if known.get("time") else None
        time = max(filter(None, (there.time, again)), default=None)  # the same file may have been handed in again
        file, version = str(known.get("file", "")), int(known.get("version", 0))  # earlier versions did not write them
        return replace(there, file=file, time=time, number=int(known["number"]), version=version, changed=changed)
    except (OSError, ValueError, KeyError, TypeError):
        return there


def identity_of(folder: Path) -> str:
    """Who handed in what is there (an identity's label), also if the file was changed by hand since; "" if unknown."""
    try:
        place = folder / KNOWN
        return "" if place.is_symlink() else str(json.loads(place.read_text(encoding="utf-8")).get("identity", ""))
    except (OSError, ValueError, AttributeError):
        return ""


def compared(handed: Handed, there: Handed, name: str) -> tuple[bool, str]:
    """Does it go before the one that is there, and why (or why not)? ``name``: what the file should be called.

    The first sign decides of which both tell and in which they differ: the time of handing in, Canvas's number, the
    right name of the file, Canvas's version of the file, the time of the file. Without one, what is there stays.
    """
    if handed.time and there.time and handed.time != there.time:
        word = "later" if handed.time > there.time else "earlier"
        return handed.time > there.time, f"handed in {word}, {shown(handed.time)}"
    if handed.number and there.number and handed.number != there.number:
        more = handed.number > there.number
        return more, f"Canvas's number is {'larger' if more else 'smaller'}"
    if handed.file and there.file and (handed.file == name) != (there.file == name):
        right = handed.file == name
        return right, "it has the right name" if right else "the one that is there has the right name"
    if handed.number and there.number and handed.version != there.version:
        more = handed.version > there.version
        return more, f"Canvas's version is {'larger' if more else 'smaller'}"
    if handed.changed and there.changed and handed.changed != there.changed:
        word = "later" if handed.changed > there.changed else "earlier"
        return handed.changed > there.changed, f"the file was changed {word}, {shown(handed.changed)}"
    return False, "nothing tells which is the later one"


def shown(time: datetime) -> str:
    """For a sentence."""
    return time.strftime("%Y-%m-%d %H:%M:%S UTC")
