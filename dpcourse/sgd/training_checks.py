"""Examples, labels, loss and budget of a training, checked before anything changes; and warnings of what is odd."""

from __future__ import annotations

import warnings
from typing import Protocol

import torch
from torch import Tensor, nn

from dpcourse.sgd.clipping.model_checks import Loss, check_model
from dpcourse.sgd.models import cross_entropy
from dpcourse.sgd.run import Run

_NO_LABEL = -100  # torch's cross-entropy leaves such examples out
_SPENT = "spent_privacy"  # the attribute of a model that a private run has changed: what that cost


class OddTraining(UserWarning):
    """It can be trained like this, but hardly anybody means it."""


class HasExamples(Protocol):
    """Inputs and targets of equal length; ``dpcourse.data.Examples`` is one."""

    @property
    def inputs(self) -> Tensor: ...

    @property
    def targets(self) -> Tensor: ...


def check_training(model: nn.Module, loss: Loss, **tables: HasExamples) -> None:
    """Refuse a model, a loss or tables that cannot be trained or tested on, by the names of the tables."""
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch module, got {model!r}")
    for name, table in tables.items():
        if not hasattr(table, "inputs") or not hasattr(table, "targets"):
            raise TypeError(f"{name} must have inputs and targets, as dpcourse.data.Examples has, got {type(table)!r}")
        if len(table.inputs) != len(table.targets):
            raise ValueError(
                f"{name} must have as many targets as inputs, got {len(table.targets)} and {len(table.inputs)}"
            )
    if not callable(loss):
        raise TypeError(f"loss must be a function of outputs and targets, got {loss!r}")
    check_model(model)
    for name, table in tables.items():
        if loss is cross_entropy and len(table.targets):
            _check_labels(name, model, table)


def _check_labels(name: str, model: nn.Module, table: HasExamples) -> None:
    """Labels without an output of their own would end in an error of torch's, somewhere in the middle of a training."""
    labels = table.targets
    if labels.is_floating_point():
        if labels.dim() == 1:
            raise ValueError(
                f"the labels of {name} must be whole numbers (targets.long()), got {labels.dtype}: for numbers to be "
                f"predicted hand in a loss of your own, loss=..."
            )
        return
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        outputs = model(table.inputs[:1])
    if outputs.dim() < 2:
        raise ValueError(
            f"the model must give a row of numbers for every example, one for each label; for one example it gives "
            f"the shape {tuple(outputs.shape)}. For numbers to be predicted hand in a loss of your own: loss=..."
        )
    classes = outputs.shape[1]
    odd = labels[(labels >= classes) | ((labels < 0) & (labels != _NO_LABEL))]
    if len(odd):
        raise ValueError(
            f"the labels of {name} must be whole numbers from 0 to {classes - 1}, for the model has {classes} outputs, "
            f"got {int(odd[0])}"
        )


def warn_of_odd(data: HasExamples, delta: float) -> None:
    """Say what a private training would silently make nothing of."""
    n = len(data.inputs)
    if delta * n >= 1:
        warnings.warn(
            f"delta = {delta!r} is no less than one over the number of examples, {n}: it would allow to publish one "
            f"of them",
            OddTraining,
            stacklevel=3,
        )
    if data.inputs.is_floating_point():
        odd = int((~data.inputs.isfinite().flatten(1).all(1)).sum()) if data.inputs.dim() > 1 else 0
        if odd:
            warnings.warn(
                f"{odd} of {n} examples hold numbers that are not finite: an example without a gradient contributes "
                f"nothing",
                OddTraining,
                stacklevel=3,
            )


def warn_of_earlier_cost(model: nn.Module) -> None:
    """A run counts its own steps only, also on a model that an earlier one has trained."""
    earlier = getattr(model, _SPENT, None)
    if earlier is not None:
        warnings.warn(
            f"this model was trained before, {earlier}; this run counts its own cost only. On the same data the costs "
            f"add up: take a fresh model, or go on with resume=run",
            OddTraining,
            stacklevel=3,
        )


def remember_cost(run: Run) -> None:
    """So that the next run on this model can say so."""
    if run.step and run.plan.private:
        last = run.history[-1] if run.history else None
        epsilon = last.epsilon if last is not None and last.step == run.step else run.epsilon
        setattr(run.model, _SPENT, f"for epsilon = {epsilon:.4g} at delta = {run.plan.delta:g}")
