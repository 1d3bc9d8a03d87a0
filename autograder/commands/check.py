"""``dpcourse check``, for students."""

from __future__ import annotations

from pathlib import Path

import click

from autograder.commands.options import command, json_option
from autograder.console import Output, Problem, bar, without_controls


@command(example="dpcourse check hw1_pure_dp.ipynb")
@click.argument("notebook")
@json_option
def check(notebook: str, output: Output) -> int:
    """For students: run the notebook, and put the public checks to every function in it.

    Grading asks new questions of the same kind.
    """
    path = Path(notebook)
    if not path.exists():
        raise Problem(f"there is no file {notebook!r}: give the name of your notebook")
    if path.suffix != ".ipynb" or not path.is_file():
        raise Problem(f"{notebook!r} is no notebook: give the name of a file that ends in .ipynb")
    from autograder.examine.own_notebook import check_notebook

    with bar("checking") as advance:
        verdicts = check_notebook(path, progress=advance)
    passed = sum(verdict.passed for verdict in verdicts)
    for verdict in verdicts:
        output.tell(without_controls(f"{'+' if verdict.passed else '-'} {verdict}"))
    output.tell(f"{passed} of {len(verdicts)} tasks pass their public checks.")
    fields = ("task", "status", "mistake", "message")
    output.write_json([{name: getattr(verdict, name) for name in fields} for verdict in verdicts])
    return 0 if verdicts and passed == len(verdicts) else 1
