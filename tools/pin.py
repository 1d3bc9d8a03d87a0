"""Write constraints.txt anew: `python tools/pin.py student,instructor,test` (what `make constraints` runs).

Installs the package with the given extras, and no constraints, into a throw-away environment, and pins the outcome.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEADER = """\
# The exact version of everything that `make setup` installs, so that two machines get the same.
# Made by `make constraints`; not edited by hand. pyproject.toml says which versions would do.
"""


def pins(freeze: str) -> list[str]:
    """The lines of `pip freeze --all` that are worth pinning, without local versions: 2.13.0+cpu becomes 2.13.0."""
    lines = [line.split("+")[0] for line in freeze.splitlines() if "==" in line and not line.startswith(("-e", "#"))]
    left_out = ("dpcourse", "pip", "uv")
    return sorted((line for line in lines if line.split("==")[0].lower() not in left_out), key=str.lower)


def main(extras: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        python = str(Path(folder) / "bin" / "python")
        pip = [python, "-m", "pip", "--disable-pip-version-check"]
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([*pip, "install", "--quiet", "--upgrade", "pip>=24"], check=True)
        subprocess.run([python, ROOT / "tools" / "install_torch.py"], check=True)
        subprocess.run([*pip, "install", "--editable", f"{ROOT}[{extras}]"], check=True)
        freeze = subprocess.run([*pip, "freeze", "--all"], stdout=subprocess.PIPE, text=True, check=True).stdout
    (ROOT / "constraints.txt").write_text(HEADER + "\n".join(pins(freeze)) + "\n", encoding="utf-8")
    print(f"constraints.txt now pins {len(pins(freeze))} packages")


if __name__ == "__main__":
    main(*sys.argv[1:])
