"""What it costs: the privacy loss random variable, its exact trade-off delta(epsilon), composition and sampling."""

from dpcourse.privacy_loss.base import Bracket, NeighbourWarning, PrivacyLoss
from dpcourse.privacy_loss.closed import GaussianLoss, LaplaceLoss
from dpcourse.privacy_loss.composed import ComposedLoss, compose
from dpcourse.privacy_loss.discrete import DiscreteLoss
from dpcourse.privacy_loss.either_direction import EitherDirection
from dpcourse.privacy_loss.subsampled import SubsampledLoss

__all__ = [
    "Bracket",
    "ComposedLoss",
    "DiscreteLoss",
    "EitherDirection",
    "GaussianLoss",
    "LaplaceLoss",
    "NeighbourWarning",
    "PrivacyLoss",
    "SubsampledLoss",
    "compose",
]
