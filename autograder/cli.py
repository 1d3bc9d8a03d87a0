"""The command ``dpcourse``: one sub-command for each step of an instructor's day, and ``check`` for the student.

Only the module of the sub-command that was asked for is loaded, and it loads what is heavy when it needs it.
Exit code: 0 done, 1 something is wrong (one sentence on stderr says what), 2 the command was not understood.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from autograder.console import Problem, in_a_folder, note, refused_by_system
from autograder.system.install import need_packages, not_installed

#: sub-command -> (its module, what it does in a few words), in the order of an instructor's day
COMMANDS = {
    "doctor": ("doctor", "what is installed, what is missing, how to get it"),
    "release": ("release", "make the students' notebooks, without solutions"),
    "bundle": ("bundle", "make the students' repository"),
    "collect": ("collect", "take in what was handed in: a folder, a zip of Moodle or Canvas, nbgrader's exchange"),
    "grade": ("grade", "grade what was handed in"),
    "feedback": ("feedback", "make a page for each student"),
    "export": ("export", "write the grades as CSV, for Moodle, Canvas or nbgrader"),
    "report": ("report", "the class on one page"),
    "check": ("check", "for students: the public checks of a notebook"),
}
DEBUG = "DPCOURSE_DEBUG"
#: What runs without the packages of an instructor.
WITH_THE_LIBRARY = ("doctor", "check")


def main(words: Sequence[str] | None = None) -> int:
    """Run one sub-command; gives its exit code."""
    words = list(sys.argv[1:] if words is None else words)
    try:
        options = parser_for(words[0] if words else "").parse_args(words)
        if words[0] not in WITH_THE_LIBRARY:
            need_packages()
        if options.json not in (None, "-"):
            in_a_folder(options.json)  # before the work, not after it
        return int(options.run(options))
    except KeyboardInterrupt:
        note("\nstopped")
    except BrokenPipeError:  # whoever read our output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        if os.environ.get(DEBUG):
            raise
        note(f"dpcourse {words[0]}: {refused_by_system(error)} (set {DEBUG}=1 to see where)")
    except ModuleNotFoundError as error:
        if os.environ.get(DEBUG):
            raise
        note(f"dpcourse {words[0]}: {not_installed(error.name or str(error))}")
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        known = isinstance(error, Problem | ValueError)
        said = str(error) if known and str(error) else f"{type(error).__name__}: {error}"
        hint = "" if isinstance(error, Problem) else f" (set {DEBUG}=1 to see where)"
        note(f"dpcourse {words[0]}: {said}{hint}")
    return 1


def parser_for(name: str) -> argparse.ArgumentParser:
    """The parser, with the arguments of one sub-command filled in."""
    parser = argparse.ArgumentParser(
        prog="dpcourse", description="Run the course: hand out homework, collect it, grade it, give it back.",
        epilog="`dpcourse COMMAND --help` shows an example.",
    )  # fmt: skip
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command, (module_name, words) in COMMANDS.items():
        if command != name:
            commands.add_parser(command, help=words)
            continue
        module = importlib.import_module(f"autograder.commands.{module_name}")
        said = (module.__doc__ or "").strip()
        chosen = commands.add_parser(
            command, help=words, description=said, epilog=f"example:\n  {module.EXAMPLE}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )  # fmt: skip
        module.arguments(chosen)
        chosen.add_argument("--json", metavar="FILE", help="write the result for machines ('-': to stdout)")
        if command != "check":
            chosen.add_argument("--course", metavar="DIR", default=".", help="the course's folder (default: this one)")
        chosen.set_defaults(run=module.run)
    return parser
