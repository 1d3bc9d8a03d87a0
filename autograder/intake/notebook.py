"""A notebook that nobody trusts, read as a file: no link followed, no device opened, memory and time bounded.

Everything that keeps it from being read is an :class:`Unreadable`, whose text is a sentence for the record.
"""

from __future__ import annotations

import base64
import json
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LARGEST_FILE = 256 * 2**20  # bytes that are looked at; outputs make notebooks large
LARGEST_TEXT = 8 * 2**20  # bytes without the outputs: what becomes Python objects, up to thirty times as large
MOST_BRACKETS = 2_000_000  # in the outputs: about two seconds
MOST_CELLS = 5_000
MOST_PICTURES = 10  # of a cell
LONGEST_SOURCE = 200_000  # characters of a cell

#: The name of what is left out, or a whole string, or what stands between strings.
KEPT = {
    names: re.compile(rb'(?P<dropped>"(?:' + names + rb')"\s*+:\s*+(?=[\[{]))|"(?:[^"\\]++|\\.)*+"?|[^"]++', re.DOTALL)
    for names in (b"outputs", b"outputs|attachments")
}
#: The next bracket that stands in no string.
BRACKET = re.compile(rb'(?:"(?:[^"\\]++|\\.)*+"|[^"{}\[\]]++)*+(?P<bracket>[{}\[\]])', re.DOTALL)
PICTURES = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}  # how a file of that type begins
INLINE = re.compile(r"data:(image/(?:png|jpeg));base64,([A-Za-z0-9+/=]++)")
UNWRITABLE = re.compile("[\x00\ud800-\udfff]")  # no program and no UTF-8 file can hold them


class Unreadable(Exception):
    """Why a file cannot be read, as a sentence."""


class TooLarge(Unreadable):
    """There is too much of it."""


@dataclass(frozen=True)
class RawCell:
    """A cell of a submitted notebook. Nothing about it has been checked but that it is text.

    ``is_locked``: nbgrader's mark says that it is not the student's to write.
    ``pictures``: type and base64 of the pictures that were pasted into it (a photo of a proof on paper).
    """

    kind: str
    grade_id: str
    cell_id: str
    source: str
    pictures: tuple[tuple[str, str], ...] = ()
    is_locked: bool = False


def quoted(name: str) -> str:
    """A name that somebody else chose, for a sentence: one line, not long."""
    text = repr(name)
    return text if len(text) <= 80 else f"{text[:76]}...'"


def read_file(path: Path) -> bytes:
    """The bytes of a plain file."""
    name = quoted(path.name)
    if not stat.S_ISREG(os.lstat(path).st_mode):  # opening a device or a pipe may do something
        raise Unreadable(f"{name} is not a plain file.")
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable(f"{name} is not a plain file.")
        if status.st_size > LARGEST_FILE:
            size = f"{status.st_size / 2**20:,.0f} MB"
            raise Unreadable(f"{name} has {size}; more than {LARGEST_FILE // 2**20} MB are not read.")
        return file.read(LARGEST_FILE + 1)


def cells_of(data: bytes) -> tuple[list[RawCell], list[str]]:
    """The cells of a notebook, of whatever format, and notes on what was odd about it."""
    if not data.strip():
        raise Unreadable("The file is empty.")
    notes: list[str] = []
    if len(data) > LARGEST_TEXT:
        size = f"The file has {len(data) / 2**20:,.0f} MB"
        try:
            data = without_outputs(data)
            notes.append(f"{size}; its outputs were left out.")
        except TooLarge:
            data = without_outputs(data, b"outputs|attachments")
            notes.append(f"{size}; its outputs and pictures were left out.")
    text, odd = _decoded(data)
    try:
        book = json.loads(text, parse_int=float)  # a whole number may have a million digits
    except RecursionError:
        raise Unreadable("The file is nested too deeply for a notebook.") from None
    except ValueError as error:
        raise Unreadable(f"The file is not a notebook: it is not valid JSON ({error}).") from None
    raw, old = _cell_list(book)
    if old:
        odd.append("The notebook has an older format than 4; it was converted.")
    if len(raw) > MOST_CELLS:
        odd.append(f"The notebook has {len(raw):,} cells; only the first {MOST_CELLS:,} were read.")
    cells = [_cell(one, number, odd) for number, one in enumerate(raw[:MOST_CELLS], 1)]
    return [cell for cell in cells if cell is not None], notes + odd


