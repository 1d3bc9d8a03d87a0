"""A course's own tasks: where they are looked for, which files are run, and what is said of a broken one."""

import os
from pathlib import Path

import pytest

from dpcourse.tasks import check, task_named
from dpcourse.tasks.libraries import about, absent_in, foreign, warning_of
from dpcourse.tasks.own_course import (
    BUNDLE,
    COURSE,
    TOPS,
    defines_tasks,
    folders_from,
    libraries_near,
    load_tasks,
    tasks_near,
)

TASKS = """
from dataclasses import replace
from dpcourse.tasks import task_named
TASKS = (replace(task_named("noisy_count"), name={0!r}),)
"""


def write(folder: Path, name: str = "mine") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tasks.py").write_text(TASKS.format(name), encoding="utf-8")
    return folder


def names(folder: Path | None = None) -> list[str]:
    return list(tasks_near(folder))


def test_the_nearest_file_wins(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    write(tmp_path, "far")
    assert names(write(tmp_path / "a" / "b", "near")) == ["near"]
    assert names(tmp_path / "a") == ["far"]
    monkeypatch.chdir(tmp_path / "a")
    assert names() == ["far"]
    assert task_named("far", tasks_near()).name == "far"


@pytest.mark.parametrize("top", TOPS)
def test_the_search_ends_at_the_top_of_a_course_a_bundle_or_a_repository(tmp_path, top):
    write(tmp_path)
    inside = tmp_path / "course" / "exercises"
    inside.mkdir(parents=True)
    assert names(inside) == ["mine"]
    (tmp_path / "course" / top).touch()
    assert names(inside) == []
    assert names(write(tmp_path / "course", "own").joinpath("exercises")) == ["own"]  # the top itself is looked at


def test_the_search_ends_at_home(tmp_path, monkeypatch):
    home = tmp_path / "people" / "ada"
    (home / "work").mkdir(parents=True)
    write(tmp_path)
    assert names(home / "work") == ["mine"]
    monkeypatch.setenv("HOME", str(home))
    assert names(home / "work") == []
    assert list(folders_from(home / "work")) == [home / "work", home]


def test_other_programs_have_files_of_that_name_and_none_of_them_is_run(tmp_path):
    (tmp_path / ".git").mkdir()
    write(tmp_path)
    inside = tmp_path / "inside"
    inside.mkdir()
    for text in ("raise SystemExit('run')", "print(TASKS)", "def f(:", "'TASKS = 1'", "\0", "tasks = TASKS == 1"):
        (inside / "tasks.py").write_text(text)
        assert names(inside) == ["mine"], text
    for text in ("TASKS = ()", "TASKS: tuple = ()", "from x import TASKS", "import a as TASKS", "if 1:\n    TASKS = ()",
                 "TASKS = (\n"):  # fmt: skip
        assert defines_tasks(text.encode()), text


def test_a_file_that_somebody_else_put_above_is_not_run(tmp_path, monkeypatch):
    """As in /tmp: everybody may write there, and what lies there would run with the rights of whoever calls check."""
    mine = tmp_path / "mine"
    mine.mkdir()
    write(tmp_path)
    assert names(mine) == ["mine"]
    owners = {str(tmp_path / "tasks.py"): 4242}
    stat, fstat = Path.stat, os.fstat

    def owned(path, result):
        return os.stat_result([owners.get(path, result.st_uid) if i == 4 else x for i, x in enumerate(result)])

    monkeypatch.setattr(Path, "stat", lambda path, **settings: owned(str(path), stat(path, **settings)))
    monkeypatch.setattr(os, "fstat", lambda handle: owned(os.readlink(f"/proc/self/fd/{handle}"), fstat(handle)))
    assert names(mine) == []
    owners[str(mine)] = 4242  # in a folder of that person: whoever works there runs their notebooks, too
    assert names(mine) == ["mine"]


def test_a_link_and_a_file_that_everybody_may_write_are_not_run(tmp_path):
    """A name that points elsewhere a moment later was a way in: what was looked at is what is run."""
    mine = tmp_path / "mine"
    mine.mkdir()
    place = write(tmp_path) / "tasks.py" if write(tmp_path).is_dir() else tmp_path / "tasks.py"
    assert names(mine) == ["mine"]
    place.chmod(0o666)
    assert names(mine) == []
    place.chmod(0o644)
    place.rename(tmp_path / "other.py")
    place.symlink_to(tmp_path / "other.py")
    assert names(mine) == []


def test_a_changed_file_is_loaded_anew(tmp_path):
    assert names(write(tmp_path, "one")) == ["one"]
    assert names(write(tmp_path, "two")) == ["two"]


def test_a_file_may_define_dataclasses(tmp_path):
    text = "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\n"
    (tmp_path / "tasks.py").write_text(f"{text}TASKS = ()")
    assert load_tasks(tmp_path / "tasks.py") == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [("TASKS = (", r"SyntaxError: '\(' was never closed"), ("TASKS = 1", "TASKS is 1"),
     ("import sys\nTASKS = ()\nsys.exit('bye')", r"SystemExit: bye \(line 3\)"), ("\nTASKS = (1 / 0,)", r"\(line 2\)")],
)  # fmt: skip
def test_a_broken_file_is_told_with_its_path(tmp_path, monkeypatch, text, said):
    (tmp_path / "tasks.py").write_text(text)
    monkeypatch.chdir(tmp_path)

    def noisy_count(count):
        return count

    with pytest.raises(ValueError, match=said) as error:
        check(noisy_count)
    assert str(tmp_path / "tasks.py") in str(error.value)


