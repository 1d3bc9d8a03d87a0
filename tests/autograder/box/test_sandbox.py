"""The box: what a submission's process can see and do, and what is left when it is gone."""

import os
import time

import pytest

from autograder.box import sandbox
from autograder.box.process import Lost, Remote
from autograder.box.sandbox import Sandbox, without_walls
from autograder.box.walls import NoSandbox
from autograder.examine.remote_student import RemoteStudent
from dpcourse.tasks import Answer, Student
from dpcourse.tasks.complaints import Complaint, Late, Unwritten


@pytest.fixture(scope="module")
def box(bubblewrap):
    with Sandbox(packages=["pandas"]) as box:
        yield box


@pytest.fixture
def process(box):
    process = Remote(box, 60.0)
    yield process
    process.close()


def test_cells_run_as_in_jupyter(process):
    """Magics, shell lines, prints, warnings and displays are no errors; names stay."""
    cell = """
%matplotlib inline
!pip install nothing
files = !ls
import warnings, sys
warnings.warn("careful")
print("to stderr", file=sys.stderr)
%time y = 3
display(y)
get_ipython().anything_else("x")
x = 5
x
"""
    assert process.run("one", cell) == ""
    assert process.run("two", "%%time\nz = x + y") == ""
    assert process.run("three", "assert z == 8") == ""


def test_errors_are_told_and_the_next_cell_runs(process):
    assert "ZeroDivisionError" in process.run("bad", "a = 1\n1 / 0")
    assert process.run("bad", "def f(:\n  pass").startswith("The cell is not valid Python")
    assert "SystemExit" in process.run("leaves", "raise SystemExit")
    assert process.run("good", "assert a == 1") == ""


@pytest.mark.parametrize(
    "trial",
    [
        "import os; os.fork()",
        "import subprocess; subprocess.run(['true'])",
        "import os; os.execv('/bin/sh', ['sh'])",
        "import socket; socket.socket()",
        "open('/etc/new', 'w')",
        "open('/inside/autograder/box/wire.py', 'a')",
        "import numpy; open(numpy.__file__, 'a')",
        "open('/dev/new', 'w')",
        "import os; os.setuid(0)",
        "import os; os.unshare(0x10000000) if hasattr(os, 'unshare') else open('/x', 'w')",
        "open('/proc/1/environ').read()",
        "open('/proc/1/mem', 'rb').read(1)",
        "import resource; resource.prlimit(1, resource.RLIMIT_CPU, (1, 1))",
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (-1, -1))",
        "x = bytearray(10**10)",
        "with open('/tmp/x', 'wb') as f: f.write(bytes(10**8))",
        "for n in range(20):\n    with open(f'/tmp/x{n}', 'wb') as f: f.write(bytes(10**7))",
    ],
)
def test_what_a_submission_cannot_do(process, trial):
    told = process.run("trial", f"import os\nos.makedirs('/tmp', exist_ok=True)\n{trial}")
    assert told or not process.alive, "it went through"


def test_it_is_alone(process):
    """The first process of its own namespace, without a view of the system, an ordinary user, with nothing around."""
    look = (
        "import os\nassert (os.getpid(), os.getppid(), os.getuid()) == (1, 0, 65534)\n"
        "assert not os.path.exists('/proc') and not os.path.exists('/sys') and not os.path.exists('/etc')\n"
        "assert 'SECRET' not in os.environ and os.getcwd() == os.path.expanduser('~')\n"
        "assert os.listdir('~'.replace('~', os.getcwd())) == os.listdir('/tmp') == os.listdir('/dev/shm') == []"
    )
    assert process.run("look", look) == ""


def test_no_reference_can_be_imported(process):
    for name in ("mechanisms", "privacy_loss", "tasks.bank", "tasks.task", "adaptive_ldp", "sgd"):
        assert "write it yourself" in process.run("import", f"import dpcourse.{name}")
    assert "write it yourself" in process.run("import", "from dpcourse import Laplace")
    assert process.run("import", "from dpcourse.tasks import check, grade\nassert check(print) is None") == ""


def test_services_give_the_real_results(process):
    from dpcourse import accounting, data

    sigma = accounting.sigma_for(2.0, 1e-5, q=0.05, steps=40)
    cell = (
        "from dpcourse import accounting, data\n"
        f"assert accounting.sigma_for(2.0, 1e-5, q=0.05, steps=40) == {sigma!r}\n"
        f"assert list(data.cities()['city']) == {list(data.cities()['city'])!r}"
    )
    assert process.run("services", cell) == ""
    assert "write it yourself" in process.run("services", "accounting.rdp(1)")
    assert "takes numbers" in process.run("services", "accounting.sigma_for('2', 1e-5)")
    assert "-2" in process.run("services", "accounting.sigma_for(-2.0, 1e-5)")


