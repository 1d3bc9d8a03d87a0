"""The exported lectures in a browser with no network and no Jupyter, with JavaScript and without."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from testing import ROOT, browser
from tools.pages.build import build

LECTURES = [path.stem for path in sorted((ROOT / "lectures").glob("*.ipynb"))]


Site = tuple[str, Path, Callable[[Path], Path]]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, run_once: Callable[[Path], Path]) -> Iterator[Site]:
    """The lectures that a test asks for are built then, and once."""
    folder = tmp_path_factory.mktemp("site")
    with browser.file_server(folder) as address:
        yield address, folder, run_once


def address_of(site: Site, kind: str, name: str) -> str:
    address, folder, run_once = site
    if not (folder / kind / f"{name}.html").exists():
        build(kind, folder / kind, [name], run_once(ROOT / "lectures" / f"{name}.ipynb"))
    return f"{address}/{kind}/{name}.html"


MOVE_ALL = """async () => {
  const still = [];
  for (const root of document.querySelectorAll('.dpcourse-explorer')) {
    const seen = () => [...root.querySelectorAll('.dpx-panels, .dpx-says')].map((p) => p.innerHTML).join();
    const before = seen(), control = root.querySelector('input[type=range], select, input[type=radio]:not(:checked)');
    if (control.type === 'range') control.value = control.value === control.max ? 0 : control.max;
    else if (control.type === 'radio') control.checked = true;
    else control.selectedIndex = control.selectedIndex ? 0 : 1;
    control.dispatchEvent(new Event(control.type === 'range' ? 'input' : 'change', { bubbles: true }));
    if (seen() === before) still.push(root.explorer.spec.title);
  }
  return still;
}"""


@pytest.mark.parametrize("name", LECTURES)
def test_a_page_is_alive_without_kernel_and_network(name: str, site: Site, offline: Any, screenshots: Path) -> None:
    where = address_of(site, "site", name)
    page = offline.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("requestfailed", lambda request: problems.append(request.url) if request.url.startswith("http") else None)
    page.on(
        "response", lambda got: problems.append(got.url) if got.status >= 400 and "favicon" not in got.url else None
    )
    page.goto(where)
    count = page.locator(".dpcourse-explorer").count()
    page.wait_for_function(f"() => document.querySelectorAll('.dpx[data-painted]').length === {count}")
    assert page.evaluate(MOVE_ALL) == []
    page.wait_for_function("() => window.MathJax && MathJax.Hub.queue.pending === 0 && MathJax.isReady", timeout=60_000)
    formulas = page.evaluate("() => MathJax.Hub.getAllJax().length")
    assert formulas > 0
    assert page.locator(".MathJax_Error, merror, .MathJax .noError").count() == 0
    raw = (
        "() => [...document.querySelectorAll('.jp-MarkdownOutput')].map(e => e.innerText).filter(t => t.includes('$'))"
    )
    assert page.evaluate(raw) == []
    page.screenshot(path=screenshots / f"site_{name}.png")
    page.close()
    assert not problems


@pytest.mark.parametrize("name", [name for name in LECTURES if not name.startswith("00")][:1])
def test_without_javascript_the_still_picture_stands(name: str, site: Site, offline: Any) -> None:
    page = offline.browser.new_context(java_script_enabled=False).new_page()
    page.goto(address_of(site, "site", name))
    count = page.locator(".dpcourse-explorer").count()
    assert count > 0
    shown = page.locator(".dpcourse-explorer img[src^='data:image/png']")
    assert shown.count() == count
    for i in range(count):
        assert shown.nth(i).is_visible()
        assert len(shown.nth(i).get_attribute("alt")) > 40


@pytest.mark.parametrize("name", [name for name in LECTURES if not name.startswith("00")])
def test_a_deck_turns_its_slides_and_moves_its_sliders(name: str, site: Site, window: Any, screenshots: Path) -> None:
    window.set_viewport_size({"width": 1280, "height": 800})
    window.goto(address_of(site, "slides", name))
    window.wait_for_function("() => window.Reveal && Reveal.isReady()")
    total = window.evaluate("() => Reveal.getTotalSlides()")
    assert total >= 20
    hidden = """async () => {  // slides whose end cannot be seen, even smaller
      const cut = [], a_moment = () => new Promise((done) => setTimeout(done, 120));
      await new Promise((done) => MathJax.Hub.Queue(done));  // a formula is higher than its source
      for (const slide of Reveal.getSlides()) {
        const at = Reveal.getIndices(slide); Reveal.slide(at.h, at.v);
        const fits = () => slide.scrollHeight <= slide.clientHeight + 3;
        // Words stand at once, and are only ever made smaller. An explorer is painted when it is seen.
        if (slide.querySelector('.dpcourse-explorer')) await a_moment();
        for (let tried = 0; tried < 10 && !fits(); tried++) await a_moment();
        if (!fits()) cut.push(slide.innerText.slice(0, 60));
      }
      return cut;
    }"""
    assert window.evaluate(hidden) == []
    index = window.evaluate(
        """() => { const slides = Reveal.getSlides(); const k = slides.findIndex((s) => s.querySelector('.dpx'));
                   const at = Reveal.getIndices(slides[k]); Reveal.slide(at.h, at.v); return k; }"""
    )
    assert index > 0
    slider = window.locator("section.present .dpx input[type=range]:visible").first
    says = window.locator("section.present .dpx .dpx-says:visible").first
    before = says.inner_text()
    slider.press("ArrowRight")
    slider.press("ArrowRight")
    assert says.inner_text() != before
    assert (
        window.evaluate("() => Reveal.getSlides().indexOf(Reveal.getCurrentSlide())") == index
    )  # the slider has the keys
    window.screenshot(path=screenshots / f"slides_{name}.png")
