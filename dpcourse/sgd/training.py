"""``train``: DP-SGD from a budget to a model, with the accountant running along."""

from __future__ import annotations

import contextlib
import inspect
import math
from typing import Any

import torch
from torch import nn

from dpcourse import door
from dpcourse.accounting.dp_sgd import dp_sgd_epsilon, sigma_for, steps_within
from dpcourse.interruption import uninterrupted
from dpcourse.sgd.clipping.model_checks import Loss
from dpcourse.sgd.clipping.parts import trainable
from dpcourse.sgd.generators import generator_from
from dpcourse.sgd.private_step import poisson_lot, private_gradient
from dpcourse.sgd.progress import Progress
from dpcourse.sgd.run import Moment, Plan, Run
from dpcourse.sgd.training_checks import (
    HasExamples,
    check_given,
    cross_entropy,
    remember_cost,
    warn_of_earlier_cost,
    warn_of_odd,
)


def steps_of(epochs: float, n: int, lot_size: float) -> int:
    """How many steps it takes until everybody was drawn so many times, on average."""
    return max(1, round(door.positive("epochs", epochs) * n / lot_size))


def plan(
    n: int,
    *,
    epsilon: float,
    delta: float,
    clip: float,
    lot_size: float,
    epochs: float,
    rate: float,
    momentum: float = 0.0,
    sigma: float | None = None,
    seed: int | None = None,
) -> Plan:
    """Decide the noise and the number of steps. Given sigma, the steps end before epsilon would be overspent."""
    n = door.whole_number("n", n)
    epsilon = math.inf if epsilon == math.inf else door.positive("epsilon", epsilon)
    delta = door.small_delta("delta", delta, zero=False)
    lot_size = door.positive("lot_size", lot_size)
    if lot_size > n:
        raise ValueError(f"lot_size must be at most the number of examples, {n}, got {lot_size!r}")
    steps, q = steps_of(epochs, n, lot_size), lot_size / n
    if not math.isfinite(epsilon):
        if sigma:
            raise ValueError(f"epsilon = inf trains without noise, so sigma must not be given, got {sigma!r}")
        noise = 0.0
    elif sigma is None:
        noise = sigma_for(epsilon, delta, q=q, steps=steps)
    else:
        noise = door.positive("sigma", sigma)
        if dp_sgd_epsilon(noise, q, steps, delta) > epsilon:
            steps = steps_within(epsilon, delta, sigma=noise, q=q)
        if steps == 0:
            raise ValueError(f"one step with sigma = {noise!r} already costs more than epsilon = {epsilon!r}")
    kept = {"clip": door.positive("clip", clip), "rate": door.positive("rate", rate)}
    if not 0 <= door.non_negative("momentum", momentum) < 1:
        raise ValueError(f"momentum must be at least 0 and below 1, got {momentum!r}")
    generator_from(seed)  # refuses what is no seed
    return Plan(epsilon, delta, noise, lot_size=lot_size, n=n, steps=steps, momentum=momentum, seed=seed, **kept)


def train(
    model: nn.Module,
    data: HasExamples,
    *,
    epsilon: float,
    delta: float = 1e-5,
    loss: Loss = cross_entropy,
    test: HasExamples | None = None,
    clip: float = 1.0,
    lot_size: float = 256,
    epochs: float = 10,
    rate: float = 0.5,
    momentum: float = 0.0,
    sigma: float | None = None,
    seed: int | None = None,
    progress: bool = True,
    looks: int = 10,
    resume: Run | None = None,
) -> Run:
    """Train a model within (epsilon, delta); ``epsilon=math.inf`` trains without clipping and noise.

    The number of examples is taken for public: it decides the sampling rate. The progress line is not private: it
    shows loss and accuracy on ``test``, or on the data itself, at ``looks`` moments of equal distance; ``run.history``
    keeps them.

    The noise is found from the budget, or the number of steps from the budget and ``sigma``. Interrupt it (Ctrl-C, or
    the kernel's stop button) and it returns the run so far; ``train(..., resume=run)`` goes on with the plan of that
    run (its noise, clipping, lots, rate and steps), on the same data; another setting is refused.
    The guarantee is for adding or removing one example, under Poisson sampling. With a seed the run can be repeated;
    without one its randomness comes from the system, which is what a real release needs. (A model's own coins, those of
    Dropout, are torch's: ``torch.manual_seed`` repeats them.) Publish the final model, not the steps: noise in floating
    point has last digits that tell something to whoever knows the gradient, see ``dpcourse.sgd.noise``.
    """
    check_given(model, loss, data=data, **({} if test is None else {"test": test}))
    if resume is None:
        kept = plan(
            len(data.inputs),
            epsilon=epsilon,
            delta=delta,
            clip=clip,
            lot_size=lot_size,
            epochs=epochs,
            rate=rate,
            momentum=momentum,
            sigma=sigma,
            seed=seed,
        )
        run = Run(model, kept)
        if kept.private:
            warn_of_odd(data, kept.delta)
            warn_of_earlier_cost(model)
    else:
        if not isinstance(resume, Run):
            raise TypeError(f"resume must be a Run; Run.load(path, model) reads one from a file. Got {resume!r}")
        run = resume
        _check_resumed(run, model, n=len(data.inputs), epsilon=epsilon, delta=delta)
        _check_settings(
            run.plan, epochs, clip=clip, lot_size=lot_size, rate=rate, momentum=momentum, sigma=sigma, seed=seed
        )
    _go_on(run, data, loss, test, progress, door.whole_number("looks", looks))
    return run


