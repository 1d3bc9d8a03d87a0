"""``dpcourse grade``, and what is told of a run."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from autograder.commands.options import command, homeworks_argument, in_course, students_option
from autograder.console import Output, Problem, bar, counted, note, one_line
from autograder.course.course import Course
from autograder.examine.records import STATUSES, Record
from autograder.examine.seeds import TRIALS, any_seed, long_seed

LOOKED_AT = 20  # submissions that are named one by one
UNSAFE = "--unsafe-no-sandbox: the students' code runs with your rights. It can read, change and send what you can."


def quoting(read: Callable[[str], int]) -> Callable[[str], int]:
    """The same reader for click, which would show the value only, and not this error."""

    def convert(text: str) -> int:
        try:
            return read(text)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None

    return convert


@command(example="dpcourse grade hw1_pure_dp --jobs 2 --json grades.json")
@homeworks_argument
@students_option
@click.option(
    "--jobs", type=click.IntRange(min=1), metavar="N", help="submissions at a time (default: one for each core)"
)
@click.option("--cluster", metavar="ADDRESS", help="a Dask scheduler, such as tcp://10.0.0.5:8786")
@click.option(
    "--seed", type=quoting(long_seed), metavar="N",
    help="of the fresh probes, to repeat a run with the number that it told; without it a secret one is drawn. "
    "For real grades never one that students could guess: a short one is refused",
)  # fmt: skip
@click.option("--seed-for-tests", type=quoting(any_seed), metavar="N", help="any number, for trials only")
@click.option("--regrade", is_flag=True, help="grade again what was graded before, by fresh probes")
@click.option(
    "--repeat-probes", is_flag=True,
    help="with --seed: also if students have feedback, in which a program may have told the probes of this seed",
)  # fmt: skip
@click.option("--unsafe-no-sandbox", "unsafe", is_flag=True, help="run students' code with your own rights")
@in_course
def grade(
    course: Course, homeworks: list[str], students: tuple[str, ...], jobs: int | None, cluster: str | None,
    seed: int | None, seed_for_tests: int | None, regrade: bool, repeat_probes: bool, unsafe: bool, output: Output,
) -> int:  # fmt: skip
    """Grade what was handed in (default: of all homeworks): each submission in a sandbox, each verdict outside of it.

    What was graded before is not graded again, unless it was handed in anew or --regrade is given; so a run that was
    stopped goes on where it was. Manual grades are kept. Late penalties are brought up to date each time, also where
    nothing is graded again.
    """
    if seed_for_tests is not None:
        if seed is not None:
            raise click.UsageError(f"--seed {seed} and --seed-for-tests {seed_for_tests} do not go together")
        seed = seed_for_tests
        note(f"WARNING: {TRIALS}")
    if repeat_probes and seed is None:
        raise Problem("--repeat-probes needs the --seed whose probes are to be repeated")
    total = count_submissions(course, homeworks, students)
    left_out = [why for homework in homeworks for why in course.left_out(homework)]
    for why in left_out:
        note(f"left out, because its folder's name cannot be a student's (rename it): {why}")
    if not total:
        raise Problem(f"nothing was handed in under {course.root / 'submitted'}; `dpcourse collect` brings it there")
    if unsafe:
        note(f"WARNING: {UNSAFE}")
    from autograder.box.walls import NoSandbox
    from autograder.examine import batch

    start, ends = time.perf_counter(), list[batch.End]()
    before = list_records(course, homeworks)
    try:
        with bar("grading", total) as advance:
            records = batch.grade(
                course, homeworks, students=students or None, jobs=jobs, cluster=cluster, seed=seed, regrade=regrade,
                unsafe=unsafe, repeat_probes=repeat_probes, progress=advance, on_end=ends.append,
            )  # fmt: skip
    except NoSandbox as error:
        raise Problem(f"{error} (`dpcourse doctor` says what else helps on this machine)") from None
    except KeyboardInterrupt:
        how = how_to_go_on(again=regrade and bool(students))
        raise Problem(f"stopped; nothing that was graded is lost. {how}") from None
    (end,) = ends
    summary = summarize(records, time.perf_counter() - start, end.examined)
    summary |= {"left_out": left_out, "penalties_changed": end.penalties, "differences": end.differences}
    written = {Path(place) for place, _ in list_records(course, homeworks) - before}
    new = [record for record in records if record.place(course.records(record.assignment)) in written]
    output.write_json({"summary": summary, "submissions": [record.for_machines() for record in records]})
    for line in [*to_look_at(records), *to_decide(new), *(f"WARNING: {one}" for one in end.differences)]:
        note(line)
    for name in homeworks:
        if course.has_feedback(name) and (name in end.penalties or any(one.assignment == name for one in new)):
            note(f"{name}: the feedback pages are older than these grades; run: dpcourse feedback {name}")
    output.tell(describe(summary))
    return 0


def count_submissions(course: Course, homeworks: list[str], students: tuple[str, ...]) -> int:
    """How many submissions there are (of these students, all if none is named); a student without one is refused."""
    there = [student for homework in homeworks for student in course.students_of(homework)]
    for student in students:
        if student not in there:
            raise Problem(f"student {student!r} handed in none of {', '.join(homeworks)}: see {course.root}/submitted")
    return sum(not students or student in students for student in there)


def list_records(course: Course, homeworks: list[str]) -> set[tuple[str, int]]:
    """Which records are there, of which time."""
    return {(str(path), path.stat().st_mtime_ns) for one in homeworks for path in course.records(one).glob("*.json")}


def how_to_go_on(*, again: bool) -> str:
    """After Ctrl-C. A part of the class that is graded again is no run that could be resumed (see ``runs``)."""
    if again:
        return "Who was not graded again keeps the earlier grade; the same command starts again with all whom it names"
    return "The same command goes on from here"


def to_look_at(records: list[Record]) -> list[str]:
    """A line for each submission that could not be graded, or only in part: what a person should know of at once."""
    odd = [record for record in records if record.status != "graded"]
    lines = []
    for record in odd[:LOOKED_AT]:
        said = record.notes[-1 if record.status == "rejected" else 0] if record.notes else ""  # the reason comes last
        lines.append(one_line(f"{record.status}: {record.student}, {record.assignment}: {said}"))
    return lines + [f"and {len(odd) - LOOKED_AT} more: see --json or report"] * (len(odd) > LOOKED_AT)


def to_decide(records: list[Record]) -> list[str]:
    """A line for each answer that may not be the one that was meant: a person decides, in formgrader."""
    doubts = [(record, task) for record in records for task in record.tasks if task.doubt]
    lines = [
        one_line(f"a person should decide: {record.student}, {record.assignment}, {task.task}: {task.doubt}")
        for record, task in doubts[:LOOKED_AT]
    ]
    return lines + [f"and {len(doubts) - LOOKED_AT} more: see formgrader"] * (len(doubts) > LOOKED_AT)


def summarize(records: list[Record], seconds: float, new: int) -> dict[str, Any]:
    """The counts of a run. ``new``: those that had to be graded."""
    statuses = Counter(record.status for record in records)
    tasks = Counter(task.status for record in records for task in record.tasks)
    seeds: dict[str, set[int]] = {}
    for record in records:
        seeds.setdefault(record.assignment, set()).add(record.seed)
    each = {name: sorted(some) if len(some) > 1 else next(iter(some)) for name, some in seeds.items()}
    every = set().union(*seeds.values())
    return {
        "submissions": len(records),
        "new": new,
        **{status: statuses[status] for status in STATUSES},
        "tasks": dict(sorted(tasks.items())),
        "seconds": round(seconds, 3),
        "throughput": round(new / seconds, 3) if seconds > 0 else 0.0,  # new ones a second
        "seed": next(iter(every)) if len(every) == 1 else each,  # several after a part was graded again
        "trials": sum(record.is_trial for record in records),
        "sandbox": "none" if any(record.sandbox == "none" for record in records) else "bubblewrap",
    }


def describe(summary: dict[str, Any]) -> str:
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
        f"seed: {describe_seeds(summary['seed'])}\n"
        f"tasks: {tasks or 'none'}{late}{loud}"
    )


def describe_seeds(seed: Any) -> str:
    """One number; or several, with their homeworks."""
    if not isinstance(seed, dict):
        return str(seed)
    each = [f"{name}: {', '.join(map(str, one)) if isinstance(one, list) else one}" for name, one in seed.items()]
    return f"several ({'; '.join(each)})" if each else "none"
