"""``train``: DP-SGD from a budget to a model, with the accountant running along."""

from __future__ import annotations

import contextlib
import inspect
from typing import Any

import torch
from torch import nn

from dpcourse import checks
from dpcourse.interrupts import uninterrupted
from dpcourse.sgd.clipping.clipper import Clipper
from dpcourse.sgd.clipping.model_checks import Loss, trainable
from dpcourse.sgd.models import cross_entropy
from dpcourse.sgd.noise import generator_from
from dpcourse.sgd.private_step import PrivateGradient, toss_coins
from dpcourse.sgd.progress import Progress
from dpcourse.sgd.run import Moment, Plan, Run, plan, steps_of
from dpcourse.sgd.training_checks import (
    HasExamples,
    check_training,
    remember_cost,
    warn_of_earlier_cost,
    warn_of_odd,
)


def train(
    model: nn.Module,
    data: HasExamples,
    *,
    epsilon: float,
    delta: float = 1e-5,
    loss: Loss = cross_entropy,
    test: HasExamples | None = None,
    clip_norm: float = 1.0,
    lot_size: float = 256,
    epochs: float = 10,
    learning_rate: float = 0.5,
    momentum: float = 0.0,
    noise_multiplier: float | None = None,
    seed: int | None = None,
    progress: bool = True,
    looks: int = 10,
    resume: Run | None = None,
) -> Run:
    """Train a model within (epsilon, delta); ``epsilon=math.inf`` trains without clipping and noise.

    The number of examples is taken for public: it decides the sampling rate. The progress line is not private: it
    shows loss and accuracy on ``test``, or on the data itself, at ``looks`` moments of equal distance; ``run.history``
    keeps them.

    The noise follows from the budget, or the number of steps from the budget and ``noise_multiplier``. Interrupt it
    (Ctrl-C, or the kernel's stop button) and it returns the run so far; ``train(..., resume=run)`` goes on with the
    plan of that run (its noise, clipping, lots, learning rate and steps), on the same data; another setting is refused.
    The guarantee is for adding or removing one example, under Poisson sampling. With a seed the run can be repeated;
    without one its randomness comes from the system, which is what a real release needs. (A model's own coins, those of
    Dropout, are torch's: ``torch.manual_seed`` repeats them.) Publish the final model, not the steps: noise in floating
    point has last digits that tell something to whoever knows the gradient, see ``dpcourse.sgd.noise``.
    """
    check_training(model, loss, data=data, **({} if test is None else {"test": test}))
    n = len(data.inputs)
    settings: dict[str, Any] = {
        "clip_norm": clip_norm,
        "lot_size": lot_size,
        "learning_rate": learning_rate,
        "momentum": momentum,
        "noise_multiplier": noise_multiplier,
        "seed": seed,
    }
    if resume is None:
        run = Run(model, plan(n, epsilon=epsilon, delta=delta, epochs=epochs, **settings))
        if run.plan.private:
            warn_of_odd(data, run.plan.delta)
            warn_of_earlier_cost(model)
    else:
        if not isinstance(resume, Run):
            raise TypeError(f"resume must be a Run; Run.load(path, model) reads one from a file. Got {resume!r}")
        run = resume
        _check_resumed(run, model, n=n, epsilon=epsilon, delta=delta)
        _check_settings(run.plan, epochs, settings)
    _go_on(run, data, loss, test, progress, checks.whole_number("looks", looks))
    return run


def _check_resumed(run: Run, model: nn.Module, **budget: float) -> None:
    """What was begun with one model, budget and data set is not to be finished with another."""
    if model is not run.model:
        raise ValueError("the model must be the one of the run to resume: train(run.model, ..., resume=run)")
    for name, value in budget.items():
        planned = getattr(run.plan, name)
        if value != planned:
            what = "examples" if name == "n" else name
            raise ValueError(f"the run to resume was planned for {what} = {planned!r}, got {value!r}")


