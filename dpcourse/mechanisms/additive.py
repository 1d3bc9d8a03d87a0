"""What Laplace, Gaussian and discrete Laplace noise share: independent noise is added to every coordinate."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from dpcourse import checks
from dpcourse.guarantee import Neighbours
from dpcourse.mechanisms.base import Mechanism, release_shape
from dpcourse.privacy_loss import DiscreteLoss, PrivacyLoss
from dpcourse.randomness import Rng


class AdditiveNoise(Mechanism):
    """M(D) = f(D) + noise. A subclass says how noise is drawn, its log density, and the loss of a shifted answer."""

    sensitivity: float
    neighbours: Neighbours

    @abstractmethod
    def _noise(self, shape: tuple[int, ...], rng: Any) -> np.ndarray:
        """A fresh array of noise."""

    @abstractmethod
    def _log_density(self, noise: np.ndarray) -> np.ndarray:
        """ln of the density (or probability) of each number."""

    @abstractmethod
    def _loss_of_shift(self, distances: np.ndarray) -> PrivacyLoss:
        """The privacy loss of two answers that differ by these distances, all of them above 0."""

    def _answer(self, name: str, value: Any) -> np.ndarray:
        """An answer as an array of the numbers that the mechanism takes."""
        return checks.finite_array(name, value)

    def release(self, data: Any, *, size: int | None = None, rng: Rng = None) -> Any:
        data = self._answer("data", data)
        noisy = np.asarray(self._noise(release_shape(data, size), rng))
        if not noisy.ndim:
            return (data + noisy).item()
        noisy += data
        return noisy

    def log_prob(self, output: Any, data: Any) -> Any:
        """Log density of each output; a vector-valued answer counts as one output, its last axis summed."""
        data = self._answer("data", data)
        return self._over_coordinates(self._log_density(self._output(output) - data), data)

    def _output(self, output: Any) -> np.ndarray:
        return np.asarray(output, dtype=float)

    def _over_coordinates(self, each: np.ndarray, data: np.ndarray) -> Any:
        return each.sum(axis=-1) if data.ndim else each[()]

    def worst_case(self) -> tuple[float, float]:
        """One person moves the answer by the whole sensitivity; in which direction does not matter."""
        return self.sensitivity, 0

    def _plrv_of(self, data: Any, neighbour: Any) -> PrivacyLoss:
        data = self._answer("data", data)
        checks.same_shape("neighbour", neighbour, data)
        distances = np.abs(data - self._answer("neighbour", neighbour))
        moved = distances[distances > 0]
        return self._loss_of_shift(moved) if moved.size else DiscreteLoss.from_atoms([0.0], [1.0])
