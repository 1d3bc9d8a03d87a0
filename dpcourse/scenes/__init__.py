"""What is seen: pictures, the scenes that hold them over the positions of their controls, and the painter for paper."""

from dpcourse.scenes.controls import Control, again, choice, slider
from dpcourse.scenes.picture import (
    PALETTE,
    Axis,
    Band,
    Bars,
    Heat,
    Label,
    Line,
    Mark,
    Panel,
    Picture,
    Points,
    Rule,
    Table,
    dot,
    panel,
    picture_of,
)
from dpcourse.scenes.scene import Packed, Scene

__all__ = [
    "PALETTE", "Axis", "Band", "Bars", "Control", "Heat", "Label", "Line", "Mark", "Packed", "Panel", "Picture",
    "Points", "Rule", "Scene", "Table", "again", "choice", "dot", "panel", "picture_of",
    "slider",
]  # fmt: skip
