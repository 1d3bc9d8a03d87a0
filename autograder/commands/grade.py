"""Grade what was handed in: each submission in a sandbox, each verdict outside of it.

What was graded before is not graded again, unless it was handed in anew or --regrade is given; so a run that was
stopped goes on where it was. Manual grades are kept. Late penalties are brought up to date each time, also where
nothing is graded again.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autograder.console import Problem, bar, counted, note, one_line, tell, write_json
from autograder.course.course import Course
from autograder.examine.records import STATUSES, Record
from autograder.examine.seeds import TRIALS, any_seed, long_seed

EXAMPLE = "dpcourse grade hw1_pure_dp --jobs 2 --json grades.json"
LOOKED_AT = 20  # submissions that are named one by one
UNSAFE = "--unsafe-no-sandbox: the students' code runs with your rights. It can read, change and send what you can."


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``dpcourse grade``."""
    parser.add_argument("homework", nargs="*", metavar="HW", help="which homeworks (default: all)")
    parser.add_argument("--student", action="append", metavar="S", help="only this student (may be repeated)")
    parser.add_argument("--jobs", type=whole(1), metavar="N", help="submissions at a time (default: one for each core)")
    parser.add_argument("--cluster", metavar="ADDRESS", help="a Dask scheduler, such as tcp://10.0.0.5:8786")
    seeds = parser.add_mutually_exclusive_group()
    seeds.add_argument(
        "--seed", type=argument(long_seed), metavar="N",
        help="of the fresh probes, to repeat a run with the number that it told; without it a secret one is drawn. "
        "For real grades never one that students could guess: a short one is refused",
    )  # fmt: skip
    seeds.add_argument("--seed-for-tests", type=argument(any_seed), metavar="N", help="any number, for trials only")
    parser.add_argument("--regrade", action="store_true", help="grade again what was graded before, by fresh probes")
    parser.add_argument(
        "--repeat-probes", action="store_true",
        help="with --seed: also if students have feedback, in which a program may have told the probes of this seed",
    )  # fmt: skip
    parser.add_argument("--unsafe-no-sandbox", action="store_true", help="run students' code with your own rights")


def whole(least: int) -> Any:
    """A reader of whole numbers from ``least`` on."""

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"a whole number >= {least} is needed, not {text!r}")
        return int(text)

    return read


def argument(read: Callable[[str], int]) -> Callable[[str], int]:
    """The same reader for argparse, which shows the text of this error only."""

    def reader(text: str) -> int:
        try:
            return read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return reader


def run(options: argparse.Namespace) -> int:
    """Grade, and say how it went."""
    chosen = options.seed if options.seed_for_tests is None else options.seed_for_tests
    if options.repeat_probes and chosen is None:
        raise Problem("--repeat-probes needs the --seed whose probes are to be repeated")
    if options.seed_for_tests is not None:
        note(f"WARNING: {TRIALS}")
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
    records, seconds, penalties = graded(course, homeworks, options)
    summary = summed_up(records, seconds, len(written(course, homeworks) - before))
    summary |= {"left_out": left_out, "penalties_changed": penalties}
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


def graded(
    course: Course, homeworks: list[str], options: argparse.Namespace
) -> tuple[list[Record], float, dict[str, list[str]]]:
    """The records, the seconds that it took, and homework -> whose late penalty has changed."""
    from autograder.box.walls import NoSandbox
    from autograder.examine import batch

    start = time.perf_counter()
    wanted = options.student
    penalties: dict[str, list[str]] = {}
    total = sum(len([s for s in course.students_of(h) if not wanted or s in wanted]) for h in homeworks)
    try:
        with bar("grading", total) as shown:
            records = batch.grade(
                course, homeworks, students=options.student, jobs=options.jobs, cluster=options.cluster,
                seed=options.seed if options.seed_for_tests is None else options.seed_for_tests,
                regrade=options.regrade, unsafe=options.unsafe_no_sandbox, repeat_probes=options.repeat_probes,
                progress=lambda record: shown.update(1), on_penalties=penalties.update,
            )  # fmt: skip
    except NoSandbox as error:
        raise Problem(f"{error} (`dpcourse doctor` says what else helps on this machine)") from None
    except KeyboardInterrupt:
        raise Problem(f"stopped; nothing that was graded is lost. {how_to_go_on(options)}") from None
    return records, time.perf_counter() - start, penalties


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
        "trials": sum(record.is_trial for record in records),
        "sandbox": "none" if any(record.sandbox == "none" for record in records) else "bubblewrap",
    }


def in_words(summary: dict[str, Any]) -> str:
    """For a person."""
    counts = ", ".join(f"{summary[status]} {status}" for status in STATUSES)
    tasks = ", ".join(f"{number} {status}" for status, number in summary["tasks"].items())
    loud = "\nWITHOUT A SANDBOX: do not trust these grades." if summary["sandbox"] == "none" else ""
    if summary["trials"]:
        loud += f"\nFOR TRIALS: {counted(summary['trials'], 'submission')} graded with a seed that can be guessed."
        loud += " For real grades: --regrade"
    changed = sum(map(len, summary.get("penalties_changed", {}).values()))
    late = f"\nlate penalties: {changed} brought up to date" if changed else ""
    return (
        f"{counted(summary['submissions'], 'submission')} ({counts}), "
        f"{summary['new']} of them new, in {summary['seconds']:.1f} s\n"
        f"seed: {seeds_in_words(summary['seed'])}\n"
        f"tasks: {tasks or 'none'}{late}{loud}"
    )


def seeds_in_words(seed: Any) -> str:
    """One number; or several, with their homeworks."""
    if not isinstance(seed, dict):
        return str(seed)
    each = [f"{name}: {', '.join(map(str, one)) if isinstance(one, list) else one}" for name, one in seed.items()]
    return f"several ({'; '.join(each)})" if each else "none"
