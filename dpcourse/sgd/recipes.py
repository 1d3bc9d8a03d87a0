"""Settings that work, for each of the lecture's tasks: ``train(model, data, epsilon=3, **DIGITS.settings(3))``.

They were found by trying, on generated or public data. With private data the trying itself would have to be paid for.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

from dpcourse import checks
from dpcourse.sgd.clipping.model_checks import Loss
from dpcourse.sgd.models import cross_entropy, next_character_loss


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What :func:`dpcourse.sgd.train` needs to know besides the budget."""

    lot_size: float
    epochs: float
    learning_rate: float
    momentum: float = 0.9
    clip_norm: float = 1.0


@dataclass(frozen=True)
class Recipe:
    """Settings for plain SGD and for DP-SGD: noise wants large lots and few steps, clipping larger steps."""

    plain: Settings
    private: Settings
    loss: Loss = cross_entropy
    delta: float = 1e-5
    corpus: dict[str, int] = field(default_factory=dict)  # for the language model: arguments of `messages`

    def settings(self, epsilon: float) -> dict[str, Any]:
        """Keyword arguments for ``train`` (all but epsilon) at this budget; ``math.inf`` is plain SGD."""
        settings = self.plain if epsilon == math.inf else self.private
        if epsilon != math.inf:
            checks.positive("epsilon", epsilon)
        return {**asdict(settings), "loss": self.loss, "delta": self.delta}


DIGITS = Recipe(
    plain=Settings(lot_size=128, epochs=20, learning_rate=0.5),
    private=Settings(lot_size=512, epochs=20, learning_rate=1.0, clip_norm=0.5),
)
"""For ``digit_mlp()`` on ``digits()``."""

CHARACTERS = Recipe(
    plain=Settings(lot_size=32, epochs=60, learning_rate=0.3),
    private=Settings(lot_size=200, epochs=20, learning_rate=0.5),
    loss=next_character_loss,
    corpus={"users": 100, "per_user": 10, "repeats": 1},
)
"""For ``CharacterModel(layers=1)`` on ``messages(**CHARACTERS.corpus, canaries=[canary])``.

The canary is said once: one message is what DP-SGD protects. Said eight times by the same person it is eight examples,
and at epsilon = 5 for each of them it is exposed well above chance.
"""
