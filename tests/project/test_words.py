"""One word for one thing: the names in the code keep to the glossary of CONTRIBUTING."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from testing import ROOT

PARTICIPLES = {"found", "given", "kept", "made", "told"}
ROOMS = ("dpcourse", "tools", "studies", "experiments", "benchmarks", "testing")
#: Homeworks are written in the students' words, proofs have givens, and submissions are anybody's code.
EXEMPT = ("dpcourse/tasks/", "testing/submissions/", "testing/attacks/")


def glossary() -> dict[str, str]:
    """Banned word -> the word that stands for it."""
    table = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## Words")[1].split("\n## ")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line.startswith("| `")
    ]
    return {banned: row[0] for row in rows for banned in re.findall(r"`(\w+)`", row[2])}


def bound_names(source: str) -> Iterator[tuple[int, str]]:
    """Every name that a file gives to a variable, an argument, a function, a class or a keyword of a call."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.lineno, node.name


def faults(path: str, source: str, banned: set[str]) -> Iterator[str]:
    yield from (f"{path}:{line}: {name}" for line, name in bound_names(source) if name.strip("_") in banned)


def test_names_keep_to_the_glossary():
    banned = PARTICIPLES | set(glossary())
    complaints, files = [], 0
    for path in (path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(EXEMPT):
            files += 1
            complaints += faults(name, path.read_text(encoding="utf-8"), banned)
    assert files > 150
    assert complaints == []


def test_the_glossary_names_words_that_are_used():
    words = glossary()
    assert {"eps", "relation", "privatise", "misconception"} <= set(words)
    table = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## Words")[1].split("\n## ")[0]
    wanted = set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (.*?) \|", table, re.MULTILINE))))
    code = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "dpcourse").rglob("*.py"))
    assert {word for word in wanted if not re.search(rf"\b{word}", code)} <= {
        "submission",
        "roster",
    }  # the autograder's


def test_module_names_say_what_is_inside():
    riddles = {
        "door",
        "rails",
        "harmless",
        "later",
        "handed",
        "shown",
        "widths",
        "given",
        "parts",
        "weighing",
        "moving",
        "words",
    }
    modules = {path.stem: path for path in (ROOT / "dpcourse").rglob("*.py")}
    assert {name: path for name, path in modules.items() if name in riddles and "tasks" not in path.parts} == {}


def test_the_check_of_names_can_fail():
    banned = {"found", "eps"}
    assert list(faults("a.py", "found = 1", banned)) == ["a.py:1: found"]
    assert list(faults("a.py", "def f(eps, *, x):\n    _found: int = 2", banned)) != []
    assert list(faults("a.py", "print(found)", banned)) == []


def test_every_room_is_described():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rooms = [path for path in (ROOT / "dpcourse").iterdir() if (path / "__init__.py").exists()]
    assert [path.name for path in rooms if f"`dpcourse/{path.name}/`" not in text] == []
    described = re.findall(r"^\| `([\w/]+/)` \|", text, re.MULTILINE)
    assert [name for name in described if not Path(ROOT / name).is_dir()] == []
