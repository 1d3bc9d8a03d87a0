"""An explorer: a scene with its controls, alive in Jupyter and in a plain page."""

from __future__ import annotations

import base64
import inspect
import os
from collections.abc import Callable
from typing import Any, ParamSpec

import anywidget
import traitlets

from dpcourse.scenes import Control, Picture, Scene, page

P = ParamSpec("P")

#: Set in the environment (to anything) by `make site` and `make slides`: explorers then show as plain HTML.
PAGE_MODE = "DPCOURSE_PAGE"

#: Every explorer of the course, by name: what the tests move through and what ``explore`` lists.
CATALOGUE: dict[str, Callable[..., Explorer]] = {}


class BadValue(traitlets.TraitError, ValueError):
    """A value that a control cannot take. (A TraitError, so that the old value is put back.)"""


class Explorer(anywidget.AnyWidget):
    """What ``explore.two_worlds()`` and its siblings return.

    ``explorer.values`` are the positions of its controls, which may also be set from Python;
    ``explorer.picture()`` is what is seen there, and ``explorer.figure()`` the same on paper.
    """

    _esm = page.SCRIPT
    _css = page.STYLE
    spec = traitlets.Unicode().tag(sync=True)
    buffer = traitlets.Bytes().tag(sync=True)
    values = traitlets.Dict().tag(sync=True)

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._good = scene.start  # the last values that were all right; new ones may name only some controls
        packed = scene.packed
        wide = {"width": "100%"}
        super().__init__(spec=page.written(packed.spec), buffer=packed.buffer, values=scene.start, layout=wide)
        self.on_msg(self._answer)

    @traitlets.validate("values")
    def _check_values(self, proposal: Any) -> dict[str, Any]:
        try:
            self._good = self.scene.checked({**self._good, **proposal["value"]})
        except (ValueError, TypeError) as error:
            raise BadValue(str(error)) from error
        return dict(self._good)

    def picture(self) -> Picture:
        """What is seen at the present values."""
        return self.scene.picture(**self.values)

    def figure(self, width: float = 10) -> Any:
        """The present picture as a matplotlib figure, for a paper or a slide."""
        from dpcourse.scenes import matplotlib_painter

        return matplotlib_painter.figure(self.picture(), title=self.scene.title, width=width)

    def _answer(self, _: Any, content: dict[str, Any], __: Any) -> None:
        """The browser asks for a picture beside the grid."""
        try:
            packed = self.scene.packed_at(**content["values"])
        except Exception as error:  # whatever it was, the browser waits for an answer
            self.send({"answer": content.get("ask"), "error": f"{error}."})
        else:
            self.send({"answer": content["ask"], "spec": packed.spec}, [packed.buffer])

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        from dpcourse.scenes import matplotlib_painter

        words = f"{self.scene.title}: {self.scene.picture(**self.values).says}"
        if os.environ.get(PAGE_MODE):
            return {"text/html": page.fragment(self.scene, dict(self.values)), "text/plain": words}
        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        still = base64.b64encode(matplotlib_painter.png(self.picture(), title=self.scene.title)).decode()
        return {**(data or {}), "image/png": still, "text/plain": words}, metadata


def explorer(
    title: str, question: str, *controls: Control
) -> Callable[[Callable[..., Picture]], Callable[[], Explorer]]:
    """Make ``draw(epsilon, n)``, whose parameters are the names of the controls, an explorer of the catalogue.

    The function's name and docstring are the explorer's; its pictures are drawn when it is shown for the first time.
    """

    def enter(draw: Callable[..., Picture]) -> Callable[[], Explorer]:
        scene = Scene(title, question, controls, draw)

        def show() -> Explorer:
            return Explorer(scene)

        return _enter(show, draw)

    return enter


def explorer_from_scene(make_scene: Callable[P, Scene]) -> Callable[P, Explorer]:
    """The same for an explorer that takes arguments: a function of them that returns a scene."""

    def show(*args: P.args, **kwargs: P.kwargs) -> Explorer:
        return Explorer(make_scene(*args, **kwargs))

    signature = inspect.signature(make_scene).replace(return_annotation=Explorer)
    show.__signature__ = signature  # type: ignore[attr-defined]
    return _enter(show, make_scene)


def _enter(show: Callable[P, Explorer], described: Callable[..., Any]) -> Callable[P, Explorer]:
    """Enter an explorer in the catalogue, with the name and the docstring of the function that describes it."""
    for attribute in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(show, attribute, getattr(described, attribute))
    CATALOGUE[described.__name__] = show
    return show
