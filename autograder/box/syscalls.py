"""Which calls of the system a student's code may make: no process, no program, no socket, no look into others.

Built with libseccomp (by ``pyseccomp``) on the trusted side and handed to the sandbox as a filter for the kernel,
which the process of each submission puts on itself before the first line of a student runs; it cannot be taken off.
"""

from __future__ import annotations

import errno
import tempfile
from functools import cache

CLONE_THREAD = 0x00010000
F_SETLEASE, WORD = 1024, 0xFFFFFFFF

#: Calls that answer "not permitted". A name that this kernel's architecture does not have is left out.
FORBIDDEN = (
    *("fork", "vfork", "execve", "execveat"),  # other processes and programs
    *(
        "ptrace",
        "process_vm_readv",
        "process_vm_writev",
        "process_madvise",
        "process_mrelease",
        "kcmp",
    ),  # others' memory
    *("pidfd_open", "pidfd_getfd", "pidfd_send_signal", "move_pages", "migrate_pages"),
    *("socket", "connect", "bind", "listen", "accept", "accept4"),
    *("setpriority", "ioprio_set", "sched_setscheduler", "sched_setattr", "sched_setparam", "sched_setaffinity"),
    *("shmget", "shmat", "shmctl", "semget", "semop", "semctl", "semtimedop"),  # what outlives a process
    *("msgget", "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink", "add_key", "keyctl", "request_key"),
    *("mount", "umount", "umount2", "pivot_root", "chroot", "setns", "unshare", "open_tree", "move_mount"),
    *("fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "mknod", "mknodat"),
    *("setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups", "setfsuid", "setfsgid"),
    *("capset", "seccomp", "landlock_create_ruleset", "personality", "memfd_create", "memfd_secret", "modify_ldt"),
    *("bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register"),  # large, and
    *(
        "fanotify_init",
        "inotify_init",
        "inotify_init1",
        "io_setup",
        "name_to_handle_at",
        "open_by_handle_at",
        "set_mempolicy",
        "mbind",
    ),  # often broken, kernel parts
    *(
        "quotactl",
        "quotactl_fd",
        "acct",
        "swapon",
        "swapoff",
        "reboot",
        "kexec_load",
        "kexec_file_load",
    ),  # the machine's
    *("init_module", "finit_module", "delete_module", "syslog", "settimeofday", "clock_settime", "adjtimex"),
    *("clock_adjtime", "iopl", "ioperm", "lookup_dcookie", "nfsservctl", "vhangup"),
)


@cache
def student_filter() -> bytes:
    """The filter as the kernel's program. OSError, with the line that helps, where libseccomp is missing."""
    try:
        import pyseccomp  # type: ignore[import-untyped]
    except (ImportError, RuntimeError) as error:
        raise OSError(
            f"the sandbox needs libseccomp and pyseccomp ({error}): sudo apt-get install libseccomp2; "
            f"pip install 'dpcourse[instructor]'"
        ) from None
    denied, unknown = pyseccomp.ERRNO(errno.EPERM), pyseccomp.ERRNO(errno.ENOSYS)
    rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    for name in FORBIDDEN:
        try:
            rules.add_rule(denied, name)
        except (OSError, RuntimeError, ValueError):  # this architecture has no such call
            continue
    no_thread = pyseccomp.Arg(0, pyseccomp.MASKED_EQ, CLONE_THREAD, 0)
    rules.add_rule(denied, "clone", no_thread)
    rules.add_rule(unknown, "clone3")  # its flags lie in memory, where no filter can look; libc then calls clone
    rules.add_rule(denied, "prlimit64", pyseccomp.Arg(0, pyseccomp.NE, 0))  # of another process
    lease = pyseccomp.Arg(1, pyseccomp.MASKED_EQ, WORD, F_SETLEASE)  # whoever opens such a file waits, outside, too
    rules.add_rule(denied, "fcntl", lease)
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()
