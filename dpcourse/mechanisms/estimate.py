"""What a population estimate is: a value with the variance that the privacy noise gave it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Estimate:
    """An unbiased estimate (a number, or one for each category) and its variance."""

    value: Any
    variance: Any

    @property
    def standard_error(self) -> Any:
        """The square root of the variance."""
        root = np.sqrt(self.variance)
        return root if np.ndim(root) else float(root)

    def interval(self, z: float = 1.96) -> tuple[Any, Any]:
        """value +- z standard errors (z = 1.96: about 95% for many respondents)."""
        reach = z * self.standard_error
        low, high = self.value - reach, self.value + reach
        return (low, high) if np.ndim(low) else (float(low), float(high))
