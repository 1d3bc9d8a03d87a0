"""What is mounted in a box: a library in memory, small fresh places to write, and nothing of the machine."""

import json
import os
from pathlib import Path

import pytest

from autograder.box.inside.furnish import DEVICES
from autograder.box.library import Library, library
from autograder.box.packages import NEVER, allowed_packages, packages_for, packages_named
from autograder.box.sandbox import WRITABLE
from tests.autograder.box.conftest import mounts_of, processes_in_boxes

MEMORY = 0x01021994  # statfs(2): the type of tmpfs


def counted(remote, code):
    """A number that a cell computes."""
    said = remote.run("count", f"{code}\nraise ValueError(f'<{{found}}>')")
    return int(said.partition("<")[2].partition(">")[0])


def test_every_mount_is_in_memory_and_names_no_path_of_the_machine(small_sandbox, boxes):
    boxes()
    (process,) = processes_in_boxes(small_sandbox)
    devices = {f"/dev/{name}": f"/{name}" for name in DEVICES}
    mounts = mounts_of(process)
    assert {mount["place"] for mount in mounts} == {"/", *WRITABLE, *devices}
    for mount in mounts:
        assert mount["root"] == devices.get(mount["place"], "/"), mount
        assert mount["kind"] in ("tmpfs", "devtmpfs"), mount
        assert "nosuid" in mount["options"], mount


def test_every_writable_mount_has_a_size_and_a_number_of_entries(small_sandbox, boxes):
    boxes()
    (process,) = processes_in_boxes(small_sandbox)
    writable = [mount for mount in mounts_of(process) if "rw" in mount["options"].split(",")]
    assert {mount["place"] for mount in writable} == set(WRITABLE)
    for mount in writable:
        limits = dict(one.split("=") for one in mount["settings"].split(",") if "=" in one)
        assert limits["size"] == f"{small_sandbox.limits.written // 1024}k"
        assert limits["nr_inodes"] == str(small_sandbox.limits.entries)
        assert {"nosuid", "nodev", "noexec"} <= set(mount["options"].split(","))


def test_what_one_box_writes_no_other_sees(boxes):
    """Neither one that is open at the same time nor a later one; nothing has to be wiped."""
    first, other = boxes(), boxes()
    write = "\n".join(f"open('{place}/left', 'w').write('x')" for place in WRITABLE)
    look = f"import os\nassert not any(map(os.listdir, {WRITABLE!r}))"
    assert first.run("write", write) == ""
    assert other.run("look", look) == ""
    first.close()
    assert boxes().run("look", look) == ""


@pytest.mark.parametrize("place", WRITABLE)
def test_what_is_written_has_a_limit(small_sandbox, boxes, place):
    fill = f"""
import os
found = 0
try:
    for number in range(100):
        with open("{place}/" + str(number), "wb", buffering=0) as file:
            while file.tell() < 10**7:
                found += file.write(bytes(10**6))
except OSError:
    pass
"""
    assert 0 < counted(boxes(), fill) <= small_sandbox.limits.written
    many = f"""
found = 0
try:
    for found in range(10**6):
        open("{place}/" + str(found), "w").close()
except OSError:
    pass
"""
    assert 0 < counted(boxes(), many) <= small_sandbox.limits.entries


def test_a_box_holds_what_its_library_says_and_nothing_else(small_sandbox, boxes):
    """The allow list is all there is: no other environment, no /usr, no exchange, no file of this machine."""
    look = """
import os, hashlib
names = sorted(os.path.join(folder, name) for folder, _, files in os.walk("/") for name in files)
names = [name for name in names if not name.startswith(("/tmp/", "/dev/"))]
found = int(hashlib.sha256("\\n".join(names).encode()).hexdigest()[:12], 16)
"""
    import hashlib

    names = sorted(library(small_sandbox.packages).files)
    expected = int(hashlib.sha256("\n".join(names).encode()).hexdigest()[:12], 16)
    assert counted(boxes(), look) == expected
    top = "import os\nassert sorted(os.listdir('/')) == sorted({0!r}), os.listdir('/')"
    assert boxes().run("top", top.format({name.split("/")[1] for name in [*names, *WRITABLE, "/dev/null"]})) == ""


def test_no_file_in_a_box_lies_on_a_disk(boxes):
    look = """
import ctypes, os
class Statfs(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_long), ("rest", ctypes.c_byte * 200)]
libc, status, found = ctypes.CDLL(None), Statfs(), 0
for folder, _, files in os.walk("/"):
    for name in files if folder != "/dev" else ():
        assert libc.statfs(os.path.join(folder, name).encode(), ctypes.byref(status)) == 0
        assert status.kind == MEMORY, (folder, name, hex(status.kind))
        found += 1
""".replace("MEMORY", str(MEMORY))
    assert counted(boxes(), look) > 1_000


def test_nothing_in_a_box_can_be_changed_but_the_places_to_write(boxes):
    look = f"""
import os
found = 0
for folder, folders, files in os.walk("/"):
    if folder.startswith({WRITABLE!r}):
        continue
    for name in [*files, "new"] if folder != "/dev" else ["new"]:
        try:
            open(os.path.join(folder, name), "ab").close()
            found += 1
        except OSError:
            pass
"""
    assert counted(boxes(), look) == 0


def test_files_that_not_everybody_may_read_are_left_out(tmp_path):
    here = Library()
    secret, public = tmp_path / "secret.py", tmp_path / "public.py"
    for path, mode in ((secret, 0o600), (public, 0o644)):
        path.write_text("x = 1", encoding="ascii")
        path.chmod(mode)
        here._add(f"/packages/{path.name}", path)
    assert "/packages/public.py" in here.files
    assert "/packages/secret.py" not in here.files


def test_a_library_holds_what_a_homework_names_and_no_more():
    """A package that nobody names is not there; one that the instructor's cells import is."""
    assert packages_for(["x = 1"], []) == ()
    assert packages_for(["import scipy"], []) == ("scipy",)
    assert packages_for(["x = 1"], [json.dumps({"source": "import torch"}).encode()]) == ("torch",)
    assert packages_for(["import psutil"], []) == ("psutil",)
    assert packages_for(["x = 1"], [b"import psutil, dp_accounting, opacus, nbgrader"]) == ()
    assert packages_for(["from dpcourse import Laplace\nimport autograder"], []) == ()
    assert packages_for(["from dpcourse import data"], []) == ("pandas",)
    named = allowed_packages(["x = 1"], ["hypothesis"])
    assert packages_for(["x = 1"], [b"import hypothesis, psutil"], named) == ("hypothesis",)
    assert packages_for(["x = 1"], [b"import psutil"], named) == ()
    assert packages_named(["scikit_learn", "mpmath", "no_such_library"]) == {
        "sklearn": "scikit_learn",
        "mpmath": "mpmath",
    }
    assert not packages_named(NEVER)
    files = Library(("scipy",)).files
    assert any("/scipy/stats/" in name for name in files)
    assert not [name for name in files if name.startswith("/packages/lib/site-packages/torch/")]
    ours = Path(__file__).resolve().parents[3]
    for name, path in files.items():
        own = path.is_relative_to(ours / "dpcourse") or path.is_relative_to(ours / "autograder")
        assert own == name.startswith("/inside/"), name
        assert not name.startswith(("/usr", "/home", "/root", "/etc", str(os.path.expanduser("~/"))))
