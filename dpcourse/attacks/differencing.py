"""Differencing: two releases, with and without a person, give the person's value. With DP noise they do not.

First for a count, a sum or a mean; then for a model that was updated by one step of SGD.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from dpcourse import checks
from dpcourse.mechanisms import Mechanism
from dpcourse.randomness import Rng, generator

QUERIES = ("count", "sum", "mean")


@dataclass(frozen=True)
class Difference:
    """The two releases (one row for each repetition), what the attacker concludes, and the truth."""

    with_person: np.ndarray
    without_person: np.ndarray
    guess: np.ndarray
    truth: float

    @property
    def error(self) -> float:
        """The mean distance between guess and truth."""
        return float(np.abs(self.guess - self.truth).mean())

    def right(self, within: float = 0.5) -> float:
        """The share of guesses within this distance of the truth: for a yes/no answer, how often he is right."""
        return float((np.abs(self.guess - self.truth) < checks.positive("within", within)).mean())


def difference(
    values: Any,
    person: int,
    *,
    query: str = "sum",
    mechanism: Mechanism | None = None,
    repetitions: int = 1,
    rng: Rng = None,
) -> Difference:
    """Ask twice, with and without person number ``person``, and subtract.

    ``values`` holds one number for each person (0 or 1 for a count of yes). The attacker knows how many people there
    are; for a mean he multiplies by it first. ``mechanism`` answers each query with its noise, freshly drawn; without
    one the answers are exact.
    """
    data = checks.finite_array("values", values)
    person = checks.whole_number("person", person, at_least=0)
    if data.ndim != 1 or len(data) < 2 or person >= len(data):
        raise ValueError(f"person must be one of at least two people in a vector, got {person!r} of shape {data.shape}")
    if checks.one_of("query", query, QUERIES) == "count" and not np.isin(data, (0, 1)).all():
        raise ValueError(f"a count needs values 0 and 1, got {data[~np.isin(data, (0, 1))][0]}")
    answer = np.mean if query == "mean" else np.sum
    rng, size = generator(rng), checks.whole_number("repetitions", repetitions)
    releases = []
    for table in (data, np.delete(data, person)):
        exact = float(answer(table))
        releases.append(np.full(size, exact) if mechanism is None else mechanism.release(exact, size=size, rng=rng))
    n = len(data)
    first, second = (n, n - 1) if query == "mean" else (1, 1)
    return Difference(releases[0], releases[1], first * releases[0] - second * releases[1], float(data[person]))


def input_from_updates(with_person: Mapping[str, Tensor], without_person: Mapping[str, Tensor], layer: str) -> Tensor:
    """The person's input, from two models that took the same single step of SGD with and without the person.

    The models' difference is the person's gradient, up to a factor. In a Linear layer (called ``layer``) that reads the
    input x, the gradient of unit i's weights is g_i x and that of its bias g_i: the quotient is x, pixel by pixel. The
    unit with the largest |g_i| is taken. Clipping alone changes only the factor; it is the noise that protects.
    """
    weight, bias = f"{layer}.weight", f"{layer}.bias"
    for name in (weight, bias):
        for state in (with_person, without_person):
            if name not in state:
                raise ValueError(f"layer must be a Linear layer with a bias, but there is no {name!r} in {list(state)}")
    by_weight, by_bias = with_person[weight] - without_person[weight], with_person[bias] - without_person[bias]
    unit = int(by_bias.abs().argmax())
    if by_bias[unit] == 0:
        raise ValueError(f"the two models have the same {bias!r}: the person left no trace in it")
    return (by_weight[unit] / by_bias[unit]).detach()


def snapshot(model: nn.Module) -> dict[str, Tensor]:
    """A copy of the parameters in double precision, as a release of the model would contain them."""
    return {name: value.detach().to(torch.float64).clone() for name, value in model.state_dict().items()}
