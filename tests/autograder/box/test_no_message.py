"""Two boxes that would talk: nothing that one did can be read by another, at the same time or later.

A submission that could leave word would meet a question twice: once to learn it, once to answer. What is tried here is
what the kernel shares between processes that share nothing: which files have been read, process numbers, inode numbers,
locks, what is free. (What the processor shares, its caches and its time, is not promised; see THREATS.md.)
"""

import os

import numpy as np
import pyseccomp
import pytest
from scipy import stats

from tests.autograder.box.conftest import processes_in_boxes
from tests.autograder.box.test_mounts import counted

READ = """
import os, time, resource
files = sorted(
    os.path.join(folder, name)
    for top in ("/packages", "/python") for folder, _, names in os.walk(top) for name in names
)
files = [name for name in files if 8_000 < os.path.getsize(name) < 100_000][:400]
"""


def numbers(remote, code):
    said = remote.run("say", f"{code}\nopen('/tmp/said', 'w').write(' '.join(map(str, found)))")
    assert said == "", said
    found = []
    while True:
        part = remote.run("read", f"raise ValueError('<' + open('/tmp/said').read()[{len(found)}:][:200] + '>')")
        part = part.partition("<")[2].partition(">")[0]
        found.extend(part)
        if len(part) < 200:
            return np.array("".join(found).split(), dtype=float)


def test_the_time_of_reading_a_file_does_not_tell_who_has_read_it_before(boxes):
    """200 of 400 files, chosen by chance, are read by one box; another takes the time of its first read of each.

    A right sandbox fails with probability 1e-6 (Mann-Whitney). A disk that answers even a fifth of the files more
    slowly where nobody has read them before is seen with probability 1 - 1e-6 and more. What the processor still has
    in its caches is not promised, so they are filled with something else before.
    """
    rng = np.random.default_rng(20)
    chosen = np.sort(rng.permutation(400)[:200])
    first, second = boxes(), boxes()
    touch = f"{READ}\nfor number in {chosen.tolist()}:\n    open(files[number], 'rb').read()"
    assert first.run("touch", touch) == ""
    look = (
        READ
        + """
for _ in range(3):
    other = bytearray(b"x" * (256 * 2**20))
    del other
found, faults = [], resource.getrusage(resource.RUSAGE_SELF).ru_majflt
for name in files:
    with open(name, "rb", buffering=0) as file:
        start = time.perf_counter_ns()
        file.read()
        found.append((time.perf_counter_ns() - start) / os.path.getsize(name))
found.append(resource.getrusage(resource.RUSAGE_SELF).ru_majflt - faults)
"""
    )
    *times, faults = numbers(second, look)
    assert faults == 0  # nothing came from a disk
    read = np.isin(np.arange(400), chosen)
    times = np.array(times)
    assert stats.mannwhitneyu(times[read], times[~read]).pvalue > 1e-6


@pytest.mark.parametrize(
    "code",
    [
        "import os\nfound = os.getpid()",
        "import os\nr, w = os.pipe()\nfound = os.fstat(r).st_ino",
        "import socket, os\na, b = socket.socketpair()\nfound = os.fstat(a.fileno()).st_ino",
        "import os\nopen('/tmp/x', 'w').close()\nfound = os.stat('/tmp/x').st_ino",
        "import threading\nt = threading.Thread(target=print)\nt.start()\nt.join()\nfound = t.native_id",
        "import ctypes\nroom = (ctypes.c_long * 20)()\nfound = ctypes.CDLL(None).sysinfo(room) or room[5]",
        "import os\nfound = os.statvfs('/').f_bfree * 10**6 + os.statvfs('/').f_ffree",
        "import os\nfound = os.stat('/inside/autograder/box/wire.py').st_atime_ns % 10**15",
        "import fcntl\nfile = open('/inside/autograder/box/wire.py')\ntry:\n    fcntl.flock(file, fcntl.LOCK_EX | "
        "fcntl.LOCK_NB)\n    found = 1\nexcept BlockingIOError:\n    found = 2\nexcept OSError:\n    found = 3",
        "import fcntl\nfile = open('/inside/autograder/box/wire.py')\ntry:\n    fcntl.lockf(file, fcntl.LOCK_SH | "
        "fcntl.LOCK_NB)\n    found = 1\nexcept BlockingIOError:\n    found = 2\nexcept OSError:\n    found = 3",
    ],
    ids=["process", "pipe", "socket", "file", "thread", "memory", "space", "access", "flock", "lockf"],
)  # fmt: skip
def test_what_one_box_counts_up_another_does_not_see(boxes, code):
    """The same look in three boxes: one before, one beside and one after a box that does everything it can often."""
    busy = """
import os, threading, fcntl
for number in range(200):
    open(f"/tmp/{number}", "w").close()
    open("/inside/autograder/box/wire.py").read()
    thread = threading.Thread(target=str)
    thread.start()
    thread.join()
    for call in (os.pipe, lambda: fcntl.flock(open("/inside/autograder/box/wire.py"), fcntl.LOCK_EX)):
        try:
            call()
        except OSError:
            pass
kept = bytearray(200 * 2**20)
kept[::4096] = b"x" * len(kept[::4096])
"""

    def seen(remote):
        said = remote.run("look", f"{code}\nraise ValueError(f'<{{found}}>')")
        return said.partition("<")[2].partition(">")[0] if "<" in said else "refused"

    before = seen(boxes())
    talker = boxes()
    assert talker.run("busy", busy) == ""
    beside = seen(boxes())
    talker.close()
    assert before == beside == seen(boxes())


