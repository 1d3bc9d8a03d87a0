"""A whole term on SQLite; `make test-postgres` plays it on PostgreSQL."""

import time

import pytest

from tests.autograder.term import Term, play


@pytest.fixture(autouse=True)
def utc(monkeypatch):
    """A zip tells the time of the place where it was made, which is taken to be here."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


def test_a_term(tmp_path, bubblewrap):
    play(Term(tmp_path))
