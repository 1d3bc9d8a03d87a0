"""A real JupyterLab, Notebook or Voila, a plain file server, and a real chromium, for the tests and the benchmarks."""

from __future__ import annotations

import contextlib
import functools
import http.server
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")  # whichever is there
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
APPS = {  # the module that starts each, its options, and where it shows a notebook
    "lab": ("jupyterlab", ["--LabApp.expose_app_in_browser=True", "--LabApp.news_url=None"], "lab/tree/{}?reset"),
    "notebook": ("notebook", ["--JupyterNotebookApp.expose_app_in_browser=True"], "notebooks/{}?"),
    "voila": ("voila", ["--Voila.ip=127.0.0.1"], "voila/render/{}?"),
}


@dataclass(frozen=True)
class Jupyter:
    """A running server."""

    base: str
    token: str
    app: str

    def address(self, notebook: str) -> str:
        """Where a notebook, named relative to the server's folder, is shown."""
        return f"{self.base}/{APPS[self.app][2].format(notebook)}&token={self.token}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def jupyter(folder: Path, app: str = "lab") -> Iterator[Jupyter]:
    """Serve a folder's notebooks, with a configuration and a home of its own. Nothing of the user's is touched."""
    port, token = _free_port(), secrets.token_hex(8)
    module, options, _ = APPS[app]
    common = ["--no-browser", f"--port={port}"]
    if app == "voila":
        command = [sys.executable, "-m", module, str(folder), *common, f"--token={token}", *options]
    else:
        command = [sys.executable, "-m", module, *common, "--allow-root", *options]
        command += [f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={folder}"]
    with tempfile.TemporaryDirectory() as home:
        places = {"CONFIG": home, "DATA": f"{home}/data", "RUNTIME": f"{home}/runtime"}
        env = dict(os.environ, **{f"JUPYTER_{name}_DIR": place for name, place in places.items()})
        log = Path(home) / "log"
        with log.open("w") as stream:
            server = subprocess.Popen(command, env=env, stdout=stream, stderr=stream, cwd=folder)
        found = Jupyter(f"http://127.0.0.1:{port}", token, app)
        try:
            _wait_for(found, server, log)
            yield found
        finally:
            server.terminate()
            try:
                server.wait(15)
            except subprocess.TimeoutExpired:
                server.kill()


def _wait_for(found: Jupyter, server: subprocess.Popen[bytes], log: Path, seconds: float = 90) -> None:
    path = "voila/static/voila.js" if found.app == "voila" else "api"
    end = time.monotonic() + seconds
    while time.monotonic() < end and server.poll() is None:
        try:
            urllib.request.urlopen(f"{found.base}/{path}?token={found.token}", timeout=2)
            return
        except urllib.error.HTTPError:
            return  # it answers, which is all we ask
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"{found.app} did not start within {seconds:.0f} s:\n{log.read_text()[-2000:]}")


@contextlib.contextmanager
def file_server(folder: Path) -> Iterator[str]:
    """Serve a folder as plain files."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


_driver: Any = None  # Playwright's, while it runs: a process cannot have two


@contextlib.contextmanager
def driver() -> Iterator[Any]:
    """Playwright's own process: the one that runs already, or a new one."""
    global _driver
    if _driver is not None:
        yield _driver
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as _driver:
        try:
            yield _driver
        finally:
            _driver = None


@contextlib.contextmanager
def chromium(*, offline: bool = False, **context: Any) -> Iterator[Any]:
    """A browser context. ``offline`` lets only this machine's own servers be reached."""
    program = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if program is None:
        raise RuntimeError(f"none of {', '.join(CHROMIUM)} is installed: run `make system`")
    with driver() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        made = browser.new_context(**{"viewport": {"width": 1200, "height": 1000}, **context})
        if offline:
            made.route(
                lambda url: not url.startswith(("http://127.0.0.1", "data:", "blob:")), lambda route: route.abort()
            )
        try:
            yield made
        finally:
            browser.close()


def write_notebook(path: Path, *sources: str) -> None:
    """A notebook of code cells that names its kernel: without that JupyterLab asks for one."""
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    cells = [nbformat.v4.new_code_cell(source.strip()) for source in sources]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), path)


_KERNEL_READY = """() => {
  const session = window.jupyterapp?.shell?.currentWidget?.sessionContext;
  return session?.isReady && session.session?.kernel?.status === 'idle';
}"""
_ALL_RAN = """() => {
  const prompts = [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].map(e => e.textContent);
  return prompts.some(t => /[0-9]/.test(t)) && !prompts.some(t => t.includes('*'));
}"""


def open_and_run(page: Any, server: Jupyter, notebook: str, seconds: float = 120, settle: float = 0) -> float:
    """Open a notebook in JupyterLab or Notebook 7, run all its cells, and return how long running took.

    ``settle`` waits so many seconds before running: ipywidgets' Output loses what comes before its manager is there.
    """
    page.goto(server.address(notebook), wait_until="domcontentloaded")
    page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=90_000)
    # A run command that comes before the kernel is there is dropped, or opens a dialog that asks for a kernel.
    page.wait_for_function(_KERNEL_READY, timeout=90_000)
    page.wait_for_timeout(settle * 1000)
    start = time.monotonic()
    page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells') }")
    page.wait_for_function(_ALL_RAN, timeout=seconds * 1000)
    return time.monotonic() - start


def explorers_in(notebook: Path) -> int:
    """How many explorers a notebook shows: cells whose last line is ``explore.something(...)``."""
    cells = nbformat.read(notebook, as_version=4).cells
    last = [cell.source.strip().splitlines()[-1] for cell in cells if cell.cell_type == "code" and cell.source.strip()]
    return sum(line.startswith("explore.") and not line.startswith("explore.watch_") for line in last)