def without_outputs(data: bytes, names: bytes = b"outputs") -> bytes:
    """The JSON of a notebook with its outputs left out, found without reading them into objects."""
    kept, size, place, budget = [], 0, 0, iter(range(MOST_BRACKETS))
    while place < len(data):
        found = KEPT[names].match(data, place)
        if found is None:
            raise Unreadable("The file is not a notebook: it is not valid JSON.")
        size += found.end() - place
        if size > LARGEST_TEXT:
            raise TooLarge(f"Without its outputs the file has still more than {LARGEST_TEXT // 2**20} MB.")
        kept.append(found.group())
        place = found.end()
        if found["dropped"]:
            kept.append(b"[]")
            place = _after_value(data, place, budget)
    return b"".join(kept)


def _after_value(data: bytes, place: int, budget: Iterator[int]) -> int:
    """Where the list or object that starts here ends. All of a file share the ``budget`` of brackets."""
    depth = 0
    for _ in budget:
        found = BRACKET.match(data, place)
        if found is None:
            raise Unreadable("The file is not a notebook: it ends in the middle of an output.")
        depth += 1 if found["bracket"] in b"[{" else -1
        place = found.end()
        if depth == 0:
            return place
    raise Unreadable("The outputs in the file are too many to be read.")


def _decoded(data: bytes) -> tuple[str, list[str]]:
    encoding = json.detect_encoding(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return data.decode("latin-1"), ["The file is not UTF-8; it was read as Latin-1, so some letters may be wrong."]
    plain = encoding in ("utf-8", "utf-8-sig")
    return text, [] if plain else [f"The file is {encoding.upper()}, not UTF-8; it was read all the same."]


def _cell_list(book: Any) -> tuple[list[Any], bool]:
    """The list of cells, and whether the format is older than 4, where they stood in worksheets."""
    if not isinstance(book, dict):
        raise Unreadable("The file is not a notebook: it holds no cells.")
    if isinstance(book.get("cells"), list):
        version = book.get("nbformat")
        return book["cells"], isinstance(version, float) and version < 4
    sheets = book.get("worksheets")
    if not isinstance(sheets, list):
        raise Unreadable("The file is not a notebook: it holds no cells.")
    lists = [sheet["cells"] for sheet in sheets if isinstance(sheet, dict) and isinstance(sheet.get("cells"), list)]
    return [cell for cells in lists for cell in cells], True


def _cell(raw: Any, number: int, notes: list[str]) -> RawCell | None:
    """One cell; None, and a note, if there is no text in it."""
    if not isinstance(raw, dict):
        notes.append(f"Cell {number} is not a cell; it was left out.")
        return None
    source = next((raw[key] for key in ("source", "input", "code") if key in raw), "")
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        notes.append(f"The source of cell {number} is not text; it was left out.")
        return None
    pasted: list[tuple[str, str]] = []
    if raw.get("cell_type") == "markdown":  # a picture in the text itself: it is no text

        def take_out(match: re.Match[str]) -> str:
            pasted.append((match[1], match[2]))
            return "picture"

        source = INLINE.sub(take_out, source)
    if len(source) > LONGEST_SOURCE:
        notes.append(f"Cell {number} has {len(source):,} characters, more than {LONGEST_SOURCE:,}; it was left out.")
        return None
    if UNWRITABLE.search(source):
        notes.append(f"Cell {number} has characters that no file can hold; they were replaced.")
        source = UNWRITABLE.sub("\ufffd", source)
    metadata = raw.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    name = marks.get("grade_id") if isinstance(marks, dict) else None
    inline = {str(number): {kind: text} for number, (kind, text) in enumerate(pasted)}
    pictures = tuple([*_pictures(inline), *_pictures(raw.get("attachments"))])[:MOST_PICTURES]
    is_locked = isinstance(marks, dict) and marks.get("locked") is True
    return RawCell(_text(raw.get("cell_type")), _text(name), _text(raw.get("id")), source, pictures, is_locked)


def _pictures(attachments: Any) -> Iterator[tuple[str, str]]:
    """The attachments of a cell that are what they say: a PNG or a JPEG."""
    for kinds in attachments.values() if isinstance(attachments, dict) else ():
        for kind, text in kinds.items() if isinstance(kinds, dict) else ():
            try:
                content = base64.b64decode(text)
            except (ValueError, TypeError):
                continue
            if kind in PICTURES and content.startswith(PICTURES[kind]):
                yield kind, base64.b64encode(content).decode()


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
