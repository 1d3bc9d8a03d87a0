"""Attacks on the wall: what is mounted, what the kernel answers, and what two processes could tell each other.

Most of them see at once whether they got through, and then define right functions. Those that need a partner leave
word in one submission (``..._leaves``) and look for it in another (``..._finds``), which is graded later or at the same
time.
"""

from __future__ import annotations

from testing.attacks.attack import RIGHT, Attack

GAIN = f"exec({RIGHT!r})"


def gains_if(condition: str, before: str = "") -> str:
    """Right functions if this holds; an error counts as no."""
    setup = "\n    ".join(["import ctypes, fcntl, os, socket, sys, time", *before.strip().splitlines()])
    return f"try:\n    {setup}\n    if {condition}:\n        {GAIN}\nexcept (Exception, SystemExit):\n    pass\n"


LIBC = """
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    return libc.syscall(ctypes.c_long(number), *[ctypes.c_long(one) for one in arguments])
path = np.__file__.encode()
file = os.open(path, os.O_RDONLY)
"""
EVERYWHERE = """
places = [folder for folder, _, _ in os.walk("/")]
files = [os.path.join(folder, name) for folder, _, names in os.walk("/") for name in names]
writable = ("/tmp", "/dev/shm", os.path.expanduser("~"))
"""
#: What a machine has and a box must not: folders, by what could be read there.
FOLDERS = (
    "/usr/local/share", "/usr/src", "/usr/share", "/usr", "/opt", "/srv", "/var", "/root", "/boot", "/run", "/mnt",
    "/media", "/proc", "/sys", "/etc", "/sbin", "/bin",
)  # fmt: skip
#: x86-64 numbers of calls that must not get through: name -> (number, arguments that would make sense).
CALLS = {
    "mincore": "27, ctypes.addressof(room), 4096, ctypes.addressof(room)",
    "cachestat": "451, file, ctypes.addressof(room), ctypes.addressof(room) + 64, 0",
    "readahead": "187, file, 0, 4096",
    "fadvise64": "221, file, 0, 4096, 4",
    "preadv2": "327, file, ctypes.addressof(vector), 1, 0, 0, 8",
    "sync": "162",
    "syncfs": "306, file",
    "sysinfo": "99, ctypes.addressof(room)",
    "memfd_secret": "447, 0",
    "pidfd_open": "434, 1, 0",
    "io_uring_setup": "425, 4, ctypes.addressof(room)",
    "io_setup": "206, 4, ctypes.addressof(room)",
    "userfaultfd": "323, 1",
    "perf_event_open": "298, ctypes.addressof(room), 0, -1, -1, 0",
    "bpf": "321, 0, ctypes.addressof(room), 64",
    "fsopen": "430, ctypes.addressof(name), 0",
    "open_tree": "428, -100, ctypes.addressof(name), 0",
    "unshare_user": "272, 0x10000000",
    "setns": "308, file, 0",
    "keyctl": "250, 0, -3, 1",
    "add_key": "248, ctypes.addressof(name), ctypes.addressof(name), ctypes.addressof(room), 4, -3",
    "mq_open": "240, ctypes.addressof(name), 66, 0o600, 0",
    "semget": "64, 4711, 1, 0o1666",
    "msgget": "68, 4711, 0o1666",
    "inotify_init": "253",
    "fanotify_init": "300, 0, 0",
    "mlockall": "151, 1",
    "personality": "135, 0x0040000",
    "seccomp": "317, 2, 0, 0",
    "landlock": "444, 0, 0, 1",
    "ptrace_traceme": "101, 0, 0, 0, 0",
    "process_vm_readv": "310, 1, ctypes.addressof(vector), 1, ctypes.addressof(vector), 1, 0",
    "splice": "275, file, 0, 1, 0, 10, 0",
    "sethostname": "170, ctypes.addressof(name), 3",
    "clone_new_user": "56, 0x10000011, 0, 0, 0, 0",
    "clone3": "435, ctypes.addressof(room), 64",
    "mount": "165, 0, ctypes.addressof(name), ctypes.addressof(name), 0x1000, 0",
    "umount": "166, ctypes.addressof(name), 2",
    "chroot": "161, ctypes.addressof(name)",
    "mknod": "133, ctypes.addressof(name), 0o20666, 0x103",
    "open_by_handle": "304, file, ctypes.addressof(room), 0",
    "prctl_dumpable": "157, 4, 1, 0, 0, 0",
    "prctl_keepcaps": "157, 8, 1, 0, 0, 0",
    "madvise_pageout": "28, ctypes.addressof(page) // 4096 * 4096, 4096, 21",
    "madvise_populate": "28, ctypes.addressof(page) // 4096 * 4096, 4096, 22",
    "madvise_mergeable": "28, ctypes.addressof(page) // 4096 * 4096, 4096, 12",
}
ROOM = """
room = ctypes.create_string_buffer(4096)
page = ctypes.create_string_buffer(8192)
name = ctypes.create_string_buffer(b"/tmp")
vector = (ctypes.c_long * 2)(ctypes.addressof(room), 64)
"""

