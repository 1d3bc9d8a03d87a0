"""A training run: its plan, the model, what it cost so far, and how it went. It can be saved and taken up again."""

from __future__ import annotations

import math
import os
import pickle
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from dpcourse import checks
from dpcourse.accounting import Cost
from dpcourse.accounting.dp_sgd import dp_sgd_epsilon, sigma_for, steps_within
from dpcourse.sgd.noise import generator_from


@dataclass(frozen=True)
class Plan:
    """Everything that decides a run's cost and course before it starts."""

    epsilon: float
    delta: float
    noise_multiplier: float
    clip_norm: float
    lot_size: float
    n: int
    steps: int
    learning_rate: float
    momentum: float
    seed: int | None

    @property
    def sampling_rate(self) -> float:
        """The probability that an example enters a lot."""
        return self.lot_size / self.n

    @property
    def private(self) -> bool:
        """Whether there is noise at all."""
        return math.isfinite(self.epsilon)


def steps_of(epochs: float, n: int, lot_size: float) -> int:
    """How many steps it takes until everybody was drawn so many times, on average."""
    return max(1, round(checks.positive("epochs", epochs) * n / lot_size))


def plan(
    n: int,
    *,
    epsilon: float,
    delta: float,
    clip_norm: float,
    lot_size: float,
    epochs: float,
    learning_rate: float,
    momentum: float = 0.0,
    noise_multiplier: float | None = None,
    seed: int | None = None,
) -> Plan:
    """Decide the noise and the number of steps. Told the noise, it ends the steps before epsilon would be overspent."""
    n = checks.whole_number("n", n)
    epsilon = math.inf if epsilon == math.inf else checks.positive("epsilon", epsilon)
    delta = checks.small_delta("delta", delta, zero=False)
    lot_size = checks.positive("lot_size", lot_size)
    if lot_size > n:
        raise ValueError(f"lot_size must be at most the number of examples, {n}, got {lot_size!r}")
    steps, sampling_rate = steps_of(epochs, n, lot_size), lot_size / n
    if not math.isfinite(epsilon):
        if noise_multiplier:
            raise ValueError(
                f"epsilon = inf trains without noise, so noise_multiplier must not be set, got {noise_multiplier!r}"
            )
        noise = 0.0
    elif noise_multiplier is None:
        noise = sigma_for(epsilon, delta, q=sampling_rate, steps=steps)
    else:
        noise = checks.positive("noise_multiplier", noise_multiplier)
        if dp_sgd_epsilon(noise, sampling_rate, steps, delta) > epsilon:
            steps = steps_within(epsilon, delta, sigma=noise, q=sampling_rate)
        if steps == 0:
            raise ValueError(
                f"one step with noise_multiplier = {noise!r} already costs more than epsilon = {epsilon!r}"
            )
    if not 0 <= checks.non_negative("momentum", momentum) < 1:
        raise ValueError(f"momentum must be at least 0 and below 1, got {momentum!r}")
    generator_from(seed)  # refuses what is no seed
    return Plan(
        epsilon,
        delta,
        noise_multiplier=noise,
        clip_norm=checks.positive("clip_norm", clip_norm),
        lot_size=lot_size,
        n=n,
        steps=steps,
        learning_rate=checks.positive("learning_rate", learning_rate),
        momentum=momentum,
        seed=seed,
    )


@dataclass(frozen=True)
class Moment:
    """How a run goes after some steps. Loss and accuracy are measured on data, so they are not private themselves."""

    step: int
    epsilon: float
    training_loss: float
    accuracy: float | None


@dataclass
class Run:
    """The result of :func:`dpcourse.sgd.train`, finished or interrupted."""

    model: nn.Module
    plan: Plan
    step: int = 0
    history: list[Moment] = field(default_factory=list)
    state: dict[str, Any] = field(default_factory=dict, repr=False)  # the optimiser and the random generator

    @property
    def finished(self) -> bool:
        """Whether all planned steps were taken."""
        return self.step >= self.plan.steps

    @property
    def epsilon(self) -> float:
        """What the steps taken so far have cost, at the plan's delta: exact accounting, add/remove neighbours."""
        if not self.plan.private:
            return math.inf
        if self.step == 0:
            return 0.0
        return dp_sgd_epsilon(self.plan.noise_multiplier, self.plan.sampling_rate, self.step, self.plan.delta)

    @property
    def spent(self) -> Cost:
        """The cost as the accounting room writes it."""
        return Cost(self.epsilon, self.plan.delta, "privacy loss distribution")

    @property
    def accuracy(self) -> float | None:
        """The last accuracy that was measured."""
        return next((moment.accuracy for moment in reversed(self.history) if moment.accuracy is not None), None)

    def save(self, path: str | Path) -> None:
        """Write everything to a file; an older file is replaced only when the new one is complete.

        Keep it as secret as the data, for its history and its seed are not private. To publish the model, publish
        ``run.model.state_dict()``. A run without a seed goes on with fresh randomness after loading: resumed twice from
        one file, the same noise would tell two data sets apart.
        """
        target, repeats = Path(path), self.plan.seed is not None
        if not target.parent.is_dir():
            raise ValueError(f"there is no folder {str(target.parent)!r} to save {target.name!r} in")
        parts = {
            "model": self.model.state_dict(),
            "plan": vars(self.plan),
            "step": self.step,
            "history": [vars(moment) for moment in self.history],
            "state": {name: part for name, part in self.state.items() if repeats or name != "generator"},
        }
        unfinished = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            torch.save(parts, unfinished)
            unfinished.replace(target)
        finally:
            unfinished.unlink(missing_ok=True)

    @staticmethod
    def load(path: str | Path, model: nn.Module) -> Run:
        """Read a run back into a model of the same make."""
        if not Path(path).is_file():
            raise ValueError(f"there is no saved run at {str(path)!r}")
        try:
            parts = torch.load(path, weights_only=True)
            history = [Moment(**moment) for moment in parts["history"]]
            plan, step, state = Plan(**parts["plan"]), parts["step"], parts["state"]
        except (pickle.UnpicklingError, KeyError, TypeError, RuntimeError, EOFError) as error:
            raise ValueError(f"{str(path)!r} holds no saved run: {str(error)[:80]}") from error
        if not 0 <= step <= plan.steps:
            raise ValueError(f"{str(path)!r} holds no saved run: step {step!r} of {plan.steps!r}")
        saved, own = ({name: tuple(value.shape) for name, value in one.items()}
                      for one in (parts["model"], model.state_dict()))  # fmt: skip
        if saved != own:  # before anything of the model is overwritten
            raise ValueError(f"{str(path)!r} holds another model: its parts are {saved}, those of yours {own}")
        model.load_state_dict(parts["model"])
        return Run(model, plan, step, history, state)
