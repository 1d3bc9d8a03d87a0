"""Why there is no answer: what a student's function or its answer did wrong, as data and as one sentence.

A complaint can arise where the function runs, in another process than the judge. So it crosses the border: ``sent``
makes plain values of it, ``received`` reads them on the trusted side, where nothing that arrives is believed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpcourse.tasks.wording import error_text

LONGEST_TEXT = 1_500  # characters of a complaint that comes from another process
NO_MESSAGE = "no message"  # what stands for the words of an error that has none
LONGEST_NAME = 60  # of an error's type
MOST_ERRORS = 2  # the type of an error, and what it is a kind of

#: Where something went wrong: in the student's code, in what it gave back, or on the way between two processes.
LAYERS = ("code", "answer", "border")


class Complaint(Exception):
    """Why a question has no answer. Its text is for the student; ``status``, ``layer`` and ``errors`` are for the code.

    ``errors``: the type of the error that the function stopped with, and the built-in type that it is a kind of.
    """

    status = "error"

    def __init__(self, text: str, *, layer: str = "answer", errors: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.layer, self.errors = layer, errors

    def with_text(self, text: str) -> Complaint:
        """The same complaint in other words."""
        return type(self)(text, layer=self.layer, errors=self.errors)

    def sent(self) -> dict[str, Any]:
        """It as plain values, for another process."""
        text = str(self)[:LONGEST_TEXT]
        return {"status": self.status, "layer": self.layer, "errors": list(self.errors), "text": text}


class Late(Complaint):
    """No answer within the time."""

    status = "timeout"


class Unwritten(Complaint):
    """The student's function still is what was handed out: it raises NotImplementedError."""

    status = "missing"


KINDS: Mapping[str, type[Complaint]] = {kind.status: kind for kind in (Complaint, Late, Unwritten)}


def received(reply: Mapping[str, Any]) -> Complaint:
    """The complaint that another process has sent. What is not of the right form is dropped: it may say anything."""
    status, layer, text = reply.get("status"), reply.get("layer"), reply.get("text")
    kind = KINDS.get(status, Complaint) if isinstance(status, str) else Complaint
    words = text[:LONGEST_TEXT] if isinstance(text, str) else "Your function gave no answer that I could read."
    return kind(words, layer=layer if layer in LAYERS else "border", errors=error_names(reply.get("errors")))


def error_names(raw: Any) -> tuple[str, ...]:
    """The names of types of errors, as another process has sent them; () if they cannot be names."""
    names = tuple(raw) if isinstance(raw, list | tuple) and len(raw) <= MOST_ERRORS else ()
    fine = all(isinstance(name, str) and len(name) <= LONGEST_NAME and name.isidentifier() for name in names)
    return names if fine else ()


def types_of(error: BaseException) -> tuple[str, ...]:
    """The name of an error's type; if that is none of Python's own, the one that it is a kind of, too."""
    kind = type(error)
    known = next(one for one in kind.__mro__ if one.__module__ == "builtins")
    names = tuple(one.__name__[:LONGEST_NAME] for one in (kind, known))
    return names[:1] if kind is known else names


def stopped(name: str, error: BaseException, where: str = "") -> Complaint:
    """The function ``name`` stopped with an error. A student's own type of error is told with what it is a kind of."""
    own, *known = errors = types_of(error)
    words = f"{own} (a kind of {known[0]})" if known else own
    text = error_text(error, 300) or NO_MESSAGE
    return Complaint(f"`{name[:LONGEST_NAME]}` stopped with {words}: {text}{where}.", layer="code", errors=errors)
