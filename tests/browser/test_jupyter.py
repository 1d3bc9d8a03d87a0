"""Every lecture in a real JupyterLab in chromium; an explorer in Notebook 7 and in Voila as well."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from testing import ROOT, browser
from testing.browser import Jupyter, explorers_in, open_and_run, write_notebook

LECTURES = sorted((ROOT / "lectures").glob("*.ipynb"))
# From "run all" to the last explorer, on two cores. Lecture 4 trains models and has three minutes,
# lecture 5 runs surveys and has two.
SECONDS_TO_SHOW = {"04_dp_sgd": 180.0, "05_adaptive_ldp": 120.0}
OTHERS = 20.0

TRY = """
from dpcourse import explore
shown = explore.laplace_scale()
shown
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, chromium: str) -> Iterator[tuple[Jupyter, Path]]:
    """JupyterLab on copies of the lectures: what it saves is not ours."""
    folder = tmp_path_factory.mktemp("lectures")
    for path in LECTURES:
        shutil.copy(path, folder / path.name)
    with browser.jupyter(folder) as server:
        yield server, folder


@pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)
def test_a_lecture_runs_and_every_slider_moves(
    path: Path, lab: tuple[Jupyter, Path], window: Any, screenshots: Path
) -> None:
    server, _ = lab
    allowed = SECONDS_TO_SHOW.get(path.stem, OTHERS)
    took = open_and_run(window, server, path.name, allowed + 60)
    expected = explorers_in(path)
    window.wait_for_function(f"() => document.querySelectorAll('.dpx[data-painted]').length >= {expected}")
    assert window.locator('[data-mime-type="application/vnd.jupyter.error"]').count() == 0
    assert window.locator('[data-mime-type="application/vnd.jupyter.stderr"]').count() == 0
    roots = window.query_selector_all(".dpx[data-painted]")
    assert len(roots) == expected
    for i, root in enumerate(roots):
        root.scroll_into_view_if_needed()
        before = root.evaluate("e => [...e.querySelectorAll('.dpx-panels, .dpx-says')].map(p => p.innerHTML).join()")
        control = root.query_selector("input[type=range], input[type=radio]:checked, select, button")
        control.focus()
        if control.evaluate("e => e.type") == "button":
            window.keyboard.press("Enter")
        else:
            at_end = control.evaluate("e => e.type === 'range' && e.value === e.max")
            for _ in range(3 if control.evaluate("e => e.type") == "range" else 1):
                window.keyboard.press("ArrowLeft" if at_end else "ArrowRight")
        after = root.evaluate("e => [...e.querySelectorAll('.dpx-panels, .dpx-says')].map(p => p.innerHTML).join()")
        assert after != before, f"explorer {i} of {path.stem} does not follow its control"
        root.screenshot(path=screenshots / f"{path.stem}_{i:02}.png")
    assert took <= allowed, f"{path.stem} took {took:.1f} s from 'run all' to its last explorer"


def move_right(window: Any) -> None:
    slider = window.locator(".dpx input[type=range]").first
    before = window.inner_text(".dpx-says")
    slider.press("ArrowRight")
    window.wait_for_function("before => document.querySelector('.dpx-says').innerText !== before", arg=before)


def test_python_the_browser_and_the_kernel_agree_on_where_the_sliders_stand(
    lab: tuple[Jupyter, Path], window: Any
) -> None:
    """One notebook for all of it: opening JupyterLab and starting a kernel takes longer than looking."""
    server, folder = lab
    write_notebook(folder / "try.ipynb", TRY, "shown.values = {'b': 4.0}", "shown.values")
    open_and_run(window, server, "try.ipynb")
    window.wait_for_function("() => document.querySelector('.dpx-says')?.innerText.startsWith('b = 4')")
    move_right(window)
    time.sleep(0.6)  # the kernel is told a moment after the last move
    window.evaluate(
        """() => { const nb = window.jupyterapp.shell.currentWidget.content; nb.activeCellIndex = 2;
                   window.jupyterapp.commands.execute('notebook:run-cell'); }"""
    )
    window.wait_for_function(
        "() => [...document.querySelectorAll('.jp-OutputArea-output')].at(-1).innerText.includes('4.1')"
    )
    a_value_beside_the_grid_is_asked_of_the_kernel(window)


def a_value_beside_the_grid_is_asked_of_the_kernel(window: Any) -> None:
    box = window.locator(".dpx-value").first
    box.fill("3.14159")
    box.press("Enter")
    window.wait_for_function("() => document.querySelector('.dpx-says').innerText.includes('3.14159')", timeout=10_000)
    box.fill("777")  # refused: the box says again what the picture shows
    box.press("Enter")
    assert "not “777”" in window.inner_text(".dpx-note")
    assert box.input_value() == "3.14159"
    move_right(window)  # and from there the slider takes over again
    assert "3.14159" not in window.inner_text(".dpx-says")


@pytest.mark.parametrize("app", ["notebook", "voila"])
def test_it_also_works_in(app: str, tmp_path: Path, window: Any, screenshots: Path) -> None:
    write_notebook(tmp_path / "try.ipynb", TRY)
    with browser.jupyter(tmp_path, app) as server:
        if app == "notebook":
            open_and_run(window, server, "try.ipynb")
        else:
            window.goto(server.address("try.ipynb"))
        window.wait_for_selector(".dpx[data-painted]", timeout=60_000)
        move_right(window)
        window.screenshot(path=screenshots / f"{app}.png")
