"""Which calls of the kernel a student's code may make: a list of what computing needs. Every other number is refused.

So a call that a later kernel brings is refused, too. Refused calls answer "not implemented" (ENOSYS), for which
libraries have other ways. A call in the manner of another architecture (i386, x32, another byte order) ends the
process.

What is left out on purpose, beside processes, programs, sockets, mounts and everything that another process can see:

- what tells whether somebody has read a file before: ``mincore``, ``cachestat``, ``preadv2``, ``readahead``,
  ``fadvise64``, ``madvise`` with advice that loads or drops pages, ``sync``;
- what is counted for the whole machine, so that one process can count and another read it: ``pipe`` and ``socketpair``
  (their inode numbers), ``sysinfo`` (free memory, number of processes), ``statx`` (numbers of mounts), ``getsockopt``
  (cookies of sockets), locks on files (``flock``, ``fcntl``);
- ``futex`` on memory that may be shared: all boxes map the same files, so one could wait there and another wake it.

Built with libseccomp (by ``pyseccomp``) on the trusted side; the process of a submission puts it on itself before the
first line of a student runs, and it cannot be taken off.
"""

from __future__ import annotations

import errno
import tempfile
from functools import cache

#: Allowed whatever the arguments are. A name that this architecture does not have is left out.
ALLOWED = (
    *("brk", "mmap", "munmap", "mremap", "mprotect", "msync"),  # memory of its own
    *("open", "openat", "close", "close_range", "creat", "read", "readv", "pread64", "preadv", "lseek", "_llseek"),
    *("write", "writev", "pwrite64", "pwritev", "ftruncate", "truncate", "fallocate", "fsync", "fdatasync"),
    *("dup", "dup2", "dup3", "sendfile", "copy_file_range", "umask"),
    *("stat", "fstat", "lstat", "newfstatat", "fstatat64", "statfs", "fstatfs", "access", "faccessat"),
    *("faccessat2", "readlink", "readlinkat", "getdents", "getdents64", "getcwd", "chdir", "fchdir"),
    *("getxattr", "lgetxattr", "fgetxattr", "listxattr", "llistxattr", "flistxattr"),
    *("mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "rename", "renameat", "renameat2", "link", "linkat"),
    *("symlink", "symlinkat", "chmod", "fchmod", "fchmodat", "fchmodat2", "utime", "utimes", "utimensat", "futimesat"),
    *("poll", "ppoll", "select", "pselect6", "recvfrom", "sendto"),  # of its one channel
    *("clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep", "gettimeofday", "time", "times", "getrusage"),
    *("alarm", "setitimer", "getitimer", "pause"),
    *("rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending", "rt_sigtimedwait", "rt_sigsuspend"),
    *("sigaltstack", "restart_syscall", "kill", "tkill", "tgkill"),  # nobody else is in its namespace
    *("set_robust_list", "get_robust_list", "set_tid_address", "rseq", "sched_yield", "membarrier"),
    *("sched_getaffinity", "sched_getscheduler", "sched_getparam", "sched_get_priority_max", "sched_get_priority_min"),
    *("getpid", "getppid", "gettid", "getpgrp", "getpgid", "getsid", "getuid", "geteuid", "getgid", "getegid"),
    *("getresuid", "getresgid", "getgroups", "getpriority", "getrlimit", "setrlimit", "uname", "getcpu", "getrandom"),
    *("arch_prctl", "exit", "exit_group"),
)

CLONE_THREAD = 0x00010000
FUTEX_PRIVATE = 128  # it concerns the threads of this process only
WORD = 0xFFFFFFFF
#: Allowed for some values of one argument: call -> (number of the argument, values).
ALLOWED_WITH = {
    "fcntl": (1, (0, 1, 2, 3, 4, 1030)),  # copies of descriptors and their flags; no locks, leases or owners
    "ioctl": (1, (0x5401, 0x5413, 0x5421, 0x5450, 0x5451)),  # is it a terminal, its size; flags of descriptors
    # How it will be read, huge pages, and giving back memory of its own; nothing that loads or drops a file's pages.
    "madvise": (2, (0, 1, 2, 4, 8, 10, 11, 14, 15, 16, 17)),
    "prctl": (0, (15, 16, 0x53564D41)),  # names of threads and of memory
}


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
    rules = pyseccomp.SyscallFilter(pyseccomp.ERRNO(errno.ENOSYS))
    rules.set_attr(pyseccomp.Attr.ACT_BADARCH, pyseccomp.KILL_PROCESS)
    for name in ALLOWED:
        _allow(rules, name)
    for name, (number, values) in ALLOWED_WITH.items():
        for value in values:
            _allow(rules, name, pyseccomp.Arg(number, pyseccomp.MASKED_EQ, WORD, value))
    _allow(rules, "clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, CLONE_THREAD, CLONE_THREAD))
    _allow(rules, "prlimit64", pyseccomp.Arg(0, pyseccomp.EQ, 0))  # its own limits only
    _allow(rules, "futex", pyseccomp.Arg(1, pyseccomp.MASKED_EQ, FUTEX_PRIVATE, FUTEX_PRIVATE))
    # The C library waits for the end of a thread as if it were another process's, and looks again if it may not wait.
    others = pyseccomp.Arg(1, pyseccomp.MASKED_EQ, FUTEX_PRIVATE, 0)
    rules.add_rule(pyseccomp.ERRNO(errno.EAGAIN), "futex", others)
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()


def _allow(rules: object, name: str, *arguments: object) -> None:
    import pyseccomp

    try:
        rules.add_rule(pyseccomp.ALLOW, name, *arguments)  # type: ignore[attr-defined]
    except (OSError, RuntimeError, ValueError):  # this architecture has no such call
        return
