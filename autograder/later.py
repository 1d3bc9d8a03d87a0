"""Which of two submissions of one student is the later one, as far as that is known.

Beside a submission, ``.collected.json`` keeps what its source said about it; it counts while the file is the same.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from autograder.handed import Handed, time_of
from autograder.records import write_whole

KNOWN = ".collected.json"
NEVER = datetime.min.replace(tzinfo=UTC)


def remember(folder: Path, handed: Handed) -> None:
    """Write down what is known about the submission in this folder."""
    known = {
        "sha256": sha256(handed.content).hexdigest(),
        "number": handed.number,
        "changed": handed.changed.isoformat() if handed.changed else None,
    }
    write_whole(folder / KNOWN, json.dumps(known).encode())


def before(folder: Path, content: bytes) -> Handed:
    """What is known about the submission that is there: its time, Canvas's number, when the file was last written."""
    there = Handed("", (), "", time_of(folder))
    try:
        place = folder / KNOWN
        if place.is_symlink():
            return there
        known = json.loads(place.read_text(encoding="utf-8"))
        if known["sha256"] != sha256(content).hexdigest():
            return there
        changed = datetime.fromisoformat(known["changed"]) if known["changed"] else None
        return replace(there, number=int(known["number"]), changed=changed)
    except (OSError, ValueError, KeyError, TypeError):
        return there


def known_later(handed: Handed, there: Handed) -> str:
    """By what it is known to be later than the one of an earlier run; "" if it is not. The surest sign decides."""
    if handed.time and there.time:
        return f"handed in later, {shown(handed.time)}" if handed.time > there.time else ""
    if handed.number and there.number:
        return "Canvas's number is larger" if handed.number > there.number else ""
    if handed.changed and there.changed:
        return f"the file was changed later, {shown(handed.changed)}" if handed.changed > there.changed else ""
    return ""


def why_later(handed: Handed, rival: Handed, name: str) -> str:
    """The same for two files of one run: the one with the right name goes first."""
    if (handed.file == name) != (rival.file == name):
        return "it has the right name" if handed.file == name else ""
    ranks = [(one.time or NEVER, one.number, one.version, one.changed or NEVER) for one in (handed, rival)]
    return "it is the later one" if ranks[0] > ranks[1] else ""


def shown(time: datetime) -> str:
    """For a sentence."""
    return time.strftime("%Y-%m-%d %H:%M UTC")