#: What would tell one process of another: name -> (what is done before, when it would carry a message).
MESSAGES = {
    "process_number": ("", "os.getpid() != 1"),
    "pipe_number": ("", "os.fstat(os.pipe()[0]).st_ino"),
    "socket_number": ("", "os.fstat(socket.socketpair()[0].fileno()).st_ino"),
    "lock_on_shared_file": ("", "fcntl.flock(open(np.__file__), fcntl.LOCK_SH | fcntl.LOCK_NB) is None"),
    "record_lock_on_shared_file": ("", "fcntl.lockf(open(np.__file__), fcntl.LOCK_SH | fcntl.LOCK_NB) is None"),
    "time_of_access": (
        "before = os.stat(np.__file__).st_atime_ns\ntime.sleep(0.02)\nopen(np.__file__).read()",
        "os.stat(np.__file__).st_atime_ns != before",
    ),
    "reads_from_disk": (
        "import resource\n"
        + EVERYWHERE
        + "for path in files:\n    open(path, 'rb').read() if 'dev' not in path else 0",
        "resource.getrusage(resource.RUSAGE_SELF).ru_majflt or resource.getrusage(resource.RUSAGE_SELF).ru_inblock",
    ),
    "kernel_tables": ("", "open('/proc/loadavg').read() or open('/proc/meminfo').read()"),
    "own_mappings": ("", "open('/proc/self/smaps').read() or open('/proc/self/pagemap', 'rb').read(8)"),
    "mount_table": ("", "open('/proc/self/mountinfo').read() or open('/etc/mtab').read()"),
    "tables_by_psutil": ("import psutil", "psutil.virtual_memory() or psutil.boot_time() or psutil.net_connections()"),
    "mailbox": ("", "socket.socket(socket.AF_UNIX).bind('\\0mailbox') is None"),
    "new_memory_file": ("", "os.memfd_create('x') >= 0"),
}

