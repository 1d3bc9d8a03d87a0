"""The few calls of the Linux kernel that build a box and that Python has no names for. Each raises OSError."""

from __future__ import annotations

import ctypes
import os
import platform

NEW_MOUNTS, NEW_USER, NEW_PROCESSES = 0x00020000, 0x10000000, 0x20000000  # CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID
READ_ONLY, NO_SUID, NO_DEVICES, NO_PROGRAMS = 0x1, 0x2, 0x4, 0x8
REMOUNT, BIND, RECURSIVE, PRIVATE = 0x20, 0x1000, 0x4000, 0x40000
DETACH = 2
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
CAPABILITIES_VERSION = 0x20080522
SET_DUMPABLE, SET_SECCOMP, SET_NO_NEW_PRIVILEGES, FILTER = 4, 22, 38, 2


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def _call(name: str, *arguments: object) -> None:
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments):
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def unshare(what: int) -> None:
    """From now on this process (new processes: its next children) has such a namespace of its own."""
    _call("unshare", what)


def enter_namespace(descriptor: int, kind: int) -> None:
    """Go (back) into the namespace that this descriptor stands for."""
    _call("setns", descriptor, kind)


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Mount a file system, or change how one is mounted."""
    _call("mount", source.encode(), target.encode(), kind.encode() or None, ctypes.c_ulong(flags), options.encode())


def mount_memory(target: str, size: int, entries: int, flags: int, mode: str) -> None:
    """A file system in memory, with room for so many bytes, files and folders."""
    mount("memory", target, "tmpfs", flags, f"size={size},nr_inodes={entries},mode={mode}")


def unmount(target: str) -> None:
    """Take it away, whoever still uses it."""
    _call("umount2", target.encode(), DETACH)


def change_root() -> None:
    """The working directory becomes the root of everything; what was the root before is gone."""
    _call("syscall", ctypes.c_long(PIVOT_ROOT[platform.machine()]), b".", b".")
    unmount(".")
    os.chdir("/")


def drop_capabilities() -> None:
    """Give up every right that goes beyond an ordinary user's. Clearing what is permitted clears the ambient ones."""
    head = (ctypes.c_uint32 * 2)(CAPABILITIES_VERSION, 0)
    _call("capset", head, (ctypes.c_uint32 * 6)())


def hide_memory() -> None:
    """No other process of this user may look into this one."""
    _call("prctl", SET_DUMPABLE, 0, 0, 0, 0)


def forbid_new_privileges() -> None:
    """No program that is started may give more rights."""
    _call("prctl", SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)


def filter_calls(program: bytes) -> None:
    """From now on the kernel refuses the calls that this program refuses."""
    what = _Program(len(program) // 8, program)
    _call("prctl", SET_SECCOMP, FILTER, ctypes.byref(what), 0, 0)
