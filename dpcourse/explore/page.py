"""Explorers in a plain HTML page: no kernel, no Jupyter, no network; without JavaScript a still picture."""

from __future__ import annotations

import base64
import html
import json
import re
import zlib
from pathlib import Path
from typing import Any

from dpcourse.plots import Scene

_BROWSER = Path(__file__).parent / "browser"


def _one_module() -> str:
    """The two script files as one ES module, which is what anywidget takes and what a page can hold inline."""
    drawing = re.sub(r"^export ", "", (_BROWSER / "drawing.js").read_text(encoding="utf-8"), flags=re.MULTILINE)
    painter = (_BROWSER / "painter.js").read_text(encoding="utf-8")
    return drawing + re.sub(r'^import .* from "\./drawing\.js";$', "", painter, flags=re.MULTILINE)


SCRIPT = _one_module()
STYLE = (_BROWSER / "painter.css").read_text(encoding="utf-8")


def written(spec: dict[str, Any]) -> str:
    """A scene's description as JSON."""
    return json.dumps(spec, ensure_ascii=False, separators=(",", ":"))


def fragment(scene: Scene) -> str:
    """One explorer for a page that also holds :func:`head`."""
    from dpcourse.plots import paper

    picture = scene.picture()
    still = base64.b64encode(paper.png(picture, title=scene.title)).decode()
    packed = base64.b64encode(zlib.compress(scene.packed.buffer, 9)).decode()
    spec = written(scene.packed.spec).replace("</", "<\\/")
    words = html.escape(f"{scene.title}. {picture.says}", quote=True)
    return (
        f'<div class="dpcourse-explorer"><img src="data:image/png;base64,{still}" alt="{words}" style="max-width:100%">'
        f'<script type="application/json" data-spec>{spec}</script>'
        f'<script type="text/plain" data-buffer>{packed}</script></div>'
    )


def head() -> str:
    """Style and script that bring every fragment of a page to life; they stand in the page once."""
    return f'<style>{STYLE}</style>\n<script type="module">\n{SCRIPT}\nawait boot(document);\n</script>'
