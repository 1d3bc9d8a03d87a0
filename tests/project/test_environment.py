"""pyproject.toml, constraints.txt and environment.yml describe one environment."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from testing import ROOT

CONDA_NAMES = {"pytorch-cpu": "torch", "matplotlib-base": "matplotlib"}
CONDA_ONLY = {"python", "pip"}


def pip_requirements(pyproject: dict[str, Any], *extras: str) -> dict[str, SpecifierSet]:
    """What pyproject.toml asks for: package -> versions."""
    project = pyproject["project"]
    lines = project["dependencies"] + [line for extra in extras for line in project["optional-dependencies"][extra]]
    return {canonicalize_name(Requirement(line).name): Requirement(line).specifier for line in lines}


def conda_requirements(environment: dict[str, Any]) -> dict[str, SpecifierSet]:
    """What environment.yml asks for, under pip's names. Conda's `a=1.2` means 1.2 and all that starts with `1.2.`."""
    found = {}
    lines = [line for line in environment["dependencies"] if isinstance(line, str)]
    by_pip = [line for part in environment["dependencies"] if isinstance(part, dict) for line in part["pip"]]
    for line in [*lines, *(line for line in by_pip if not line.startswith("-e"))]:
        name, versions = re.fullmatch(r"([\w.-]+)\s*(.*)", line).groups()
        versions = re.sub(r"^=(?!=)([\d.]+)$", r"==\1.*", versions)
        found[canonicalize_name(CONDA_NAMES.get(name, name))] = SpecifierSet(versions)
    return found


def pins(constraints: str) -> dict[str, Version]:
    """What constraints.txt pins: package -> version."""
    lines = [line for line in constraints.splitlines() if line and not line.startswith("#")]
    return {canonicalize_name(name): Version(version) for name, version in (line.split("==") for line in lines)}


def lower_bounds(versions: SpecifierSet) -> set[str]:
    return {specifier.version for specifier in versions if specifier.operator == ">="}


def disagreements(
    pip: dict[str, SpecifierSet], conda: dict[str, SpecifierSet], pinned: dict[str, Version]
) -> Iterator[str]:
    """Everything in which the three files contradict each other. Conda need not pin, but has to allow the pin."""
    for name in sorted(pip.keys() - conda.keys()):
        yield f"{name} is in pyproject.toml but not in environment.yml"
    for name in sorted(conda.keys() - pip.keys() - CONDA_ONLY):
        yield f"{name} is in environment.yml but not in pyproject.toml"
    for name in sorted(pip.keys() & conda.keys()):
        if name in pinned and pinned[name] not in conda[name]:
            yield f"{name}: environment.yml asks for {conda[name]}, constraints.txt pins {pinned[name]}"
        if lower_bounds(pip[name]) != lower_bounds(conda[name]):
            yield f"{name}: pyproject.toml asks for {pip[name]}, environment.yml for {conda[name]}"


def unpinned(pip: dict[str, SpecifierSet], pinned: dict[str, Version]) -> Iterator[str]:
    """Every requirement of pyproject.toml that constraints.txt does not pin, or pins to a forbidden version."""
    for name, versions in sorted(pip.items()):
        if name not in pinned:
            yield f"{name} has no pin in constraints.txt"
        elif pinned[name] not in versions:
            yield f"{name}: pyproject.toml asks for {versions}, constraints.txt pins {pinned[name]}"


@pytest.fixture(scope="module")
def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def environment() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def pinned() -> dict[str, Version]:
    return pins((ROOT / "constraints.txt").read_text(encoding="utf-8"))


def test_conda_and_pip_agree(pyproject, environment, pinned):
    wanted = pip_requirements(pyproject, "student", "instructor")
    assert list(disagreements(wanted, conda_requirements(environment), pinned)) == []


def test_every_requirement_is_pinned(pyproject, pinned):
    assert list(unpinned(pip_requirements(pyproject, "student", "instructor", "test"), pinned)) == []


def test_pins_are_the_same_on_every_machine(pinned):
    assert [name for name, version in pinned.items() if version.local] == []
    assert "dpcourse" not in pinned


def test_conda_installs_the_package_and_the_cpu_build(environment, pyproject):
    assert environment["name"] == pyproject["project"]["name"]
    assert environment["channels"][0] == "conda-forge"
    (by_pip,) = (part["pip"] for part in environment["dependencies"] if isinstance(part, dict))
    assert "-e ." in by_pip  # in this spelling Binder stages the whole repository first
    assert any(str(line).startswith("pytorch-cpu") for line in environment["dependencies"])
    oldest = str(pyproject["project"]["requires-python"]).removeprefix(">=")
    assert f"python={oldest}" in environment["dependencies"]


def test_binder_reads_the_root():
    assert not (ROOT / "binder").exists()  # repo2docker would then ignore the environment.yml here
    assert not (ROOT / ".binder").exists()
    assert Path(ROOT / "postBuild").stat().st_mode & 0o111, "postBuild has to be executable"


@pytest.mark.parametrize(
    ("pip", "conda", "pin", "complaint"),
    [
        ("numpy>=2", "numpy>=2", "numpy==2.4", None),
        ("torch==2.13.0", "pytorch-cpu=2.13.0", "torch==2.13.0", None),
        ("torch==2.13.0", "pytorch-cpu=2.12.0", "torch==2.13.0", "environment.yml asks for"),
        ("numpy>=2", "scipy>=2", "numpy==2.4", "not in environment.yml"),
        ("numpy>=2", "numpy>=2,<2.4", "numpy==2.4", "constraints.txt pins"),
        ("numpy>=2", "numpy>=1.26", "numpy==2.4", "environment.yml for"),
    ],
)
def test_the_comparison_can_fail(pip, conda, pin, complaint):
    project = {"project": {"dependencies": [pip], "optional-dependencies": {}}}
    found = list(disagreements(pip_requirements(project), conda_requirements({"dependencies": [conda]}), pins(pin)))
    assert (not found) if complaint is None else any(complaint in line for line in found)


@pytest.mark.parametrize(("pin", "complaint"), [("numpy==1.26", "pins 1.26"), ("scipy==1.17", "no pin")])
def test_the_pin_check_can_fail(pin, complaint):
    project = {"project": {"dependencies": ["numpy>=2"], "optional-dependencies": {}}}
    assert complaint in "".join(unpinned(pip_requirements(project), pins(pin)))
