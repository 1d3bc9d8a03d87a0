"""Every explorer in a plain page in chromium: moved through its range, compared with paper, looked at closely."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpcourse import explore
from dpcourse.scenes import Control, Scene, matplotlib_painter, page
from testing import browser
from tests.explore.painted import assert_paper_shows

SCENES: dict[str, Scene] = {}


def scene_of(name: str) -> Scene:
    if name not in SCENES:
        SCENES[name] = explore.CATALOGUE[name]().scene
    return SCENES[name]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A plain file server, and the folder that it serves."""
    folder = tmp_path_factory.mktemp("explorers")
    with browser.file_server(folder) as address:
        yield address, folder


def opened(window: Any, site: tuple[str, Path], name: str, width: int = 900) -> None:
    address, folder = site
    target = folder / f"{name}.html"
    if not target.exists():
        body = f"<!DOCTYPE html><meta charset=utf-8>{page.head()}<body>{page.fragment(scene_of(name))}"
        target.write_text(body, encoding="utf-8")
    window.set_viewport_size({"width": width, "height": 900})
    window.goto(f"{address}/{name}.html")
    window.wait_for_selector(".dpx[data-painted]")


# Moves every control over all its positions (the others at their start), and some positions of all together.
TOUR = """() => {
  const root = document.querySelector('.dpx'), explorer = root.explorer, faults = new Set();
  const start = [...explorer.position];
  const look = () => {
    for (const svg of root.querySelectorAll('.dpx-plot svg'))
      if (/NaN|undefined|Infinity|null/.test(svg.innerHTML)) faults.add(`${explorer.position}: not a number`);
    if (/NaN|undefined|Infinity/.test(root.textContent)) faults.add(`${explorer.position}: words without a number`);
  };
  let painted = explorer.painted;
  explorer.controls.forEach((control, i) => {
    for (let k = 0; k < control.values.length; k++) { explorer.move(i, k); look(); }
    explorer.move(i, start[i]);
  });
  for (let r = 0; r < 40; r++) {
    explorer.controls.forEach((control, i) => explorer.move(i, (7 * r * (i + 1)) % control.values.length));
    look();
  }
  if (explorer.painted === painted) faults.add('nothing was painted');
  return [...faults].slice(0, 5);
}"""

# Words that lie on each other, leave their picture, or are cut off by it.
WORDS = """() => {
  const root = document.querySelector('.dpx'), explorer = root.explorer, faults = new Set();
  const start = [...explorer.position];
  const look = () => {
    for (const svg of root.querySelectorAll('.dpx-plot svg')) {
      const [width, height] = [svg.viewBox.baseVal.width, svg.viewBox.baseVal.height];
      const texts = [...svg.querySelectorAll('text')].filter(t => t.textContent.trim());
      const words = texts.map(t => [t.textContent, t.getBBox()]);
      words.forEach(([text, b], i) => {
        if (b.x < -3 || b.x + b.width > width + 3 || b.y < -3 || b.y + b.height > height + 4)
          faults.add(`"${text}" leaves the picture at ${explorer.position}`);
        for (const [other, c] of words.slice(i + 1)) {
          const across = Math.min(b.x + b.width, c.x + c.width) - Math.max(b.x, c.x);
          const down = Math.min(b.y + b.height, c.y + c.height) - Math.max(b.y, c.y);
          if (across > 3 && down > 5) faults.add(`"${text}" lies on "${other}" at ${explorer.position}`);
        }
      });
    }
    if (root.scrollWidth > root.clientWidth + 2) faults.add(`wider than its box at ${explorer.position}`);
  };
  look();
  explorer.controls.forEach((control, i) => {
    const n = control.values.length;
    for (let k = 0; k < n; k += Math.max(1, Math.floor(n / 8))) { explorer.move(i, k); look(); }
    explorer.move(i, n - 1); look();
    explorer.move(i, start[i]);
  });
  return [...faults].slice(0, 5);
}"""

RECEIVED = """() => {
  const explorer = document.querySelector('.dpx').explorer;
  explorer.controls.forEach((control, i) => explorer.move(i, Math.floor((control.values.length * (i + 2)) / (i + 4))));
  const plain = JSON.parse(JSON.stringify(explorer.picture, (k, v) => (ArrayBuffer.isView(v) ? Array.from(v) : v)));
  return { values: explorer.values, picture: plain };
}"""

DRAWN = (Path(__file__).parent / "drawn.js").read_text(encoding="utf-8")


# All controls where they stood when the page was opened.
BACK = """() => {
  const explorer = document.querySelector('.dpx').explorer;
  explorer.started ??= [...explorer.position];
  explorer.controls.forEach((control, i) => explorer.move(i, explorer.started[i]));
}"""

# What a reader without eyes is told: the alternative text; a table is read as it is.
TOLD = """() => document.querySelector('.dpx-plot svg')?.getAttribute('aria-label')
            ?? document.querySelector('.dpx').innerText"""


