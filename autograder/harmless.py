"""A student's markdown, made harmless for whoever opens it: it shows the same words, and can do nothing.

nbgrader's pages put HTML in markdown into the page as it is, follow pictures to any address, and let MathJax run.
Here no tag, link, picture, entity, diagram or powerful TeX macro is left; text, formulas, lists, tables and code are.
"""

from __future__ import annotations

import re

#: What to look for, and what to put in its place: a space keeps two characters from meaning something together.
RULES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"<(?=[A-Za-z/!?])", "< "),  # a tag, a comment, an address in brackets
        (r"&(?=[#A-Za-z])", "& "),  # an entity, which could spell everything else
        (r"\](?=[(\[:])", "] "),  # a link, a picture, the definition of one
        (r"\\(?=href|url|class|style|cssId|unicode|require|html|data|mmlToken|bbox|includegraphics)", r"\\ "),
        (r"(`{3,}|~{3,})(?![ \t]*+(?:python|py|text|latex|tex)?[ \t]*+(?:\n|$))", r"\1" "\n"),  # a diagram is a program
    )
)


def harmless(markdown: str) -> str:
    """The text with nothing left in it that a page would act on."""
    for pattern, replacement in RULES:
        markdown = pattern.sub(replacement, markdown)
    return markdown
