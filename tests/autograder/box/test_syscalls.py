"""The list of system calls: every number is tried in a box, and none but those of the list gets to the kernel."""

import errno
import platform

import pyseccomp
import pytest

from autograder.box.process import Lost
from autograder.box.syscalls import ALLOWED, ALLOWED_WITH

X86_64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers of another architecture are x86-64's")

#: Allowed, and whoever makes them without sense ends or waits; they are tried by name elsewhere.
ENDS = ("exit", "exit_group", "pause", "rt_sigreturn", "restart_syscall", "rseq")
#: uretprobe and uprobe of x86-64: Linux 6.13 and later pass them by every filter, and end who makes them (SIGILL).
PASSED_BY = (335, 336)
NUMBERS = 2_048  # the kernel of 2026 has about 470
TRY = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def tried(number, *arguments):
    ctypes.set_errno(0)
    minus = [ctypes.c_long(one) for one in (*arguments, *[-1] * 6)][:6]
    return libc.syscall(ctypes.c_long(number), *minus), ctypes.get_errno()
"""


def number_of(name):
    return pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name)


def said(remote, code):
    """What a cell says by an error, its own words only."""
    answer = remote.run("try", f"{TRY}\n{code}\nraise ValueError('<' + ' '.join(map(str, found)) + '>')")
    return answer.partition("<")[2].partition(">")[0].split()


def test_every_number_is_tried_and_only_the_list_gets_through(boxes):
    """What is not on the list answers ENOSYS, also numbers that no kernel has yet."""
    names = {*ALLOWED, *ALLOWED_WITH, "clone", "prlimit64", "futex"}
    allowed = {number_of(name): name for name in names} | {-1: ""}
    skipped = [*PASSED_BY, *map(number_of, ENDS)]
    through = set[int]()
    for start in range(0, NUMBERS, 64):  # a few at a time: an answer is not endless
        wanted = [number for number in range(start, start + 64) if number not in skipped]
        code = f"found = [number for number in {wanted} if tried(number)[1] != {errno.ENOSYS}]"
        through |= set(map(int, said(boxes(), code)))
    assert through <= set(allowed), sorted(through - set(allowed))
    assert {number_of(name) for name in ("read", "mmap", "openat", "close", "getrandom")} <= through


FORBIDDEN = (
    *("fork", "vfork", "execve", "execveat", "clone3", "ptrace", "process_vm_readv", "pidfd_open", "kcmp"),
    *("socket", "socketpair", "connect", "bind", "sendmsg", "recvmsg", "sendmmsg", "pipe", "pipe2", "eventfd2"),
    *("mincore", "cachestat", "preadv2", "pwritev2", "readahead", "fadvise64", "sync", "syncfs", "sync_file_range"),
    *("sysinfo", "flock", "io_uring_setup", "io_setup", "bpf", "perf_event_open", "userfaultfd", "memfd_create"),
    *("mount", "umount2", "unshare", "setns", "pivot_root", "chroot", "open_tree", "fsopen", "mknod", "seccomp"),
    *("shmget", "semget", "msgget", "mq_open", "add_key", "keyctl", "inotify_init1", "fanotify_init", "splice"),
    *("setpriority", "sched_setaffinity", "sched_setscheduler", "setuid", "setgroups", "capset", "personality"),
    *("process_madvise", "mlock", "mlockall", "mbind", "landlock_create_ruleset", "name_to_handle_at", "vmsplice"),
    *("statx", "getsockopt", "setsockopt", "getsockname", "futex_waitv", "futex_wait", "futex_wake", "futex_requeue"),
)


@pytest.mark.parametrize("name", FORBIDDEN)
def test_what_is_left_out_on_purpose_is_refused(boxes, name):
    number = number_of(name)
    if number < 0:
        pytest.skip(f"this architecture has no {name}")
    assert said(boxes(), f"found = tried({number}, 0, 0, 0)[1:]") == [str(errno.ENOSYS)]


@pytest.mark.parametrize(
    ("name", "arguments", "through"),
    [
        ("madvise", (0, 0, 4), True),
        *[("madvise", (0, 0, advice), False) for advice in (3, 9, 12, 18, 20, 21, 22, 23, 25, 100)],
        ("fcntl", (0, 3, 0), True),
        *[("fcntl", (0, command, 0), False) for command in (5, 6, 7, 8, 10, 36, 37, 38, 1024, 1025, 1026, 1031, 1033)],
        ("prctl", (16, 0), True),
        *[("prctl", (option, 1), False) for option in (1, 4, 8, 22, 23, 24, 26, 35, 38, 53, 62, 65)],
        ("ioctl", (0, 0x5401, 0), True),
        *[("ioctl", (0, request, 0), False) for request in (0x5412, 0x5423, 0x541B, 0x6609, 0x80086601, 0x5452)],
        ("prlimit64", (0, 7, 0, 0), True),
        ("prlimit64", (1, 7, 0, 0), False),
        *[("clone", (flags, 0, 0, 0, 0), False) for flags in (0, 17, 0x10000000, 0x20000000, 0x4000, 0x100)],
    ],
)  # fmt: skip
def test_some_calls_are_allowed_for_some_values(boxes, name, arguments, through):
    (code,) = said(boxes(), f"found = tried({number_of(name)}, *{arguments})[1:]")
    assert (int(code) != errno.ENOSYS) == through


@X86_64
@pytest.mark.parametrize("name", ["read", "getpid", "execve", "rt_sigaction"])
def test_calls_in_the_manner_of_x32_end_the_process(boxes, name):
    with pytest.raises(Lost, match="manner of another machine"):
        boxes().run("x32", f"{TRY}\ntried(0x40000000 | {number_of(name)})")


@X86_64
@pytest.mark.parametrize("number", [20, 2, 11, 102], ids=["getpid", "fork", "execve", "socketcall"])
def test_calls_in_the_manner_of_i386_end_the_process(boxes, number):
    """Its numbers mean other calls. Where the kernel has no such entry, the instruction is a fault."""
    code = f"""
import ctypes, mmap
room = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
room.write(b"\\xb8" + ({number}).to_bytes(4, "little") + b"\\xcd\\x80\\xc3")  # mov eax, number; int 0x80; ret
ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(room)))()
"""
    with pytest.raises(Lost, match=r"manner of another machine|crashed Python"):
        boxes().run("i386", code)


def test_the_filter_cannot_be_taken_off_and_gives_no_rights(boxes):
    """No capability is left, and none comes back."""
    number = number_of("capget")
    assert said(boxes(), f"found = tried({number}, 0, 0)[1:]") == [str(errno.ENOSYS)]
    again = "found = [libc.prctl(22, 2, 0, 0, 0), libc.prctl(38, 0, 0, 0, 0), libc.setuid(0), libc.unshare(0x10000000)]"
    assert said(boxes(), again) == ["-1"] * 4
