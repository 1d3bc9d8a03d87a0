"""Membership inference: was this example in the training set? And what (epsilon, delta) allows an attacker at most."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from dpcourse import checks
from dpcourse.data.examples import Examples


@dataclass(frozen=True)
class Roc:
    """True and false positive rates of "member if the score is at least t", from (0, 0) to (1, 1)."""

    fpr: np.ndarray
    tpr: np.ndarray
    thresholds: np.ndarray

    @property
    def advantage(self) -> float:
        """max TPR - FPR (Yeom et al. 2018): 0 for guessing, 1 for certainty.

        It is taken at the best threshold of these very data, so it lies a little above 0 even for a useless score: see
        :func:`advantage_by_luck`.
        """
        return float((self.tpr - self.fpr).max())

    @property
    def area(self) -> float:
        """Area under the curve: the probability that a member scores above a non-member (ties count half)."""
        return float(np.trapezoid(self.tpr, self.fpr))

    def tpr_at(self, fpr: float) -> float:
        """The largest TPR among thresholds whose FPR does not exceed ``fpr``."""
        return float(self.tpr[self.fpr <= checks.probability("fpr", fpr)].max())


def advantage_by_luck(members: int, others: int, once_in: float = 20) -> tuple[float, float]:
    """What the advantage of a score that knows nothing is on average, and what it exceeds once in so many times.

    The largest gap between two distribution functions, in one direction, times sqrt(n m / (n + m)), exceeds x with
    probability exp(-2 x^2), for large n and m (Smirnov 1939).
    """
    n, m = checks.whole_number("members", members), checks.whole_number("others", others)
    if checks.positive("once_in", once_in) < 1:
        raise ValueError(f"once_in must be at least 1, got {once_in!r}")
    unit = math.sqrt(1 / n + 1 / m)
    return math.sqrt(math.pi / 8) * unit, math.sqrt(math.log(once_in) / 2) * unit


def losses_of(model: nn.Module, examples: Examples, loss: Callable[[Tensor, Tensor], Tensor]) -> np.ndarray:
    """The loss of every example, with the model in evaluation mode and without gradients."""
    training = model.training
    model.eval()
    with torch.no_grad():
        parts = zip(examples.inputs.split(2048), examples.targets.split(2048), strict=True)
        losses = torch.cat([loss(model(x), y) for x, y in parts])
    model.train(training)
    if losses.shape != (len(examples),):
        raise ValueError(f"loss must give one number for each of {len(examples)} examples, got {tuple(losses.shape)}")
    return losses.numpy()


def roc(members: Any, others: Any) -> Roc:
    """The curve of a score that should be high for members."""
    inside, outside = checks.finite_array("members", members).ravel(), checks.finite_array("others", others).ravel()
    if not inside.size or not outside.size:
        raise ValueError(f"members and others must not be empty, got {inside.size} and {outside.size} scores")
    thresholds = np.unique(np.concatenate([inside, outside]))[::-1]
    tpr = 1 - np.searchsorted(np.sort(inside), thresholds) / inside.size
    fpr = 1 - np.searchsorted(np.sort(outside), thresholds) / outside.size
    return Roc(np.append(0.0, fpr), np.append(0.0, tpr), np.append(math.inf, thresholds))


def loss_threshold_attack(
    model: nn.Module, members: Examples, others: Examples, loss: Callable[[Tensor, Tensor], Tensor]
) -> Roc:
    """Say "member" where the loss is small (Yeom, Giacomelli, Fredrikson & Jha 2018, CSF): overfitting gives away."""
    return roc(-losses_of(model, members, loss), -losses_of(model, others, loss))


def dp_bound(fpr: Any, epsilon: float, delta: float = 0.0) -> Any:
    """The largest TPR of any attacker at this FPR against an (epsilon, delta)-DP training, whatever he knows.

    Two lines bound it: TPR <= e^eps FPR + delta, and, for the opposite decision, 1 - FPR <= e^eps (1 - TPR) + delta
    (Kairouz, Oh & Viswanath 2015, "The Composition Theorem for Differential Privacy"). ``epsilon=math.inf`` allows all.
    """
    rates = checks.finite_array("fpr", fpr)
    if (rates < 0).any() or (rates > 1).any():
        raise ValueError(f"fpr must lie in [0, 1], got {fpr!r}")
    delta = checks.small_delta("delta", delta)
    if epsilon == math.inf:
        return np.ones_like(rates)[()]
    epsilon = checks.non_negative("epsilon", epsilon)
    by_presence = np.exp(np.minimum(epsilon + np.log(np.maximum(rates, 1e-300)), 1.0)) * (rates > 0) + delta
    by_absence = 1 - math.exp(-epsilon) * (1 - delta - rates)
    return np.clip(np.minimum(by_presence, by_absence), 0.0, 1.0)[()]


def advantage_bound(epsilon: float, delta: float = 0.0) -> float:
    """The largest TPR - FPR under (epsilon, delta)-DP: (e^eps - 1 + 2 delta) / (e^eps + 1), where the lines meet."""
    delta = checks.small_delta("delta", delta)
    if epsilon == math.inf:
        return 1.0
    small = math.exp(-checks.non_negative("epsilon", epsilon))
    return (1 - small + 2 * delta * small) / (1 + small)
