"""Attacks by the file that is handed in, and by what lies beside it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from testing.attacks.attack import RIGHT, VICTIM, Attack, cell
from testing.five_tasks import CELLS, ESSAY, HOMEWORK


def written(content: bytes) -> Callable[[Path], None]:
    """The file holds these bytes."""
    return lambda place: place.write_bytes(content) and None  # type: ignore[return-value]


def _pipe(place: Path) -> None:
    place.unlink()
    os.mkfifo(place)


def _device(place: Path) -> None:
    place.unlink()
    place.symlink_to("/dev/zero")


def _hole(place: Path) -> None:
    with place.open("r+b") as file:
        file.truncate(2**34)


def _pipe_for_time(place: Path) -> None:
    os.mkfifo(place.parent / "timestamp.txt")


def _link_for_time(place: Path) -> None:
    (place.parent / "timestamp.txt").symlink_to(place.parents[3] / "secret.txt")


def _long_time(place: Path) -> None:
    (place.parent / "timestamp.txt").write_bytes(b"2026-01-01 00:00:00 UTC" + b" " * 10**7)


def _thousand_notebooks(place: Path) -> None:
    for number in range(1_500):
        (place.parent / f"{number}.ipynb").write_bytes(b"{}")


def _deep_folders(place: Path) -> None:
    folder = place.parent
    for _ in range(60):
        folder /= "d"
        folder.mkdir()
    (folder / place.name).write_bytes(place.read_bytes())


def _folder_of_the_victim(place: Path) -> None:
    inner = place.parent / VICTIM / HOMEWORK
    inner.mkdir(parents=True)
    (inner / place.name).write_bytes(place.read_bytes())


def _right_one_behind_a_link(place: Path) -> None:
    (place.parent / "a.ipynb").symlink_to(place.parents[2] / VICTIM / HOMEWORK / place.name)
    place.unlink()


def _all_names(name: Any) -> Callable[[dict[str, Any]], None]:
    def change(book: dict[str, Any]) -> None:
        for one in book["cells"]:
            one["metadata"]["nbgrader"]["grade_id"] = name

    return change


def _odd_metadata(book: dict[str, Any]) -> None:
    for one, odd in zip(
        book["cells"], [None, 7, "x", [], {"nbgrader": 3}, {"nbgrader": {"grade_id": {}}}], strict=False
    ):
        one["metadata"] = odd


def _odd_sources(book: dict[str, Any]) -> None:
    for name, odd in zip(CELLS, [{"a": 1}, 7, None, [["x"]], ["a", 1]], strict=False):
        cell(book, f"{name}-solution")["source"] = odd


def _thousand_solutions(book: dict[str, Any]) -> None:
    one = cell(book, "double-solution")
    book["cells"] += [{**one, "id": f"again{number}"} for number in range(3_000)]


def _right_in_all_other_places(book: dict[str, Any]) -> None:
    """Outputs, metadata, attachments, markdown, raw cells, widget state."""
    book["metadata"]["widgets"] = {"state": RIGHT}
    book["cells"].insert(0, {"cell_type": "raw", "id": "r", "metadata": {}, "source": RIGHT})
    book["cells"].insert(0, {"cell_type": "code", "id": "c", "metadata": {"init_cell": True}, "source": RIGHT,
                             "execution_count": 1, "outputs": [{"output_type": "stream", "name": "stdout",
                                                                "text": RIGHT}]})  # fmt: skip


def _points_of_its_own(book: dict[str, Any]) -> None:
    for name in CELLS:
        marks = cell(book, f"{name}-solution")["metadata"]["nbgrader"]
        marks.update(grade=True, points=1_000, locked=False)


def _essay_is_code(book: dict[str, Any]) -> None:
    one = cell(book, ESSAY)
    one.update(cell_type="code", source=RIGHT, outputs=[], execution_count=None)


def _large_attachment(book: dict[str, Any]) -> None:
    cell(book, ESSAY)["attachments"] = {"x.png": {"image/png": "A" * 6_000_000}, "y": {"image/svg+xml": "<svg/>"}}


#: name -> the code of a cell that would be more than code in Jupyter
MAGICS = {
    "bash": "%%bash\nsleep 1000 &\necho x > /tmp/x",
    "script": "%%script python\nopen('/tmp/x', 'w')",
    "run": "%run /tmp/x.py\n%load /etc/passwd",
    "shell": "!sleep 1000 &\nx = !cat /etc/passwd\nget_ipython().system('sleep 1000 &')",
    "javascript": "%%javascript\nJupyter.notebook.kernel.execute('x')",
    "extension": "%load_ext x\n%autoreload 2\n%config InlineBackend.x = 1",
}
#: name -> code that changes what the inside works with
INSIDE = {
    "clock": "import time\ntime.monotonic = time.perf_counter = time.time = lambda: 0.0",
    "student": "import dpcourse.tasks.student as s\ns.Student.answers = lambda self, *a: [6.0] * 10",
    "packing": "import autograder.box.wire as w\nw.packed = lambda value: b''",
    "answering": "import autograder.box.inside.answering as a\na.answered = lambda *x: {'answers': [1.0], 'points': 9}",
    "import": "import builtins\nbuiltins.__import__ = lambda *a, **k: None",
    "trace": "import sys\nsys.settrace(lambda *a: None)\nsys.setprofile(lambda *a: None)",
    "main": "import sys\nsys.modules['__main__'].__dict__.clear()",
    "names": "class D(dict):\n    def get(self, key, default=None): return lambda *a, **k: 6.0\n"
    "import gc\nfor one in gc.get_objects():\n    if type(one).__name__ == 'Notebook': one.names = D()",
    "recursion": "import sys\nsys.setrecursionlimit(10**9)\ndef double(x): return double(x)",
    "threads": "import threading, time\ndef later():\n    time.sleep(0.2)\n    globals()['double'] = lambda x: 6.0\n"
    "threading.Thread(target=later, daemon=True).start()",
    "exit_handlers": "import atexit, time\natexit.register(time.sleep, 1000)\nraise SystemExit",
    "finalizer": "class X:\n    def __del__(self):\n        import time; time.sleep(1000)\nx = X()",
    "stack": "def double(x):\n    import ctypes\n    ctypes.pythonapi.PyErr_SetInterrupt()\n    return 0.125",
    "collector": "import gc\ngc.callbacks.append(lambda *a: 1 / 0)",
    "codec": "import codecs\ncodecs.register_error('strict', lambda e: ('', e.end))",
    "warnings": "import warnings\nwarnings.simplefilter('error')\nwarnings.warn('x')",
    "signals": "import signal, time\nsignal.signal(signal.SIGALRM, lambda *a: None)\ndef double(x):\n"
    "    time.sleep(1000)",
}

ATTACKS: list[Attack] = [
    Attack("file_is_a_pipe", folder=_pipe),
    Attack("file_is_a_device", folder=_device),
    Attack("file_has_a_hole", folder=_hole),
    Attack("file_is_brackets", folder=written(b"[" * 8_000_000)),
    Attack("file_is_open_objects", folder=written(b'{"cells":[' + b'{"a":' * 1_000_000)),
    Attack("file_is_small_cells", folder=written(
        b'{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[' + b",".join([b"{}"] * 2_000_000) + b"]}"
    )),
    Attack("file_has_a_number_of_a_million_digits", folder=written(b'{"nbformat":' + b"9" * 10**6 + b',"cells":[]}')),
    Attack("file_is_null", folder=written(b"null")),
    Attack("file_is_a_zip", folder=written(b"PK\x03\x04" + b"\0" * 10**6)),
    Attack("file_is_zeros", folder=written(bytes(10**6))),
    Attack("time_is_a_pipe", folder=_pipe_for_time),
    Attack("time_is_a_link", folder=_link_for_time),
    Attack("time_is_long", folder=_long_time),
    Attack("thousand_notebooks", folder=_thousand_notebooks),
    Attack("deep_folders", folder=_deep_folders),
    Attack("folder_of_the_victim", folder=_folder_of_the_victim),
    Attack("right_one_behind_a_link", folder=_right_one_behind_a_link),
    *[
        Attack(f"names_{label}", change=_all_names(name))
        for label, name in {
            "path": "../../victim/five/five", "number": 7, "list": ["double"], "empty": "", "markup": "<b>x</b>",
            "zero": "double\0", "long": "x" * 10**6, "prototype": "__proto__",
        }.items()
    ],
    Attack("odd_metadata", change=_odd_metadata),
    Attack("odd_sources", change=_odd_sources),
    Attack("thousand_solutions", change=_thousand_solutions),
    Attack("right_in_all_other_places", change=_right_in_all_other_places),
    Attack("points_of_its_own", change=_points_of_its_own),
    Attack("essay_is_code", change=_essay_is_code),
    Attack("large_attachment", change=_large_attachment),
    *[Attack(f"magic_{name}", code) for name, code in MAGICS.items()],
    *[Attack(f"changes_{name}", code) for name, code in INSIDE.items()],
]  # fmt: skip
