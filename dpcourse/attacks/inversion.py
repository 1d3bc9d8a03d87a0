"""Model inversion: what does the model think a class looks like? (Fredrikson, Jha & Ristenpart 2015, CCS.)

The attacker has a model that answers with confidences, and a class's name; he climbs to the image of which the model is
surest. Note what this is: a picture of the *class*. DP does not promise to hide it, as long as no single person decides
it; where the class is one person, as with faces, the picture is of this person.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from dpcourse import checks
from dpcourse.data.examples import Examples


@dataclass(frozen=True)
class Inversion:
    """The image that was found, and the model's confidence that it shows the class."""

    image: Tensor
    target: int
    confidence: float


def invert(
    model: nn.Module,
    target: int,
    *,
    shape: tuple[int, ...] = (1, 8, 8),
    steps: int = 200,
    step_size: float = 0.1,
    shrink: float = 0.05,
    smooth: float = 0.1,
    queries_only: bool = False,
) -> Inversion:
    """Climb the log-confidence of class ``target`` from a grey image, within [0, 1].

    ``shrink`` pulls pixels to 0 and ``smooth`` to their neighbours, which suppresses noise that the model does not
    care about. ``queries_only=True`` uses nothing but the confidences that an API returns: the gradient is taken from
    differences, one query for each pixel and step.
    """
    steps, step_size = checks.whole_number("steps", steps), checks.positive("step_size", step_size)
    shrink, smooth = checks.non_negative("shrink", shrink), checks.non_negative("smooth", smooth)
    image, training = torch.full((1, *shape), 0.5), model.training
    model.eval()
    try:
        classes = _log_confidence(model, image).shape[1]
        if not 0 <= checks.whole_number("target", target, at_least=0) < classes:
            raise ValueError(f"target must be one of the classes 0..{classes - 1}, got {target!r}")
        for _ in range(steps):
            slope = _slope_by_queries(model, image, target) if queries_only else _slope(model, image, target)
            uneven = image.detach().requires_grad_()
            cost = shrink * uneven.square().sum() + smooth * _roughness(uneven)
            (pull,) = torch.autograd.grad(cost, uneven)
            image = (image + step_size * (slope - pull)).clamp(0, 1)
        confidence = _log_confidence(model, image)[0, target].exp().item()
    finally:
        model.train(training)
    return Inversion(image[0], target, confidence)


def class_means(examples: Examples) -> Tensor:
    """The mean image of every class 0, 1, ..., to compare with."""
    classes = range(int(examples.targets.max()) + 1)
    missing = [c for c in classes if not (examples.targets == c).any()]
    if missing:
        raise ValueError(f"examples must hold every class, got none of {missing}")
    return torch.stack([examples.inputs[examples.targets == c].mean(0) for c in classes])


def likeness(image: Tensor, means: Tensor) -> np.ndarray:
    """The correlation of an image with each class's mean image, after the mean over all classes is taken off.

    Without that every digit is like every other: a bright middle on a dark ground. The image is recognised if its own
    class has the largest value. A flat image, which shows nothing, is like no class: 0.
    """
    if image.shape != means.shape[1:]:
        raise ValueError(f"image must have the shape {tuple(means.shape[1:])} of the means, got {tuple(image.shape)}")
    centre, contrast = means.mean(0), _standard(image.flatten())
    own = _standard(contrast - _standard(centre.flatten())) if contrast.any() else contrast
    return np.array([float(own @ _standard((mean - centre).flatten())) for mean in means])


def _standard(values: Tensor) -> Tensor:
    values = values - values.mean()
    length = values.norm()
    return values / length if length > 1e-6 else torch.zeros_like(values)


def _log_confidence(model: nn.Module, images: Tensor) -> Tensor:
    return torch.log_softmax(model(images), -1)


def _slope(model: nn.Module, image: Tensor, target: int) -> Tensor:
    image = image.detach().requires_grad_()
    (slope,) = torch.autograd.grad(_log_confidence(model, image)[0, target], image)
    return slope


@torch.no_grad()
def _slope_by_queries(model: nn.Module, image: Tensor, target: int, step: float = 0.01) -> Tensor:
    moved = image + step * torch.eye(image.numel()).view(-1, *image.shape[1:])
    answers = _log_confidence(model, torch.cat([image, moved]))[:, target]
    return ((answers[1:] - answers[0]) / step).view_as(image)


def _roughness(images: Tensor) -> Tensor:
    if images.dim() < 3 or math.prod(images.shape[-2:]) == 1:
        return images.sum() * 0
    return images.diff(dim=-1).square().sum() + images.diff(dim=-2).square().sum()
