"""What every room of the tests shares."""

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from testing import ROOT

IN_CI = os.environ.get("CI", "").lower() in ("1", "true", "yes")

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
    from testing import browser

    return require_program(*browser.CHROMIUM)


@pytest.fixture(scope="session")
def bubblewrap() -> str:
    """The path of the sandbox."""
    return require_program("bwrap", package="bubblewrap")
