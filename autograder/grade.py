"""Grade what was handed in: each submission in a sandbox, each verdict outside of it.

What was graded before is not graded again, unless it was handed in anew or --regrade is given; so a run that was
stopped goes on where it was. Manual grades and late penalties are kept.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path
from typing import Any

from autograder.course import Course
from autograder.examine.records import STATUSES, Record
from autograder.terminal import Problem, bar, counted, note, one_line, tell, write_json

EXAMPLE = "dpcourse grade hw1_pure_dp --jobs 2 --json grades.json"
LOOKED_AT = 20  # submissions that are named one by one
UNSAFE = "--unsafe-no-sandbox: the students' code runs with your rights. It can read, change and send what you can."


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``dpcourse grade``."""
    parser.add_argument("homework", nargs="*", metavar="HW", help="which homeworks (default: all)")
    parser.add_argument("--student", action="append", metavar="S", help="only this student (may be repeated)")
    parser.add_argument("--jobs", type=whole(1), metavar="N", help="submissions at a time (default: one for each core)")
    parser.add_argument("--cluster", metavar="ADDRESS", help="a Dask scheduler, such as tcp://10.0.0.5:8786")
    parser.add_argument(
        "--seed",
        type=whole(0),
        metavar="N",
        help="of the fresh probes, to repeat a run with the number that it told; without it a secret one is drawn. "
        "For real grades never one that students could guess",
    )
    parser.add_argument("--regrade", action="store_true", help="grade again what was graded before")
    parser.add_argument("--unsafe-no-sandbox", action="store_true", help="run students' code with your own rights")


def whole(least: int) -> Any:
    """A reader of whole numbers from ``least`` on."""

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"a whole number >= {least} is needed, not {text!r}")
        return int(text)

    return read


def run(options: argparse.Namespace) -> int:
    """Grade, and say how it went."""
    course = Course.find(Path(options.course))
    homeworks = course.chosen(options.homework)
    handed_in = {homework: course.students_of(homework) for homework in homeworks}
    for student in options.student or ():
        if not any(student in students for students in handed_in.values()):
            raise Problem(f"student {student!r} handed in none of {', '.join(homeworks)}: see {course.root}/submitted")
    left_out = [why for homework in homeworks for why in course.left_out(homework)]
    for why in left_out:
        note(f"left out, because its folder's name cannot be a student's (rename it): {why}")
    if not any(handed_in.values()):
        raise Problem(f"nothing was handed in under {course.root / 'submitted'}; `dpcourse collect` brings it there")
    if options.unsafe_no_sandbox:
        note(f"WARNING: {UNSAFE}")
    before = written(course, homeworks)
    records, seconds = graded(course, homeworks, options)
    summary = summed_up(records, seconds, len(written(course, homeworks) - before))
    summary["left_out"] = left_out
    write_json(options.json, {"summary": summary, "submissions": [record.for_machines() for record in records]})
    for line in to_look_at(records):
        note(line)
    tell(options, in_words(summary))
    return 0


def to_look_at(records: list[Record]) -> list[str]:
    """A line for each submission that could not be graded, or only in part: what a person should know of at once."""
    odd = [record for record in records if record.status != "graded"]
    lines = []
    for record in odd[:LOOKED_AT]:
        said = record.notes[-1 if record.status == "rejected" else 0] if record.notes else ""  # the reason comes last
        lines.append(one_line(f"{record.status}: {record.student}, {record.assignment}: {said}"))
    return lines + [f"and {len(odd) - LOOKED_AT} more: see --json or report"] * (len(odd) > LOOKED_AT)


def graded(course: Course, homeworks: list[str], options: argparse.Namespace) -> tuple[list[Record], float]:
    """The records, and the seconds that it took."""
    from autograder.box.walls import NoSandbox
    from autograder.examine import batch

    start = time.perf_counter()
    wanted = options.student
    total = sum(len([s for s in course.students_of(h) if not wanted or s in wanted]) for h in homeworks)
    try:
        with bar("grading", total) as shown:
            records = batch.grade(
                course, homeworks, students=options.student, jobs=options.jobs, cluster=options.cluster,
                seed=options.seed, regrade=options.regrade, unsafe=options.unsafe_no_sandbox,
                progress=lambda record: shown.update(1),
            )  # fmt: skip
    except NoSandbox as error:
        raise Problem(str(error)) from None
    except KeyboardInterrupt:
        raise Problem(f"stopped; nothing that was graded is lost. {how_to_go_on(options)}") from None
    return records, time.perf_counter() - start


def how_to_go_on(options: argparse.Namespace) -> str:
    """After Ctrl-C. A part of the class that is graded again is no run that could be resumed (see ``runs``)."""
    if options.regrade and options.student:
        return "Who was not graded again keeps the earlier grade; the same command starts again with all whom it names"
    return f"The same command{' without --regrade' if options.regrade else ''} goes on from here"


def written(course: Course, homeworks: list[str]) -> set[tuple[str, int]]:
    """Which records are there, of which time."""
    return {(str(path), path.stat().st_mtime_ns) for one in homeworks for path in course.records(one).glob("*.json")}


def summed_up(records: list[Record], seconds: float, new: int) -> dict[str, Any]:
    """The counts of a run. ``new``: those that had to be graded."""
    statuses, tasks = Counter(record.status for record in records), Counter[str]()
    for record in records:
        tasks.update(task.status for task in record.tasks)
    seeds: dict[str, set[int]] = {}
    for record in records:
        seeds.setdefault(record.assignment, set()).add(record.seed)
    told = {name: sorted(found) if len(found) > 1 else next(iter(found)) for name, found in seeds.items()}
    every = set().union(*seeds.values())
    return {
        "submissions": len(records),
        "new": new,
        **{status: statuses[status] for status in STATUSES},
        "tasks": dict(sorted(tasks.items())),
        "seconds": round(seconds, 3),
        "throughput": round(new / seconds, 3) if seconds > 0 else 0.0,  # new ones a second
        "seed": next(iter(every)) if len(every) == 1 else told,  # several after a part was graded again
        "sandbox": "none" if any(record.sandbox == "none" for record in records) else "bubblewrap",
    }


def in_words(summary: dict[str, Any]) -> str:
    """For a person."""
    counts = ", ".join(f"{summary[status]} {status}" for status in STATUSES)
    tasks = ", ".join(f"{number} {status}" for status, number in summary["tasks"].items())
    loud = "\nWITHOUT A SANDBOX: do not trust these grades." if summary["sandbox"] == "none" else ""
    return (
        f"{counted(summary['submissions'], 'submission')} ({counts}), "
        f"{summary['new']} of them new, in {summary['seconds']:.1f} s\n"
        f"seed: {seeds_in_words(summary['seed'])}\n"
        f"tasks: {tasks or 'none'}{loud}"
    )


def seeds_in_words(seed: Any) -> str:
    """One number; or several, with their homeworks."""
    if not isinstance(seed, dict):
        return str(seed)
    each = [f"{name}: {', '.join(map(str, one)) if isinstance(one, list) else one}" for name, one in seed.items()]
    return f"several ({'; '.join(each)})" if each else "none"
