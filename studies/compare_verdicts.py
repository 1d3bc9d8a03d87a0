"""Are the verdicts those of an earlier revision? ``python -m studies.compare_verdicts 56d8b87 --homework hw3``.

Every right and wrong submission of the banks, and every mistake that a task knows, is judged by the code of that
revision and by today's, with the same seeds, each side in a process of its own. It prints how many verdicts are equal,
and each that is not. (A submission is known by its homework, task and name; those of one side only are left out.)
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FIRST_SEED = 3_000
PROGRESS = 10.0  # seconds between two lines that say how far it is


def submissions(homework: str) -> Iterator[tuple[str, str, Any]]:
    """Task, name and function of each."""
    from dpcourse.tasks import tasks_of

    short = homework.split("_")[0]
    here = Path("testing", "submissions").exists()  # they stood elsewhere in revisions before 97e0f16
    bank = importlib.import_module(f"testing.submissions.{short}" if here else f"tests.tasks.bank_{short}")
    for name, task in tasks_of(homework).items():
        yield from ((name, f"right: {style}", function) for style, function in bank.RIGHT[name].items())
        yield from ((name, f"wrong: {style}", pair[0]) for style, pair in bank.WRONG.get(name, {}).items())
        known: Any = getattr(task, "mistakes", None) or getattr(task, "misconceptions", ())
        yield from ((name, f"known: {one.name}", one.wrong) for one in known)


def key_of(homework: str, task: str, style: str) -> str:
    """How a submission is known on both sides."""
    return f"{homework} {task} | {style}"


def names(homeworks: list[str]) -> list[str]:
    """The submissions that the code that is imported here has."""
    return [key_of(homework, task, style) for homework in homeworks for task, style, _ in submissions(homework)]


def verdicts(homeworks: list[str], seeds: int, wanted: set[str], side: str) -> dict[str, list[str]]:
    """Submission -> for each seed "passed", or the status, the share and the mistake's name."""
    from dpcourse.tasks import Student, tasks_of

    judged, said_at = dict[str, list[str]](), time.monotonic()
    for homework in homeworks:
        tasks = tasks_of(homework)
        for name, style, function in submissions(homework):
            key, task = key_of(homework, name, style), tasks[name]
            if key not in wanted:
                continue
            judged[key] = [
                _words(task.examine(Student(function, task.answer, seconds=10 * task.seconds), seed))
                for seed in range(FIRST_SEED, FIRST_SEED + seeds)
            ]
            if time.monotonic() - said_at > PROGRESS:
                said_at = time.monotonic()
                print(f"{side}: {len(judged):,} of {len(wanted):,} submissions, at {key}", file=sys.stderr, flush=True)
    return judged


def _words(verdict: Any) -> str:
    mistake = getattr(verdict, "mistake", "") or getattr(verdict, "misconception", "")
    return "passed" if verdict.passed else f"{verdict.status}, {verdict.share:.2f}, {mistake}"


def ask(tree: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """This program in a process of its own, by the code of this tree."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen([sys.executable, "-P", str(Path(__file__)), *arguments], cwd=tree, env=environment)


def answers(processes: Mapping[Path, subprocess.Popen[bytes]]) -> list[Any]:
    """What each process has written to its file; one that fails ends it all."""
    try:
        for process in processes.values():
            if process.wait():
                raise SystemExit(f"{process.args!r} failed")
        return [json.loads(place.read_text()) for place in processes]
    finally:
        for process in processes.values():
            process.kill()


def unpack(revision: str, folder: Path) -> Path:
    """The files of a revision, without touching the repository."""
    folder.mkdir()
    archive = subprocess.run(["git", "-C", str(ROOT), "archive", revision], check=True, stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
    return folder


def compare(before: dict[str, list[str]], after: dict[str, list[str]]) -> str:
    """How many verdicts are equal, and those that are not."""
    both = sorted(before.keys() & after.keys())
    pairs = [(key, one, other) for key in both for one, other in zip(before[key], after[key], strict=True)]
    decided = [(key, one, other) for key, one, other in pairs if (one == "passed") != (other == "passed")]
    named = [pair for pair in pairs if pair not in decided and pair[1] != pair[2]]
    counted: dict[str, int] = {}
    for title, differ in (("passes", decided), ("is named", named)):
        for key, one, other in differ:
            line = f"{title} otherwise: {key}: {one} -> {other}"
            counted[line] = counted.get(line, 0) + 1
    return "\n".join(
        [
            f"{len(both)} submissions on both sides, {len(pairs):,} verdicts on each",
            f"passed or not: {len(pairs) - len(decided):,} equal, {len(decided)} not",
            f"status, share and name: {len(pairs) - len(decided) - len(named):,} equal, {len(named)} not",
            *(f"  {times} x {line}" for line, times in counted.items()),
        ]
    )


def main(arguments: list[str]) -> None:
    asked = argparse.ArgumentParser(description="Compare the verdicts of today's code with those of a revision.")
    asked.add_argument("revision", nargs="?", default="HEAD")
    asked.add_argument("--homework", nargs="*", default=[], help="such as hw3; all without it")
    asked.add_argument("--seeds", type=int, default=1)
    asked.add_argument("--side", help=argparse.SUPPRESS)  # of a process that only writes: before, or now
    asked.add_argument("--names", type=Path, help=argparse.SUPPRESS)
    asked.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    options = asked.parse_args(arguments)
    if options.side:
        chosen = _chosen(options.homework)
        if options.names:
            wanted = set(json.loads(options.names.read_text()))
            options.write.write_text(json.dumps(verdicts(chosen, options.seeds, wanted, options.side)))
        else:
            options.write.write_text(json.dumps(names(chosen)))
        return
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        trees = {"before": unpack(options.revision, folder / "tree"), "now": ROOT}
        homework = ["--homework", *options.homework] if options.homework else []
        known = answers(_both(trees, folder, *homework))
        shared = folder / "names.json"
        shared.write_text(json.dumps(sorted(set(known[0]) & set(known[1]))))
        only = [len(set(one) - set(other)) for one, other in (known, known[::-1])]
        print(f"{only[0]} submissions only before, {only[1]} only now: they are left out", flush=True)
        seeds = ["--seeds", str(options.seeds)]
        print(compare(*answers(_both(trees, folder, *homework, *seeds, "--names", str(shared)))))


def _both(trees: Mapping[str, Path], folder: Path, *arguments: str) -> dict[Path, subprocess.Popen[bytes]]:
    """One process for each side, at the same time."""
    return {
        (place := folder / f"{side}.json"): ask(tree, *arguments, "--side", side, "--write", str(place))
        for side, tree in trees.items()
    }


def _chosen(short: list[str]) -> list[str]:
    from dpcourse.tasks import HOMEWORKS

    return [one for one in HOMEWORKS if not short or one.split("_")[0] in short or one in short]


if __name__ == "__main__":
    main(sys.argv[1:])
