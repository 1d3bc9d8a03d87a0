"""A student's markdown, made harmless for whoever opens it: it shows the same words, and can do nothing.

nbgrader's pages put HTML in markdown into the page as it is, follow pictures to any address, and let MathJax run.
Here no tag, link, picture, entity, diagram or powerful TeX macro is left; text, formulas, lists, tables and code are.

Some texts also take those pages very long: for each bracket, star or backslash nbconvert and mistune may look through
all that follows. So only as much is shown as a page can make in about a second; what was handed in stays whole.
"""

from __future__ import annotations

import re
from hashlib import sha256

LONGEST = 20_000  # characters that are shown of a text or of a program
STEPS = 60_000_000  # of the page's maker: signs times the length of the text, about a second
#: Signs for each of which the rest of the text may be looked through, and how long that takes in comparison.
SIGNS = {"[": 4, **dict.fromkeys("\\`*_~$<>&|#^=", 1)}
#: What a character becomes in HTML.
WIDTHS = {"&": 5, "<": 4, ">": 4, '"': 6}
CUT = (
    "Only the first {shown:,} of {all:,} characters are shown here. The whole is in the file that was handed in. "
    "(SHA-256 of the whole: {digest}.)"
)

#: What to look for, and what to put in its place: a space keeps two characters from meaning something together.
RULES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"[^\S\n]{100,}", " " * 100),
        (r"<(?=[A-Za-z/!?])", "< "),  # a tag, a comment, an address in brackets
        (r"&(?=[#A-Za-z])", "& "),  # an entity, which could spell everything else
        (r"\](?=[(\[:])", "] "),  # a link, a picture, the definition of one
        (r"\\(?=href|url|class|style|cssId|unicode|require|html|data|mmlToken|bbox|includegraphics)", r"\\ "),
        (r"(`{3,}|~{3,})(?![ \t]*+(?:python|py|text|latex|tex)?[ \t]*+(?:\n|$))", r"\1" "\n"),  # a diagram is a program
    )
)


def harmless(markdown: str) -> str:
    """The text with nothing left in it that a page would act on, as far as a page can show it soon."""
    shown = markdown[: room(markdown)]
    cut = f"*{cut_off(markdown, len(shown))}*\n\n" if len(shown) < len(markdown) else ""
    for pattern, replacement in RULES:
        shown = pattern.sub(replacement, shown)
    return cut + shown


def short_code(code: str, most: int = LONGEST) -> str:
    """A program, as far as a page shows it. A program can do nothing there."""
    return code if len(code) <= most else f"# {cut_off(code, most)}\n\n{code[:most]}"


def room(text: str) -> int:
    """How many characters of a text are shown."""
    signs = width = 0
    for place, letter in enumerate(text[:LONGEST]):
        signs += SIGNS.get(letter, 0)
        width += WIDTHS.get(letter, 1)
        if signs * width > STEPS:
            return place
    return min(len(text), LONGEST)


def cut_off(text: str, shown: int) -> str:
    """A sentence about what is not shown. Texts that differ only there get different ones: a person reads them anew."""
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return CUT.format(shown=shown, all=len(text), digest=digest)
