"""Names that come from outside and become names of files: which are refused, and why."""

from __future__ import annotations

import re
import unicodedata

LONGEST = 100  # bytes: enough for a name, and every file system takes it
DEVICES = re.compile(r"(con|prn|aux|nul|clock\$|com\d|lpt\d)(\..*)?$", re.IGNORECASE)
FORBIDDEN = set('/\\:*?"<>|')


class BadName(ValueError):
    """Why a name is refused."""


def safe_name(text: str) -> str:
    """The name in one spelling (NFC), if it can be a folder's on every system; else :class:`BadName`."""
    name = unicodedata.normalize("NFC", text).strip()
    if not name or set(name) <= {"."}:
        raise BadName(f"{shown(text)} is no name")
    if any(unicodedata.category(letter).startswith("C") for letter in name):
        raise BadName(f"{shown(text)} has control characters in it")
    found = FORBIDDEN & set(name)
    if found:
        raise BadName(f"{shown(text)} has a {sorted(found)[0]!r} in it")
    if name[0] in ".-~" or name.endswith("."):
        raise BadName(f"{shown(text)} starts with a dot or a dash, or ends with a dot")
    if DEVICES.match(name):
        raise BadName(f"{shown(text)} is a device on some systems")
    if len(name.encode("utf-8", "replace")) > LONGEST:
        raise BadName(f"{shown(text)} is longer than {LONGEST} bytes")
    return name


def safe_parts(path: str) -> list[str]:
    """The parts of a path inside an archive. One that could lead out of it is refused."""
    if path.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", path):
        raise BadName(f"{shown(path)} is an absolute path")
    if ".." in re.split(r"[/\\]", path):
        raise BadName(f"{shown(path)} leads out of its folder")
    if "\\" in path:
        raise BadName(f"{shown(path)} has a backslash in it")
    return [safe_name(part) for part in path.split("/") if part not in ("", ".")]


def is_one_folder(name: str) -> bool:
    """Is it the name of a folder, and no path that leads elsewhere? (Not every folder's name would be taken in.)"""
    return name not in ("", ".", "..") and not {"/", "\\", "\0"} & set(name)


def same(name: str) -> str:
    """Names that a file system, or a person, may take for the same one have the same key."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def shown(text: str) -> str:
    """For a message: quoted, and not endless."""
    return ascii(text) if len(text) <= 60 else f"{text[:57]!a}..."
