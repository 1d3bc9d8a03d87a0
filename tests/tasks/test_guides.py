"""What the two guides say is true: their code runs, their verdicts are given."""

import contextlib
import io
import re
import subprocess
import sys

from dpcourse.tasks import HOMEWORKS, check
from testing import ROOT


def python_blocks(text):
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def test_the_worked_example_runs_and_tells_right_from_wrong():
    guide = (ROOT / "autograder" / "README.md").read_text(encoding="utf-8")
    task, trial = python_blocks(guide.partition("\n## A new task in 25 lines\n")[2].partition("\n## ")[0])
    assert len([line for line in task.splitlines() if line.strip()]) <= 25
    room, out = {}, io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(task + trial, "autograder/README.md", "exec"), room)
    passed, failed = out.getvalue().strip().splitlines()
    assert passed.startswith("mean_age: passed.")
    assert failed.startswith("mean_age: not yet.")
    assert "From low to high, not from 0." in failed
    for known in room["mean_age"].mistakes:
        found = room["mean_age"].examine(room["Student"](known.wrong, room["mean_age"].answer), seed=2)
        assert found.mistake == known.name


def test_the_worked_example_passes_the_projects_lint_and_is_a_task_of_a_course(tmp_path, monkeypatch):
    """As a file of this package, and as the ``tasks.py`` of somebody's own homework 6."""
    guide = (ROOT / "autograder" / "README.md").read_text(encoding="utf-8")
    task, _ = python_blocks(guide.partition("\n## A new task in 25 lines\n")[2].partition("\n## ")[0])
    place = tmp_path / "tasks.py"
    place.write_text(task, encoding="utf-8")
    settings = ["--config", str(ROOT / "pyproject.toml")]
    for command in (["ruff", "check"], ["ruff", "format", "--check"]):
        run = subprocess.run([sys.executable, "-m", *command, *settings, str(place)], capture_output=True, text=True)
        assert run.returncode == 0, run.stdout
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), str(place)],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout
    (tmp_path / "nbgrader_config.py").write_text("", encoding="utf-8")
    (tmp_path / "hw6").mkdir()
    monkeypatch.chdir(tmp_path / "hw6")

    def mean_age(ages, low, high, epsilon, rng):
        return ages.mean() + rng.laplace(0, high / len(ages) / epsilon)

    assert check(mean_age).mistake == "largest age"


def test_the_students_guide_quotes_a_verdict_that_is_given():
    def noisy_count(count, epsilon, rng):
        return count + rng.laplace(0, epsilon)

    quoted = re.sub(r"\n> ", " ", (ROOT / "exercises" / "README.md").read_text(encoding="utf-8"))
    said = check(noisy_count)
    assert "It looks like the scale is epsilon, not 1/epsilon" in said.message
    for words in ("That is too little to hide one person.", "Your noise is like Laplace noise of scale about"):
        assert words in said.message
        assert words in quoted


def test_every_homework_has_its_section():
    text = (ROOT / "exercises" / "README.md").read_text(encoding="utf-8")
    assert [name for name in HOMEWORKS if f"\n## {name}\n" not in text] == []
