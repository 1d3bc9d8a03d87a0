"""Run what a README shows, and print what does not hold: `python -m tools.check_readme README.md`, from the root.

- Blocks marked python are run, all in one namespace. A comment behind an expression is compared with its value (behind
  a print, with what it prints): `loss(52)  # 0.5` holds when the value, rounded to the digits shown, is 0.5. The number
  comes first in its comment; `# -> text` is compared as text, too, and `# text ...` with the beginning of the text.
- Blocks marked console, bash or sh are read command by command. `make x` has to be a target, a program has to have its
  `--help`, `python ...` is run. A command that nobody checks is a fault; so is a block whose language nobody knows.
- Relative links and `make x` in running text have to exist.
"""

import ast
import contextlib
import io
import math
import re
import shlex
import subprocess
import sys
import tempfile
import tokenize
import tomllib
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

SHELLS = ("console", "bash", "sh", "shell")
PROSE = ("text", "bibtex", "yaml", "toml", "json", "mermaid")
NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d[\d_]*|(?=\.\d))(?:\.\d+)?(?:[eE][-+]?\d+)?|[-+]?inf\b")
SECONDS = 300


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the line of the file on which its text starts, and its text."""

    language: str
    line: int
    text: str


def blocks(markdown: str) -> list[Block]:
    """The fenced blocks of a Markdown text."""
    fence = re.compile(r"^(?P<fence>`{3,})(?P<language>[^\n`]*)\n(?P<text>.*?)^(?P=fence)[ ]*$", re.M | re.S)
    return [
        Block(match["language"].strip().lower(), markdown[: match.start("text")].count("\n") + 1, match["text"])
        for match in fence.finditer(markdown)
    ]


# --- Python -----------------------------------------------------------------------------------------------------------


def rounds_to(value: float, shown: str) -> bool:
    """Whether a value, rounded to the digits of the number shown, is that number: 2.3816 is 2.38, but not 2.39."""
    digits = Decimal(shown.replace("_", "").replace(",", ""))
    if not digits.is_finite() or not math.isfinite(value):
        return float(digits) == value
    half_a_digit = Decimal(1).scaleb(int(digits.as_tuple().exponent)) / 2
    return abs(Decimal(value) - digits) <= half_a_digit * Decimal("1.000001")


def numbers(value: Any) -> list[float] | None:
    """A number, or several in a sequence or an array, as a list; None for anything else."""
    if isinstance(value, str | bool):
        return None
    try:
        return [float(value)]
    except (TypeError, ValueError):
        pass
    try:
        return [float(item) for item in value]
    except (TypeError, ValueError):
        return None


def agrees(value: Any, shown: str) -> bool:
    """Whether a value is what the comment shows."""
    if shown.endswith("..."):
        return str(value).startswith(shown.removesuffix("...").rstrip())
    if shown in (str(value).strip(), repr(value)):
        return True
    if isinstance(value, str):  # printed
        with contextlib.suppress(ValueError):
            value = float(value)
    items = numbers(value)
    if items is None:
        return False
    bracketed = re.match(r"\w*[(\[].*?[)\]]+", shown)
    if not bracketed and not NUMBER.match(shown):
        return False
    shown_numbers = NUMBER.findall(bracketed.group()) if bracketed else NUMBER.findall(shown)[: len(items)]
    return len(items) == len(shown_numbers) and all(map(rounds_to, items, shown_numbers))


def expectation(comment: str, of_a_value: bool) -> str | None:
    """What a comment says about the value before it: all that follows an arrow, or any text with a digit. Else None."""
    text = comment.lstrip("#").strip()
    for arrow in ("->", "→", "=>"):
        if text.startswith(arrow):
            return text.removeprefix(arrow).strip()
    return text if of_a_value and re.search(r"\d", text) else None


def run_statement(statement: ast.stmt, namespace: dict[str, Any]) -> Any:
    """Run one statement: the value of an expression or of an assignment to a name; if that is None, what it printed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        if isinstance(statement, ast.Expr):
            value = eval(compile(ast.Expression(statement.value), "README", "eval"), namespace)
        else:
            exec(compile(ast.Module([statement], type_ignores=[]), "README", "exec"), namespace)
            simple = isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
            value = namespace[statement.targets[0].id] if simple else None  # type: ignore[attr-defined]
    return printed.getvalue().strip() if value is None else value


