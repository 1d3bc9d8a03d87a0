"""For students: run the notebook, and put the public checks to every function in it.

Grading asks new questions of the same kind.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from autograder.console import Problem, bar, tell, without_controls, write_json

EXAMPLE = "dpcourse check hw1_pure_dp.ipynb"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``dpcourse check``."""
    parser.add_argument("notebook", metavar="NOTEBOOK", help="your homework")


def run(options: argparse.Namespace) -> int:
    """Show each verdict; 1 if there is still something to do."""
    path = Path(options.notebook)
    if not path.exists():
        raise Problem(f"there is no file {options.notebook!r}: give the name of your notebook")
    if path.suffix != ".ipynb" or not path.is_file():
        raise Problem(f"{options.notebook!r} is no notebook: give the name of a file that ends in .ipynb")
    from autograder.examine.own_notebook import check_notebook

    with bar("checking") as shown_on:
        verdicts = check_notebook(path, progress=lambda _: shown_on.update(1))
    passed = sum(verdict.passed for verdict in verdicts)
    for verdict in verdicts:
        tell(options, without_controls(f"{'+' if verdict.passed else '-'} {verdict}"))
    tell(options, f"{passed} of {len(verdicts)} tasks pass their public checks.")
    shown = ("task", "status", "misconception", "message")
    write_json(options.json, [{name: getattr(verdict, name) for name in shown} for verdict in verdicts])
    return 0 if verdicts and passed == len(verdicts) else 1