@pytest.mark.parametrize("name", sorted(explore.CATALOGUE))
def test_an_explorer_from_all_sides(name: str, site: tuple[str, Path], window: Any, screenshots: Path) -> None:
    """One page for all of it, because opening one takes longer than looking at it."""
    opened(window, site, name)
    # Every position can be painted; words are legible; the shapes on the screen are the numbers of the picture.
    for look in (TOUR, WORDS, DRAWN):
        window.evaluate(BACK)
        assert window.evaluate(look) == []
    window.evaluate(BACK)
    window.screenshot(path=screenshots / f"explorer_{name}.png", full_page=True)
    worked_by_keyboard(window, scene_of(name).controls[0])
    # The browser draws the numbers that paper draws.
    received = window.evaluate(RECEIVED)
    assert_paper_shows(matplotlib_painter.figure(scene_of(name).picture(**received["values"])), received["picture"])
    opened(window, site, name, width=400)
    assert window.evaluate(WORDS) == []


def worked_by_keyboard(window: Any, first: Control) -> None:
    """Tab reaches the first control, arrow keys move it, and the alternative text follows."""
    before = window.evaluate(TOLD)
    window.keyboard.press("Tab")
    kind = window.evaluate("() => document.activeElement.type")
    assert kind in ("range", "radio", "select-one", "button")
    at_end = window.evaluate("() => document.activeElement.value === document.activeElement.max")
    window.keyboard.press("Enter" if kind == "button" else "ArrowLeft" if at_end else "ArrowRight")
    window.wait_for_function(f"(before) => ({TOLD})() !== before", arg=before)
    assert first.label in window.evaluate(TOLD) or first.kind == "again"


def test_a_typed_value_is_taken_or_refused_in_words(site: tuple[str, Path], window: Any) -> None:
    opened(window, site, "laplace_scale")
    box = window.locator(".dpx-value").first
    box.fill("999")
    box.press("Enter")
    assert "from 0.5 to 5.0, not “999”" in window.inner_text(".dpx-note")
    assert box.input_value() == "2.0"
    box.fill("3.14159")
    box.press("Enter")
    assert "No kernel runs here: 3.1 is the nearest" in window.inner_text(".dpx-note")
    box.fill("4,0")  # a decimal comma
    box.press("Enter")
    assert window.inner_text(".dpx-note") == ""
    assert "b = 4" in window.inner_text(".dpx-says")


def test_a_curve_can_be_dragged(site: tuple[str, Path], window: Any) -> None:
    opened(window, site, "two_worlds")
    box = window.locator(".dpx-drag svg").bounding_box()
    window.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 100)
    window.mouse.down()
    window.mouse.move(box["x"] + box["width"] * 0.2, box["y"] + 100)
    window.mouse.up()
    left = window.evaluate("() => document.querySelector('.dpx').explorer.values.y")
    assert left < 49


def test_dark_and_light_grounds_give_enough_contrast(site: tuple[str, Path], window: Any) -> None:
    """Every colour of the palette stands out from the ground by 3 : 1, words by 4.5 : 1 (WCAG 2.2), in both themes."""
    contrast = """(dark) => {
      document.body.dataset.jpThemeLight = String(!dark);
      document.documentElement.style.setProperty('--jp-layout-color0', dark ? '#111111' : '#ffffff');
      document.documentElement.style.setProperty('--jp-content-font-color1', dark ? '#ffffff' : '#212121');
      const probe = document.createElement('span'); document.querySelector('.dpx').append(probe);
      const word = (name) => lum(`color-mix(in srgb, var(--dpx-${name}) 65%, var(--dpx-ink))`, true);
      const lum = (name, whole) => { probe.style.color = whole ? name : `var(--dpx-${name})`;
        const linear = (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        const said = getComputedStyle(probe).color, parts = said.match(/-?[0-9.]+/g).slice(0, 3).map(Number);
        const [r, g, b] = parts.map((v) => linear(said.startsWith('color(') ? v : v / 255));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
      const ground = lum('ground');
      const ratio = (light) => (Math.max(light, ground) + 0.05) / (Math.min(light, ground) + 0.05);
      const names = ['blue', 'orange', 'green', 'red', 'purple', 'sky', 'grey', 'ink'];
      return { lines: names.map((name) => ratio(lum(name))), words: names.map((name) => ratio(word(name))) };
    }"""
    opened(window, site, "two_worlds")
    for dark in (False, True):
        found = window.evaluate(contrast, dark)
        assert min(found["lines"]) >= 3, found
        assert min(found["words"]) >= 4.5, found


def test_a_late_answer_of_the_kernel_does_not_replace_the_present_picture(site: tuple[str, Path], window: Any) -> None:
    """Two values are asked for, the slider moves on to the grid, and only then the kernel answers, or fails."""
    opened(window, site, "laplace_scale")
    late = """async (fails) => {
      const root = document.querySelector('.dpx'), explorer = root.explorer, answers = [];
      const bytes = explorer.numbers.buffer, spec = explorer.spec;
      explorer.ask = () => new Promise((resolve, reject) => answers.push(fails ? () => reject(new Error('No.'))
                                                                               : () => resolve({ spec, bytes })));
      explorer.typed(0, '3.14'); explorer.typed(0, '3.24'); explorer.move(0, 3);
      const now = root.querySelector('.dpx-says').innerText;
      for (let k = 0; k < answers.length; k++) { answers[k](); await new Promise((done) => setTimeout(done, 20)); }
      const [says, note] = ['.dpx-says', '.dpx-note'].map((name) => root.querySelector(name).innerText);
      return [now, says, note, explorer.values.b];
    }"""
    for fails in (False, True):
        before, after, note, b = window.evaluate(late, fails)
        assert before == after
        assert note == ""
        assert b == 0.8
