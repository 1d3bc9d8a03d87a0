"""python -m benchmarks [--write]: measure every figure, print the table, and with --write put it into the README."""

from __future__ import annotations

import argparse
import pathlib
import sys

from benchmarks import accounting, adaptive, explorers, grading, learning, processes, sampling, sgd
from benchmarks.figures import table

README = pathlib.Path(__file__).parent.parent / "README.md"
START, END = "<!-- figures: written by `python -m benchmarks --write` -->", "<!-- end of figures -->"


def merged(old: str, new: str) -> str:
    """The old table with the rows of the new one in place of theirs; rows that are new come last."""
    if not old:
        return new
    rows = {line.split("|")[1]: line for line in old.splitlines()} | {
        line.split("|")[1]: line for line in new.splitlines()
    }
    return "\n".join(rows.values())


PARTS = {
    part.__name__.split(".")[-1]: part
    for part in (accounting, sampling, processes, explorers, sgd, learning, adaptive, grading)
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="replace the table in README.md by what was measured now")
    parser.add_argument(
        "--only", nargs="+", choices=sorted(PARTS), default=list(PARTS), help="measure these parts only"
    )
    arguments = parser.parse_args()
    figures = []
    for part in (PARTS[name] for name in arguments.only):
        print(f"{part.__name__.removeprefix('benchmarks.')} ...", flush=True)
        figures += part.run()
    print("\n" + table(figures))
    missed = [figure for figure in figures if not figure.holds]
    for figure in missed:
        print(f"NOT KEPT: {figure.what}: {figure.value:.3g}, promised at most {figure.limit:g}")
    if arguments.write:
        before, _, rest = README.read_text().partition(START)
        _, _, after = rest.partition(END)
        if not after:
            raise SystemExit(f"README.md lacks the lines {START!r} and {END!r}")
        old = rest.partition(END)[0].strip() if len(arguments.only) < len(PARTS) else ""
        README.write_text(f"{before}{START}\n{merged(old, table(figures))}\n{END}{after}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
