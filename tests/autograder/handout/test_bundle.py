"""The students' repository: complete enough to work with, and refused if it would give anything away."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import yaml

from autograder.handout.repository import FILES, FOLDERS, TARGETS
from testing import ROOT
from tests.autograder.small_course import HW, LIKELIHOOD, dpcourse, for_machines, make_course

WITHOUT = shutil.ignore_patterns("__pycache__", ".*")


@pytest.fixture(scope="module")
def _repository(tmp_path_factory):
    """A copy of this repository, with the small course in place of the real one."""
    folder = tmp_path_factory.mktemp("whole")
    make_course(folder)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=WITHOUT)
    for name in (*FILES, "Makefile", "README.md"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)
    (folder / "tests").mkdir()
    (folder / "tests" / "bank_hw1.py").write_text("answers")
    return folder


@pytest.fixture
def repository(_repository, tmp_path):
    return Path(shutil.copytree(_repository, tmp_path / "repository"))


def bundle(capsys, repository: Path, target: Path, *words: str) -> tuple[int, str, str]:
    return dpcourse(capsys, "bundle", target, "--course", repository, *words)


def test_a_bundle_has_what_a_student_needs(repository, tmp_path, capsys):
    target = tmp_path / "students"
    code, found = for_machines(capsys, "bundle", target, "--course", repository, "--binder", "ada/course")
    assert (code, found["homeworks"]) == (0, [HW])
    files = {path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()}
    assert set(found["files"]) | {".dpcourse-bundle.json"} == files
    for name in ("README.md", "Makefile", "environment.yml", "postBuild", "pyproject.toml", "LICENSE", ".gitignore",
                 "lectures/01_pure_dp.ipynb", f"exercises/{HW}/{HW}.ipynb", "dpcourse/tasks/check.py"):  # fmt: skip
        assert name in files
    assert os.access(target / "postBuild", os.X_OK)
    assert [
        name for name in files if re.search(r"source/|nbgrader_config|tests/|\.db$|submitted|grading/|bank_hw", name)
    ] == []
    assert "mybinder.org/v2/gh/ada/course" in (target / "README.md").read_text()


def broken_links(target: Path) -> list[str]:
    """The links to files that are not there, of all texts."""
    broken = []
    for path in [*target.glob("**/*.md"), *target.glob("**/*.ipynb")]:
        text = path.read_text()
        if path.suffix == ".ipynb":
            text = "\n".join(cell.source for cell in nbformat.reads(text, 4).cells if cell.cell_type == "markdown")
        links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text)
        broken += [f"{path.relative_to(target)}: {link}" for link in links if not (path.parent / link).exists()]
    return broken


def _make(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """As a student calls it, not from within `make test`, where make names its folder."""
    alone = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    return subprocess.run(["make", *words], cwd=folder, env=alone, capture_output=True, text=True, check=False)


def test_its_links_lead_somewhere_and_its_makefile_works(repository, tmp_path, capsys):
    target = tmp_path / "students"
    assert bundle(capsys, repository, target)[0] == 0
    assert [link for link in broken_links(target) if "exercises/" not in link] == []  # of the real homeworks
    for words in (["help"], ["-n", "lab"]):
        done = _make(target, *words)
        assert (done.returncode, done.stderr) == (0, "")
        assert "pytest" not in done.stdout
    assert 'install --constraint constraints.txt --editable ".[student]"' in done.stdout


def test_its_makefile_offers_only_what_runs_there(repository, tmp_path, capsys):
    target = tmp_path / "students"
    assert bundle(capsys, repository, target)[0] == 0
    text = (target / "Makefile").read_text()
    assert set(re.findall(r"^([a-z][a-z-]*):", text, re.MULTILINE)) == set(TARGETS)
    done = _make(target, "help")
    assert re.findall(r"^  make (\S+)", done.stdout, re.MULTILINE) == list(TARGETS)
    used = set(re.findall(r"\$\((\w+)\)", text)) - {"MAKEFILE_LIST"}
    assert set(re.findall(r"^(\w+) *[?:]=", text, re.MULTILINE)) == used  # no variable for nothing


def test_the_guide_speaks_of_the_homeworks_that_are_there(tmp_path, capsys):
    for words, there in ((("--homework", "hw2_local_dp"), ["hw2_local_dp"]), ((), None)):
        target = tmp_path / f"students{len(words)}"
        assert bundle(capsys, ROOT, target, *words)[0] == 0
        text = (target / "exercises" / "README.md").read_text()
        found = re.findall(r"^## (hw\d\w*)", text, re.MULTILINE)
        assert ("Five homeworks" in text) == (there is None)
        assert (found == there) if there else (len(found) == 5)
        assert "## How to work" in text
    assert text == (ROOT / "exercises" / "README.md").read_text()


def test_the_courses_own_tasks_have_one_place(repository, tmp_path, capsys):
    text = "from dpcourse.tasks import task_named\nTASKS = (task_named('noisy_count'),)\n"
    (repository / "exercises" / "tasks.py").write_text(text)
    assert bundle(capsys, repository, tmp_path / "students")[0] == 0
    assert (tmp_path / "students" / "tasks.py").read_text() == text
    assert [path for path in (tmp_path / "students").rglob("tasks.py") if path.is_file()] == [
        tmp_path / "students" / "tasks.py"
    ]
    for folder in (repository / "lectures", repository / "dpcourse", repository / "exercises" / "source" / HW):
        shutil.copy(repository / "exercises" / "tasks.py", folder)
        code, _, err = bundle(capsys, repository, tmp_path / "two")
        assert (code, "tasks.py is for instructors only" in err) == (1, True), folder
        (folder / "tasks.py").unlink()


def test_a_bundle_says_which_libraries_its_course_allows(repository, tmp_path, capsys):
    with (repository / "exercises" / "nbgrader_config.py").open("a") as config:
        config.write("c.DpCourse.libraries.append('mpmath')\n")
    assert bundle(capsys, repository, tmp_path / "students")[0] == 0
    told = json.loads((tmp_path / "students" / ".dpcourse-course.json").read_text())
    assert told["course"] == "dpcourse"
    assert {"mpmath", "numpy", "scipy", "torch"} <= set(told["libraries"])
    *_, pip = yaml.safe_load((tmp_path / "students" / "environment.yml").read_text())["dependencies"]
    (line,) = (tmp_path / "students" / "requirements.txt").read_text().splitlines()
    assert (pip["pip"][-1], line.startswith("mpmath>=")) == (line, True)
    assert "pip install -r requirements.txt" in (tmp_path / "students" / "README.md").read_text()


#: What only the instructor's environment has.
CHECK = """
import sys
for name in ("nbgrader", "pyseccomp", "dask", "distributed"):
    sys.modules[name] = None
