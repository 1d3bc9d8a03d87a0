"""The same term with its gradebook in a real PostgreSQL: `make test-postgres`. Left out by `make test`."""

import importlib.util
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from tests.autograder.term import Term, play

pytestmark = pytest.mark.postgres


def programs() -> Path:
    """Where Debian keeps PostgreSQL's programs: they are not on the path."""
    if "initdb" in map(os.path.basename, filter(None, [shutil.which("initdb")])):
        return Path(str(shutil.which("initdb"))).resolve().parent
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not places or importlib.util.find_spec("psycopg") is None:
        pytest.fail("PostgreSQL and psycopg are needed: see `make test-postgres`")
    return places[-1]


@pytest.fixture
def server():
    """The address of an empty database, on a server of its own that listens at a socket only."""
    place = programs()
    with tempfile.TemporaryDirectory(prefix="dpcourse-postgres-") as folder:
        as_user: list[str] = []
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            shutil.chown(folder, "postgres")
            as_user = ["runuser", "-u", "postgres", "--"]

        def run(*words: str) -> None:
            done = subprocess.run([*as_user, *words], cwd=folder, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr

        run(str(place / "initdb"), "--auth=trust", "--username=grader", f"{folder}/data")
        options = f"-k {folder} -c listen_addresses='' -c fsync=off"
        run(str(place / "pg_ctl"), "-D", f"{folder}/data", "-w", "-o", options, "-l", f"{folder}/log", "start")
        try:
            run(str(place / "createdb"), "-h", folder, "-U", "grader", "gradebook")
            yield f"postgresql+psycopg://grader@/gradebook?host={folder}"
        finally:
            run(str(place / "pg_ctl"), "-D", f"{folder}/data", "-m", "immediate", "stop")


def test_a_term_on_postgresql(server, tmp_path, bubblewrap, monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    play(Term(tmp_path, server))