def python_faults(items: list[Block]) -> Iterator[str]:
    """Run the Python blocks in one namespace: the comments that are not true, and the first statement that raises."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in items:
        if block.language not in ("python", "py"):
            continue
        try:
            statements = ast.parse(block.text).body
            tokens = list(tokenize.generate_tokens(io.StringIO(block.text).readline))
        except (SyntaxError, tokenize.TokenError) as error:
            yield f"line {block.line}: {error!r}"
            return
        comments = {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}
        last_on_line = {statement.end_lineno: statement for statement in statements}
        for statement in statements:
            end = statement.end_lineno or statement.lineno
            where = f"line {block.line + end - 1}: {ast.unparse(statement)}"
            try:
                value = run_statement(statement, namespace)
            except Exception as error:
                yield f"{where}\n    raised {''.join(traceback.format_exception_only(error)).strip()}"
                return
            if end in comments and last_on_line[end] is statement:
                shown = expectation(comments[end], isinstance(statement, ast.Expr))
                if shown is not None and not agrees(value, shown):
                    yield f"{where}\n    shows {shown!r}, but is {value!r}"


# --- commands ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Command:
    """One command of a shell block, and the lines of output that are shown below it."""

    line: int
    words: list[str]
    output: list[str]


def commands(block: Block) -> list[Command]:
    """The commands of a shell block. Where some lines start with a prompt `$ `, the others are output."""
    prompted = any(line.startswith("$ ") for line in block.text.splitlines())
    lines: list[tuple[int, str, list[str]]] = []
    continued = False
    for number, line in enumerate(block.text.splitlines(), block.line):
        if continued:
            lines[-1] = (lines[-1][0], lines[-1][1] + line.strip(), [])
        elif not prompted or line.startswith("$ "):
            lines.append((number, line.removeprefix("$ ").strip(), []))
        elif line.strip():
            lines[-1][2].append(line.strip())
        continued = bool(lines) and lines[-1][1].endswith("\\")
        if continued:
            lines[-1] = (lines[-1][0], lines[-1][1].removesuffix("\\"), [])
    items = []
    for number, text, output in lines:
        lexer = shlex.shlex(text, posix=True, punctuation_chars="&;|")
        lexer.whitespace_split = True
        words: list[str] = []
        for word in [*lexer, ";"]:
            if word not in ("&&", ";"):
                words.append(word)
            elif words:
                items.append(Command(number, words, output))
                words = []
    return items


def run(words: list[str], root: Path) -> tuple[int, str]:
    """Run a command in the repository: its exit code and what it printed."""
    try:
        done = subprocess.run(words, cwd=root, input="", capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return 124, f"took more than {SECONDS} seconds"
    return done.returncode, done.stdout + done.stderr


def check_make(words: list[str], root: Path) -> str | None:
    code, said = run(["make", "--dry-run", *words[1:]], root)
    return said if code else None


def check_python(words: list[str], root: Path) -> str | None:
    if words[1:3] == ["-m", "pip"]:
        return check_pip(words[2:], root)
    if words[1:3] == ["-m", "venv"]:
        return None
    code, said = run([sys.executable, *words[1:]], root)
    return said or f"exit code {code}" if code else None


def check_git(words: list[str], root: Path) -> str | None:
    if words[1:2] == ["clone"]:
        is_url = len(words) > 2 and re.fullmatch(r"(https://|git@)[\w.-]+[/:][\w./<>-]+", words[2])
        return None if is_url else "git clone needs an address"
    code, said = run(["git", *words[1:2], "-h"], root)
    return None if code == 129 else said  # git's exit code for "usage"


def check_cd(words: list[str], root: Path) -> str | None:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["name"]
    return None if words[-1] == project or (root / words[-1]).is_dir() else f"no folder {words[-1]}"


def check_conda(words: list[str], root: Path) -> str | None:
    name = re.search(r"^name: *(\S+)", (root / "environment.yml").read_text(encoding="utf-8"), re.MULTILINE)
    if words[1:2] == ["activate"]:
        return None if name and words[2:] == [name[1]] else f"the environment is called {name and name[1]}"
    if words[1:3] in (["env", "create"], ["env", "update"]):
        file = words[words.index("-f") + 1] if "-f" in words else "environment.yml"
        return None if (root / file).is_file() else f"no file {file}"
    return "not a conda command that is checked"


def check_pip(words: list[str], root: Path) -> str | None:
    """`pip install` of this package with extras that it has, or of a requirement as pyproject.toml states it."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    known = {line for lines in [project["dependencies"], *extras.values()] for line in lines}
    if words[0] == "uv":
        words = words[1:]
    if words[1:2] != ["install"]:
        return "only pip install is checked"
    arguments = iter(words[2:])
    for word in arguments:
        if word in ("-c", "-r", "--constraint", "--requirement"):
            file = next(arguments, "")
            if not (root / file).is_file():
                return f"no file {file!r}"
        elif local := re.fullmatch(r"\.(?:\[([\w,]+)\])?", word):
            missing = [extra for extra in (local[1] or "").split(",") if extra and extra not in extras]
            if missing:
                return f"pyproject.toml has no extra {missing[0]!r}"
        elif not word.startswith("-") and word not in known:
            return f"pyproject.toml does not ask for {word!r}"
    return None


