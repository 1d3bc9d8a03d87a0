"""What a program or library asks the dynamic linker for: read from the file, nothing is run.

The format: System V Application Binary Interface, chapters 4 and 5 (program header, dynamic section).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

MAGIC, CLASS_64, LITTLE = b"\x7fELF", 2, 1
PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
DT_NULL, DT_NEEDED, DT_STRTAB = 0, 1, 5
HEADER = struct.Struct("<16xHHIQQQIHHHHHH")
SEGMENT = struct.Struct("<IIQQQQQQ")
ENTRY = struct.Struct("<qQ")


@dataclass(frozen=True)
class Linked:
    """``needed``: names of libraries. ``interpreter``: the path of the dynamic linker, "" for a library."""

    needed: tuple[str, ...] = ()
    interpreter: str = ""


def linked(path: Path) -> Linked:
    """What this file asks for; nothing if it is no 64-bit little-endian ELF file."""
    with path.open("rb") as file:
        head = file.read(HEADER.size)
        if len(head) < HEADER.size or head[:4] != MAGIC or head[4] != CLASS_64 or head[5] != LITTLE:
            return Linked()
        _, _, _, _, table, _, _, _, size, count, *_ = HEADER.unpack(head)

        def read(place: int, length: int) -> bytes:
            file.seek(place)
            return file.read(length)

        segments = [SEGMENT.unpack(read(table + number * size, SEGMENT.size)) for number in range(count)]
        loads = [(address, offset, length) for kind, _, offset, address, _, length, *_ in segments if kind == PT_LOAD]

        def offset_of(address: int) -> int:
            return next(offset + address - start for start, offset, size in loads if start <= address < start + size)

        def text_at(place: int) -> str:
            return read(place, 4096).partition(b"\0")[0].decode()

        interpreter, names, strings = "", list[int](), 0
        for kind, _, offset, _, _, length, *_ in segments:
            if kind == PT_INTERP:
                interpreter = text_at(offset)
            if kind == PT_DYNAMIC:
                raw = read(offset, length - length % ENTRY.size)
                for tag, value in ENTRY.iter_unpack(raw):
                    if tag == DT_NULL:
                        break
                    if tag == DT_NEEDED:
                        names.append(value)
                    if tag == DT_STRTAB:
                        strings = offset_of(value)
        return Linked(tuple(text_at(strings + name) for name in names), interpreter)