def _check_resumed(run: Run, model: nn.Module, **given: float) -> None:
    """What was begun with one model, budget and data set is not to be finished with another."""
    if model is not run.model:
        raise ValueError("the model must be the one of the run to resume: train(run.model, ..., resume=run)")
    for name, value in given.items():
        planned = getattr(run.plan, name)
        if value != planned:
            what = "examples" if name == "n" else name
            raise ValueError(f"the run to resume was planned for {what} = {planned!r}, got {value!r}")


def _check_settings(kept: Plan, epochs: float, **given: float | None) -> None:
    """Nor with other settings, if any are named: a default stands for "as planned"."""
    defaults = {name: parameter.default for name, parameter in inspect.signature(train).parameters.items()}
    for name, value in given.items():
        if value not in (defaults[name], getattr(kept, name)):
            raise ValueError(f"the run to resume was planned with {name} = {getattr(kept, name)!r}, got {value!r}")
    wanted = steps_of(epochs, kept.n, kept.lot_size)
    fits = wanted >= kept.steps if given["sigma"] else wanted == kept.steps  # a given sigma may end a run earlier
    if epochs != defaults["epochs"] and not fits:
        raise ValueError(
            f"the run to resume was planned with {kept.steps} steps, got epochs = {epochs!r}: {wanted} steps"
        )


def _go_on(run: Run, data: HasExamples, loss: Loss, test: HasExamples | None, progress: bool, looks: int) -> None:
    kept, model = run.plan, run.model
    # Only what training may change: a frozen parameter can carry an old gradient, without any noise on it.
    optimiser = torch.optim.SGD(trainable(model).values(), lr=kept.rate, momentum=kept.momentum)
    generator = generator_from(kept.seed)
    if run.state:
        optimiser.load_state_dict(run.state["optimiser"])
        if generator is not None and "generator" in run.state:
            generator.set_state(run.state["generator"])
    line = Progress(kept, progress)
    shown = {round(kept.steps * look / looks) for look in range(1, looks + 1)}
    try:
        while not run.finished:
            with uninterrupted():
                _one_step(run, data, loss, optimiser, generator)
            if run.step in shown or run.finished:
                run.history.append(_look(run, data if test is None else test, loss))
                line.show(run)
    except KeyboardInterrupt:
        if not run.history or run.history[-1].step < run.step:
            with contextlib.suppress(KeyboardInterrupt):  # pressed again, out of impatience: the run is not to be lost
                run.history.append(_look(run, data if test is None else test, loss))
        line.show(run, f"interrupted at step {run.step} of {kept.steps}, {line.cost(run.epsilon)}: resume=run goes on")
    except BaseException as error:
        # The model has changed by then, and what that cost must not be forgotten.
        error.add_note(f"after step {run.step} of {kept.steps}, epsilon {run.epsilon:.4g} spent; the run is error.run")
        error.run = run  # type: ignore[attr-defined]
        raise
    finally:
        remember_cost(run)
        run.state = {"optimiser": optimiser.state_dict()}
        if generator is not None:
            run.state["generator"] = generator.get_state()
        line.end()


def _one_step(run: Run, data: HasExamples, loss: Loss, optimiser: Any, generator: torch.Generator | None) -> None:
    kept, model = run.plan, run.model
    lot = poisson_lot(kept.n, kept.q, generator)
    x, y = data.inputs[lot], data.targets[lot]
    model.train()
    if kept.private:
        gradient, _ = private_gradient(
            model, x, y, loss, clip=kept.clip, sigma=kept.sigma, lot_size=kept.lot_size, generator=generator
        )
        for name, parameter in trainable(model).items():
            parameter.grad = gradient[name]
    else:
        optimiser.zero_grad()
        if len(lot):
            (loss(model(x), y).sum() / kept.lot_size).backward()
    run.step += 1  # before the model changes: an interruption here counts a step too many, never one too few
    optimiser.step()


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
