"""What every room of the tests shares."""

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
IN_CI = os.environ.get("CI", "").lower() in ("1", "true", "yes")

#: Files that take long are begun first, so that no core idles at the end. JupyterLab has seconds to keep: beside its
#: first lectures run tests that mostly wait; the other browsers come when it is done.
FIRST = (
    "browser/test_jupyter.py",
    "autograder/test_runs.py",
    "autograder/test_attacks.py",
    "autograder/test_sandbox.py",
    "autograder/test_cluster.py",
    "tasks/test_bank.py",
    "autograder/test_day.py",
    "browser/test_site.py",
    "browser/test_painter.py",
    "tasks/test_clumsy.py",
    "sgd/test_auditing.py",
    "autograder/test_grading.py",
    "autograder/test_nbgrader_path.py",
    "tasks/test_nbgrader.py",
    "explore/test_every_explorer.py",
    "tasks/test_special_cases.py",
    "tasks/test_together.py",
)
LAST = ("lectures/test_notebooks.py",)  # by then test_site.py has run the lectures, and nobody waits for run_once

# Several workers share the cores: one thread each. Read by OpenMP when numpy or torch is first imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_configure(config: pytest.Config) -> None:
    """Settings of hypothesis, in the processes that run tests: the one that only hands them out would wait for it."""
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        return
    import hypothesis

    # No deadline: the first call of a numerical routine pays for its imports. In CI the same examples every time.
    hypothesis.settings.register_profile("dpcourse", deadline=None, derandomize=IN_CI, print_blob=True)
    hypothesis.settings.load_profile("dpcourse")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files in the order in which the workers take them (``make test`` hands out whole files)."""
    first = {ROOT / "tests" / name: place for place, name in enumerate(FIRST)}
    last = {ROOT / "tests" / name for name in LAST}
    gone = [str(path) for path in (*first, *last) if not path.is_file()]
    if gone:
        raise pytest.UsageError(f"tests/conftest.py names files that are not there: {', '.join(gone)}")
    items.sort(key=lambda item: len(FIRST) + 1 if item.path in last else first.get(item.path, len(FIRST)))


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def run_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """Runs a lecture once for all tests and workers; gives the folder with the outcome (``tools.pages.build.run``)."""
    from tools.pages.build import run

    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if base.name.startswith("popen-") else base) / "run"  # the workers' folders lie side by side
    shared.mkdir(exist_ok=True)

    def ran(path: Path) -> Path:
        with (shared / f"{path.stem}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # whoever comes second waits and finds it done
            run(path, shared)
        return shared

    return ran


def require_program(*names: str, package: str | None = None) -> str:
    """The path of the first of these programs that is installed.

    Where none is, the test is skipped on a laptop and fails under CI=true, where everything can be installed.
    """
    for name in names:
        path = shutil.which(name)
        if path is not None:
            return path
    reason = f"{' or '.join(names)} is not installed: run `make system`, or install the package {package or names[0]}"
    if IN_CI:
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium (or Chrome) to drive."""
    from tools import browser  # here: it brings nbformat along, two seconds that most tests need not wait for

    return require_program(*browser.CHROMIUM)


@pytest.fixture(scope="session")
def bubblewrap() -> str:
    """The path of the sandbox."""
    return require_program("bwrap", package="bubblewrap")
