"""The sum of clipped per-example gradients: a :class:`Clipper` for one model and one loss, and the rules of layers."""

from dpcourse.sgd.clipping.clipper import Clipper, SlowPathWarning, clipped_sum
from dpcourse.sgd.clipping.layers import register_rule
from dpcourse.sgd.clipping.per_example import ClippedSum, Lot

__all__ = ["ClippedSum", "Clipper", "Lot", "SlowPathWarning", "clipped_sum", "register_rule"]
