"""What must not reach students: the lines of the solutions and of the hidden tests, and where they are looked for.

A line is a secret if it stands in a solution or in a hidden test and is longer than a few characters (imports, and
what the instructor lets be shown, apart). In a lecture, a homework or a text, one such line is a leak. The package is
another matter: it is the mathematics that is asked for, and ``check`` needs it; there, a leak is a whole solution of
several lines. The course's own tasks are like a module of the package. They have one place in what students get, at its
top; a ``tasks.py`` that comes along elsewhere, with a homework or a lecture, is one too many.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.console import Problem

SHORT = 12  # characters: `return total` gives nothing away
REGION = re.compile(r"^[^\n]*BEGIN (SOLUTION|HIDDEN TESTS)[^\n]*\n(.*?)^[^\n]*END \1[^\n]*$", re.DOTALL | re.MULTILINE)
MARKERS = tuple(f"{edge} {what}" for edge in ("BEGIN", "END") for what in ("SOLUTION", "HIDDEN TESTS", "MARK SCHEME"))
OWN_TASKS = "tasks.py"  # the place of the course's own tasks in what students get
#: Files and folders that only the instructor has: the gradebook, other people's work, the known answers of the tests.
KEPT = re.compile(
    r"(^|/)(source|submitted|autograded|grading|earlier|tests|testing|studies|nbgrader_config\.py|[^/]*\.db)(/|$)"
    rf"|/{re.escape(OWN_TASKS)}(/|$)"
)
PACKAGE = re.compile(rf"(dpcourse|autograder|tools)/.*\.py$|{re.escape(OWN_TASKS)}$")
ARCHIVES = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar")
IMPORT = re.compile(r"(import|from) [\w.]+")
SEED = re.compile(r"DPCOURSE_GRADING_SEED\W{1,4}\d")  # set to a number


@dataclass(frozen=True)
class Secrets:
    """The secret lines (line -> homework), and the solutions as blocks of lines."""

    lines: dict[str, str]
    blocks: dict[tuple[str, ...], str]

    def in_text(self, text: str) -> Iterator[str]:
        """What a text for students gives away, in words."""
        flat = flattened(text)
        yield from (f"{marker!r}" for marker in MARKERS if marker in text)
        yield from (f"{line!r} of {homework}" for line, homework in self.lines.items() if line in flat)
        yield from ("a grading seed" for _ in SEED.findall(text))

    def in_package(self, text: str) -> Iterator[str]:
        """What a module of the package gives away: a whole solution."""
        flat = "\n".join(["", *(flattened(line) for line in text.splitlines() if line.strip()), ""])
        for block, homework in self.blocks.items():
            if "\n".join(["", *block, ""]) in flat:
                yield f"the solution {' / '.join(block)!r:.120} of {homework}"

    def in_file(self, path: Path, name: str) -> Iterator[str]:
        """What a file gives away that would be called ``name`` in the students' repository."""
        if KEPT.search(name):
            yield f"{name} is for instructors only"
        if name.lower().endswith(ARCHIVES):
            yield f"{name} is an archive, which cannot be looked through"
        text = read(path)
        if name.endswith(".ipynb"):
            text = "\n".join(texts_of(parsed(path, text)))
        found = self.in_package(text) if PACKAGE.match(name) else self.in_text(text)
        yield from (f"{name} holds {what}" for what in found)


def read(path: Path) -> str:
    """A file as text; in other encodings, and in pictures, as much of it as is text."""
    raw = path.read_bytes()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "latin-1", errors="replace")


def secrets_of(source: Path, may_show: Collection[str] = ()) -> Secrets:
    """The secrets of one homework. ``may_show``: lines that students may see although a solution has them."""
    shown = set(map(flattened, may_show))
    lines: dict[str, str] = {}
    blocks: dict[tuple[str, ...], str] = {}
    for region in regions(parsed(source)):
        block = tuple(line for line in map(flattened, region.splitlines()) if line)
        secret = [line for line in block if len(line) > SHORT and line not in shown and not IMPORT.match(line)]
        lines |= dict.fromkeys(secret, source.stem)
        if len(secret) > 1:
            blocks[block] = source.stem
    return Secrets(lines, blocks)


def together(secrets: list[Secrets]) -> Secrets:
    """All of them."""
    everything = Secrets({}, {})
    for one in secrets:
        everything.lines.update(one.lines)
        everything.blocks.update(one.blocks)
    return everything


def regions(notebook: dict[str, Any]) -> Iterator[str]:
    """The solutions and hidden tests of a source notebook. A solution cell without marks is one as a whole."""
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        found = [match.group(2) for match in REGION.finditer(text)]
        if not found and cell["metadata"].get("nbgrader", {}).get("solution"):
            found = [text]
        yield from found


def parsed(path: Path, text: str | None = None) -> dict[str, Any]:
    """A notebook's JSON."""
    try:
        notebook = json.loads(path.read_text(encoding="utf-8") if text is None else text)
        notebook["cells"][:0]
    except (ValueError, TypeError, KeyError) as error:
        raise Problem(f"{path} is not a notebook: {error}") from None
    return dict(notebook)


def texts_of(value: Any) -> Iterator[str]:
    """Every text in a notebook: cells, outputs, attachments, metadata. A list of lines is one text."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        if all(isinstance(item, str) for item in value):
            yield "".join(value)
        else:
            for item in value:
                yield from texts_of(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts_of(item)


def flattened(text: str) -> str:
    """Without differences in white space."""
    return " ".join(text.split())