def _check_settings(plan: Plan, epochs: float, settings: dict[str, Any]) -> None:
    """Nor with other settings, if any are named: a default stands for "as planned"."""
    defaults = {name: parameter.default for name, parameter in inspect.signature(train).parameters.items()}
    for name, value in settings.items():
        if value not in (defaults[name], getattr(plan, name)):
            raise ValueError(f"the run to resume was planned with {name} = {getattr(plan, name)!r}, got {value!r}")
    steps = steps_of(epochs, plan.n, plan.lot_size)
    fits = steps >= plan.steps if settings["noise_multiplier"] else steps == plan.steps  # noise may end a run earlier
    if epochs != defaults["epochs"] and not fits:
        raise ValueError(
            f"the run to resume was planned with {plan.steps} steps, got epochs = {epochs!r}: {steps} steps"
        )


def _go_on(run: Run, data: HasExamples, loss: Loss, test: HasExamples | None, progress: bool, looks: int) -> None:
    plan, generator = run.plan, generator_from(run.plan.seed)
    step = _Step(run, data, loss, generator)
    if run.state:
        step.optimiser.load_state_dict(run.state["optimiser"])
        if generator is not None and "generator" in run.state:
            generator.set_state(run.state["generator"])
    line = Progress(plan, progress)
    moments = {round(plan.steps * look / looks) for look in range(1, looks + 1)}
    try:
        while not run.finished:
            with uninterrupted():
                step.take()
            if run.step in moments or run.finished:
                run.history.append(_look(run, data if test is None else test, loss))
                line.show(run)
    except KeyboardInterrupt:
        if not run.history or run.history[-1].step < run.step:
            with contextlib.suppress(KeyboardInterrupt):  # pressed again, out of impatience: the run is not to be lost
                run.history.append(_look(run, data if test is None else test, loss))
        line.show(run, f"interrupted at step {run.step} of {plan.steps}, {line.cost(run.epsilon)}: resume=run goes on")
    except BaseException as error:
        # The model has changed by then, and what that cost must not be forgotten.
        error.add_note(f"after step {run.step} of {plan.steps}, epsilon {run.epsilon:.4g} spent; the run is error.run")
        error.run = run  # type: ignore[attr-defined]
        raise
    finally:
        remember_cost(run)
        run.state = {"optimiser": step.optimiser.state_dict()}
        if generator is not None:
            run.state["generator"] = generator.get_state()
        line.end()


class _Step:
    """One step after the other: what it takes is put together once."""

    def __init__(self, run: Run, data: HasExamples, loss: Loss, generator: torch.Generator | None) -> None:
        plan, self.run, self.data, self.loss, self.generator = run.plan, run, data, loss, generator
        self.n, self.sampling_rate, self.lot_size = plan.n, plan.sampling_rate, plan.lot_size
        # Only what training may change: a frozen parameter can carry an old gradient, without any noise on it.
        self.parameters = trainable(run.model)
        self.optimiser = torch.optim.SGD(self.parameters.values(), lr=plan.learning_rate, momentum=plan.momentum)
        self.private_gradient = plan.private and PrivateGradient(
            Clipper(run.model, loss),
            clip_norm=plan.clip_norm,
            noise_multiplier=plan.noise_multiplier,
            lot_size=plan.lot_size,
            generator=generator,
        )

    def take(self) -> None:
        """Draw a lot, find its gradient, walk."""
        lot = toss_coins(self.n, self.sampling_rate, self.generator)
        x, y = self.data.inputs[lot], self.data.targets[lot]
        self.run.model.train()
        if self.private_gradient:
            gradient, _ = self.private_gradient(x, y)
            for name, parameter in self.parameters.items():
                parameter.grad = gradient[name]
        else:
            self.optimiser.zero_grad()
            if len(lot):
                (self.loss(self.run.model(x), y).sum() / self.lot_size).backward()
        self.run.step += 1  # before the model changes: an interruption here counts a step too many, never one too few
        self.optimiser.step()


def _look(run: Run, data: HasExamples, loss: Loss, most: int = 2000) -> Moment:
    model = run.model
    model.eval()
    with torch.no_grad():
        x, y = data.inputs[:most], data.targets[:most]
        outputs = model(x)
        counted = y >= 0  # a negative target stands where there is nothing to predict
        classes = outputs.dim() == y.dim() + 1 and not y.is_floating_point()
        right = (outputs.argmax(-1) == y)[counted].float().mean().item() if classes else None
        return Moment(run.step, run.epsilon, loss(outputs, y).mean().item(), right)
