"""A training run: the model, what it cost so far, and how it went. It can be saved and taken up again."""

from __future__ import annotations

import math
import os
import pickle
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from dpcourse.accounting import Spent
from dpcourse.accounting.dp_sgd import dp_sgd_epsilon


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
    def spent(self) -> Spent:
        """The cost as the accounting room writes it."""
        return Spent(self.epsilon, self.plan.delta, "privacy loss distribution")

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
