"""Calling a function that somebody else wrote: with copies, a clock, a deaf ear for prints, and seeds for its coins.

What comes back is read at once (see ``answers``). Where it is graded, the function lives in another process
(``autograder.examine.remote_student``), and the judge sees no difference (see ``respondent``).
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import io
import os
import random
import signal
import site
import sys
import sysconfig
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from functools import cache
from types import FrameType
from typing import Any

import numpy as np

from dpcourse.tasks.answers import Answer, Form
from dpcourse.tasks.complaints import Complaint, Late, Unwritten, stopped
from dpcourse.tasks.respondent import Answered, Probe, Respondent, read_together
from dpcourse.tasks.wording import described, shortened

PLAIN = (float, int, bool, np.float64, np.int64, np.bool_)  # numbers that need no reading
PRINTED = 10_000  # characters of a function's prints that are kept
PATIENCE, MOST_PATIENCE = 0.01, 40.0  # seconds more for a call, and for all of a request: slow is not wrong
ON_THE_WALL = 3.0  # so many times its computing time a call may take on a busy machine, or asleep
EARLY, AT_ONCE = 1.0, 32  # seconds after which slowness is foreseen, and calls between two looks at the clock
LONGEST_LINE = 200  # characters of a line of the student's code


class TooSlow(BaseException):
    """The clock has run out. Not an Exception: `except Exception` in a student's loop must not swallow it."""


class Student(Respondent):
    """A student's function in this process.

    ``seconds`` of computing (not of waiting for a busy machine) are the time for one call; many get a little more.
    """

    def __init__(self, function: Callable[..., Any], answer: Form, *, seconds: float = 10.0) -> None:
        if not callable(function):
            raise TypeError(
                f"check needs your function, without calling it: check(f), not check(f(...)); got {described(function)}"
            )
        self.function, self.answer, self.seconds = function, answer, seconds
        self.printed = ""
        self._takes_rng = _takes(function, "rng")

    @property
    def name(self) -> str:
        """The function's name."""
        return getattr(self.function, "__name__", type(self.function).__name__)

    def forget(self) -> None:
        """Nothing: a function in this process may remember what it likes. Where it is graded, it starts anew."""

    def answers(self, probe: Probe, number: int, seed: int = 0) -> Answered:
        """The answers to ``number`` calls with copies of the same arguments, each read by the form."""
        arguments = {name: copy.deepcopy(value) for name, value in probe.items()}
        if self._takes_rng:
            arguments["rng"] = np.random.default_rng(seed)
        _seed_everything(seed)
        answers = self._called(probe, arguments, number)
        changed = [name for name, value in probe.items() if not _same(value, arguments[name])]
        if changed:
            raise Complaint(
                f"Your function changes its argument `{changed[0]}`: whoever called it finds other data afterwards. "
                f"Work on a copy, for instance `{changed[0]} = {changed[0]}.copy()`.",
                layer="code",
            )
        return self._unread(answers)

    def _called(self, probe: Probe, arguments: dict[str, Any], number: int) -> list[Any]:
        """The answers to ``number`` calls, within the time. Whatever stops the function is a complaint."""
        answers: list[Any] = []
        heard = Heard()
        read = self._reader(number)
        limit = self.seconds + min(PATIENCE * number, MOST_PATIENCE)
        try:
            with _clock(limit) as over, contextlib.redirect_stdout(heard), contextlib.redirect_stderr(heard):
                start = time.process_time()
                for asked in range(1, number + 1):
                    answers.append(read(self.function(**arguments)))
                    if asked % AT_ONCE == 0 or asked == number:
                        spent = time.process_time() - start
                        if over() or (spent > EARLY and spent * number / asked > 1.5 * limit):
                            raise TooSlow
        except Complaint:
            raise
        except TooSlow:
            spent = time.process_time() - start
            raise Late(_too_slow(number, len(answers), limit, spent), layer="code") from None
        except NotImplementedError:
            raise Unwritten("There is nothing to check yet: write your function first.", layer="code") from None
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit, too: a student's `exit()` must not end the kernel
            where = _keep_names(error, probe) or last_own_line(error, self.function)
            raise stopped(self.name, error, where) from None
        finally:
            self.printed = heard.text()
        return answers

    def _reader(self, number: int) -> Callable[[Any], Any]:
        """How answers are read: by the form, with a short cut for what needs no reading (thousands of calls)."""
        form = self.answer
        if form == Answer():
            return lambda raw: float(raw) if type(raw) in PLAIN and -1e300 < raw < 1e300 else form.read(raw)
        if form == Answer((None,)):

            def vector(raw: Any) -> Any:
                plain = number > 1 and type(raw) is np.ndarray and raw.ndim == 1 and raw.dtype == np.float64
                return raw.copy() if plain else form.read(raw)  # is it finite? `_unread` asks that of all at once

            return vector
        if form == Answer((None,), choices=(0, 1)):
            return lambda raw: raw.astype(float) if type(raw) is np.ndarray and _coins(raw) else form.read(raw)
        return form.read

    def _unread(self, answers: list[Any]) -> Answered:
        """The answers of the short cut, read: vectors of one length, all at once."""
        vectors = len(answers) > 1 and self.answer == Answer((None,)) and len({len(one) for one in answers}) == 1
        return read_together(self.answer, np.array(answers)) if vectors else answers


