"""Students' code and messages without their names, to be shown to a class.

Names stand in comments, in texts that nothing uses, and in the words of the code itself. Comments and such texts are
left out; in the rest everybody's id, names and e-mail address are replaced. A word that the homework itself uses in its
code stays (a student may be called Max, or have the id 1): it tells nothing about anybody.
"""

from __future__ import annotations

import builtins
import io
import keyword
import re
import tokenize
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from autograder.course.homework import Assignment
from autograder.pages.page import plain
from autograder.pages.similarity import TOKEN, tokens

LONGEST = 4_000  # characters of an example
MOST_EXAMPLES = 3
SOMEONE = "someone"  # in the place of a name; also a name in Python
SHORTEST = 3  # letters of a part of an id: shorter ones stand in any program
PARTS = re.compile(r"[^\W_]+")
Place = tuple[int, int]  # in a program: the line from 1 on, the column from 0 on


class Anonymizer:
    """Takes the names of some students out of what they wrote."""

    def __init__(self, students: Iterable[str], names: Mapping[str, Iterable[str]], assignment: Assignment) -> None:
        code = "\n".join(cell.source for cell in assignment.cells if cell.kind == "code")
        self._harmless = {*PARTS.findall(code), *dir(builtins), *keyword.kwlist, *keyword.softkwlist}
        everything = {name for student in students for name in list_names(student, *names.get(student, ()))}
        self._names = {name for name in everything if PARTS.fullmatch(name)}
        # A long one with a digit in it means nobody else, whatever stands around it.
        self._numbered = sorted(name for name in self._names if len(name) > 4 and re.search(r"\d", name))
        # One of several words is gone with its parts, unless they are short.
        apart = {name for name in everything - self._names if not self._names.issuperset(PARTS.findall(name))}
        longest_first = sorted(apart, key=lambda name: (-len(name), name))
        words = "|".join(map(re.escape, longest_first))
        self._several = re.compile(rf"(?<![^\W_])(?:{words})(?![^\W_])", re.IGNORECASE) if words else None

    def hide_names(self, text: str) -> str:
        """The text with nobody's name in it."""
        text = unicodedata.normalize("NFC", text)
        if self._several is not None:
            text = self._several.sub(SOMEONE, text)
        return PARTS.sub(self._replace, text)

    def _replace(self, match: re.Match[str]) -> str:
        word = match[0]
        if word in self._harmless:
            return word
        small = word.casefold()
        if small in self._names:
            return SOMEONE
        inside = len(word) > 4 and any(letter.isdigit() for letter in word)
        return SOMEONE if inside and any(name in small for name in self._numbered) else word

    def choose_examples(self, programs: Iterable[str]) -> list[dict[str, Any]]:
        """Up to three programs that differ in more than names and layout, what most wrote first, with their counts."""
        alike: dict[tuple[str, ...], list[str]] = {}
        for program in programs:
            code = tidy(program)
            if code:
                alike.setdefault(tuple(tokens(code)), []).append(code)
        groups = [(len(codes), min(codes, key=lambda code: (len(code), code))) for codes in alike.values()]
        groups.sort(key=lambda group: (-group[0], len(group[1]), group[1]))
        return [{"code": self.hide_names(code), "count": number} for number, code in groups[:MOST_EXAMPLES]]


def list_names(student: str, *names: str) -> set[str]:
    """How a student may sign: id, first and last name, both as one word, what stands before the @; and parts."""
    signs = {sign.partition("@")[0] for sign in (student, *names, "".join(names[:2]), "".join(reversed(names[:2])))}
    parts = {part for sign in signs for part in PARTS.findall(sign) if len(part) >= SHORTEST}
    return {unicodedata.normalize("NFC", sign).strip().casefold() for sign in signs | parts} - {""}


def tidy(program: str) -> str:
    """A program that a page can show: not endless, without comments, empty lines and what acts on a page."""
    lines = remove_comments(plain(program, LONGEST)).splitlines()
    return "\n".join(line.rstrip() for line in lines if line.strip())


def remove_comments(code: str) -> str:
    """A program without comments, and without texts that stand alone, such as docstrings."""
    try:
        spans = sorted(find_comments(code))
    except (tokenize.TokenError, SyntaxError):  # it is not Python, or not all of it
        return TOKEN.sub(lambda match: "" if match[0].startswith("#") else match[0], code)
    lines = io.StringIO(code).readlines()
    for (first, start), (last, end) in reversed(spans):
        lines[first - 1 : last] = [lines[first - 1][:start] + lines[last - 1][end:]]
    return "".join(lines)


def find_comments(code: str) -> Iterator[tuple[Place, Place]]:
    """Where comments and texts that stand alone begin and end."""
    begins, text = True, None  # a statement begins here; a text that it began with
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.COMMENT:
            yield token.start, token.end
        elif token.type == tokenize.NEWLINE:
            if text is not None:
                yield text
            begins, text = True, None
        elif token.type == tokenize.STRING and begins:
            begins, text = False, (token.start, token.end)
        elif token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT):
            begins, text = False, None
