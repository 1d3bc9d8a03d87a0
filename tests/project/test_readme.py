"""What the README shows works; and the checker of that can fail."""

import subprocess
import sys
from pathlib import Path

import pytest

from testing import ROOT
from tools.check_readme import agrees, blocks, command_faults, commands, faults, prose_faults, python_faults, rounds_to


@pytest.mark.slow
def test_everything_that_the_readme_shows_works():
    command = [sys.executable, "-m", "tools.check_readme", "README.md"]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_contributing_holds_too():
    assert faults((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), ROOT) == []


def python(text: str) -> list[str]:
    return list(python_faults(blocks(f"# Title\n\n```python\n{text}\n```\n")))


def shell(text: str, root: Path = ROOT) -> list[str]:
    return list(command_faults(blocks(f"```console\n{text}\n```\n"), root))


@pytest.mark.parametrize(
    "text",
    [
        "1 / 2  # 0.5",
        "2.3816  # 2.38",
        "2.3816  # -> 2.38",
        "x = 3\nx * x  # 9, of course",
        "[0.251, 0.749]  # [0.25, 0.75]",
        "(1, 2.04)  # 1, 2.0",
        "0.00001234  # 1.2e-5",
        "10_000_000  # 10,000,000",
        "float('inf')  # inf",
        "print(2.3816)  # 2.38",
        "print('eps = 2.38')  # eps = 2.38",
        "'a' + 'b'  # -> ab",
        "1 < 2  # -> True",
        "x = 1.26  # -> 1.3",
        "x = 5  # the 100 steps of the lecture",
        "max(\n    1,\n    2,\n)  # 2",
        "1; 2  # 2",
        "abs(1)  # sliders, live",
    ],
)
def test_true_comments_pass(text):
    assert python(text) == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("1 / 2  # 0.6", "shows '0.6', but is 0.5"),
        ("2.3816  # 2.39", "is 2.3816"),
        ("2.3816  # 2.380", "is 2.3816"),
        ("2.3816  # about 2.4", "is 2.3816"),
        ("[0.25, 0.75]  # [0.25]", "is [0.25, 0.75]"),
        ("print(2.5)  # 2.6", "is '2.5'"),
        ("print('eps = 2.38')  # eps = 2.37", "is 'eps = 2.38'"),
        ("1 < 2  # -> False", "is True"),
        ("object()  # 0.5", "is <object"),
        ("x = 1.26  # -> 1.2", "is 1.26"),
        ("import math  # -> 3", "is ''"),
        ("1 / 0", "ZeroDivisionError"),
        ("def f(:", "SyntaxError"),
        ("'''", "SyntaxError"),
    ],
)
def test_false_comments_and_raising_blocks_fail(text, complaint):
    found = python(text)
    assert len(found) == 1
    assert complaint in found[0]


def test_blocks_share_a_namespace_and_lines_are_those_of_the_file():
    text = "```python\nx = 2\n```\ntext\n```python\n\nx  # 3\n```\n"
    assert list(python_faults(blocks(text))) == ["line 7: x\n    shows '3', but is 2"]


@pytest.mark.parametrize(
    ("value", "shown", "expected"),
    [(2.385, "2.38", True), (2.375, "2.38", True), (2.3749, "2.38", False), (-0.5, "-0.5", True), (0.5, "-0.5", False),
     (float("nan"), "0.5", False), (float("inf"), "9", False), (14_062.3, "14_062", True), (0.5, "5e-1", True)],
)  # fmt: skip
def test_rounding(value, shown, expected):
    assert rounds_to(value, shown) is expected


def test_a_number_is_not_a_truth_value():
    assert not agrees(True, "1")


@pytest.mark.parametrize(
    "text",
    [
        "make setup",
        'make lab LAB_ARGS="--no-browser --port 8899"',
        "$ CI=true make test  # a comment",
        "git clone https://example.org/dpcourse.git && cd dpcourse && make lab",
        "git status",
        "python -c 'print(1)'",
        "python -m this",
        "conda env create -f environment.yml; conda activate dpcourse",
        "pip install -c constraints.txt -e '.[student,test]'",
        "uv pip install --torch-backend=cpu torch==2.13.0",
        "python -m pip install .",
        "sudo apt-get install -y chromium \\\n    bubblewrap",
        "nbgrader generate_assignment --help",
        "jupyter lab tests",
    ],
)
def test_commands_that_work_pass(text):
    assert shell(text) == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("make coffee", "coffee"),
        ("make setup && make coffee", "coffee"),
        ("git clone", "address"),
        ("git brew", "not a git command"),
        ("cd nowhere", "no folder nowhere"),
        ("python -c 'import nothing_of_that_name'", "ModuleNotFoundError"),
        ("python no_such_file.py", "No such file"),
        ("conda activate other", "called dpcourse"),
        ("conda env create -f other.yml", "no file other.yml"),
        ("pip install -e .[teacher]", "no extra 'teacher'"),
        ("pip install torch==1.0", "does not ask for 'torch==1.0'"),
        ("sudo apt-get install sl", "does not know the package sl"),
        ("nbgrader brew_coffee", "no sub-command brew_coffee"),
        ("jupyter lab nowhere", "no file or folder nowhere"),
        ("curl https://example.org", "nobody checks this command"),
        ("make help | head", ""),
        ("$ make setup\nall is well", "output that nobody checks"),
    ],
)
def test_commands_that_do_not_work_fail(text, complaint):
    found = shell(text)
    assert len(found) == 1
    assert complaint in found[0]


def test_commands_are_read_line_by_line():
    block = blocks("```console\n$ make setup \\\n    TORCH=default\n$ make help\noutput\n```")[0]
    assert [(command.line, command.words, command.output) for command in commands(block)] == [
        (2, ["make", "setup", "TORCH=default"], []),
        (4, ["make", "help"], ["output"]),
    ]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[license](LICENSE), [part](LICENSE#x), [web](https://example.org), [here](#top) and `make setup`", None),
        ("[license](NO-LICENSE)", "NO-LICENSE"),
        ('<img src="no.svg">', "no.svg"),
        ("Say `make coffee`.", "coffee"),
        ("```\nx\n```", "no language"),
        ("```fortran\nx\n```", "fortran"),
        ("```text\n`make coffee`\n```", None),
    ],
)
def test_the_text_around_is_checked(text, complaint):
    found = list(prose_faults(text, ROOT))
    assert (found == []) if complaint is None else (len(found) == 1 and complaint in found[0])
