"""``dpcourse bundle``."""

from __future__ import annotations

import re
from pathlib import Path

import click

from autograder.commands.options import command, in_course, may_show_option
from autograder.console import Output, Problem
from autograder.course.course import Course
from autograder.handout.bundle import make_bundle


@command(example="dpcourse bundle ../dpcourse-students --homework hw1_pure_dp")
@click.argument("folder", metavar="DIR")
@click.option("--homework", "homeworks", multiple=True, metavar="HW", help="put in only this one (may be repeated)")
@click.option("--binder", metavar="OWNER/NAME", default="", help="the bundle's place on GitHub, for Binder")
@click.option("--force", is_flag=True, help="overwrite files of the bundle that were edited")
@may_show_option
@in_course
def bundle(
    course: Course, folder: str, homeworks: list[str], binder: str, force: bool, may_show: tuple[str, ...],
    output: Output,
) -> int:  # fmt: skip
    """Make the students' repository: released homeworks, the course's own tasks, the environment, Binder's files.

    A course in this repository adds its lectures and the package. DIR is a new folder, an empty one, or an earlier
    bundle. It is refused if any solution, hidden test or grading secret would be in it. An earlier bundle is brought up
    to date: files that it did not make are left alone, and files that were edited are not overwritten, unless --force.
    """
    if binder and not re.fullmatch(r"[\w.-]+/[\w.-]+", binder):
        raise Problem(f"--binder needs OWNER/NAME, as on GitHub, not {binder!r}")
    place = Path(folder).expanduser().resolve()
    files = make_bundle(course, homeworks, place, address=binder, force=force, may_show=may_show)
    output.write_json({"folder": str(place), "homeworks": homeworks, "files": files})
    output.tell(f"{place}: {len(files)} files, with {', '.join(homeworks)}; no solution, no hidden test, no secret")
    return 0
