"""Which machine stands in a sandbox's way, and what is said of it: every kind, made as a folder that looks like it."""

import importlib
import json
import os
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from autograder.system.machine import Machine, cautions, foreign_system, obstacles

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def machine(tmp_path: Path) -> Callable[..., Machine]:
    """``machine({"proc/sys/...": "1"}, user=0)``: a machine with these files."""

    def made(files: dict[str, str], **settings: object) -> Machine:
        root = tmp_path / "root"
        for place, text in {"etc/os-release": "ID=debian", **files}.items():
            (root / place).parent.mkdir(parents=True, exist_ok=True)
            (root / place).write_text(text)
        common = {"environment": {"PATH": ""}, "system": "linux", "user": 1000, "prefix": tmp_path / "python"}
        return Machine(root=root, **{**common, **settings})  # type: ignore[arg-type]

    return made


def is_shell(lines: str) -> bool:
    """Can the lines be pasted into a shell as they are? (They are not run.)"""
    return subprocess.run(["bash", "-n"], input=lines, text=True, check=False, capture_output=True).returncode == 0


UBUNTU = {
    "etc/os-release": "ID=ubuntu\nVERSION_ID=24.04",
    "proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1\n",
    "proc/sys/user/max_user_namespaces": "63000\n",
}
KINDS = {
    "ubuntu_24_04": (UBUNTU, {}, ["AppArmor"], "flags=(unconfined)"),
    "hardened": ({"proc/sys/user/max_user_namespaces": "0"}, {}, ["user.max_user_namespaces"], "= 15000"),
    "old_debian": ({"proc/sys/kernel/unprivileged_userns_clone": "0"}, {},
                   ["kernel.unprivileged_userns_clone"], "sysctl --system"),
    "docker": ({".dockerenv": ""}, {}, ["Docker"], "--security-opt seccomp=unconfined"),
    "docker_on_ubuntu": ({".dockerenv": "", **UBUNTU}, {}, ["AppArmor", "Docker"], "on the machine that runs"),
    "podman": ({"run/.containerenv": ""}, {}, ["Podman"], "--security-opt label=disable"),
    "kubernetes": ({".dockerenv": ""}, {"environment": {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "PATH": ""}},
                   ["Kubernetes"], "seccompProfile"),
    "plain_debian": ({"proc/sys/user/max_user_namespaces": "63000"}, {}, [], ""),
    "apparmor_and_root": (UBUNTU, {"user": 0}, [], ""),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_what_stands_in_the_way_is_named_with_lines_that_help(machine, kind):
    files, settings, names, words = KINDS[kind]
    advice = obstacles(machine(files, **settings))
    assert [one.what for one in advice] == names
    assert words in "\n".join(one.how for one in advice)
    assert all(is_shell(one.how) for one in advice)


def test_the_profile_that_is_written_is_for_the_bubblewrap_that_is_used(machine, tmp_path):
    """Pasted with a folder in the place of /etc/apparmor.d, the line writes a profile that names the program."""
    program = tmp_path / "bin" / "bwrap"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (advice,) = obstacles(machine(UBUNTU, environment={"PATH": str(program.parent)}))
    line = advice.how.splitlines()[0].replace("sudo ", "").replace("/etc/apparmor.d", str(tmp_path))
    subprocess.run(["bash", "-c", line.partition(" && apparmor_parser")[0]], check=True, capture_output=True)
    profile = (tmp_path / "dpcourse-bwrap").read_text()
    assert f"profile dpcourse-bwrap {program} flags=(unconfined) {{\n  userns,\n}}" in profile


def test_a_profile_that_is_there_is_not_made_void_by_a_second_one(machine):
    files = {**UBUNTU, "etc/apparmor.d/bwrap-userns-restrict": "profile bwrap /usr/bin/bwrap flags=(x) {\n}\n"}
    (advice,) = obstacles(machine(files))
    assert "install -m 755 /usr/bin/bwrap /usr/local/bin/bwrap" in advice.how
    assert "profile dpcourse-bwrap /usr/local/bin/bwrap" in advice.how


def test_kubectl_is_told_the_whole_container(machine):
    (advice,) = obstacles(machine({}, environment={"KUBERNETES_SERVICE_HOST": "10.0.0.1"}))
    words = shlex.split(advice.how.splitlines()[0])
    (override,) = (word.partition("=")[2] for word in words if word.startswith("--overrides="))
    (container,) = json.loads(override)["spec"]["containers"]
    assert container["image"] == "IMAGE"
    assert container["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"]["allowPrivilegeEscalation"] is False


@pytest.mark.parametrize(
    ("system", "files", "name", "words"),
    [
        ("darwin", {}, "macOS", "limactl start"),
        ("win32", {}, "Windows", "wsl --install"),
        ("linux", {"proc/sys/kernel/osrelease": "4.4.0-19041-Microsoft"}, "WSL 1", "wsl --set-version Debian 2"),
    ],
)
def test_other_systems_are_told_what_to_do_instead(machine, system, files, name, words):
    advice = foreign_system(machine(files, system=system))
    assert (advice.what, words in advice.how, is_shell(advice.how)) == (name, True, True)


def test_wsl_2_is_a_linux(machine):
    assert foreign_system(machine({"proc/sys/kernel/osrelease": "5.15.90.1-microsoft-standard-WSL2"})) is None


def test_root_and_a_conda_base_are_cautions(machine, tmp_path):
    (tmp_path / "python" / "conda-meta").mkdir(parents=True)
    (tmp_path / "python" / "envs").mkdir()
    root, conda = cautions(machine({}, user=0), str(tmp_path))
    assert (root.what, conda.what) == ("root", "conda")
    assert "chown" not in root.how  # not of a folder that is no course: it may be anybody's
    (tmp_path / "nbgrader_config.py").touch()
    with_course, _ = cautions(machine({}, user=0), str(tmp_path))
    assert f"chown -R grader {tmp_path}" in with_course.how
    assert is_shell(with_course.how)
    assert "conda's base" in conda.said
    assert is_shell(root.how)
    assert is_shell(conda.how)
    assert list(cautions(machine({}, prefix=tmp_path / "other"), str(tmp_path))) == []


def required_packages() -> list[str]:
    """What pip installs with the library alone, by import names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    waiting, every = list(project["dependencies"]), set[str]()
    while waiting:
        requirement = Requirement(waiting.pop())
        name = requirement.name.lower()
        if name not in every and (requirement.marker is None or requirement.marker.evaluate({"extra": ""})):
            every.add(name)
            waiting += metadata.requires(name) or []
    modules = metadata.packages_distributions()
    return [module for module, names in modules.items() if every & {name.lower() for name in names}]


def test_the_doctor_runs_where_only_the_library_is_installed(tmp_path):
    """A Python that sees this project and what it requires, and none of what nbgrader or Jupyter bring."""
    for name in required_packages():
        place = Path(importlib.import_module(name).__file__ or "").parent
        for one in (place, place.with_name(f"{place.name}.libs")):
            if one.is_dir():
                (tmp_path / one.name).symlink_to(one)
    program = (
        f"import sys; sys.path[:0] = [{str(ROOT)!r}, {str(tmp_path)!r}]; "
        "from autograder.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    python = [os.path.realpath(sys.executable), "-I", "-S", "-c", program]
    said = subprocess.run(
        [*python, "doctor", "--course", str(tmp_path), "--json", "-"], capture_output=True, text=True, check=False
    )  # fmt: skip
    assert said.returncode == 1, said.stderr
    assert "Traceback" not in said.stderr
    found = {one["what"]: one for one in json.loads(said.stdout)["findings"]}
    assert (found["nbgrader"]["state"], found["nbgrader"]["said"]) == ("missing", "is not installed")
    assert "pip install" in found["nbgrader"]["how"]
    assert found["python"]["state"] == "fine"
    said = subprocess.run([*python, "grade", "hw1_pure_dp"], capture_output=True, text=True, check=False)
    assert (said.returncode, len(said.stderr.splitlines()), "pip install" in said.stderr) == (1, 1, True)
