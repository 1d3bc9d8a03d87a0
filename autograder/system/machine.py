"""What a machine allows: which kinds of it keep bubblewrap from making a sandbox, and what helps there.

A machine is a folder that looks like its root, and an environment. So every kind can be looked at, also in a test.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from autograder.system.install import with_pip

COURSES = ("nbgrader_config.py", "exercises/nbgrader_config.py")
WORKER = """\
# or grade on a Linux machine of your lab, from here. There:
#   dask scheduler
#   dask worker tcp://127.0.0.1:8786 --nthreads 1
# and here, with its name for HOST:
#   dpcourse grade --cluster tcp://HOST:8786"""
RISK = """\
# The risk: a program in this container may then use every system call, so more of the kernel is in reach of it. The
# sandbox keeps a filter of its own. Use such a container for grading only, as an ordinary user, never --privileged."""
FOR_HOST = "# on the machine that runs this container:\n"


@dataclass(frozen=True)
class Machine:
    """``prefix``: of the Python itself, not of a virtual environment. ``user``: its number, 0 for root."""

    root: Path = Path("/")
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    system: str = sys.platform
    user: int = field(default_factory=lambda: os.geteuid() if hasattr(os, "geteuid") else 1)
    prefix: Path = Path(sys.base_prefix)

    def text(self, place: str) -> str:
        """What is in a file; "" if there is none."""
        try:
            return (self.root / place).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def setting(self, name: str) -> int | None:
        """A setting of the kernel, such as ``user.max_user_namespaces``; None where it has none of that name."""
        value = self.text(f"proc/sys/{name.replace('.', '/')}").strip()
        return int(value) if value.isdecimal() else None


@dataclass(frozen=True)
class Advice:
    """``what`` stands in the way, what it means, and ``how`` to change it: lines for a shell, to be pasted."""

    what: str
    said: str
    how: str


def foreign_system(machine: Machine) -> Advice | None:
    """A system on which there is no bubblewrap at all."""
    if machine.system == "darwin":
        how = (
            "# grade in a virtual machine with Linux\nbrew install lima\n"
            "limactl start --name=grader template://debian\n"
            "limactl shell grader sudo apt-get install -y bubblewrap libseccomp2 python3-venv make\n" + WORKER
        )
        return Advice("macOS", "students' code is kept in by bubblewrap, which is for Linux only", how)
    if machine.system in ("win32", "cygwin"):
        how = (
            "# grade in WSL 2: in a PowerShell\nwsl --install -d Debian\n# then in its terminal\n"
            "sudo apt-get install -y bubblewrap libseccomp2 python3-venv make"
        )
        return Advice("Windows", "students' code is kept in by bubblewrap, which is for Linux only", how)
    if "Microsoft" in machine.text("proc/sys/kernel/osrelease"):  # WSL 2 writes it small
        how = f"# in a PowerShell\nwsl --set-version {machine.environment.get('WSL_DISTRO_NAME', 'Debian')} 2"
        return Advice("WSL 1", "it is no Linux kernel, and has no namespaces", how)
    return None


def obstacles(machine: Machine) -> list[Advice]:
    """What may be the reason where a sandbox does not start, the surest first."""
    looks: tuple[Callable[[Machine], Advice | None], ...] = (
        no_user_namespaces, for_root_only, restricted_by_apparmor, kubernetes, podman, docker,
    )  # fmt: skip
    return [advice for look in looks if (advice := look(machine)) is not None]


def cautions(machine: Machine, course: str) -> Iterator[Advice]:
    """What is worth knowing where a sandbox does start."""
    if machine.user == 0:
        command = shlex.quote(shutil.which("dpcourse") or sys.executable)
        command += "" if shutil.which("dpcourse") else " -m autograder"
        place = shlex.quote(str(Path(course).resolve()))
        is_course = any((Path(course).resolve() / name).is_file() for name in COURSES)
        how = "useradd --create-home grader\n"
        how += f"chown -R grader {place}\n" if is_course else "# give that user the folder of your course\n"
        how += f"runuser -u grader -- {command} grade --course {place if is_course else 'FOLDER'}"
        said = "seen from outside, a program in the sandbox is root as you are: should it get out, nothing holds it"
        yield Advice("root", f"{said}. Grade as an ordinary user", how)
    if (machine.prefix / "conda-meta").is_dir():
        said = f"students' code sees the packages of the Python in {machine.prefix} only"
        if (machine.prefix / "envs").is_dir():
            said += ", which is conda's base; not those of its other environments"
        how = f"# what homeworks import has to be there\n{with_pip('student')}"
        yield Advice("conda", said, how)


