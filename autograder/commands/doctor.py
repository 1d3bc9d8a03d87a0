"""``dpcourse doctor``, and what it looks at."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

from autograder.commands.options import command, course_option, json_option
from autograder.console import Output, Problem, watched
from autograder.course.course import Course
from autograder.system.install import with_pip, with_system
from autograder.system.machine import Machine, cautions, foreign_system, obstacles

SIGNS = {"fine": "+", "missing": "!", "optional": "-", "caution": "?"}
OF_HOMEWORKS = ("IPython", "matplotlib", "pandas", "sklearn", "sympy", "torch")
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


@dataclass(frozen=True)
class Finding:
    """``state``: fine, missing (grading cannot start), optional (something else cannot), caution (it can, but think).

    ``how``: what helps.
    """

    what: str
    state: str
    said: str
    how: str = ""


@command(example="dpcourse doctor --course exercises")
@course_option
@json_option
def doctor(course: str, output: Output) -> int:
    """What is installed, what is missing, how to get it. Ends with 1 if grading could not start.

    It runs where nothing but the library is installed, and on systems that cannot grade. Every line of advice is a
    command.
    """
    findings, machine = list[Finding](), Machine()
    looks = [
        check_python(), check_packages(), check_sandbox(machine), warn(machine, course), check_browser(),
        check_cluster(), check_course(course),
    ]  # fmt: skip
    for look in watched(looks, "looking"):
        for one in look:
            findings.append(one)
            advice = "".join(f"\n    {line}" for line in one.how.splitlines())
            output.tell(f"{SIGNS[one.state]} {one.what}: {one.said}{advice}")
    missing = [one.what for one in findings if one.state == "missing"]
    output.tell(f"grading cannot start: {', '.join(missing)}" if missing else "grading can start")
    output.write_json({"ready": not missing, "findings": [asdict(one) for one in findings]})
    return int(bool(missing))


def check_python() -> Iterator[Finding]:
    """Python itself, and the cores."""
    fine = sys.version_info >= (3, 11)
    how = "" if fine else "make PYTHON=python3.11 setup"
    yield Finding("python", "fine" if fine else "missing", f"{platform.python_version()}, {os.cpu_count()} cores", how)


def check_packages() -> Iterator[Finding]:
    """The packages that the commands need, and those that students' code imports."""
    for name in ("dpcourse", "nbgrader"):
        try:
            yield Finding(name, "fine", metadata.version(name))
        except metadata.PackageNotFoundError:
            yield Finding(name, "missing", "is not installed", with_pip())
    missing = [name for name in OF_HOMEWORKS if importlib.util.find_spec(name) is None]
    if missing:
        said = f"homeworks may import {', '.join(missing)}, not installed"
        yield Finding("packages", "optional", said, with_pip("student"))


def try_start() -> str:
    """Why a whole sandbox does not start, "" if it does: this is tried, not guessed."""
    from autograder.box import sandbox as box
    from autograder.box.walls import NoSandbox

    try:
        box.check()
        with box.Sandbox():
            return ""
    except (NoSandbox, OSError) as error:
        return str(error) or type(error).__name__


def check_sandbox(machine: Machine) -> Iterator[Finding]:
    """Bubblewrap, and whether a sandbox really starts; if not, what of this machine stands in its way."""
    foreign = foreign_system(machine)
    if foreign is not None:
        yield Finding(foreign.what, "missing", foreign.said, foreign.how)
        return
    program = shutil.which("bwrap")
    if program is None:
        yield Finding("bubblewrap", "missing", "is not installed", with_system("bubblewrap", machine.root))
        return
    yield Finding("bubblewrap", "fine", program)
    from autograder.box.walls import Bubblewrap

    refused = Bubblewrap().missing()
    if refused:
        reasons = obstacles(machine)
        how = "" if reasons else "# what refused it is often in the kernel's log\nsudo dmesg | tail -n 20"
        yield Finding("sandbox", "missing", refused, how)
        for advice in reasons:
            yield Finding(advice.what, "missing", advice.said, advice.how)
        return
    problem = try_start()
    yield Finding("sandbox", "missing", problem) if problem else Finding("sandbox", "fine", "starts")


def warn(machine: Machine, course: str) -> Iterator[Finding]:
    """What is no obstacle, but worth knowing."""
    for advice in cautions(machine, course):
        yield Finding(advice.what, "caution", advice.said, advice.how)