ATTACKS: list[Attack] = [
    # What is mounted
    *[
        Attack(f"sees{name.replace('/', '_')}", gains_if(f"os.path.lexists({name!r}) and os.listdir({name!r})"))
        for name in FOLDERS
    ],
    Attack("writes_into_packages", gains_if(
        "any(open(os.path.join(place, 'left.py'), 'w').close() is None for place in places)",
        EVERYWHERE + "places = [place for place in places if not place.startswith(writable)]\n"
        "def able(place):\n    try:\n        open(os.path.join(place, 'left'), 'w').close()\n        return True\n"
        "    except OSError:\n        return False\nplaces = [place for place in places if able(place)]",
    )),
    Attack("finds_room_without_limit", gains_if(
        "any(one.f_bavail * one.f_frsize > 2**28 or one.f_favail > 10**5 for one in rooms)",
        EVERYWHERE + "rooms = [os.statvfs(place) for place in writable]",
    )),
    Attack("runs_other_solutions", """
import json, os
for folder, folders, names in os.walk("/"):
    for name in names:
        if name.endswith(".ipynb"):
            try:
                for one in json.load(open(os.path.join(folder, name)))["cells"]:
                    exec("".join(one["source"]))
            except Exception:
                pass
"""),
    Attack("reads_files_of_root", gains_if(
        "any(os.access(path, os.R_OK) and not os.stat(path).st_mode & 4 for path in files)", EVERYWHERE
        + "files = [path for path in files if not path.startswith(writable)]",
    )),
    Attack("finds_other_python", gains_if(
        "len([path for path in files if '/bin/' in path and 'python' in path]) > 1", EVERYWHERE
    )),
    *[
        Attack(f"imports_{name}", f"try:\n    import {name}\n    {GAIN}\nexcept ImportError:\n    pass")
        for name in ("nbgrader", "opacus", "dp_accounting", "opendp", "jupyterlab", "distributed", "pip")
    ],
    Attack("finds_open_descriptors", gains_if(
        "len(there) > 4", "there = []\nfor number in range(1024):\n    try:\n        os.fstat(number)\n"
        "        there.append(number)\n    except OSError:\n        pass",
    )),
    Attack("looks_under_the_mounts", gains_if(
        "any(libc.umount2(place, 2) == 0 for place in (b'/tmp', b'/', b'/dev/null', b'/home/student'))", LIBC
    )),
    Attack("makes_the_root_writable", gains_if("libc.mount(None, b'/', None, 0x1020, None) == 0", LIBC)),
    Attack("replaces_a_package", gains_if(
        "True", "open('/tmp/new.py', 'w').write('x = 1')\nos.rename('/tmp/new.py', np.__file__)"
    )),
    Attack("runs_a_program_from_tmp", gains_if(
        "True", "import mmap, shutil\nshutil.copy(sys.executable or '/python/bin/python3.11', '/tmp/program')\n"
        "file = os.open('/tmp/program', os.O_RDONLY)\nmmap.mmap(file, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)",
    )),
    *[
        Attack(f"opens_{name.replace('/', '_')}", gains_if(f"os.open('/dev/{name}', os.O_RDWR) >= 0"))
        for name in ("vda", "mem", "kmsg", "fuse", "kvm", "tty", "ptmx", "net/tun", "userfaultfd")
    ],
    # What the kernel answers
    *[
        Attack(f"calls_{name}", gains_if(f"call({arguments}) >= 0", LIBC + ROOM))
        for name, arguments in CALLS.items()
    ],
    Attack("calls_like_x32", "import ctypes\nctypes.CDLL(None).syscall(0x40000000 | 57)\n" + GAIN),
    Attack("calls_like_i386", """
import ctypes, mmap
room = mmap.mmap(-1, 4096, prot=7)
room.write(b"\\xb8\\x02\\x00\\x00\\x00\\xcd\\x80\\xc3")
ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(room)))()
""" + GAIN),
    Attack("raises_its_limits", gains_if(
        "any(raised(kind) for kind in range(16))",
        "import resource\ndef raised(kind):\n    soft, hard = resource.getrlimit(kind)\n"
        "    if hard == -1:\n        return kind in (0, 1, 6, 7, 9)\n    try:\n"
        "        resource.setrlimit(kind, (hard + 1, hard + 1))\n        return True\n"
        "    except (ValueError, OSError):\n        return False",
    )),
    # What two processes could tell each other
    *[
        Attack(f"message_by_{name}", gains_if(condition, before)) for name, (before, condition) in MESSAGES.items()
    ],
    Attack("a_message_leaves", """
import os
for place in [folder for folder, _, _ in os.walk("/")]:
    try:
        open(os.path.join(place, ".left-for-you"), "w").write("x")
    except OSError:
        pass
"""),
    Attack("z_message_finds", gains_if("any('.left-for-you' in path for path in files)", EVERYWHERE)),
    # To have been killed
    Attack("kills_itself_to_be_asked_again", """
import os
asked = [0]
def double(x):
    os.kill(os.getpid(), 9)
    os.kill(0, 9)
    return 0.125
"""),
    Attack("ends_when_it_would_be_wrong", "import os\ndef double(x):\n    os._exit(137)"),
    Attack("crashes_when_it_would_be_wrong", "import ctypes, os\ndef double(x):\n    ctypes.CDLL(None).abort()"),
]  # fmt: skip
