"""Do right submissions ever lose a point to chance? Grade them again and again: ``python -m tools.judge_study``.

Every right submission of the banks (tests/tasks/bank_hw*.py) is graded with ``--seeds`` grading seeds; it must pass
each time. Some styles cost seconds a time, so the quickest style of each task gets all the seeds, and the others
``--others`` of them. What was done is kept under build/judge_study and not done again, so the study can be stopped at
any time and goes on where it was; a changed judge starts anew.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import sys
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "build" / "judge_study"
LOT = 20  # gradings between two savings


def version() -> str:
    """A fingerprint of everything that decides a verdict."""
    files = sorted([*(ROOT / "dpcourse" / "tasks").glob("*.py"), *(ROOT / "tests" / "tasks").glob("bank_hw*.py")])
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]


def submissions() -> list[tuple[str, str, str]]:
    """(homework, task, style) of every right submission."""
    from dpcourse.tasks import HOMEWORKS

    return [
        (homework, task, style)
        for homework in HOMEWORKS
        for task, styles in _bank(homework).RIGHT.items()
        for style in styles
    ]


def _bank(homework: str) -> Any:
    return importlib.import_module(f"tests.tasks.bank_{homework.split('_')[0]}")


def graded(job: tuple[tuple[str, str, str], int, int]) -> tuple[tuple[str, str, str], int, list[int], float, float]:
    """Grade one submission with some seeds: how many, which failed, the seconds, and the judge's own bound."""
    from dpcourse.tasks import Student, tasks_of

    (homework, name, style), first, number = job
    task, function = tasks_of(homework)[name], _bank(homework).RIGHT[name][style]
    start, failed, bound = time.process_time(), [], 0.0
    for seed in range(first, first + number):
        verdict = task.examine(Student(function, task.answer, seconds=10 * task.seconds), seed)
        bound = max(bound, verdict.false_fail)
        if not verdict.passed:
            failed.append(seed)
    return (homework, name, style), number, failed, time.process_time() - start, bound


def study(seeds: int, others: int, minutes: float, processes: int) -> dict[str, Any]:
    """Go on until every submission has its seeds, or the time is over."""
    KEPT.mkdir(parents=True, exist_ok=True)
    path = KEPT / f"{version()}.json"
    done: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    end = time.monotonic() + 60 * minutes
    os.environ["OMP_NUM_THREADS"] = "1"
    with get_context("spawn").Pool(processes) as pool:
        everything = submissions()
        for key, number, failed, seconds, bound in pool.imap_unordered(
            graded, [(key, 0, 1) for key in everything if "|".join(key) not in done]
        ):
            done["|".join(key)] = {"seeds": number, "failed": failed, "seconds": seconds, "bound": bound}
        while time.monotonic() < end:
            quickest: dict[tuple[str, ...], tuple[float, tuple[str, str, str]]] = {}
            for key in everything:
                cost = done["|".join(key)]["seconds"] / done["|".join(key)]["seeds"]
                quickest[key[:2]] = min(quickest.get(key[:2], (cost, key)), (cost, key))
            jobs = []
            for key in everything:
                wanted = seeds if quickest[key[:2]][1] == key or done["|".join(key)]["bound"] == 0 else others
                have = done["|".join(key)]["seeds"]
                if have < wanted:
                    jobs.append((key, have, min(LOT, wanted - have)))
            if not jobs:
                break
            for key, number, failed, seconds, bound in pool.imap_unordered(graded, jobs):
                one = done["|".join(key)]
                one["seeds"] += number
                one["failed"] += failed
                one["seconds"] += seconds
                one["bound"] = max(one["bound"], bound)
            path.with_suffix(".new").write_text(json.dumps(done, indent=0))
            path.with_suffix(".new").replace(path)
            total, wrong = (sum(map(count, done.values())) for count in (_seeds, _failed))
            print(f"\r{total:,} gradings, {wrong} failed", end="", file=sys.stderr)
    return done


def _seeds(one: dict[str, Any]) -> int:
    return int(one["seeds"])


def _failed(one: dict[str, Any]) -> int:
    return len(one["failed"])


def main(arguments: list[str]) -> None:
    asked = argparse.ArgumentParser(description="Grade every right submission again and again.")
    asked.add_argument("--seeds", type=int, default=2_000, help="of the quickest style, and of what is exact")
    asked.add_argument("--others", type=int, default=100, help="for the other styles")
    asked.add_argument("--minutes", type=float, default=600)
    asked.add_argument("--processes", type=int, default=2)
    options = asked.parse_args(arguments)
    done = study(options.seeds, options.others, options.minutes, options.processes)
    print(file=sys.stderr)
    failed = {key: one["failed"] for key, one in done.items() if one["failed"]}
    bounds: dict[str, dict[str, float]] = {}
    for key, one in done.items():
        homework, task, _ = key.split("|")
        kept = bounds.setdefault(homework, {})
        kept[task] = max(kept.get(task, 0.0), one["bound"])
    for homework, tasks in bounds.items():
        seeds = [one["seeds"] for key, one in done.items() if key.startswith(homework)]
        print(f"{homework}: a right one loses a point to chance with probability at most {sum(tasks.values()):.2g}; "
              f"{sum(seeds):,} gradings of {len(seeds)} right submissions, each at least {min(seeds):,}")  # fmt: skip
    print(f"failed: {failed or 'none'}")


if __name__ == "__main__":
    main(sys.argv[1:])
