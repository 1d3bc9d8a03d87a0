"""Judging what can be computed: compare with the right value at every probe, and name the mistakes that explain it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dpcourse.tasks.complaints import Complaint
from dpcourse.tasks.interview import Interview
from dpcourse.tasks.judges.diagnosis import NEAR_ZERO, TOLERANCE, answer_of, same_values
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.probes import Edge
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.wording import arguments, compared, shown


class Note(NamedTuple):
    """What a wrong value means for privacy: a sentence, and whether it is only wasteful."""

    text: str
    wasteful: bool = False


class Cell(NamedTuple):
    """One part of the answer to one probe ("" where an answer has no parts)."""

    probe: int
    part: str


def values_of(
    right: Callable[..., Any],
    *,
    tolerance: float = TOLERANCE,
    near_zero: float = NEAR_ZERO,
    note: Callable[[Probe, Any, Any], Note | None] | None = None,
    named: Callable[[Sequence[tuple[Probe, Any, Any]]], str] | None = None,
    by_part: bool = False,
) -> Callable[[Interview], None]:
    """The student's values must be those of ``right(**probe)``, up to a relative ``tolerance``.

    ``note(probe, answer, right)`` may say what a wrong value means for privacy: of a wrong value that is only wasteful
    elsewhere, the first one is shown that is more than that. ``named`` may name a mistake by all
    (probe, answer, right) where no function has it. ``by_part``: each part of the answer earns its share of the points.
    A function that stops at a later probe, an edge perhaps, is judged by the answers before, if one of them is wrong.
    """

    def same(one: Any, other: Any) -> bool:
        return same_values(one, other, tolerance, near_zero)

    def judge(talk: Interview) -> None:
        answers, stopped = list[Any](), None
        try:
            for probe in talk.probes:  # all, then decide: the pattern of all names a mistake
                answers.append(talk.value(probe))
        except Complaint as complaint:
            stopped = complaint
        expected = [talk.task.answer.read(right(**probe)) for probe in talk.probes[: len(answers)]]
        wrong = [cell for cell in _cells(expected) if not same(_at(answers, cell), _at(expected, cell))]
        if not wrong and stopped:
            raise stopped
        if not wrong:
            talk.praise = f"All {len(answers)} probes are answered right."
            return
        known = explaining(talk, answers, expected, wrong, same)
        if by_part and not known:  # each part by itself: what explains one need not explain another
            known = _of_each_part(talk, answers, expected, wrong, same)
        asked = list(zip(talk.probes, answers, expected, strict=False))
        own = named(asked) if named else ""
        if by_part and not stopped and (share := 1 - len({cell.part for cell in wrong}) / len(expected[0])) > 0:
            talk.share, talk.noticed = share, tuple(one.name for one in known)
            talk.praise = _by_part(talk.probes, answers, expected, wrong, known)
            return
        place, said = _worst({cell.probe: note(*asked[cell.probe]) if note else None for cell in wrong})
        probe, answer, truth = asked[place]
        words = compared(answer, truth, same)
        text = f"For {arguments(probe)}{',' if words.startswith('in ') else ''} {words}."
        talk.failing = probe
        talk.fail(
            f"{text} {said.text}" if said else text,
            names=(own,) if own else tuple(one.name for one in known),
            wasteful=bool(said and said.wasteful) or bool(known and all(one.hides for one in known)),
        )

    return judge


def explaining(
    talk: Interview,
    answers: Sequence[Any],
    expected: Sequence[Any],
    wrong: Sequence[Cell],
    same: Callable[[Any, Any], bool] = same_values,
) -> list[Mistake]:
    """The known mistakes that explain every wrong cell: one, if one does, else several in different cells; or none.

    A mistake explains a cell if it is wrong there, and the student answers as it does. Where it is wrong and the
    student answers otherwise, another one of those that were made must explain the cell. At the edges there may be a
    fault of another kind, or none: a mistake is looked for elsewhere.
    """
    cells = [cell for cell in _cells(expected) if not isinstance(talk.probes[cell.probe], Edge)]
    changed, explained = dict[str, set[Cell]](), dict[str, set[Cell]]()
    for one in talk.task.mistakes:
        try:
            theirs = {place: answer_of(one, talk.task.answer, talk.probes[place]) for place in {c.probe for c in cells}}
        except Complaint:
            continue
        changed[one.name] = {c for c in cells if not same(_at(theirs, c), _at(expected, c))}
        explained[one.name] = {c for c in changed[one.name] if same(_at(answers, c), _at(theirs, c))}
    names = list[str]()
    left = set(wrong) & set(cells)
    while left:
        best = max(explained, key=lambda name: (len(explained[name] & left), -len(changed[name])), default="")
        if not best or not explained[best] & left:
            return []
        names.append(best)
        left -= explained[best]
    covered = set[Cell]().union(*(explained[name] for name in names))
    if any(not changed[name] <= covered for name in names):
        return []
    return [one for one in talk.task.mistakes if one.name in names]


def _of_each_part(
    talk: Interview,
    answers: Sequence[Any],
    expected: Sequence[Any],
    wrong: Sequence[Cell],
    same: Callable[[Any, Any], bool],
) -> list[Mistake]:
    known = list[Mistake]()
    for part in dict.fromkeys(cell.part for cell in wrong):
        of_part = [cell for cell in wrong if cell.part == part]
        known += [one for one in explaining(talk, answers, expected, of_part, same) if one not in known]
    return known


def _worst(notes: Mapping[int, Note | None]) -> tuple[int, Note | None]:
    """The first probe whose wrong answer is not only wasteful, or else the first; and what it means."""
    place = next((one for one, said in notes.items() if not (said and said.wasteful)), next(iter(notes)))
    return place, notes[place]


def _cells(expected: Sequence[Any]) -> Iterator[Cell]:
    for number, one in enumerate(expected):
        yield from (Cell(number, part) for part in (one if isinstance(one, Mapping) else ("",)))


def _at(answers: Sequence[Any] | Mapping[int, Any], cell: Cell) -> Any:
    return answers[cell.probe][cell.part] if cell.part else answers[cell.probe]


def _by_part(
    probes: Sequence[Probe],
    answers: Sequence[Any],
    expected: Sequence[Any],
    wrong: Sequence[Cell],
    known: Sequence[Mistake],
) -> str:
    """Which parts are wrong, each with its first wrong value, and what is known of them."""
    first = {cell.part: cell for cell in reversed(wrong)}
    right = len(expected[0]) - len(first)
    words = [
        f"{part}: you answer {shown(_at(answers, cell))}; right is {shown(_at(expected, cell))}."
        for part, cell in first.items()
    ]
    verb = "is" if right == 1 else "are"
    return " ".join([f"{right} of {len(expected[0])} {verb} right.", *words, *(one.message for one in known)])
