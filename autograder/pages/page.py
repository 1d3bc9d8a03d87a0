"""Pages that are safe to open, whatever a student wrote: no script, everything escaped, nothing fetched."""

from __future__ import annotations

import base64
import binascii
import re
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from autograder.console import counted
from dpcourse.tasks import verdict as verdicts

#: As in the notebooks; in a table, what did not finish must differ from what gave no usable answer.
COLOURS = {**verdicts.COLOURS, "timeout": "#CC79A7"}
#: Nothing may run or be fetched; pictures are in the page itself.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
LONGEST = 20_000  # characters of a student's answer that are shown
#: Control characters, those that turn the direction of writing, and halves of characters.
ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
PNG = b"\x89PNG\r\n\x1a\n"
WORDS = {
    "passed": "passed",
    "failed": "not yet right",
    "error": "no usable answer",
    "timeout": "no answer in time",
    "missing": "still empty",
}


@cache
def _environment() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    places = FileSystemLoader(Path(__file__).parent / "templates")
    made = Environment(loader=places, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.filters.update(number=number, plain=plain, counted=counted)
    made.globals.update(policy=POLICY, words=WORDS, colours=COLOURS)
    return made


def rendered(template: str, **values: Any) -> bytes:
    """A page. Every value is escaped."""
    return str(_environment().get_template(template).render(**values)).encode("utf-8", "replace")


def number(value: float) -> str:
    """2, 1.5, 0.33: no more digits than needed."""
    return f"{round(value, 2):g}"


def plain(text: str, most: int = LONGEST) -> str:
    """What a student wrote, to be shown as text: cut where it is endless, without characters that act on the page."""
    if len(text) > most:
        text = f"{text[:most]}\n... ({len(text) - most:,} more characters)"
    return ACTING.sub("\ufffd", text)


@lru_cache(maxsize=1_000)
def data_uri(picture: str) -> str:
    """The address of a record's picture, to stand in the page; "" for what is none.

    Painting is slow, and students with the same mistake often have the same picture.
    """
    if not picture:
        return ""
    if picture.lstrip().startswith("{"):  # kept as numbers, painted now
        from autograder.pages.pictures import png

        try:
            return embedded(png(picture))
        except ValueError:
            return ""
    try:
        content = base64.b64decode(re.sub(r"\s", "", picture), validate=True)
    except (binascii.Error, ValueError):
        return ""
    return embedded(content) if content.startswith(PNG) else ""


def embedded(png: bytes) -> str:
    """A PNG as an address."""
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"
