"""Tasks as data: what is right, and the mistakes as variations of it.

Each function makes a :class:`Task` of one kind. ``right``, ``law`` and the parts of a mistake are functions of ``p``,
the arguments of a call as attributes (``p.epsilon``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dpcourse.tasks.answers import NUMBER, Answers, Form
from dpcourse.tasks.interview import Interview
from dpcourse.tasks.judges.choices import shares_of
from dpcourse.tasks.judges.diagnosis import NEAR_ZERO, TOLERANCE
from dpcourse.tasks.judges.noise import noise_of
from dpcourse.tasks.judges.noise_law import LAPLACE, NORMAL, Law, Noise, one_of, with_parts
from dpcourse.tasks.judges.values import Note, values_of
from dpcourse.tasks.mistake import Arguments, Mistake, Variation, arguments_of
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.task import Task

Of = Callable[[Any], Any]  # a function of the arguments
Judge = Callable[[Interview], None]


def value_task(
    name: str,
    *,
    see: str,
    probes: Callable[..., Sequence[Probe]],
    right: Of,
    mistakes: Sequence[Variation],
    form: Form = NUMBER,
    tolerance: float = TOLERANCE,
    near_zero: float = NEAR_ZERO,
    note: Callable[[Any, Any, Any], Note | None] | None = None,
    by_part: bool = False,
    **more: Any,
) -> Task:
    """An answer that can be computed: ``right(p)``, a number, an array, or a tuple in the order of the form's parts.

    A mistake is a whole ``answer(p)``, or differs in the parts that it names: ``delta=lambda p: p.k * p.delta``.
    Numbers agree up to a relative ``tolerance``, and to ``near_zero`` times the largest of the answer.
    ``note(p, answer, right)`` may say what a wrong answer means for privacy.
    """

    def varied(one: Variation) -> Mistake:
        parts = tuple(form.parts) if isinstance(form, Answers) else ()
        _only(one, parts, name)
        return Mistake(one.name, lambda **probe: _with_parts(parts, right, one.parts, arguments_of(probe)), one.message)

    said = note and (lambda probe, answer, truth: note(Arguments(**probe), answer, truth))
    judge = values_of(_called(right), tolerance=tolerance, near_zero=near_zero, note=said, by_part=by_part)
    return judged_task(name, see=see, probes=probes, judge=judge, mistakes=mistakes, form=form, varied=varied, **more)


def laplace_task(
    name: str, *, see: str, probes: Callable[..., Sequence[Probe]], law: Of, mistakes: Sequence[Variation], **more: Any
) -> Task:
    """An answer with Laplace noise: ``law(p)`` gives its centre, a number or a vector, and the scale.

    A mistake differs in ``center``, in ``scale`` (both functions of p), in ``noise(rng, size)`` of scale 1, or is
    ``shared`` by all coordinates; or it is a whole ``answer(p)`` or ``draw(p, rng)``.
    """
    return _noise_task(name, LAPLACE, see=see, probes=probes, law=law, mistakes=mistakes, **more)


def gaussian_task(
    name: str, *, see: str, probes: Callable[..., Sequence[Probe]], law: Of, mistakes: Sequence[Variation], **more: Any
) -> Task:
    """As :func:`laplace_task`, with Gaussian noise: ``law(p)`` gives the centre and the standard deviation."""
    return _noise_task(name, NORMAL, see=see, probes=probes, law=law, mistakes=mistakes, **more)


def choice_task(
    name: str,
    *,
    see: str,
    probes: Callable[..., Sequence[Probe]],
    shares: Of,
    mistakes: Sequence[Variation],
    labels: Of | None = None,
    form: Form = NUMBER,
    own: Of | None = None,
    draws: int | None = None,
    every: bool = False,
    more_draws: int = 0,
    **more: Any,
) -> Task:
    """One of a few answers, drawn by chance: ``labels(p)`` (0, 1, ... without it) with the probabilities ``shares(p)``.

    ``own(p)`` is the label that is somebody's secret, if one is. A mistake has other ``shares``, or is a whole
    ``answer(p)`` or ``draw(p, rng)``.
    """
    names = labels or (lambda p: range(len(shares(p))))

    def varied(one: Variation) -> Mistake:
        _only(one, ("shares",), name)
        others = one.parts["shares"]

        def sample(probe: Mapping[str, Any], number: int, rng: np.random.Generator) -> np.ndarray:
            p = arguments_of(probe)
            weights = np.asarray(others(p), dtype=float)
            return np.asarray(list(names(p)))[rng.choice(len(weights), size=number, p=weights)]

        return Mistake(one.name, one_of(sample), one.message, one.hides, sample)

    judge = shares_of(
        _called(shares), _called(names), draws=draws, every=every, more=more_draws, own=own and _called(own)
    )
    return judged_task(name, see=see, probes=probes, judge=judge, mistakes=mistakes, form=form, varied=varied, **more)


def judged_task(
    name: str,
    *,
    see: str,
    probes: Callable[..., Sequence[Probe]],
    judge: Judge,
    mistakes: Sequence[Variation],
    form: Form = NUMBER,
    varied: Callable[[Variation], Mistake] | None = None,
    **more: Any,
) -> Task:
    """A task with a judge of its own. ``varied`` makes the mistake of a variation that is declared by its parts."""
    known = []
    for one in mistakes:
        if one.parts and varied is None:
            raise ValueError(f"the mistake {one.name!r} of {name} has parts {sorted(one.parts)}, but the task has none")
        known.append(one.whole() or varied(one))  # type: ignore[misc]
    return Task(name=name, see=see, probes=probes, judge=judge, mistakes=tuple(known), answer=form, **more)


def _noise_task(
    name: str,
    kind: Law,
    *,
    see: str,
    probes: Callable[..., Sequence[Probe]],
    law: Of,
    mistakes: Sequence[Variation],
    form: Form = NUMBER,
    draws: int | None = None,
    hides: bool = True,
    **more: Any,
) -> Task:
    def varied(one: Variation) -> Mistake:
        _only(one, ("center", "scale", "noise", "shared"), name)
        return with_parts(noise, one.parts, one.name, one.message, one.hides)

    def noise(**probe: Any) -> Noise:
        center, scale = law(arguments_of(probe))
        return Noise(center, scale, kind)

    judge = noise_of(noise, draws=draws, hides=hides)
    return judged_task(name, see=see, probes=probes, judge=judge, mistakes=mistakes, form=form, varied=varied, **more)


def _called(function: Of) -> Callable[..., Any]:
    """A function of the arguments by name, from one of their attributes."""
    return lambda **probe: function(arguments_of(probe))


def _with_parts(names: Sequence[str], right: Of, parts: Mapping[str, Of], p: Arguments) -> dict[str, Any]:
    answer = right(p)
    whole = dict(answer) if isinstance(answer, Mapping) else dict(zip(names, answer, strict=True))
    return {**whole, **{name: other(p) for name, other in parts.items()}}


def _only(one: Variation, allowed: Sequence[str], task: str) -> None:
    strange = sorted(set(one.parts) - set(allowed))
    if strange:
        parts = f"its parts are {', '.join(allowed)}" if allowed else "its answer has no parts"
        raise ValueError(f"the mistake {one.name!r} of {task} differs in {strange[0]!r}, but {parts}")
