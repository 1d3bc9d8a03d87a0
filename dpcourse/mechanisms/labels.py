"""Names for the categories 0..k-1 of a mechanism: towns, parties, words."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cached_property
from typing import Any

import numpy as np


class Labels:
    """Different hashable labels in a fixed order; the numbers 0..k-1 stand for themselves."""

    def __init__(self, categories: Any) -> None:
        raw = categories.tolist() if hasattr(categories, "tolist") else categories
        if isinstance(raw, str | bytes) or not isinstance(raw, Iterable):
            raise TypeError(f"categories must be a list of labels, got {categories!r}")
        self.names = tuple(raw)
        if len(self.names) < 2 or len(set(self.names)) < len(self.names):
            raise ValueError(f"categories must be at least two different labels, got {categories!r}")
        self.plain = self.names == tuple(range(len(self.names)))
        self._number = {label: number for number, label in enumerate(self.names)}

    def numbers(self, name: str, labels: Any) -> Any:
        """A label's number, or an array of them. A label that is itself a tuple is one label."""
        if self.plain:
            return labels
        if isinstance(labels, Hashable) and labels in self._number:
            return self._number[labels]
        if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
            raise ValueError(f"{name} must be one of the categories {self.names!r}, got {labels!r}")
        people = labels.tolist() if hasattr(labels, "tolist") else list(labels)
        if any(isinstance(label, list) for label in people):  # a table of people
            return np.array([self.numbers(name, row) for row in people])
        try:
            return np.array([self._number[label] for label in people], dtype=np.int64)
        except KeyError as unknown:
            label = unknown.args[0]
            raise ValueError(f"{name} must be of the categories {self.names!r}, got {label!r}") from None

    def of(self, numbers: Any) -> Any:
        """The labels of numbers: a label for one, an array for several."""
        if self.plain:
            return numbers
        return self._array[numbers] if np.ndim(numbers) else self.names[numbers]

    @cached_property
    def _array(self) -> np.ndarray:
        kinds = {type(label) for label in self.names}
        if len(kinds) == 1 and kinds <= {str, int, float}:
            return np.array(self.names)
        array = np.empty(len(self.names), dtype=object)
        for number, label in enumerate(self.names):
            array[number] = label
        return array
