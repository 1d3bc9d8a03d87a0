"""What a noisy answer must be: a centre, a scale, and the law of the noise; and how wrong ones are drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from dpcourse.tasks.judges.scale_tests import LAPLACE_SIZES, NORMAL_SIZES, Sizes
from dpcourse.tasks.mistake import Mistake, Sampler, arguments_of
from dpcourse.tasks.respondent import Probe


@dataclass(frozen=True)
class Law:
    """Symmetric noise of scale 1, independent in every coordinate."""

    words: str
    cdf: Callable[[np.ndarray], Any]
    draw: Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]
    sizes: Sizes
    typical: float  # the median of |z|
    mean_size: float  # the mean of |z|
    far: float  # a size that about three noises in a thousand exceed


def _laplace_cdf(z: np.ndarray) -> np.ndarray:
    return np.where(z < 0, np.exp(np.minimum(z, 0)) / 2, 1 - np.exp(-np.maximum(z, 0)) / 2)


LAPLACE = Law(
    "Laplace noise of scale",
    _laplace_cdf,
    lambda rng, size: rng.laplace(size=size),
    LAPLACE_SIZES,
    float(np.log(2)),
    1.0,
    6.0,
)
NORMAL = Law(
    "Gaussian noise of standard deviation", special.ndtr, lambda rng, size: rng.standard_normal(size), NORMAL_SIZES,
    0.6744897501960817, float(np.sqrt(2 / np.pi)), 3.0,
)  # fmt: skip


@dataclass(frozen=True)
class Noise:
    """What an answer must be: ``center``, a number or a vector, plus noise of this ``scale`` and ``law``."""

    center: Any
    scale: float
    law: Law = LAPLACE

    @property
    def centers(self) -> np.ndarray:
        """The centre of each coordinate."""
        return np.ravel(np.asarray(self.center, dtype=float))

    def standardized(self, answers: np.ndarray) -> np.ndarray:
        """(answer - centre) / scale, a row for each answer."""
        return np.asarray((answers - self.centers) / self.scale)


def noise_sampler(law: Callable[..., Noise], parts: Mapping[str, Any]) -> Sampler:
    """Draws answers, (number, ...), of the law in which these parts are others: center, scale, noise, shared."""

    def sample(probe: Probe, number: int, rng: np.random.Generator) -> np.ndarray:
        p = arguments_of(probe)
        right = law(**vars(p))
        center = np.asarray(parts["center"](p) if "center" in parts else right.center, dtype=float)
        scale = parts["scale"](p) if "scale" in parts else right.scale
        columns = (1,) * center.ndim if parts.get("shared") else center.shape
        return np.asarray(center + scale * parts.get("noise", right.law.draw)(rng, (number, *columns)))

    return sample


def with_parts(
    law: Callable[..., Noise], parts: Mapping[str, Any], name: str = "", message: str = "", hides: bool | None = None
) -> Mistake:
    """The mistake whose answers have these parts in place of the right ones."""
    sample = noise_sampler(law, parts)
    return Mistake(name, one_of(sample), message, hides, sample, parts)


def one_of(sample: Sampler) -> Callable[..., Any]:
    """The function that draws one answer."""
    return lambda rng, **probe: sample(probe, 1, rng)[0]
