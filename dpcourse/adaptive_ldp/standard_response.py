"""SRR, the standard randomized response, on any finite set of labels."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dpcourse.guarantee import Guarantee
from dpcourse.mechanisms import Estimate, KaryResponse
from dpcourse.mechanisms.base import Mechanism
from dpcourse.privacy_loss import DiscreteLoss
from dpcourse.randomness import Rng


@dataclass(frozen=True)
class StandardResponse(Mechanism):
    """SRR(X; Omega, eps): one's own label with probability e^eps / (e^eps + |Omega| - 1), else any other one.

    ``categories`` is the finite set Omega, in the order in which matrix and estimate list it; labels are any different
    hashable things. :class:`~dpcourse.mechanisms.KaryResponse` does the work.
    """

    categories: Sequence[Any]
    epsilon: float = field(kw_only=True)

    def __post_init__(self) -> None:
        raw = self.categories.tolist() if hasattr(self.categories, "tolist") else self.categories
        if isinstance(raw, str | bytes) or not isinstance(raw, Iterable):
            raise TypeError(f"categories must be a list of labels, got {self.categories!r}")
        labels = tuple(raw)
        if len(labels) < 2 or len(set(labels)) < len(labels):
            raise ValueError(f"categories must be at least two different labels, got {self.categories!r}")
        object.__setattr__(self, "categories", labels)
        object.__setattr__(self, "epsilon", self.on_numbers.epsilon)

    @cached_property
    def on_numbers(self) -> KaryResponse:
        """The same response on the numbers 0..k-1 of the categories."""
        return KaryResponse(epsilon=self.epsilon, k=len(self.categories))

    @cached_property
    def _number(self) -> dict[Any, int]:
        return {label: number for number, label in enumerate(self.categories)}

    @cached_property
    def _plain(self) -> bool:
        return self.categories == tuple(range(len(self.categories)))

    def _numbers(self, name: str, labels: Any) -> Any:
        """A label's number, or an array of them. A label that is itself a tuple is one label."""
        if self._plain:
            return labels
        if isinstance(labels, Hashable) and labels in self._number:
            return self._number[labels]
        if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
            raise ValueError(f"{name} must be one of the categories {self.categories!r}, got {labels!r}")
        people = labels.tolist() if hasattr(labels, "tolist") else list(labels)
        if any(isinstance(label, list) for label in people):  # a table of people
            return np.array([self._numbers(name, row) for row in people])
        try:
            return np.array([self._number[label] for label in people], dtype=np.int64)
        except KeyError as unknown:
            label = unknown.args[0]
            raise ValueError(f"{name} must be of the categories {self.categories!r}, got {label!r}") from None

    @property
    def guarantee(self) -> Guarantee:
        return self.on_numbers.guarantee

    @property
    def matrix(self) -> np.ndarray:
        """P(y | x): a row for each true label, a column for each report, in the order of ``categories``."""
        return self.on_numbers.matrix

    def release(self, data: Any, *, size: int | None = None, rng: Rng = None) -> Any:
        """Reports, one for each person's label in ``data``: a label for one person, an array for several."""
        reports = self.on_numbers.release(self._numbers("data", data), size=size, rng=rng)
        if self._plain:
            return reports
        if not np.ndim(reports):
            return self.categories[reports]
        return self._labels[reports]

    @cached_property
    def _labels(self) -> np.ndarray:
        kinds = {type(label) for label in self.categories}
        if len(kinds) == 1 and kinds <= {str, int, float}:
            return np.array(self.categories)
        labels = np.empty(len(self.categories), dtype=object)
        for number, label in enumerate(self.categories):
            labels[number] = label
        return labels

    def log_prob(self, output: Any, data: Any) -> Any:
        """Log probability of each person's report."""
        return self.on_numbers.log_prob(self._numbers("output", output), self._numbers("data", data))

    def worst_case(self) -> tuple[Any, Any]:
        """Any two different labels."""
        return self.categories[1], self.categories[0]

    def _plrv_of(self, data: Any, neighbour: Any) -> DiscreteLoss:
        return self.on_numbers._plrv_of(self._numbers("data", data), self._numbers("neighbour", neighbour))

    def estimate(self, reports: Any) -> Estimate:
        """The share of each category, in their order: unbiased; it may leave [0, 1]."""
        return self.on_numbers.estimate(self._numbers("reports", reports))
