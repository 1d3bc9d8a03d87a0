"""What several commands share: how they are made, and their options."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from autograder.console import Output
from autograder.course.course import Course
from autograder.course.roster import read_roster
from autograder.system.install import need_packages

#: What click runs: it takes the options as keywords, and gives the exit code.
Run = Callable[..., int]


class Command(click.Command):
    """A command whose --help ends with an example."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The example, in a line of its own."""
        formatter.write(f"\nexample:\n  {self.epilog}\n")


def command(example: str) -> Callable[[Run], Command]:
    """Make a command of a function. What --help says of it is the function's docstring, and this example."""
    return click.command(cls=Command, epilog=example)


def in_course(run: Run) -> Run:
    """For a command of instructors: --course and --json. It gets the ``course``, and the homeworks of it."""

    @course_option
    @json_option
    @functools.wraps(run)
    def run_in_course(course: str, **options: Any) -> int:
        need_packages()
        there = Course.find(Path(course))
        if "homeworks" in options:
            options["homeworks"] = there.chosen(list(options["homeworks"]))
        return run(course=there, **options)

    return run_in_course


json_option = click.option(
    "--json", "output", metavar="FILE", callback=lambda ctx, param, value: Output(value),
    help="write the result for machines ('-': to stdout)",
)  # fmt: skip
course_option = click.option("--course", metavar="DIR", default=".", help="the course's folder (default: this one)")
homeworks_argument = click.argument("homeworks", nargs=-1, metavar="[HW]...")
students_option = click.option(
    "--student", "students", multiple=True, metavar="S", help="only this student (may be repeated)"
)
roster_option = click.option(
    "--students", "roster", metavar="FILE",
    callback=lambda ctx, param, value: read_roster(Path(value)) if value else None,
    help="a CSV file of the class: student_id, and what else each is known by",
)  # fmt: skip
may_show_option = click.option(
    "--may-show", multiple=True, metavar="LINE", help="this line of a solution may be seen (may be repeated)"
)
