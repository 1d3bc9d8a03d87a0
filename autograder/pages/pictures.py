"""Pictures of verdicts, kept as numbers while a class is graded and painted only where somebody looks at them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np


def kept(picture: Any) -> str:
    """A ``dpcourse.scenes`` picture as text; "" for none."""
    if picture is None:
        return ""
    from dpcourse.scenes.packing import tree_of

    return json.dumps(tree_of(picture), default=lambda array: np.round(array, 9).tolist())


def restored(text: str) -> Any:
    """The picture of such a text. What is none raises ValueError."""
    from dpcourse.scenes import picture

    def part(node: Any) -> Any:
        if isinstance(node, list):
            return tuple(part(one) for one in node)
        if not isinstance(node, dict):
            return node
        inside = {name: part(one) for name, one in node.items() if name != "kind"}
        return getattr(picture, node["kind"])(**inside)

    try:
        found = part(json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"not a picture of a verdict: {error}") from None
    if not isinstance(found, picture.Picture):
        raise ValueError(f"not a picture of a verdict: {text[:60]!r}")
    return found


def png(text: str) -> bytes:
    """The picture painted."""
    from dpcourse.scenes import matplotlib_painter

    return matplotlib_painter.png(restored(text), width=6)
