"""Explorers in a plain HTML page: no kernel, no Jupyter, no network; without JavaScript a still picture."""

from __future__ import annotations

import base64
import html
import json
import re
import zlib
from pathlib import Path
from typing import Any

from dpcourse.scenes import Scene

_BROWSER = Path(__file__).parent / "browser"


def _one_module() -> str:
    """The script files as one ES module, which is what anywidget takes and what a page can hold inline."""
    parts = [
        (_BROWSER / f"{name}.js").read_text(encoding="utf-8") for name in ("drawing", "reading", "explorer", "hosts")
    ]
    bare = [re.sub(r'^import .* from "\./\w+\.js";$', "", part, flags=re.MULTILINE) for part in parts]
    return "\n".join(re.sub(r"^export (?!default)", "", part, flags=re.MULTILINE) for part in bare)


SCRIPT = _one_module()
STYLE = (_BROWSER / "painter.css").read_text(encoding="utf-8")


def written(spec: dict[str, Any]) -> str:
    """A scene's description as JSON."""
    return json.dumps(spec, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def fragment(scene: Scene, values: dict[str, Any] | None = None) -> str:
    """One explorer, its controls at ``values``, for a page that also holds :func:`head`."""
    from dpcourse.scenes import matplotlib_painter

    scene = scene.starting_at(values or {})
    picture = scene.picture()
    still = base64.b64encode(matplotlib_painter.png(picture, title=scene.title)).decode()
    packed = base64.b64encode(zlib.compress(scene.packed.buffer, 9)).decode()
    spec = written(scene.packed.spec).replace("<", "\\u003c")  # no tag can end or begin inside the script
    words = html.escape(f"{scene.title}. {picture.says}", quote=True)
    return (
        f'<div class="dpcourse-explorer"><img src="data:image/png;base64,{still}" alt="{words}" style="max-width:100%">'
        f'<script type="application/json" data-spec>{spec}</script>'
        f'<script type="text/plain" data-buffer>{packed}</script></div>'
    )


def head() -> str:
    """Style and script that bring every fragment of a page to life; they stand in the page once."""
    return f'<style>{STYLE}</style>\n<script type="module">\n{SCRIPT}\nawait boot(document);\n</script>'