def no_user_namespaces(machine: Machine) -> Advice | None:
    """``user.max_user_namespaces=0``, as hardening guides say."""
    if machine.setting("user.max_user_namespaces") != 0:
        return None
    return _setting(machine, "user.max_user_namespaces", 15_000, "no user may make a namespace")


def for_root_only(machine: Machine) -> Advice | None:
    """``kernel.unprivileged_userns_clone=0``: older Debian, and its hardened kernels."""
    if machine.setting("kernel.unprivileged_userns_clone") != 0 or machine.user == 0:
        return None
    return _setting(machine, "kernel.unprivileged_userns_clone", 1, "only root may make a namespace")


def _setting(machine: Machine, name: str, value: int, said: str) -> Advice:
    where = FOR_HOST if _in_container(machine) else ""
    how = f"{where}echo '{name} = {value}' | sudo tee /etc/sysctl.d/60-dpcourse.conf && sudo sysctl --system"
    return Advice(name, f"it is {machine.setting(name)}: {said}", how)


def restricted_by_apparmor(machine: Machine) -> Advice | None:
    """Ubuntu since 23.10: only programs with a profile get a namespace in which they may do anything."""
    name = "kernel.apparmor_restrict_unprivileged_userns"
    if machine.setting(name) != 1 or machine.user == 0:
        return None
    program = os.path.realpath(shutil.which("bwrap", path=machine.environment.get("PATH")) or "/usr/bin/bwrap")
    copy = ""
    if any(program in machine.text(f"etc/apparmor.d/{file}") for file in _profiles(machine)):
        # A second profile for one program would make both void. Other programs need the one that is there.
        copy, program = f"sudo install -m 755 {program} /usr/local/bin/bwrap && ", "/usr/local/bin/bwrap"
    lines = ["abi <abi/4.0>,", "include <tunables/global>", "",
             f"profile dpcourse-bwrap {program} flags=(unconfined) {{", "  userns,", "}"]  # fmt: skip
    place = "/etc/apparmor.d/dpcourse-bwrap"
    how = (
        f"{FOR_HOST if _in_container(machine) else ''}{copy}printf '%s\\n' {' '.join(map(shlex.quote, lines))} "
        f"| sudo tee {place} && sudo apparmor_parser -r {place}\n"
        f"# or, weaker, allow it to every program:\n"
        f"#   echo '{name} = 0' | sudo tee /etc/sysctl.d/60-dpcourse.conf && sudo sysctl --system"
    )
    return Advice("AppArmor", f"{name} is 1: bubblewrap needs a profile that lets it make namespaces", how)


def _profiles(machine: Machine) -> list[str]:
    folder = machine.root / "etc/apparmor.d"
    return sorted(path.name for path in folder.iterdir() if path.is_file()) if folder.is_dir() else []


def _in_container(machine: Machine) -> bool:
    places = (machine.root / ".dockerenv", machine.root / "run/.containerenv")
    return "KUBERNETES_SERVICE_HOST" in machine.environment or any(place.exists() for place in places)


def kubernetes(machine: Machine) -> Advice | None:
    """A pod's default profiles forbid what makes namespaces and mounts."""
    if "KUBERNETES_SERVICE_HOST" not in machine.environment:
        return None
    allowed = {
        "runAsUser": 1000, "runAsNonRoot": True, "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "Unconfined"}, "appArmorProfile": {"type": "Unconfined"},
    }  # fmt: skip
    container = {"name": "grader", "image": "IMAGE", "stdin": True, "tty": True, "securityContext": allowed}
    override = json.dumps({"spec": {"containers": [container]}})
    how = f"kubectl run grader --rm -it --image=IMAGE --overrides={shlex.quote(override)}\n{RISK}"
    return Advice("Kubernetes", "this is a pod, and the usual securityContext forbids namespaces and mounts", how)


def podman(machine: Machine) -> Advice | None:
    """Podman allows namespaces; SELinux may forbid mounts."""
    if not (machine.root / "run/.containerenv").exists():
        return None
    return _container("Podman", "podman", "seccomp=unconfined", "label=disable")


def docker(machine: Machine) -> Advice | None:
    """Docker's default filter forbids new namespaces, its AppArmor profile forbids mounts."""
    if not (machine.root / ".dockerenv").exists() or "KUBERNETES_SERVICE_HOST" in machine.environment:
        return None
    return _container("Docker", "docker", "seccomp=unconfined", "apparmor=unconfined")


def _container(name: str, program: str, *options: str) -> Advice:
    allowed = " ".join(f"--security-opt {option}" for option in options)
    how = f'{program} run {allowed} --user 1000:1000 -it --volume "$PWD":/course --workdir /course IMAGE\n{RISK}'
    return Advice(name, "this is a container, and the usual settings forbid namespaces and mounts", how)