def check_browser() -> Iterator[Finding]:
    """Only some tests drive one."""
    program = next(filter(None, map(shutil.which, CHROMIUM)), None)
    how = "" if program else with_system("chromium")
    said = program or "is not installed; only `make test` needs it"
    yield Finding("chromium", "fine" if program else "optional", said, how)


def check_cluster() -> Iterator[Finding]:
    """Only ``--cluster`` needs it."""
    there = importlib.util.find_spec("distributed") is not None
    said = metadata.version("distributed") if there else "is not installed; only `dpcourse grade --cluster` needs it"
    how = "" if there else with_pip("instructor")
    yield Finding("dask", "fine" if there else "optional", said, how)


def check_course(folder: str) -> Iterator[Finding]:
    """The course's folder, its homeworks with their tasks, its gradebook."""
    try:
        course = Course.find(Path(folder))
        homeworks = course.chosen(None)
    except Problem as error:
        yield Finding("course", "missing", str(error))
        return
    yield Finding("course", "fine", f"{course.name} in {course.root}")
    for name in homeworks:
        yield check_homework(course, name)
    yield from check_libraries(course)
    finding = check_gradebook(course)
    yield finding
    if finding.state == "fine":
        yield from compare_gradebook(course, homeworks)


def check_homework(course: Course, name: str) -> Finding:
    """Is its source readable, and has every graded cell its task?"""
    from autograder.course.homework import Assignment, states_other_points

    try:
        assignment = Assignment.read(course.source(name))
        tasks = [course.task(task) for task in assignment.task_names]
    except (ValueError, OSError) as error:
        how = "a graded cell has the grade_id of its task: see autograder/README.md, and tasks.py for your own"
        return Finding(name, "missing", str(error), how)
    other = next(filter(None, map(states_other_points, assignment.cells)), "")
    if other:
        how = "# only stock nbgrader reads that number: write the points of the cell there, too, in the source notebook"
        return Finding(name, "caution", other, how)
    said = (
        f"{len(tasks)} tasks, {assignment.machine_points:g} points by machine, {assignment.manual_points:g} by people"
    )
    return Finding(name, "fine", said)


def check_libraries(course: Course) -> Iterator[Finding]:
    """What students may import, and what of it is not installed."""
    from autograder.course.libraries import SETTING, absent_imports, absent_libraries, in_words, libraries_of, pip_line

    try:
        absent = absent_libraries(course)
        allowed = in_words(libraries_of(course))
    except Problem as error:
        yield Finding("libraries", "missing", str(error))
        return
    for name, why in absent.items():
        yield Finding("libraries", "missing", f"{SETTING} names {name!r}, which {why}", pip_line([name]))
    if not absent:
        yield Finding("libraries", "fine", f"students may import {allowed}")
    imports = absent_imports(course)
    if imports:
        said = f"the course's homeworks import {', '.join(map(repr, imports))}, not installed"
        yield Finding("imports", "optional", said, pip_line(imports))


def compare_gradebook(course: Course, homeworks: list[str]) -> Iterator[Finding]:
    """Do source, records and gradebook say the same?"""
    from autograder.gradebook.drift import differences_of

    for sentence in differences_of(course, homeworks):
        yield Finding("grades", "caution", sentence)


def check_gradebook(course: Course) -> Finding:
    """Can the database be reached? It is not made here."""
    from autograder.gradebook.read import exists

    if not exists(course):
        writable = os.access(course.root, os.W_OK)
        said = "will be made by the first grading" if writable else f"{course.root} cannot be written to"
        return Finding("gradebook", "fine" if writable else "missing", said)
    from sqlalchemy import create_engine, inspect
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import SQLAlchemyError

    how = "see c.CourseDirectory.db_url in nbgrader_config.py; for PostgreSQL: pip install 'psycopg[binary]'"
    try:
        shown = make_url(course.db_url).render_as_string(hide_password=True)
        engine = create_engine(course.db_url)
        try:
            tables = inspect(engine).get_table_names()
        finally:
            engine.dispose()
    except (SQLAlchemyError, ImportError) as error:
        return Finding("gradebook", "missing", f"cannot be reached: {str(error).splitlines()[0]}", how)
    return Finding("gradebook", "fine", f"{shown}{'' if tables else ' (empty)'}")
