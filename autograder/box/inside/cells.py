"""A notebook's names, and its cells run one after the other as Jupyter would: magics are no errors, prints are kept."""

from __future__ import annotations

import builtins
import contextlib
import linecache
import sys
import types
from typing import Any

from IPython.core.inputtransformer2 import TransformerManager

from autograder.box.inside.answering import seed_everything
from dpcourse.tasks.complaints import Complaint, stopped, types_of
from dpcourse.tasks.student import Heard, last_own_line

CLOSED = "dpcourse"  # whose modules say in their own words why they cannot be imported
CELL_SEED = 20_240_101  # coins tossed while a cell runs: the same in every grading


class Shell:
    """Stands where IPython's shell would: timing magics run their code, the others do nothing."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.user_ns = names

    def run_line_magic(self, name: str, line: str, *_: Any, **__: Any) -> None:
        """``%time f(1)``."""
        if name in ("time", "timeit", "prun"):
            exec(line, self.user_ns)

    def run_cell_magic(self, name: str, _: str, body: str) -> None:
        """``%%time``."""
        if name in ("time", "timeit", "prun", "capture"):
            exec(TransformerManager().transform_cell(body), self.user_ns)

    def system(self, _: str) -> None:
        """``!pip install ...``: no program is started while a notebook is graded."""

    def getoutput(self, _: str) -> list[str]:
        """``x = !ls``."""
        return []

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: None


class Notebook:
    """The names that the cells so far have made."""

    def __init__(self) -> None:
        module = types.ModuleType("__main__")
        sys.modules["__main__"] = module
        self.names = module.__dict__
        shell = Shell(self.names)
        setattr(builtins, "get_ipython", lambda: shell)  # noqa: B010  (mypy knows builtins)
        setattr(builtins, "display", lambda *_, **__: None)  # noqa: B010
        setattr(builtins, "exit", sys.exit)  # noqa: B010
        setattr(builtins, "quit", sys.exit)  # noqa: B010

    def run(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Run a cell; an error is told in a sentence, and the next cell may still run."""
        heard, place = Heard(), f"<{asked['cell']}>"
        seed_everything(CELL_SEED)
        wrong: Complaint | None = None
        try:
            with contextlib.redirect_stdout(heard), contextlib.redirect_stderr(heard):
                source = TransformerManager().transform_cell(asked["source"])
                linecache.cache[place] = (len(source), None, source.splitlines(keepends=True), place)
                exec(compile(source, place, "exec"), self.names)
        except SyntaxError as raised:
            line = f", at `{raised.text.strip()[:200]}`" if raised.text else ""
            text = f"The cell is not valid Python: {raised.msg}{line} (line {raised.lineno})."
            wrong = Complaint(text, layer="code", errors=types_of(raised))
        except BaseException as raised:
            explained = isinstance(raised, ImportError) and (raised.name or "").partition(".")[0] == CLOSED
            wrong = stopped(asked["cell"], raised, "" if explained else last_own_line(raised))
        error, errors = (str(wrong), list(wrong.errors)) if wrong else ("", [])
        return {"error": error, "errors": errors, "printed": heard.text()}