def test_names_of_own_tasks_are_offered(tmp_path):
    own = tasks_near(write(tmp_path, "median_of_means"))
    with pytest.raises(ValueError, match="did you mean 'median_of_means'"):
        task_named("median_of_mean", own)
    with pytest.raises(ValueError, match="there are median_of_means, "):
        task_named("zzz", own)


def test_what_a_bundle_says_of_libraries_is_read_or_left(tmp_path):
    (tmp_path / BUNDLE).touch()
    for text, libraries in (
        ('{"libraries": ["numpy", "mpmath"]}', ("numpy", "mpmath")),
        ("{", ()),
        ("[]", ()),
        ("{}", ()),
    ):
        (tmp_path / COURSE).write_text(text)
        assert libraries_near(tmp_path) == libraries
    assert libraries_near(tmp_path / "nowhere") == ()


def test_check_warns_of_a_library_that_grading_will_not_find(tmp_path, monkeypatch):
    (tmp_path / BUNDLE).touch()
    monkeypatch.chdir(tmp_path)
    import hypothesis as other
    import numpy as np

    def helper(count):
        return other.seed, np.abs(count)

    space = {"__name__": "__main__", "np": np, "other": other}
    exec("def helper(x): return other\ndef noisy_count(count): helper(1); return np.abs(count)", space)
    uses, deep = space["noisy_count"], {"__name__": "__main__"}
    exec("def f():\n    import math, mpmath.libmp\n    def g():\n        from hypothesis import seed", deep)
    assert foreign(uses, ["numpy"]) == ["hypothesis"]
    assert foreign(deep["f"], ["numpy", "mpmath"]) == ["hypothesis"]
    exec("def attribute(x): return display(x.other)", space | {"display": pytest.fixture}, deep)
    assert foreign(deep["attribute"], ["pytest", "_pytest"]) == []  # not the name `other`, but something of x
    assert foreign(np.abs, ["numpy"]) == foreign(print, []) == []
    assert warning_of(uses) == ""  # nobody said which libraries are allowed
    (tmp_path / COURSE).write_text('{"libraries": ["numpy"]}')
    said = check(uses)
    assert said.message.endswith(
        "`hypothesis` is not among the libraries of this course (numpy). Grading will not find it."
    )
    (tmp_path / COURSE).write_text('{"libraries": ["numpy", "hypothesis"]}')
    assert "hypothesis" not in check(uses).message


def test_words_about_a_library_that_was_not_found():
    assert absent_in("stopped with ModuleNotFoundError: No module named 'seaborn', at `import seaborn`") == ["seaborn"]
    assert absent_in("No module named 'torch.nothing'") == []
    assert "not among the libraries of this course (numpy, torch)" in about("seaborn", ["numpy", "torch"])
    assert "not installed where this ran" in about("torch", ["numpy", "torch"])
    assert about("dpcourse", ["numpy"]) == about("seaborn", []) == ""
