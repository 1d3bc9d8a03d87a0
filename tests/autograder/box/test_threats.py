"""The page of threats: each promise names tests, and they are there."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "autograder" / "THREATS.md").read_text(encoding="utf-8")
PROMISES = [
    line.strip("|").split("|")
    for line in PAGE.partition("## What is promised")[2].partition("## What is not promised")[0].splitlines()
    if line.startswith("|") and not line.startswith(("|---", "| promise "))
]


def functions_in(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_the_page_has_promises():
    assert len(PROMISES) >= 20


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise[0].strip()[:50])
def test_each_promise_names_tests_that_exist(promise):
    _, tests = promise
    named = re.findall(r"`([\w/]+\.py)::(test_\w+)`", tests)
    assert named
    for place, function in named:
        assert function in functions_in(ROOT / "tests" / place), (place, function)


def test_the_guides_lead_to_the_page():
    for guide in ("README.md", "autograder/README.md"):
        assert "THREATS.md" in (ROOT / guide).read_text(encoding="utf-8")


def test_the_paths_it_speaks_of_exist():
    for place in re.findall(r"`((?:autograder|tests|exercises)/[\w/.]*)`", PAGE):
        assert (ROOT / place).exists(), place