FUTEX = """
import ctypes, os, threading, time
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.syscall.argtypes = [ctypes.c_long, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint, ctypes.c_void_p]
FLAGS, PRIVATE, NUMBER = {flags}, {private}, {number}
file = os.open("/inside/autograder/box/wire.py", os.O_RDONLY)
word = libc.mmap(None, ctypes.c_size_t(4096), 1, FLAGS, file, ctypes.c_long(0))
value = ctypes.c_uint.from_address(word).value
def futex(operation, number):
    return libc.syscall(NUMBER, word, operation | PRIVATE, number, None)
"""
WAITS = "threading.Thread(target=futex, args=(0, value), daemon=True).start()\ntime.sleep(0.3)"
WAKES = "found = [max(0, futex(1, 100))]"


@pytest.mark.parametrize("flags", [1, 2], ids=["shared", "private"])
def test_nobody_waits_where_another_box_wakes(boxes, flags):
    """All boxes map the same files of the library, and a futex on such a page is one for all of them."""
    number = pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, "futex")
    code, own = (FUTEX.format(flags=flags, private=private, number=number) for private in (0, 128))
    waits, wakes = boxes(), boxes()
    assert waits.run("waits", code + WAITS) == ""
    assert numbers(wakes, code + WAKES).tolist() == [0]
    assert numbers(waits, own + WAITS + "\n" + WAKES).tolist() == [1]  # one of its own it wakes, so it is a futex


def test_threads_that_end_are_waited_for(boxes):
    """``pthread_join`` waits in the manner that the filter refuses."""
    code = """
import ctypes, time
libc, begin = ctypes.CDLL(None), ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(lambda _: time.sleep(0.3))
thread, start = ctypes.c_ulong(), time.monotonic()
found = [libc.pthread_create(ctypes.byref(thread), None, begin, None), libc.pthread_join(thread, None)]
found.append(time.monotonic() - start > 0.3)
"""
    assert counted(boxes(), code + "found = int(found == [0, 0, True])") == 1


THREADS = """
import threading, time
threading.stack_size(64 * 1024)
started = 0
try:
    for _ in range(MOST):
        threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
        started += 1
except RuntimeError:
    pass
raise ValueError(f"<{started}>")
"""


def test_the_threads_of_one_box_are_not_counted_with_anothers(boxes):
    """Root may have as many as it likes; any other user would be refused here, were boxes one user for the kernel."""
    greedy, other = boxes(), boxes()
    assert "stopped" in greedy.run("many", THREADS.replace("MOST", "100"))
    assert "<8>" in other.run("some", THREADS.replace("MOST", "8"))


def test_each_box_is_another_user_for_the_kernel(small_sandbox, boxes):
    """So what the kernel counts for a user (threads, signals that wait) is each box's own."""
    _ = boxes(), boxes()
    users = {os.readlink(f"/proc/{process}/ns/user") for process in processes_in_boxes(small_sandbox)}
    assert len(users) == 2
    assert os.readlink("/proc/self/ns/user") not in users


def test_a_number_is_read_at_all(boxes):
    """Or the tests above could not fail."""
    assert counted(boxes(), "import os\nfound = os.getpid() + 41") == 42
    assert numbers(boxes(), "found = range(300)").tolist() == list(range(300))
