"""A browser for the tests of this room, and where their screenshots go: build/screenshots."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from testing import ROOT, browser


@pytest.fixture(scope="session")
def screenshots() -> Path:
    folder = ROOT / "build" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def offline(chromium: str) -> Iterator[Any]:
    """A browser that reaches this machine's servers only."""
    with browser.chromium(offline=True) as context:
        yield context


@pytest.fixture
def window(offline: Any) -> Iterator[Any]:
    """A page of it. An error of our script fails the test; Jupyter's own scripts lie under /static/."""
    page = offline.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(error.stack) if "/static/" not in error.stack else None)
    yield page
    page.close()
    assert not errors
