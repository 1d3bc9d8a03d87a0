"""Install PyTorch without CUDA where there is no GPU for it: `python tools/install_torch.py [auto|default]`.

On Linux, plain pip takes a build of torch that needs CUDA libraries of several gigabytes. This asks pip first, without
installing, which build it would take. Where that build needs CUDA and there is no NVIDIA GPU, uv is asked for the CPU
build of the same version.
"""

import json
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

try:
    from packaging.requirements import Requirement
except ImportError:  # nothing is installed yet; every pip carries it. (To import pip keeps setuptools from loading.)
    from pip._vendor.packaging.requirements import Requirement  # type: ignore[assignment]

ROOT = Path(__file__).resolve().parents[1]
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install"]


def torch_requirement(pyproject: dict[str, Any]) -> str:
    """The requirement on torch in the table of a pyproject.toml, such as "torch==2.13.0"."""
    extras: dict[str, list[str]] = pyproject["project"]["optional-dependencies"]
    pins = [line for lines in extras.values() for line in lines if Requirement(line).name == "torch"]
    if len(pins) != 1:
        raise ValueError(f"pyproject.toml should ask for torch exactly once, but asks {len(pins)} times: {pins}")
    return pins[0]


def needs_cuda(report: dict[str, Any]) -> bool:
    """Whether the torch that `pip install --report` describes would bring CUDA packages to the machine it describes.

    A wheel may list CUDA packages for Linux only, so the markers are evaluated in the report's own environment.
    """
    torch = next(item["metadata"] for item in report["install"] if item["metadata"]["name"].lower() == "torch")
    if torch["version"].endswith("+cpu"):
        return False
    environment = {**report["environment"], "extra": ""}
    needed = [Requirement(line) for line in torch.get("requires_dist", [])]
    return any(
        requirement.name.lower().startswith(("nvidia", "cuda", "triton", "pytorch-triton"))
        and (requirement.marker is None or requirement.marker.evaluate(environment))
        for requirement in needed
    )


def is_installed(torch: str) -> bool:
    """Whether some build of the right version is here already."""
    try:
        return Requirement(torch).specifier.contains(metadata.version("torch"))
    except metadata.PackageNotFoundError:
        return False


def has_nvidia_gpu() -> bool:
    """Whether the NVIDIA driver lists at least one GPU."""
    smi = shutil.which("nvidia-smi")
    if smi is None:
        return False
    listing = subprocess.run([smi, "-L"], capture_output=True, text=True, check=False)
    return listing.returncode == 0 and "GPU" in listing.stdout


def ask_pip(torch: str) -> dict[str, Any]:
    """Pip's report on the build of torch that it would install here."""
    command = [*PIP, "--dry-run", "--no-deps", "--ignore-installed", "--quiet", "--report", "-", torch]
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    report: dict[str, Any] = json.loads(answer.stdout)
    return report


def install_cpu_build(torch: str) -> bool:
    """Install the CPU build with uv, which knows where it is kept. False if that did not work."""
    uv = [sys.executable, "-m", "uv", "pip", "install", "--python", sys.executable, "--torch-backend=cpu", torch]
    return all(subprocess.run(command, check=False).returncode == 0 for command in ([*PIP, "--quiet", "uv>=0.7"], uv))


def main(choice: str = "auto") -> None:
    if choice not in ("auto", "default"):
        raise SystemExit(f"TORCH={choice!r}: expected auto or default")
    torch = torch_requirement(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8")))
    if is_installed(torch):
        return
    if choice == "auto" and needs_cuda(ask_pip(torch)) and not has_nvidia_gpu():
        print(f"No NVIDIA GPU found: installing the CPU build of {torch}.", flush=True)
        if install_cpu_build(torch):
            return
        print(
            f"!! The CPU build of {torch} could not be installed.\n"
            "!! Falling back to pip's own choice: a CUDA build of several gigabytes. It works on a CPU, too.\n"
            "!! To avoid it, stop now (Ctrl-C) and use conda instead: conda env create -f environment.yml",
            flush=True,
        )
    subprocess.run([*PIP, torch], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