import autograder.cli, dpcourse
assert autograder.__file__.startswith(sys.argv[1]) and dpcourse.__file__.startswith(sys.argv[1])
sys.exit(autograder.cli.main(["check", sys.argv[2]]))
"""


def test_a_student_can_check_a_homework_with_it(repository, tmp_path, capsys):
    target = tmp_path / "students"
    assert bundle(capsys, repository, target)[0] == 0
    place = target / "exercises" / HW / f"{HW}.ipynb"
    settings = {**os.environ, "PYTHONPATH": str(target), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", CHECK, str(target), str(place)]
    text = place.read_text()
    at = text.index("def noisy_count")
    written = text[at:].replace("# YOUR CODE HERE\\n", "return count + rng.laplace(0, 1 / epsilon)\\n", 1)
    place.write_text(text[:at] + written)
    done = subprocess.run(command, cwd=tmp_path, env=settings, capture_output=True, text=True, check=False)
    assert (done.returncode, "1 of 2 tasks" in done.stdout) == (1, True), done.stdout + done.stderr
    assert "likelihood_ratio: still empty" in done.stdout
    assert "+ noisy_count: public checks passed" in done.stdout


def in_lecture(repository: Path, text: str) -> None:
    place = repository / "lectures" / "02_local_dp.ipynb"
    book = json.loads(place.read_text())
    book["cells"][-1]["source"] = [f"{line}\n" for line in text.splitlines()]
    place.write_text(json.dumps(book))


def in_file(name: str, text: str, encoding: str = "utf-8"):
    def plant(repository: Path, _: str) -> None:
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        with (repository / name).open("a", encoding=encoding) as file:
            file.write(text)

    return plant


def password_in(name: str):
    def plant(repository: Path, _: str) -> None:
        in_file("exercises/nbgrader_config.py", "\nc.CourseDirectory.db_url = 'postgresql://me:xyzzy99@host/db'\n")(
            repository, ""
        )
        in_file(name, "# xyzzy99\n")(repository, "")

    return plant


@pytest.mark.parametrize(
    ("plant", "text", "said"),
    [
        (in_lecture, f"For example:\n    {LIKELIHOOD}  # so", "lectures/02_local_dp.ipynb holds"),
        (in_lecture, "grade(noisy_count)", "lectures/02_local_dp.ipynb holds"),
        (in_lecture, "### BEGIN HIDDEN TESTS", "BEGIN HIDDEN TESTS"),
        (in_lecture, "DPCOURSE_GRADING_SEED=12345", "a grading seed"),
        (in_file("lectures/notes.md", "One  person moves the count by one."), "", "lectures/notes.md holds"),
        (in_file("lectures/old/gradebook.db", "x"), "", "gradebook.db is for instructors"),
        (in_file("lectures/grading/ada.json", "{}"), "", "for instructors only"),
        (in_file("lectures/tricks.py", f"def f():\n    {LIKELIHOOD}\n"), "", "lectures/tricks.py holds"),
        (in_file("lectures/wide.txt", f"One line:\n{LIKELIHOOD}", "utf-16"), "", "lectures/wide.txt holds"),
        (in_file("lectures/answers.zip", "PK"), "", "is an archive"),
        (in_file("dpcourse/bank_hw1.py", ""), "", "for instructors only"),
        (password_in("environment.yml"), "", "environment.yml holds the gradebook's password"),
    ],
)
def test_a_leak_is_refused_and_nothing_is_written(repository, tmp_path, capsys, plant, text, said):
    plant(repository, text)
    code, out, err = bundle(capsys, repository, tmp_path / "students")
    assert (code, out) == (1, "")
    assert said in err
    assert not (tmp_path / "students").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["repository"]


def test_a_whole_solution_in_the_package_is_a_leak_and_one_line_is_not(repository, tmp_path, capsys):
    place = repository / "exercises" / "source" / HW / f"{HW}.ipynb"
    book = nbformat.read(place, 4)
    lines = ["noise = rng.laplace(0, 1 / epsilon)", "return count + noise"]
    book.cells[4].source = book.cells[4].source.replace(
        "return count + rng.laplace(0, 1 / epsilon)", "\n    ".join(lines)
    )
    nbformat.write(book, place)
    module = repository / "dpcourse" / "more.py"
    module.write_text(f"def one(rng, epsilon):\n    {lines[0]}\n    return 1 + noise\n")
    assert bundle(capsys, repository, tmp_path / "one")[0] == 0
    module.write_text(f"def f(count, epsilon, rng):\n  {lines[0]}\n\n  {lines[1]}\n")
    code, _, err = bundle(capsys, repository, tmp_path / "two")
    assert (code, "dpcourse/more.py holds the solution" in err) == (1, True)


def test_an_earlier_bundle_is_brought_up_to_date_and_nothing_of_others_is_lost(repository, tmp_path, capsys):
    target = tmp_path / "students"
    (repository / "lectures" / "extra.md").write_text("soon gone")
    assert bundle(capsys, repository, target)[0] == 0
    (target / ".git").mkdir()
    (target / ".git" / "HEAD").write_text("ref")
    (target / "mine.txt").write_text("mine")
    (target / "empty").mkdir()
    (repository / "lectures" / "extra.md").unlink()
    (repository / "LICENSE").write_text("another")
    assert bundle(capsys, repository, target)[0] == 0
    assert (target / "LICENSE").read_text() == "another"
    assert not (target / "lectures" / "extra.md").exists()
    assert ((target / "mine.txt").read_text(), (target / ".git" / "HEAD").read_text()) == ("mine", "ref")
    assert (target / "empty").is_dir()

    (target / "README.md").write_text("edited by hand")
    code, _, err = bundle(capsys, repository, target)
    assert (code, "README.md was edited" in err, (target / "README.md").read_text()) == (1, True, "edited by hand")
    assert bundle(capsys, repository, target, "--force")[0] == 0
    assert "edited by hand" not in (target / "README.md").read_text()


def test_a_foreign_folder_is_left_alone(repository, tmp_path, capsys):
    target = tmp_path / "thesis"
    target.mkdir()
    (target / "chapter1.txt").write_text("years of work")
    code, _, err = bundle(capsys, repository, target, "--force")
    assert (code, "is not empty" in err, [path.name for path in target.iterdir()]) == (1, True, ["chapter1.txt"])
    for place, said in (
        (target / "chapter1.txt", "is a file"),
        (repository / "exercises" / "out", "choose a folder outside"),
    ):
        code, _, err = bundle(capsys, repository, place)
        assert (code, said in err) == (1, True)
    assert bundle(capsys, repository, tmp_path / "x", "--binder", "no")[0] == 1
    assert bundle(capsys, repository, tmp_path / "x", "--homework", "hw7")[0] == 1


def test_the_bundle_of_this_repository(tmp_path, capsys):
    target = tmp_path / "students"
    code, out, err = bundle(capsys, ROOT, target)
    assert (code, "no solution, no hidden test" in out) == (0, True), err
    assert broken_links(target) == []
