"""Attacks on whoever opens the result: texts that hang a page, act in it, or look like the grader's own words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from testing.attacks.attack import Attack, cell
from testing.five_tasks import ESSAY

LONG = 190_000  # characters: nearly as many as a cell may have
BAD = "document.title='hacked'"

#: Patterns that some part of a Markdown or HTML library goes through again and again.
RUNS = {
    "brackets": "[", "pictures": "![", "links": "[](", "closing": "]", "stars": "*", "star_words": "*a ",
    "underlines": "_", "tildes": "~", "backticks": "`", "dollars": "$", "less": "<", "tags": "<a ", "comments": "<!--",
    "quotes": "> ", "items": "- ", "numbers": "1. ", "hashes": "# ", "bars": "|", "backslashes": "\\",
    "parentheses": "(", "entities": "&a", "addresses": "http://a.", "footnotes": "[^1]", "definitions": "[a]: b\n",
    "breaks": "  \n", "rules": "***\n", "mixed": "[*_`<",
}  # fmt: skip
#: Texts that would act.
ACTS = {
    "data_address": f"[x](data:text/html,<script>{BAD}</script>)",
    "autolink": f"<javascript:{BAD}>",
    "reference": f"[x][y]\n\n[y]: javascript:{BAD}",
    "entity": f"&#60;script&#62;{BAD}&#60;/script&#62;",
    "iframe": "<iframe srcdoc='<script>parent." + BAD + "</script>'></iframe>",
    "refresh": "<meta http-equiv=refresh content='0;url=http://127.0.0.1:9'>",
    "base": "<base href='http://127.0.0.1:9/'>",
    "form": "<form action='http://127.0.0.1:9'><button>x</button></form>",
    "style": "<style>@import 'http://127.0.0.1:9';</style><link rel=stylesheet href='http://127.0.0.1:9'>",
    "mathjax": "$\\require{html}\\class{x}{y}\\style{position:fixed}{z}$",
    "macro": "$\\def\\x{\\x\\x}\\x$",
    "mermaid": '```mermaid\ngraph TD; A-->B; click A href "javascript:' + BAD + '"\n```',
    "picture": "![x](http://127.0.0.1:9/seen.png)",
    "case": "<ScRiPt\n>" + BAD + "</sCrIpT\n>",
    "open": "<img src=x onerror=" + BAD + " ",
    "comment": "<!--><img src=x onerror=" + BAD + ">-->",
    "svg": "<svg><animate onbegin=" + BAD + " attributeName=x>",
    "template": "{{ 7 * 7 }} {% include 'x' %} ${7*7} <% 7 %>",
    "direction": "\u202egnp.exe \u2066 x",
    "zero_width": "<\u200bscript>" + BAD + "</script>",
    "full_width": "\uff1cscript\uff1e" + BAD,
}


def _text(text: str) -> Callable[[dict[str, Any]], None]:
    def change(book: dict[str, Any]) -> None:
        cell(book, ESSAY)["source"] = text

    return change


ATTACKS: list[Attack] = [
    *[Attack(f"page_run_of_{name}", change=_text((run * LONG)[:LONG])) for name, run in RUNS.items()],
    *[Attack(f"page_{name}", change=_text(text)) for name, text in ACTS.items()],
    Attack("page_nested_items", change=_text("\n".join(" " * depth + "- x" for depth in range(600)))),
    Attack("page_nested_quotes", change=_text("\n".join(">" * depth + " x" for depth in range(600)))),
    Attack("page_wide_table", change=_text("|a" * 20_000 + "|\n" + "|-" * 20_000 + "|\n" + "|b" * 20_000 + "|")),
    Attack("page_error_acts", f"def double(x): raise ValueError('![x](http://127.0.0.1:9/x) <img onerror=\"{BAD}\">')"),
    Attack("page_error_is_long", "def double(x): raise ValueError('[' * 10**7)"),
    Attack("page_name_acts", "class X(Exception): pass\nX.__name__ = '<script>' + '[' * 10**6\n"
           "def double(x): raise X()"),
    Attack("page_terminal", "def double(x): raise ValueError('\\x1b]0;hacked\\x07\\x1b[2J\\r passed')"),
]  # fmt: skip
