"""Putting one probe to a student's function, and making the answers plain enough to be sent."""

from __future__ import annotations

import os
import random
import secrets
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.box.wire import packed
from dpcourse.tasks.answers import described_answer
from dpcourse.tasks.complaints import Complaint, Unwritten, types_of
from dpcourse.tasks.respondent import Answered
from dpcourse.tasks.student import PLAIN, Student
from dpcourse.tasks.wording import described, error_text

NUMBERS = frozenset({float, int, bool, np.float64, np.int64, np.bool_, np.float32, np.int32})
DEEPEST = 8


@dataclass(frozen=True)
class Plain:
    """The form of an answer before anybody has judged it: whatever can be sent."""

    def read(self, raw: Any) -> Any:
        """A copy that is plain, or a :class:`Complaint`."""
        if type(raw) in PLAIN:
            return raw
        if type(raw) is np.ndarray and raw.dtype.kind in "fiubc":
            return raw.copy()
        try:
            return _plain(raw, 0)
        except Complaint:
            raise
        except Exception:
            raise Complaint(f"I expected numbers, but got {described_answer(raw)}.") from None


def _plain(raw: Any, depth: int) -> Any:
    if raw is None or isinstance(raw, bool | float | str):
        return raw if type(raw) in (bool, float, str, type(None)) else type(raw).__mro__[-2](raw)
    if isinstance(raw, int):
        return int(raw)
    if depth > DEEPEST:
        raise Complaint("Your answer is nested too deeply.", layer="border")
    if hasattr(raw, "detach"):  # a torch tensor
        raw = raw.detach().cpu().numpy()
    if isinstance(raw, complex):
        return np.array(raw)
    if isinstance(raw, np.generic):
        return _plain(raw.item(), depth)
    if isinstance(raw, np.ndarray):
        return raw.copy() if raw.dtype.kind in "fiubc" else _plain(raw.tolist(), depth + 1)
    if isinstance(raw, list | tuple):
        return (tuple if isinstance(raw, tuple) else list)(_plain(one, depth + 1) for one in raw)
    if isinstance(raw, dict):
        return {str(key): _plain(value, depth + 1) for key, value in raw.items()}
    return np.array(raw, dtype=float)  # a pandas series, a fraction, a symbol that is a number


def answered(names: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]:
    """The reply to a question: answers, or a complaint with its status."""
    function = names.get(asked["task"])
    if not callable(function):
        kind = "is not defined" if function is None else f"is {described(function)}, not a function"
        return Unwritten(f"`{asked['task']}` {kind}: there is nothing to grade.", layer="code").sent()
    seed_everything(asked["seed"])
    try:
        student = Student(function, Plain(), seconds=asked["seconds"])
        reply = {"answers": _together(student.answers(asked["probe"], asked["times"], asked["seed"]))}
        packed(reply)
    except Complaint as complaint:
        return complaint.sent()
    except (ValueError, TypeError, OverflowError) as error:  # the last: a whole number that no float can hold
        return Complaint(f"Your answer cannot be sent: {error_text(error, 300)}.", layer="border").sent()
    except MemoryError as error:
        return Complaint("Your function needs more memory than there is.", layer="code", errors=types_of(error)).sent()
    return reply


def _together(answers: Answered) -> Any:
    """Many numbers, or many arrays of one shape, as one array; anything else as a list."""
    kinds = set(map(type, answers))
    if kinds <= NUMBERS:
        return np.array(answers, dtype=float)
    if kinds == {np.ndarray} and len({(one.shape, one.dtype.kind) for one in answers}) == 1:
        return np.stack(list(answers))
    return answers


def seed_everything(seed: int) -> None:
    """Generators that ask the system for a seed get one of ours: the same grading twice is the same bit for bit."""
    source = random.Random(seed)
    np.random.bit_generator.randbits = source.getrandbits  # type: ignore[attr-defined]
    random._urandom = os.urandom = source.randbytes  # type: ignore[attr-defined]
    secrets.randbits = source.getrandbits  # type: ignore[assignment]
    random.seed(seed)
