"""Grading a class: ours, sandboxed, against stock ``nbgrader autograde`` on the same submissions, in one run.

Both are timed as commands, from ``submitted/`` to the gradebook, their start included. Stock nbgrader takes the
submissions one after the other, so its time is measured on every ``STOCK_EVERY``-th of them and multiplied; set
DPCOURSE_STOCK_EVERY=1 to let it grade them all.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.figures import Figure

ROOT = Path(__file__).resolve().parents[1]
CLASS = 100
MANY = 1_000
SEED = str(2**62 + 1)  # the same in each run; for real grades it would have to be secret
STOCK_EVERY = int(os.environ.get("DPCOURSE_STOCK_EVERY", "5"))

#: nbgrader as it comes: nothing of ours but what the notebooks themselves need.
STOCK_CONFIG = """
c = get_config()
c.CourseDirectory.course_id = "stock"
c.CourseDirectory.root = {root!r}
c.CourseDirectory.db_url = "sqlite:///" + {root!r} + "/gradebook.db"
c.ExecutePreprocessor.timeout = 300
"""


def environment(folder: Path) -> dict[str, str]:
    """Jupyter's settings are not those of whoever measures; the programs of this Python are found."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    places = dict.fromkeys(
        ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"), str(home)
    )  # fmt: skip
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    fixed = {"PATH": path, "PYTHONPATH": str(ROOT), "DPCOURSE_GRADING_SEED": SEED, "OMP_NUM_THREADS": "1"}
    return {**os.environ, **places, **fixed}


def ours(root: Path, homework: str, jobs: int) -> float:
    """Seconds of ``dpcourse grade`` for everything that was handed in."""
    for folder_name in ("grading", "autograded"):
        shutil.rmtree(root / folder_name, ignore_errors=True)
    (root / "gradebook.db").unlink(missing_ok=True)
    command = [sys.executable, "-m", "autograder", "grade", homework, "--course", str(root), "--seed", SEED]
    start = time.perf_counter()
    subprocess.run([*command, "--jobs", str(jobs)], env=environment(root.parent), check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def stock(root: Path, homework: str) -> float:
    """Seconds of ``nbgrader autograde`` for every n-th of what was handed in, times n."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "exercises"
        shutil.copytree(root / "source", copy / "source")
        students = sorted((root / "submitted").iterdir())[::STOCK_EVERY]
        for student in students:
            shutil.copytree(student, copy / "submitted" / student.name)
        (copy / "nbgrader_config.py").write_text(STOCK_CONFIG.format(root=str(copy)))
        settings = environment(Path(folder))
        nbgrader = [sys.executable, "-m", "nbgrader"]
        silent = {"cwd": copy, "env": settings, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run([*nbgrader, "generate_assignment", homework, "--force"], check=True, **silent)  # type: ignore[call-overload]
        start = time.perf_counter()
        subprocess.run([*nbgrader, "autograde", homework], check=False, **silent)  # type: ignore[call-overload]
        seconds = time.perf_counter() - start
        total = len(list((root / "submitted").iterdir()))
    return seconds * total / len(students)


class Memory:
    """Watches a process and its children: the largest sum of one worker's tree, and the growth of everything."""

    def __init__(self) -> None:
        self.worker, self.whole = 0, []
        self._stop = threading.Event()

    def watch(self, command: Callable[[], object]) -> None:
        """Run the command, and look at its processes four times a second."""
        thread = threading.Thread(target=self._look)
        thread.start()
        try:
            command()
        finally:
            self._stop.set()
            thread.join()

    def _look(self) -> None:
        import psutil

        me = psutil.Process()
        while not self._stop.wait(0.25):
            try:
                (main,) = [child for child in me.children() if "autograder" in " ".join(child.cmdline())]
                sizes = [
                    sum(one.memory_info().rss for one in [worker, *worker.children(recursive=True)])
                    for worker in main.children()
                ]
                self.worker = max([self.worker, *sizes])
                self.whole.append(main.memory_info().rss + sum(sizes))
            except (psutil.Error, ValueError):
                continue

    @property
    def growth(self) -> float:
        """What is used near the end of the run, over what is used when a third of it is over (medians of a tenth)."""
        part = max(1, len(self.whole) // 10)
        early, late = sorted(self.whole[3 * part : 4 * part]), sorted(self.whole[-2 * part : -part])
        return late[len(late) // 2] / early[len(early) // 2]


def class_in(folder: Path, homework: str, number: int) -> Path:
    """A course with a class that has handed in."""
    from testing.classroom import class_of, course_in, hand_in
    from testing.five_tasks import HOMEWORK, all_right, all_wrong, five_course, notebook

    if homework != HOMEWORK:
        root = course_in(folder, homework)
        class_of(root, homework, number)
        return root
    root = five_course(folder)
    for student in range(number):
        hand_in(root, f"s{student:04}", HOMEWORK, notebook(all_right() if student % 3 else all_wrong()))
    return root


def run() -> list[Figure]:
    """Every figure of grading."""
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        for homework, times in (("hw1_pure_dp", 8), ("five", 14)):
            root = class_in(Path(folder) / homework, homework, CLASS)
            # In turns, twice: a machine that is slower for a minute must not look like workers that get in each
            # other's way.
            times_of: dict[int, list[float]] = {2: [], 1: []}
            for jobs in (2, 1, 1, 2):
                times_of[jobs].append(ours(root, homework, jobs))
            two, one = (statistics.mean(times_of[jobs]) for jobs in (2, 1))
            theirs = stock(root, homework)
            note = f"{theirs / two:.1f} times as fast; {CLASS / two:.1f} submissions a second on two cores"
            figures.append(
                Figure(f"grading {CLASS} submissions of {homework} / stock nbgrader", two / theirs, 1 / times, note)
            )
            if homework == "hw1_pure_dp":
                note = f"{one / two:.2f} times as fast"
                figures.append(Figure("grading with two workers / with one", two / one, 1 / 1.7, note))
        memory = Memory()
        root = class_in(Path(folder) / "many", "five", MANY)
        memory.watch(lambda: ours(root, "five", 2))
        figures.append(
            Figure(
                "memory of a grading worker / 1 GB", memory.worker / 2**30, 1, f"{MANY} submissions, with its sandbox"
            )
        )
        figures.append(Figure(f"memory at the end of {MANY} submissions / at the start", memory.growth, 1.1, ""))
    return figures


if __name__ == "__main__":
    from benchmarks.figures import table

    print(table(run()))
