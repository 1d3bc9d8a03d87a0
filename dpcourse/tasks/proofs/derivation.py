"""Derivations graded by machine: every line must follow from the line before it, for the reason that is given.

A student's function gives back a list of steps ``(relation, formula, reason)``. The first follows from the task's
start, the last must be its goal, and each reason of the task's list is needed at least once. A step is tried at many
random points, and at a few with 60 digits (by SymPy):

- ``=`` and ``<=`` must hold wherever the task's symbols may be, or, if the reason is one of the givens (such as
  |c - d| <= Delta), wherever that given holds;
- a reason must fit: a step that needs a given must name it; one that names it must fail without it; and where the
  given itself is an equality, so must be the step, or more than the given was used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from dpcourse.tasks.complaints import Complaint
from dpcourse.tasks.declare import judged_task
from dpcourse.tasks.interview import Interview
from dpcourse.tasks.mistake import Mistake, Variation
from dpcourse.tasks.proofs.domains import Domain, Given, Map, Place, broken
from dpcourse.tasks.proofs.formulas import Formula, parse
from dpcourse.tasks.proofs.steps import Step, Steps
from dpcourse.tasks.proofs.tidy import tidied
from dpcourse.tasks.task import Task

#: The steps of a derivation as they are written: (relation, formula, reason).
Lines = list[tuple[str, str, str]]


@dataclass(frozen=True)
class Reason:
    """Why a step may be taken. ``given``: the givens that it uses. ``fits``: what else must be true of the two lines.

    ``relation`` is "=" for rewriting, "<=" for an inequality (read the other way round where the task goes downwards).
    """

    relation: str = "="
    given: tuple[str, ...] = ()
    fits: Callable[[Formula, Formula, Place], str] | None = None  # what is wrong, or ""

    @property
    def only_rewrites(self) -> bool:
        """Is it algebra?"""
        return self.relation == "=" and not self.given


def _two_absolute_values(formula: Formula) -> bool:
    """Is there a sum or a difference of absolute values in it?"""
    here = formula.kind in ("+", "-") and all(part.count("abs") for part in formula.parts)
    return here or any(_two_absolute_values(part) for part in formula.parts)


def _instead(formula: Formula, old: Formula, new: Formula) -> Formula:
    """The formula with one for the other wherever it stands, but for tidying up."""
    if tidied(formula) == tidied(old):
        return new
    return replace(formula, parts=tuple(_instead(part, old, new) for part in formula.parts))


MOST_SIZES = 8  # absolute values of a line that are tried one for another; nothing here has more than four


def _sizes(formula: Formula) -> list[Formula]:
    """The different absolute values in it."""
    here = [formula] if formula.kind == "abs" else []
    return list(dict.fromkeys(here + [size for part in formula.parts for size in _sizes(part)]))[:MOST_SIZES]


def _with(formula: Formula, old: Formula, new: Formula) -> Formula:
    if formula == old:
        return new
    return replace(formula, parts=tuple(_with(part, old, new) for part in formula.parts))


def _by_the_triangle(before: Formula, after: Formula) -> Iterator[Formula]:
    """The first line with some |u| replaced by |v| + |u - v|, |v| - |u - v|, or the same with -v in place of v."""
    for size, other in product(_sizes(before), _sizes(after) + _sizes(before)):
        if size == other or size.vector != other.vector:
            continue
        for between, sign in product("-+", "+-"):
            apart = Formula(
                "abs", (Formula(between, size.parts + other.parts, vector=size.vector),), vector=size.vector
            )
            yield _with(before, size, Formula(sign, (other, apart), vector=size.vector))


def _triangular(before: Formula, after: Formula, place: Place) -> str:
    if _two_absolute_values(before) and after.count("abs") < before.count("abs"):
        return ""  # |u| - |v| <= |u - v|
    if _two_absolute_values(after) and 0 < before.count("abs") < after.count("abs"):
        return ""  # |u + v| <= |u| + |v|
    if any(broken(line, after, "=", place) is None for line in _by_the_triangle(before, after)):
        return ""  # |u| <= |v| + |u - v|, whatever |u - v| is called
    return "It speaks of a sum or a difference of absolute values, |u| - |v| <= |u - v|: write the line so first."


ALGEBRA = Reason("=")
TRIANGLE = Reason("<=", fits=_triangular)


class Fault(NamedTuple):
    """The first thing wrong with a derivation: its kind, which step (0: the whole), the words, line and reason."""

    kind: str
    step: int
    text: str
    formula: Formula | None = None
    reason: str = ""
    before: Formula | None = None

    def spelt(self) -> str:
        """The line and the one before it, as they were written."""
        lines = [formula.text for formula in (self.before, self.formula) if formula is not None]
        return " ".join(lines).replace(" ", "")


def _two_things(step: Step) -> str:
    return f"does two things at once: it uses {step.reason!r}, and it rewrites the line. Take a step for each."


class Derivation:
    """From ``start`` to ``goal`` in steps. ``upwards`` if start <= goal is to be shown, else start >= goal."""

    def __init__(
        self, *, start: str, goal: str, symbols: Mapping[str, Domain], reasons: Mapping[str, Reason],
        givens: Mapping[str, Given] | None = None, optional: Sequence[str] = (), upwards: bool = True,
    ) -> None:  # fmt: skip
        self.kinds = {name: domain.vector for name, domain in symbols.items()}
        self.start, self.goal = parse(start, self.kinds), parse(goal, self.kinds)
        self.symbols, self.reasons, self.givens = dict(symbols), dict(reasons), dict(givens or {})
        self.required = tuple(name for name in reasons if name not in optional)
        self.allowed = ("=", "<=") if upwards else ("=", ">=")
        unknown = {given for reason in reasons.values() for given in reason.given} - set(self.givens)
        if unknown or set(optional) - set(self.reasons):
            raise ValueError(f"unknown givens {sorted(unknown)} or optional reasons {optional!r}")

    def map(self, rng: np.random.Generator) -> Map:
        """Where this derivation is tried out."""
        return Map(self.symbols, self.givens, rng)

    def fault(self, steps: Sequence[Step], world: Map) -> Fault | None:
        """The first fault, or None. A step that writes its line once more uses no reason."""
        before, used = self.start, set[str]()
        for number, step in enumerate(steps, 1):
            try:
                after = parse(step.formula, self.kinds)
                fault = self._step(number, step, before, after, world)
            except Complaint as complaint:
                return Fault("unreadable", number, f"Step {number}: {complaint}")
            if fault is not None:
                return fault._replace(before=before)
            if self._jumps(step, before, after, world):
                text = f"Step {number} is true, but it {_two_things(step)}"
                return Fault("two things at once", number, text, after, step.reason, before)
            if after != before:
                used.add(step.reason)
            before = after
        if broken(before, self.goal, "=", world.place()) is not None:
            text = f"Every step follows, but the last line, {before.text}, is not the goal, {self.goal.text}."
            return Fault("not the goal", len(steps), text, before)
        missing = [reason for reason in self.required if reason not in used]
        if missing:
            text = (
                f"Every step follows, but none is taken by {missing[0]!r}, and each reason of the list is needed at "
                f"least once. {'' if self.reasons[missing[0]].given else self._two_at_once(steps)}"
            ).strip()
            return Fault("reason missing", 0, text, before, missing[0])
        return None

    def _two_at_once(self, steps: Sequence[Step]) -> str:
        """The step that rewrites its line besides; of several, the one that changes it the most."""
        lines = [self.start, *(parse(step.formula, self.kinds) for step in steps)]
        alike = {
            number: SequenceMatcher(None, lines[number - 1].text, lines[number].text, autojunk=False).ratio()
            for number, step in enumerate(steps, 1)
            if not (reason := self.reasons[step.reason]).only_rewrites
            and not self._does_one_thing(reason, lines[number - 1], lines[number])
        }  # fmt: skip
        if not alike:
            return "Does one of them do two things at once?"
        number = min(alike, key=lambda one: alike[one])
        return f"Step {number} {_two_things(steps[number - 1])}"

    def _step(self, number: int, step: Step, before: Formula, after: Formula, world: Map) -> Fault | None:
        if step.relation not in self.allowed:
            text = f"Step {number} says {step.relation}, but the chain has to go on with {' or '.join(self.allowed)}."
            return Fault("wrong direction", number, text, after)
        reason = self.reasons.get(step.reason)
        if reason is None:
            text = f"Step {number}: {step.reason!r} is no reason of the list: {', '.join(self.reasons)}."
            return Fault("unknown reason", number, text, after, step.reason)
        wrong = broken(before, after, step.relation, world.place(reason.given))
        if wrong is not None:
            return self._does_not_follow(number, step, before, after, wrong, world)
        unfit = self._unfit(step, reason, before, after, world)
        if unfit:
            text = f"Step {number} is true, but not by {step.reason!r}. {unfit}"
            return Fault("reason", number, text, after, step.reason)
        return None

    def _jumps(self, step: Step, before: Formula, after: Formula, world: Map) -> bool:
        """From the first line, in whatever order it is written, straight to the goal, though algebra is needed, too?"""
        reason = self.reasons[step.reason]
        as_it_stood = tidied(before) == tidied(self.start) and before.size() >= self.start.size()
        return (
            as_it_stood
            and any(self.reasons[name].only_rewrites for name in self.required)
            and step.relation != "="
            and not reason.only_rewrites
            and broken(after, self.goal, "=", world.place()) is None
            and not self._does_one_thing(reason, before, after)
        )

    def _does_one_thing(self, reason: Reason, before: Formula, after: Formula) -> bool:
        """Is the line, but for tidying up, the one before it with one side of what is given in place of the other?"""
        if reason.fits is not None:
            return any(tidied(line) == tidied(after) for line in _by_the_triangle(before, after))
        for name in reason.given:
            left, _, right = self.givens[name].read(self.kinds)
            if any(tidied(_instead(before, *pair)) == tidied(after) for pair in ((left, right), (right, left))):
                return True
        lines = before, after
        for name in reason.given:
            for symbol, formula in self.givens[name].solved(self.kinds).items():
                old = Formula("symbol", value=symbol, vector=self.kinds[symbol])
                lines = _with(lines[0], old, formula), _with(lines[1], old, formula)
        return tidied(lines[0]) == tidied(lines[1])

    def _does_not_follow(
        self, number: int, step: Step, before: Formula, after: Formula, wrong: str, world: Map
    ) -> Fault:
        for name, reason in self.reasons.items():
            if not reason.given or name == step.reason:
                continue
            if broken(before, after, step.relation, world.place(reason.given)) is None:
                fact = " and ".join(self.givens[given].text for given in reason.given)
                text = f"Step {number} is true only where {fact}. Say so: {step.reason!r} does not cover it."
                return Fault("reason", number, text, after, step.reason)
        needed = self._needed(before, after, step.relation, world)
        if needed:
            facts = " and ".join(self.givens[given].text for given in needed)
            text = (
                f"Step {number} is true where {facts}, but {step.reason!r} alone does not lead there: take a step for "
                f"each reason."
            )
            return Fault("too much in one step", number, text, after)
        everything = world.place(tuple(self.givens))
        instead = broken(before, after, step.relation, everything)
        # Where all that is given holds, a counterexample is more to the point: no epsilon below 0, for instance.
        line = f"Step {number}, {step.relation} {after.text}, does not follow from {before.text}: {instead or wrong}."
        back = {"<=": ">=", ">=": "<="}.get(step.relation, "")
        if back and broken(before, after, back, everything) is None:
            return Fault("wrong direction", number, f"{line} It holds the other way round.", after)
        return Fault("does not follow", number, line, after)

    def _needed(self, before: Formula, after: Formula, relation: str, world: Map) -> tuple[str, ...]:
        """The fewest givens, two or more, with which the step would be true; none if it is not even with all."""
        for number in range(2, len(self.givens) + 1):
            for some in combinations(self.givens, number):
                if broken(before, after, relation, world.place(some)) is None:
                    return some
        return ()

    def _unfit(self, step: Step, reason: Reason, before: Formula, after: Formula, world: Map) -> str:
        """Why the reason does not fit a step that is true; "" if it does."""
        equal = broken(before, after, "=", world.place()) is None
        if equal and reason.relation != "=":
            return "The two lines are equal, so it only rewrites."
        if not equal and reason.relation == "=" and not reason.given:
            return "The two lines are not equal, so rewriting alone cannot give it."
        if reason.given:
            if broken(before, after, step.relation, world.place()) is None:
                return "It only rewrites." if equal else "It holds without that, too."
            if broken(before, after, "=", world.place(reason.given, edge=True)) is not None:
                facts = " and ".join(self.givens[name].text for name in reason.given)
                return f"{facts} alone does not lead there: more was used, or more given away than it says."
        return reason.fits(before, after, world.place()) if reason.fits is not None else ""


def slip_of(fault: Fault, world: Map, names: Sequence[str]) -> str:
    """The name of the slip that leads from the one line to the other, if it is one of these names; or ""."""
    if fault.kind != "does not follow" or fault.before is None or fault.formula is None:
        return ""
    before, after, place = fault.before, fault.formula, world.place()
    for name, variants in SLIPS.items():
        if name in names and any(broken(one, after, "=", place) is None for one in variants(before)):
            return name
    for symbol, domain in world.symbols.items():
        name, old = f"{symbol} upside down", Formula("symbol", value=symbol, vector=domain.vector)
        if name in names:
            inverse = Formula("/", (Formula("number", value=1), old), vector=domain.vector)
            if broken(_with(before, old, inverse), after, "=", place) is None:
                return name
    return ""


def _absolute_values_replaced(instead: Callable[[Formula], Formula], *, all_of_them: bool) -> Callable[..., Any]:
    """The line with each of its absolute values replaced, or with any of them, but not all."""

    def variants(line: Formula) -> Iterator[Formula]:
        sizes = _sizes(line)[:4]
        numbers = [len(sizes)] if all_of_them else range(1, len(sizes))
        for some in (some for number in numbers for some in combinations(sizes, number)):
            changed = line
            for size in some:
                changed = _with(changed, size, instead(size))
            yield changed

    return variants


def _turned(size: Formula) -> Formula:
    return Formula("negative", (size,), vector=size.vector)


#: Slips in rewriting a line that have a name wherever they happen: the lines that they make of it.
SLIPS: Mapping[str, Callable[[Formula], Iterator[Formula]]] = {
    "distances the wrong way round": _absolute_values_replaced(_turned, all_of_them=True),
    "sign lost": _absolute_values_replaced(_turned, all_of_them=False),
    "absolute value dropped": _absolute_values_replaced(lambda size: size.parts[0], all_of_them=True),
}


def proof_task(
    name: str, *, see: str, mistakes: Sequence[Variation], start: str, goal: str, symbols: Mapping[str, Domain],
    reasons: Mapping[str, Reason], **more: Any,
) -> Task:  # fmt: skip
    """A task whose answer is a derivation; the student's function takes no arguments.

    A mistake is declared by ``ways``, a list of wrong derivations. The student has it if one of them has the same first
    fault: the same kind, at the same formula (up to rewriting) and, if the reason is at fault, the same reason. A
    false rewriting is also named if it is one of the ``SLIPS`` and the task knows a mistake of that name.
    """
    judged = Derivation(start=start, goal=goal, symbols=symbols, reasons=reasons, **more)

    def judge(talk: Interview) -> None:
        steps, world = talk.value({}), judged.map(talk.secret_rng)
        fault = judged.fault(steps, world)
        if fault is None:
            all_of_them = {1: "Your one step follows", 2: "Both steps follow"}
            talk.praise = f"{all_of_them.get(len(steps), f'All {len(steps)} steps follow')}, each for its reason."
            return
        known = talk.task.mistakes
        name = _named(fault, judged, world, known) or slip_of(fault, world, [one.name for one in known])
        talk.fail(fault.text, name=name or fault.kind)

    def varied(one: Variation) -> Mistake:
        return Mistake(one.name, lambda: one.parts["ways"][0], one.message, parts=one.parts)

    return judged_task(
        name, see=see, probes=lambda rng: [{}], judge=judge, mistakes=mistakes, form=Steps(), varied=varied
    )


def _named(fault: Fault, judged: Derivation, world: Map, mistakes: Sequence[Mistake]) -> str:
    """The mistake with the same first fault, or "". If several have it, one that came there from the same line;
    of these, the one that is spelt most alike."""
    best, name = (False, -1.0), ""
    # Where the inequalities hold: a formula may have no value elsewhere, such as 1/(1 + epsilon) at epsilon = -1.
    usual = world.place(tuple(one for one, given in judged.givens.items() if given.read(judged.kinds)[1] != "="))
    for mistake, way in ((one, way) for one in mistakes for way in one.parts["ways"]):
        known = judged.fault(Steps().read(way), world)
        if known is None or (known.kind, known.reason) != (fault.kind, fault.reason):
            continue
        if fault.formula and known.formula and broken(known.formula, fault.formula, "=", usual) is None:
            alike = SequenceMatcher(None, known.spelt(), fault.spelt(), autojunk=False).ratio()
            lines = known.before or known.formula, fault.before or fault.formula
            from_there = broken(*lines, "=", usual) is None
            best, name = max((best, name), ((from_there, alike), mistake.name))
    return name
