"""Are the verdicts those of an earlier revision? ``python -m studies.compare_verdicts 56d8b87``.

Every right and wrong submission of the banks, and every mistake that a task knows, is judged by the code of that
revision and by today's, with the same seeds. It prints how many are equal, and each that is not. (A submission
is known by its homework, task and name; those of one side only are counted.)
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FIRST_SEED = 3_000


def submissions(homework: str) -> Iterator[tuple[str, str, Any]]:
    """Task, name and function of each."""
    from dpcourse.tasks import tasks_of

    bank = importlib.import_module(f"testing.submissions.{homework.split('_')[0]}")
    for name, task in tasks_of(homework).items():
        yield from ((name, f"right: {style}", function) for style, function in bank.RIGHT[name].items())
        yield from ((name, f"wrong: {style}", pair[0]) for style, pair in bank.WRONG.get(name, {}).items())
        known: Any = getattr(task, "mistakes", None) or getattr(task, "misconceptions", ())
        yield from ((name, f"known: {one.name}", one.wrong) for one in known)


def verdicts(homework: str, seeds: int) -> dict[str, list[str]]:
    """Of one homework: submission -> for each seed "passed", or the status and the mistake's name."""
    from dpcourse.tasks import Student, tasks_of

    tasks, judged = tasks_of(homework), {}
    for name, style, function in submissions(homework):
        task, said = tasks[name], []
        for seed in range(FIRST_SEED, FIRST_SEED + seeds):
            verdict = task.examine(Student(function, task.answer, seconds=10 * task.seconds), seed)
            mistake = getattr(verdict, "mistake", "") or getattr(verdict, "misconception", "")
            said.append("passed" if verdict.passed else f"{verdict.status}, {verdict.share:.2f}, {mistake}")
        judged[f"{homework} {name} | {style}"] = said
    return judged


def write(place: Path, seeds: int) -> None:
    """All verdicts of the code that is imported here, as JSON."""
    from dpcourse.tasks import HOMEWORKS

    os.environ["OMP_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(2) as pool:
        parts = pool.map(verdicts, HOMEWORKS, [seeds] * len(HOMEWORKS))
        place.write_text(json.dumps({key: said for part in parts for key, said in part.items()}))


def verdicts_of(tree: Path, place: Path, seeds: int) -> dict[str, list[str]]:
    """The verdicts of the code in this tree."""
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    program = [sys.executable, str(Path(__file__)), "--write", str(place), "--seeds", str(seeds)]
    subprocess.run(program, cwd=tree, env=environment, check=True)
    return dict(json.loads(place.read_text()))


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
            f"{len(both)} submissions on both sides ({len(before.keys() - after.keys())} only before, "
            f"{len(after.keys() - before.keys())} only now), {len(pairs):,} verdicts on each",
            f"passed or not: {len(pairs) - len(decided):,} equal, {len(decided)} not",
            f"status, share and name: {len(pairs) - len(decided) - len(named):,} equal, {len(named)} not",
            *(f"  {times} x {line}" for line, times in counted.items()),
        ]
    )


def main(arguments: list[str]) -> None:
    asked = argparse.ArgumentParser(description="Compare the verdicts of today's code with those of a revision.")
    asked.add_argument("revision", nargs="?", default="HEAD")
    asked.add_argument("--seeds", type=int, default=2)
    asked.add_argument("--write", type=Path, help="only write the verdicts of the code that is imported")
    options = asked.parse_args(arguments)
    if options.write:
        write(options.write, options.seeds)
        return
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "before"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), options.revision], check=True)
        try:
            before = verdicts_of(tree, Path(folder) / "before.json", options.seeds)
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)
        print(compare(before, verdicts_of(ROOT, Path(folder) / "after.json", options.seeds)))


if __name__ == "__main__":
    main(sys.argv[1:])
