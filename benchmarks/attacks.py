"""The bank of attacks (testing/attacks/) against stock nbgrader: ``python -m benchmarks.attacks``.

Each attack is graded by ``nbgrader autograde`` together with an honest student, in a jail of its own around the whole
grader, because stock nbgrader lets students' code do what it likes. For our grader the same bank is a test
(tests/autograder/examine/test_attacks.py), and none of it may succeed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.grading import ROOT, STOCK_CONFIG, environment

LIMIT = 120.0  # seconds for one attack, an honest student included
OUTCOME = """
import json, sys
from nbgrader.api import Gradebook
with Gradebook("sqlite:///" + sys.argv[1]) as book:
    print(json.dumps({one.student.id: one.score for one in book.assignment_submissions("five")}))
"""


def jailed(folder: Path, command: list[str], settings: dict[str, str]) -> tuple[bool, bool]:
    """Run a command that can do harm, where it can do none; (did it end in time?, was anything left behind?)."""
    jail = [
        "bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
        "--remount-ro", "/proc",
        "--size", str(2**28), "--tmpfs", "/tmp", "--size", str(2**28), "--tmpfs", "/dev/shm", "--bind", str(folder),
        str(folder), "--chdir", str(folder / "exercises"),
    ]  # fmt: skip
    script = 'ulimit -v 12000000; ulimit -u 2000; "$@"; ps -eo comm= | grep -c -e sleep -e python > ../left'
    try:
        subprocess.run(
            [*jail, "sh", "-c", script, "sh", *command], env=settings, timeout=LIMIT, check=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return False, True
    left = folder / "left"
    return True, left.exists() and int(left.read_text() or 0) > 0


def tried(attack_name: str, course: Path) -> str:
    """What stock nbgrader makes of one attack, in a word or two."""
    from testing.attacks import ATTACKS, SECRET, VICTIM
    from testing.classroom import hand_in
    from testing.five_tasks import HOMEWORK, POINTS, all_right, notebook

    attack = next(one for one in ATTACKS if one.name == attack_name)
    with tempfile.TemporaryDirectory(dir=course.parent) as name:
        folder = Path(name)
        root = Path(shutil.copytree(course, folder / "exercises"))
        (root / "nbgrader_config.py").write_text(STOCK_CONFIG.format(root=str(root)).replace("300", "30"))
        hand_in(root, VICTIM, HOMEWORK, notebook({**all_right(), "double": f"# {SECRET}\n" + all_right()["double"]}))
        attack.hand_in(root)
        settings = {**environment(folder), "DPCOURSE_ATTACK_SECRET": SECRET, "HOME": str(folder / "home")}
        ended, left = jailed(folder, [sys.executable, "-m", "nbgrader", "autograde", HOMEWORK], settings)
        asked = [sys.executable, "-c", OUTCOME, str(root / "gradebook.db")]
        told = subprocess.run(asked, env=settings, capture_output=True, text=True, check=False)
        scores = json.loads(told.stdout.splitlines()[-1]) if told.returncode == 0 else {}
        page = root / "autograded" / attack.name / HOMEWORK / f"{HOMEWORK}.ipynb"
        shown = page.read_text(errors="replace") if page.is_file() else ""
        startup = list((folder / "home").rglob("startup/x.py"))
        graded = attack.name in scores and page.is_file()
    found = []
    if scores.get(attack.name, 0) > 0:
        found.append("gains points")
    if f"the secret is {SECRET}" in shown:
        found.append("reads the secret")
    texts = [cell for cell in json.loads(shown or '{"cells": []}')["cells"] if cell["cell_type"] == "markdown"]
    if any("onerror" in "".join(cell["source"]) for cell in texts):
        found.append("its script is shown")
    if scores.get(VICTIM) != POINTS or startup:
        found.append("touches another student")
    if left and ended:
        found.append("outlives its run")
    if not ended:
        found.append("stops the batch")
    elif not graded:
        found.append("has no grade")
    return ", ".join(found) or "fails"


def main() -> None:
    from testing.attacks import ATTACKS, SECRET
    from testing.five_tasks import HOMEWORK, five_course

    if shutil.which("bwrap") is None:
        raise SystemExit("these attacks need a jail: sudo apt-get install bubblewrap")
    wanted = sys.argv[1:] or [attack.name for attack in ATTACKS]
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as name:
        course = five_course(Path(name) / "course")
        (course / "secret.txt").write_text(SECRET)
        (course / "nbgrader_config.py").write_text(STOCK_CONFIG.format(root=str(course)))
        subprocess.run(
            [sys.executable, "-m", "nbgrader", "generate_assignment", HOMEWORK], cwd=course, check=True,
            env=environment(course.parent), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        for attack in wanted:
            outcome = tried(attack, course)
            counts.update(["fails" if outcome == "fails" else "succeeds"])
            print(f"{attack:26} {outcome}", flush=True)
    print(f"against stock nbgrader {counts['succeeds']} of {len(wanted)} attacks succeed; against ours none may")


if __name__ == "__main__":
    os.umask(0o022)
    main()
