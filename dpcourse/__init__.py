"""dpcourse: a small, exact differential-privacy library behind an interactive course.

    from dpcourse import Laplace, Gaussian
    Laplace(epsilon=0.5, sensitivity=1).release(51, rng=1)
    Gaussian(sigma=1.1, sensitivity=1).plrv().subsample(256 / 60_000).compose(14_062).epsilon(delta=1e-5)

Names are imported when they are first used, so that ``import dpcourse`` itself costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "mechanisms": "DiscreteLaplace Exponential Gaussian KaryResponse Laplace LeakRows LeakTable LocalLaplace Mechanism "
    "RandomizedResponse ReportNoisyMax",
    "privacy_loss": "Bracket ComposedLoss DiscreteLoss EitherDirection GaussianLoss LaplaceLoss PrivacyLoss",
    "accounting": "Budget BudgetExceeded Cost",
    "guarantee": "Guarantee Neighbours",
    "randomness": "SystemRandomness",
}
_ROOMS = (
    "accounting", "adaptive_ldp", "attacks", "audit", "data", "explore", "mechanisms", "plots", "privacy_loss",
    "sensitivity", "sgd",
)  # fmt: skip
_WHERE = {name: module for module, names in _HOME.items() for name in names.split()}

__all__ = sorted([*_WHERE, *_ROOMS])


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"dpcourse.{name}")
    if name in _WHERE:
        return getattr(importlib.import_module(f"dpcourse.{_WHERE[name]}"), name)
    raise AttributeError(f"dpcourse has no {name!r}; it has: {', '.join(__all__)}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
