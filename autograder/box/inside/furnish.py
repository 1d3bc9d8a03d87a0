"""What the sandbox does first: it copies the library into memory, makes that its whole world, and starts again there.

Afterwards no file system of the machine is mounted, not even for this process. It runs before any student's code does.
Arguments: the folder with the package ``autograder``, and the number of the control socket.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
from typing import Any

NEW_ROOT = "/proc"  # nothing that is copied lies there, so it can be covered
DEVICES = ("null", "zero", "random", "urandom")


def main() -> None:
    """Build the new world, and run ``first`` in it."""
    sys.path.insert(0, sys.argv[1])
    from autograder.box.inside import kernel

    control = socket.socket(fileno=int(sys.argv[2]))
    message, (plan, *_), _, _ = socket.recv_fds(control, 2**16, 1)
    settings: dict[str, Any] = json.loads(message)
    with os.fdopen(plan, encoding="utf-8") as file:
        files: dict[str, str] = json.load(file)
    processes = os.open("/proc/self/ns/pid", os.O_RDONLY)
    memory = os.open("/proc/self/statm", os.O_RDONLY)
    kernel.mount("", "/", "", kernel.RECURSIVE | kernel.PRIVATE)
    kernel.mount_memory(NEW_ROOT, settings["size"], settings["entries"], kernel.NO_SUID | kernel.NO_DEVICES, mode="755")
    folders = {os.path.dirname(inside) for inside in files} | {"/dev", *settings["writable"]}
    for folder in folders:
        os.makedirs(NEW_ROOT + folder, exist_ok=True)
    for inside, here in files.items():
        shutil.copyfile(here, NEW_ROOT + inside)
        shutil.copystat(here, NEW_ROOT + inside)  # bytecode is known by the time of its source
    for name in DEVICES:
        place = f"{NEW_ROOT}/dev/{name}"
        with open(place, "x"):
            kernel.mount(f"/dev/{name}", place, "", kernel.BIND)
            flags = kernel.READ_ONLY | kernel.NO_SUID | kernel.NO_PROGRAMS
            kernel.mount("", place, "", kernel.REMOUNT | kernel.BIND | flags)  # a device is written to all the same
    os.chdir(NEW_ROOT)
    kernel.change_root()
    flags = kernel.READ_ONLY | kernel.NO_SUID | kernel.NO_DEVICES
    kernel.mount("", "/", "", kernel.REMOUNT | kernel.BIND | flags)
    descriptors = control.detach(), processes, memory
    for descriptor in descriptors:
        os.set_inheritable(descriptor, True)
    os.environ["LD_LIBRARY_PATH"] = settings["libraries"]
    os.execv(settings["python"], [*settings["command"], *map(str, descriptors)])


if __name__ == "__main__":
    main()
