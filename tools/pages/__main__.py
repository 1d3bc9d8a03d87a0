"""python -m tools.pages site|slides: see build.py."""

import argparse
from pathlib import Path

from tools.pages.build import ROOT, build

parser = argparse.ArgumentParser(description="Write the lectures as pages or as decks that need no network.")
parser.add_argument("kind", choices=["site", "slides"])
parser.add_argument("lectures", nargs="*", help="01_pure_dp or 01; all by default")
parser.add_argument("--out", type=Path, help="the folder to write to (build/site or build/slides)")
arguments = parser.parse_args()
out = arguments.out or ROOT / "build" / arguments.kind
build(arguments.kind, out, arguments.lectures)
print(f"open {out.relative_to(ROOT) if out.is_relative_to(ROOT) else out}/index.html in a browser")
