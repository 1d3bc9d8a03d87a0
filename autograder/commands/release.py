"""``dpcourse release``."""

from __future__ import annotations

import click

from autograder.commands.options import command, homeworks_argument, in_course, may_show_option
from autograder.console import Output, watched
from autograder.course.course import Course
from autograder.handout.release import make_release


@command(example="dpcourse release hw1_pure_dp")
@homeworks_argument
@click.option("--force", is_flag=True, help="overwrite a release that differs")
@may_show_option
@in_course
def release(course: Course, homeworks: list[str], force: bool, may_show: tuple[str, ...], output: Output) -> int:
    """Make the students' notebooks (default: of all homeworks) by nbgrader's generate_assignment.

    It is made sure that they give nothing away. A release that is there and differs (the source was changed, or
    somebody edited it) is left alone, unless --force.
    """
    outcomes = []
    for homework in watched(homeworks, "releasing"):
        outcome, why = make_release(course, homework, force=force, may_show=may_show)
        outcomes.append({"homework": homework, "outcome": outcome, "why": why})
        output.tell(f"{homework}: {outcome}{': ' if why else ''}{why}")
    output.write_json(outcomes)
    return int(any(one["outcome"] == "refused" for one in outcomes))