def test_a_function_answers_as_it_would_here(process):
    source = "def f(x, rng):\n    return x + rng.laplace()"
    scope: dict = {}
    exec(source, scope)
    assert process.run("f", source) == ""
    there, here = RemoteStudent(process, "f", Answer(), 10.0), Student(scope["f"], Answer())
    assert there.value({"x": 2.0}, 7) == here.value({"x": 2.0}, 7)
    assert (there.draws({"x": 2.0}, 500, 7) == here.draws({"x": 2.0}, 500, 7)).all()


@pytest.mark.parametrize(
    ("body", "form", "kind", "words"),
    [
        ("return None", Answer(), Complaint, "is a `return` missing"),
        ("return [1, 2]", Answer(), Complaint, "I expected one number"),
        ("return float('nan')", Answer(), Complaint, "contains nan"),
        ("return 'seven'", Answer(), Complaint, "I expected numbers"),
        ("return object()", Answer(), Complaint, "I expected numbers"),
        ("return 1j", Answer(), Complaint, "complex"),
        ("return 1 / 0", Answer(), Complaint, "ZeroDivisionError"),
        ("raise NotImplementedError", Answer(), Unwritten, "write your function first"),
        ("exit()", Answer(), Complaint, "SystemExit"),
        ("while True: pass", Answer(), Late, "did not finish"),
        ("v[0] = 9; return 1.0", Answer(), Complaint, "changes its argument"),
        ("return [1.0] * (1 + (v[0] > rng.random()))", Answer((None,)), Complaint, "shape"),
    ],
)
def test_complaints_cross_the_border(process, body, form, kind, words):
    import numpy as np

    assert process.run("f", f"def f(v, rng):\n    {body}") == ""
    student = RemoteStudent(process, "f", form, 1.0)
    with pytest.raises(kind, match=words):
        student.draws({"v": np.array([0.5, 2.0])}, 20, 3)


def test_a_missing_function_is_missing(process):
    with pytest.raises(Unwritten, match="not defined"):
        RemoteStudent(process, "nowhere", Answer(), 1.0).value({})


def test_generators_without_a_seed_repeat(box):
    """The same grading twice is the same, even if a function takes its coins from the system."""
    source = (
        "import numpy as np, random, os, secrets\n"
        "def f():\n    own = [np.random.default_rng().random(), random.SystemRandom().random()]\n"
        "    return [*own, secrets.randbits(30), np.random.random()]"
    )
    found = []
    for _ in range(2):
        process = Remote(box, 20.0)
        assert process.run("f", source) == ""
        found.append(RemoteStudent(process, "f", Answer((4,)), 2.0).value({}, 5).tolist())
        process.close()
    assert found[0] == found[1]


def test_nothing_of_one_submission_reaches_the_next(box):
    first = Remote(box, 20.0)
    cell = (
        "import os, numpy as np\nopen('/tmp/left', 'w').write('x')\nos.makedirs(os.path.expanduser('~/a/b'))\n"
        "np.sum = None\nos.environ['LEFT'] = '1'"
    )
    assert first.run("leave", cell) == ""
    first.close()
    second = Remote(box, 20.0)
    check = (
        "import os, numpy as np\nassert os.listdir('/tmp') == os.listdir(os.path.expanduser('~')) == []\n"
        "assert np.sum is not None and 'LEFT' not in os.environ"
    )
    assert second.run("look", check) == ""
    second.close()


def test_a_process_that_hangs_is_stopped_and_the_box_goes_on(box):
    process = Remote(box, 1.0)
    start = time.monotonic()
    with pytest.raises(Late, match="used up"):
        process.run("hang", "while True:\n    try:\n        while True: pass\n    except BaseException: pass")
    assert time.monotonic() - start < 5
    with pytest.raises(Lost):
        process.run("after", "1")
    again = Remote(box, 10.0)
    assert again.run("works", "x = 1") == ""
    again.close()


def test_a_sandbox_that_dies_is_replaced(box):
    process = Remote(box, 10.0)
    assert box.is_alive
    box._process.kill()
    with pytest.raises(sandbox.Broken):
        process.run("gone", "import time\ntime.sleep(9)")  # the kernel takes a moment to end what was behind the wall
    again = Remote(box, 10.0)
    assert again.run("works", "x = 1") == ""
    again.close()


def test_the_box_ends_with_its_parent(bubblewrap):
    with Sandbox() as one:
        pid = one._process.pid
        assert os.path.exists(f"/proc/{pid}")
    assert not os.path.exists(f"/proc/{pid}")


def test_without_bubblewrap_grading_does_not_start(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(NoSandbox, match="apt-get install bubblewrap"):
        sandbox.check()
    with pytest.raises(NoSandbox, match="apt-get install bubblewrap"):
        Sandbox().start()


def test_unsafe_runs_without_a_box_and_leaves_nothing():
    with without_walls() as one:
        process = Remote(one, 20.0)
        folder = one._folder.name
        assert process.run("x", "open('left', 'w').write('x')\nimport os\nassert os.path.exists('left')") == ""
        process.close()
    assert not os.path.exists(folder)