def check_apt(words: list[str], root: Path) -> str | None:
    offered = re.search(r"^SYSTEM *:= *(.*)", (root / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    packages = {pair.split(":")[1] for pair in offered[1].split()} if offered else set()
    unknown = [word for word in words[2:] if not word.startswith("-") and word not in packages]
    return f"the Makefile does not know the package {unknown[0]}" if unknown else None


def check_program(words: list[str], root: Path) -> str | None:
    """A program of this environment answers to --help, with the sub-command shown."""
    program = Path(sys.executable).parent / words[0]
    if not program.exists():
        return "nobody checks this command"
    plain = next((i for i, word in enumerate(words) if word.startswith("-")), len(words))
    code, said = run([str(program), *words[1:plain], "--help"], root)
    if code:
        return said
    if plain > 1 and said == run([str(program), "--help"], root)[1]:  # traitlets shows the general help for any word
        return f"{words[0]} has no sub-command {words[1]}"
    return None


def check_jupyter(words: list[str], root: Path) -> str | None:
    missing = [word for word in words[2:] if not word.startswith("-") and not (root / word).exists()]
    return f"no file or folder {missing[0]}" if missing else check_program([f"jupyter-{words[1]}"], root)


CHECKS: dict[str, Callable[[list[str], Path], str | None]] = {
    "apt": check_apt,
    "apt-get": check_apt,
    "cd": check_cd,
    "conda": check_conda,
    "git": check_git,
    "jupyter": check_jupyter,
    "make": check_make,
    "mamba": check_conda,
    "pip": check_pip,
    "python": check_python,
    "python3": check_python,
    "uv": check_pip,
}


def command_faults(items: list[Block], root: Path) -> Iterator[str]:
    """The commands of the shell blocks that would not work, and those that nobody checks."""
    for block in items:
        if block.language not in SHELLS:
            continue
        for command in commands(block):
            words = list(command.words)
            while words and (words[0] == "sudo" or re.fullmatch(r"\w+=.*", words[0])):
                words = words[1:]
            where = f"line {command.line}: {shlex.join(command.words)}"
            fault = CHECKS.get(words[0], check_program)(words, root) if words else "not a command"
            if fault:
                yield f"{where}\n    {fault.strip()}"
            elif command.output:
                yield f"{where}\n    shows output that nobody checks: mark it as a block of text"


# --- the rest of the page ---------------------------------------------------------------------------------------------


def prose_faults(markdown: str, root: Path) -> Iterator[str]:
    """Blocks in languages that nobody checks, links to files that are not there, `make x` where there is no x."""
    items = blocks(markdown)
    for block in items:
        if block.language not in ("python", "py", *SHELLS, *PROSE):
            yield f"line {block.line}: nobody checks a block of {block.language or 'no language'}; plain text is `text`"
    for block in items:
        markdown = markdown.replace(block.text, "\n" * block.text.count("\n"))
    for link in re.findall(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"", markdown):
        target = "".join(link).split("#")[0]
        if target and not re.match(r"[a-z]+:", target) and not (root / target).exists():
            yield f"links to {target}, which is not there"
    for target in dict.fromkeys(re.findall(r"`make ([a-z]+)", markdown)):
        if fault := check_make(["make", target], root):
            yield f"names `make {target}`\n    {fault.strip()}"


def faults(markdown: str, root: Path) -> list[str]:
    """Everything that is wrong with a README."""
    items = blocks(markdown)
    with tempfile.TemporaryDirectory() as elsewhere, contextlib.chdir(elsewhere):  # what the examples write goes there
        examples = list(python_faults(items))
    return [*prose_faults(markdown, root), *examples, *command_faults(items, root)]


def main(path: str = "README.md") -> int:
    items = faults(Path(path).read_text(encoding="utf-8"), Path.cwd())
    print("\n".join(items) or f"{path}: everything that it shows works")
    return 1 if items else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