def _coins(raw: np.ndarray) -> bool:
    return raw.ndim == 1 and raw.dtype == np.bool_


class Heard(io.TextIOBase):
    """Takes prints, keeps the first characters, and forgets the others."""

    def __init__(self) -> None:
        self._kept: list[str] = []
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if self._size < PRINTED:
            self._kept.append(text[: PRINTED - self._size])
        self._size += len(text)
        return len(text)

    def text(self) -> str:
        return "".join(self._kept)


@contextlib.contextmanager
def _clock(seconds: float) -> Iterator[Callable[[], bool]]:
    """Interrupt what computes for longer, where the system can; elsewhere ask the function that is given back."""
    start, end = time.process_time(), time.monotonic() + ON_THE_WALL * seconds
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield lambda: time.process_time() - start > seconds or time.monotonic() > end
        return

    rings = 0

    def ring(_: int, frame: FrameType | None) -> None:
        nonlocal rings
        rings += 1
        if rings > 1 and frame is not None:  # the first one was swallowed, by `except:` in a loop
            _raise_at_next_line(frame)
        raise TooSlow

    before = signal.signal(signal.SIGALRM, ring), signal.signal(signal.SIGPROF, ring)
    tracing, since = sys.gettrace(), time.monotonic()
    left, every = signal.setitimer(signal.ITIMER_REAL, ON_THE_WALL * seconds, 0.2)
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.2)  # the computing time of this process
    try:
        yield lambda: False
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before[0])
        signal.signal(signal.SIGPROF, before[1])
        if left:  # somebody else's alarm was set: it goes on where it was
            signal.setitimer(signal.ITIMER_REAL, max(0.001, left - (time.monotonic() - since)), every)
        if rings > 1:
            sys.settrace(tracing)


def _raise_at_next_line(frame: FrameType | None) -> None:
    """Raise once more at the next line that runs, which is the first one of the `except:` that swallows the alarm."""

    def again(_: FrameType, event: str, __: Any) -> Any:
        if event == "line":  # a tracer is dropped when it raises: not before the alarm itself has been swallowed
            raise TooSlow
        return again

    while frame is not None and frame.f_code.co_filename != __file__:
        frame.f_trace = again
        frame = frame.f_back
    sys.settrace(again)


def _seed_everything(seed: int) -> None:
    """A function may take its coins from anywhere; the same seed must still give the same verdict."""
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002
    torch = sys.modules.get("torch")
    if torch is not None:
        # torch.manual_seed would also note the whole stack of calls for a GPU that nobody has woken up: a millisecond.
        (torch.manual_seed if torch.cuda.is_initialized() else torch.default_generator.manual_seed)(seed)


def _takes(function: Callable[..., Any], name: str) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(p.name == name or p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)


def _too_slow(asked: int, came_back: int, limit: float, spent: float) -> str:
    calls = "one call" if asked == 1 else f"{asked:,} calls"
    text = f"Your function did not finish {calls} within {limit:.0f} s of computing"
    if came_back == 0:
        return f"{text}. A loop that never ends?"
    took, allowed = 1000 * max(spent, 0.001) / came_back, 1000 * limit / asked
    return f"{text}: it took {took:.3g} ms a call for the first {came_back:,}, and {allowed:.3g} ms are allowed."


def _keep_names(error: BaseException, probe: Probe) -> str:
    """What to do if the function could not even be called with its task's arguments; "" if it could."""
    called = error.__traceback__ is not None and error.__traceback__.tb_next is not None
    if called or not isinstance(error, TypeError):
        return ""
    return f"; keep the names of the arguments: {', '.join(probe)}" if probe else "; it takes no arguments"


def last_own_line(error: BaseException, function: Any = None) -> str:
    """The last line of the student's own code that the error went through; never a line of a library.

    That is the file of the ``function``; without one, whatever is neither Python's, nor a library's, nor ours.
    """
    frames = traceback.extract_tb(error.__traceback__)
    place = getattr(getattr(function, "__code__", None), "co_filename", None)
    own = [frame for frame in frames if frame.filename == place] or [
        frame for frame in frames if not frame.filename.startswith(_libraries())
    ]
    line = own[-1].line if own else ""
    return f", at `{shortened(line, LONGEST_LINE)}` (line {own[-1].lineno})" if line else ""


@cache
def _libraries() -> tuple[str, ...]:
    """Where code stands that no student wrote."""
    folders = {*sysconfig.get_paths().values(), *site.getsitepackages(), site.getusersitepackages()}
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return (*folders, f"{sys.prefix}/lib", f"{sys.base_prefix}/lib", ours, "<frozen", "<__array")


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        numbers = one.dtype.kind in "fc"
        return isinstance(other, np.ndarray) and bool(np.array_equal(one, other, equal_nan=numbers))
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(_same(one[k], other[k]) for k in one)
    if isinstance(one, list | tuple):
        return isinstance(other, list | tuple) and len(one) == len(other) and all(map(_same, one, other))
    if hasattr(one, "equals"):  # a pandas table
        return bool(one.equals(other))
    if hasattr(one, "detach"):  # a tensor
        return getattr(other, "shape", None) == one.shape and bool((one == other).all())
    if isinstance(one, np.random.Generator) or callable(one):
        return True  # drawing from it is its use; functions are not copied
    return bool(one == other or one != one)
