"""The commands that install what is missing: complete, to be pasted as they are."""

from __future__ import annotations

import json
import shlex
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from autograder.console import Problem

EVERYTHING = ("student", "instructor")
#: What the commands of an instructor load sooner or later. They ask before the work, not after it.
FOR_INSTRUCTORS = ("nbgrader", "nbformat", "traitlets", "sqlalchemy")
#: Where a Linux tells its family (os-release) -> how it installs a package.
PACKAGE_MANAGERS = {
    "debian": "apt-get install", "ubuntu": "apt-get install", "fedora": "dnf install", "rhel": "dnf install",
    "suse": "zypper install", "arch": "pacman -S", "alpine": "apk add",
}  # fmt: skip


def with_pip(*extras: str) -> str:
    """The line that installs the project with these extras, from where it came, into the Python that runs now."""
    words = ",".join(extras or EVERYTHING)
    checkout = Path(__file__).resolve().parents[2]
    if (checkout / "pyproject.toml").is_file():
        source = ["-e", f"{checkout}[{words}]"]
    else:
        address = origin()
        source = [f"dpcourse[{words}] @ {address}" if address else f"dpcourse[{words}]"]
    return shlex.join([sys.executable, "-m", "pip", "install", *source])


def origin() -> str:
    """The address that pip installed the project from; "" for a package index."""
    try:
        record = json.loads(metadata.distribution("dpcourse").read_text("direct_url.json") or "{}")
    except (metadata.PackageNotFoundError, ValueError):
        return ""
    version_control = record.get("vcs_info", {})
    if not version_control:
        return str(record.get("url", ""))
    commit = version_control.get("commit_id", "")
    return f"{version_control['vcs']}+{record['url']}{f'@{commit}' if commit else ''}"


def with_system(package: str, root: Path = Path("/")) -> str:
    """The line that installs a package of the system."""
    try:
        lines = (root / "etc/os-release").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    told = dict(line.partition("=")[::2] for line in lines)
    families = f"{told.get('ID', '')} {told.get('ID_LIKE', '')}".replace('"', " ").split()
    manager = next((PACKAGE_MANAGERS[name] for name in families if name in PACKAGE_MANAGERS), "apt-get install")
    return f"sudo {manager} {package}"


def need_packages() -> None:
    """See that an instructor's command will not stop half-way."""
    missing = [name for name in FOR_INSTRUCTORS if find_spec(name) is None]
    if missing:
        raise Problem(not_installed(missing[0]))


def not_installed(module: str) -> str:
    """What to say of a module that is missing."""
    return f"this needs {module}, which is not installed: {with_pip()}"
