"""The command ``dpcourse``: one sub-command for each step of an instructor's day, and ``check`` for the student.

Only the module of the sub-command that was asked for is loaded, and it loads what is heavy when it needs it.
Exit code: 0 done, 1 something is wrong (one sentence on stderr says what), 2 the command was not understood.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

import click

from autograder.console import Problem, note, refused_by_system
from autograder.system.install import not_installed

#: sub-command (of the module with its name) -> what it does in a few words, in the order of an instructor's day
COMMANDS = {
    "doctor": "what is installed, what is missing, how to get it",
    "release": "make the students' notebooks, without solutions",
    "bundle": "make the students' repository",
    "collect": "take in what was handed in: a folder, a zip of Moodle or Canvas, nbgrader's exchange",
    "grade": "grade what was handed in",
    "extend": "let one student hand in later",
    "feedback": "make a page for each student",
    "export": "write the grades as CSV, for Moodle, Canvas or nbgrader",
    "report": "the class on one page",
    "forget": "delete what the course keeps about a student",
    "check": "for students: the public checks of a notebook",
}
DEBUG = "DPCOURSE_DEBUG"


class Commands(click.Group):
    """A group that loads a command's module only when that command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """``autograder.commands.<name>.<name>``."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(importlib.import_module(f"autograder.commands.{cmd_name}"), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list in ``dpcourse --help``."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Commands, epilog="`dpcourse COMMAND --help` shows an example.")
def dpcourse() -> None:
    """Run the course: hand out homework, collect it, grade it, give it back."""


def main(words: Sequence[str] | None = None) -> int:
    """Run one sub-command; gives its exit code. (If whoever reads the output has gone, click or rich end it with 1.)"""
    words = list(sys.argv[1:] if words is None else words)
    try:
        return int(dpcourse.main(words, prog_name="dpcourse", standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:  # Ctrl-C; click has begun a new line
        note("stopped")
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        note(f"dpcourse {words[0]}: {in_a_sentence(error)}")
    return 1


def in_a_sentence(error: Exception) -> str:
    """What went wrong; how to see more, if the text may not be enough."""
    if isinstance(error, ModuleNotFoundError):
        return not_installed(error.name or str(error))
    if isinstance(error, Problem) and str(error):
        return str(error)
    said = str(error) if isinstance(error, ValueError) and str(error) else f"{type(error).__name__}: {error}"
    return f"{refused_by_system(error) if isinstance(error, OSError) else said} (set {DEBUG}=1 to see where)"
