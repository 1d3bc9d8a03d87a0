"""From a key press on a slider to the new picture on the screen, in a real JupyterLab in chromium.

Every explorer of the course with a slider, and beside them, in the same notebook and the same minutes, what most
notebooks do: ``interact`` with an inline matplotlib figure (the picture of ``explore.laplace_scale``). A picture counts
as seen when the browser has finished the frame that shows it.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure
from dpcourse import explore
from testing.browser import Jupyter, chromium, explorers_in, jupyter, open_and_run, write_notebook

LECTURES = Path(__file__).parent.parent / "lectures"
PRESSES, FAST = 20, 40
REPEAT = 33  # milliseconds: how fast a key repeats that is held down

PEER = """
import matplotlib.pyplot as plt
from ipywidgets import FloatSlider, interact
from dpcourse import explore
from dpcourse.scenes import PALETTE
scene = explore.laplace_scale().scene
def show(b):
    figure, grid = plt.subplots(1, 2, figsize=(10, 3.6))
    for axes, part in zip(grid, scene.picture(b=b).panels):
        axes.set(xlim=(part.x.low, part.x.high), ylim=(part.y.low, part.y.high))
        axes.set(xlabel=part.x.label, ylabel=part.y.label)
        for mark in part.marks:
            if hasattr(mark, "at"):
                axes.axhline(mark.at, color=PALETTE[mark.colour])
            elif hasattr(mark, "text"):
                axes.text(mark.x, mark.y, mark.text)
            else:
                axes.plot(mark.x, mark.y, color=PALETTE[mark.colour], label=mark.label)
    plt.show()
interact(show, b=FloatSlider(value=2, min=0.5, max=5, step=0.1));
"""

# Remembers when a key went down and when the frame was on the screen that first shows another picture in `target`.
WATCH = """(target) => {
  const seen = []; let pressed = null, before = null, on = true;
  const image = () => target.querySelector('img');
  const name = () => target.dataset.painted ?? (image()?.complete ? image().src : undefined);
  const key = (event) => { pressed = event.timeStamp; before = name(); };
  window.addEventListener('keydown', key, true);
  const frame = () => {
    const now = name();
    if (pressed !== null && now !== undefined && now !== before) {
      const start = pressed, after = new MessageChannel();
      pressed = null;
      after.port1.onmessage = () => { seen.push(performance.now() - start); };  // comes after the frame was painted
      after.port2.postMessage(0);
    }
    if (on) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  window.latencies = seen;
  window.unwatch = () => { on = false; window.removeEventListener('keydown', key, true); };
}"""

# Counts the frames that show another picture than the frame before.
COUNT = """(target) => {
  let last = null, on = true; window.shown = -1;
  const name = () => target.dataset.painted ?? target.querySelector('img')?.src;
  const frame = () => {
    const now = name();
    if (now !== last) { last = now; window.shown++; }
    if (on) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame); window.stopCounting = () => { on = false; };
}"""


def percentile_95(values: list[float]) -> float:
    """The value that one in twenty exceeds."""
    return statistics.quantiles(values, n=20)[-1]


def press_and_wait(page: Any, handle: Any, target: Any, presses: int = PRESSES) -> list[float]:
    """Milliseconds from each of so many key presses to its picture, there and back along the slider."""
    handle.scroll_into_view_if_needed()
    handle.focus()
    target.evaluate(WATCH)
    at_end = handle.evaluate("e => Number(e.value ?? 0) * 2 > Number(e.max ?? 1)")
    for i in range(presses):
        there, back = ("ArrowLeft", "ArrowRight") if at_end else ("ArrowRight", "ArrowLeft")
        page.keyboard.press(there if i % 2 == 0 else back)  # a step there, a step back: never at an end
        page.wait_for_function(f"() => window.latencies.length > {i}", timeout=20_000)
    page.evaluate("() => window.unwatch()")
    return list(page.evaluate("() => window.latencies"))


def pictures_of_fast_moves(page: Any, handle: Any, target: Any) -> int:
    """How many pictures are seen while a key is held for so many repeats."""
    handle.scroll_into_view_if_needed()
    handle.focus()
    for _ in range(60):
        page.keyboard.press("ArrowLeft")
    page.wait_for_timeout(3_000)
    target.evaluate(COUNT)
    page.wait_for_timeout(200)
    for _ in range(FAST):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(REPEAT)
    page.wait_for_timeout(1_500)
    page.evaluate("() => window.stopCounting()")
    return int(page.evaluate("() => window.shown"))


def in_the_browser(page: Any, server: Jupyter, folder: Path) -> tuple[dict[str, list[float]], int]:
    """The latencies of every explorer that has a slider, and the pictures of fast moves of one of them."""
    latencies = {}
    shown = 0
    for name in sorted(explore.CATALOGUE):
        write_notebook(folder / f"{name}.ipynb", f"from dpcourse import explore\nexplore.{name}()")
        open_and_run(page, server, f"{name}.ipynb")
        target = page.wait_for_selector(".dpx[data-painted]")
        handle = target.query_selector("input[type=range]")
        if handle:
            latencies[name] = press_and_wait(page, handle, target)
        if name == "laplace_scale":
            shown = pictures_of_fast_moves(page, handle, target)
    return latencies, shown


def asking_the_kernel(page: Any, server: Jupyter, folder: Path) -> list[float]:
    """Milliseconds from Enter, behind a value beside the grid, to its picture."""
    write_notebook(folder / "ask.ipynb", "from dpcourse import explore\nexplore.two_worlds()")
    open_and_run(page, server, "ask.ipynb")
    target = page.wait_for_selector(".dpx[data-painted]")
    box = page.locator(".dpx-value").nth(1)
    target.evaluate(WATCH)
    for i in range(PRESSES):
        box.fill(f"{1.01 + i * 0.013:.3f}")
        box.press("Enter")
        page.wait_for_function(f"() => window.latencies.length > {i}", timeout=20_000)
    page.evaluate("() => window.unwatch()")
    return list(page.evaluate("() => window.latencies"))


def the_peer(page: Any, server: Jupyter, folder: Path) -> tuple[list[float], int]:
    """interact with an inline matplotlib figure."""
    write_notebook(folder / "peer.ipynb", PEER)
    open_and_run(page, server, "peer.ipynb", settle=5)
    target = page.wait_for_selector(".jp-OutputArea .widget-output, .jp-OutputArea .jupyter-widgets-output-area")
    page.wait_for_selector(".jp-OutputArea .widget-output img")
    handle = page.wait_for_selector(".noUi-handle")
    return press_and_wait(page, handle, target), pictures_of_fast_moves(page, handle, target)


def slowest_lecture(page: Any, server: Jupyter, folder: Path) -> tuple[str, float]:
    """Seconds from "run all cells" to the last explorer's picture, for the slowest lecture."""
    took = {}
    for path in sorted(LECTURES.glob("0[0-3]*.ipynb")):  # lecture 4 trains models while it runs
        shutil.copy(path, folder / path.name)
        took[path.stem] = open_and_run(page, server, path.name)
        shown = f"() => document.querySelectorAll('.dpx[data-painted]').length >= {explorers_in(path)}"
        page.wait_for_function(shown)
    name = max(took, key=lambda stem: took[stem])
    return name, took[name]


def run() -> list[Figure]:
    """Measure everything in one JupyterLab."""
    with tempfile.TemporaryDirectory() as place, jupyter(Path(place)) as server, chromium(offline=True) as context:
        folder, page = Path(place), context.new_page()
        peer, peer_shown = the_peer(page, server, folder)
        mine, shown = in_the_browser(page, server, folder)
        asked = asking_the_kernel(page, server, folder)
        slow_name, slow = slowest_lecture(page, server, folder)
    medians = {name: statistics.median(values) for name, values in mine.items()}
    tails = {name: percentile_95(values) for name, values in mine.items()}
    worst, worst_tail = max(medians, key=lambda n: medians[n]), max(tails, key=lambda n: tails[n])
    sizes = {name: make().scene.packed.size for name, make in explore.CATALOGUE.items()}
    largest = max(sizes, key=lambda n: sizes[n])
    peer_median, ours = statistics.median(peer), medians["laplace_scale"]
    same = f"{ours:.0f} ms and {peer_median:.0f} ms for the same picture"
    return [
        Figure("slider to picture / `interact` with matplotlib", ours / peer_median, 1 / 6, same),
        Figure(
            "slowest explorer: median ms from key press to picture", medians[worst], 25, f"`{worst}`, of {len(mine)}"
        ),
        Figure("slowest explorer: 95th percentile, ms", tails[worst_tail], 50, f"`{worst_tail}`"),
        Figure("a value that the kernel must compute: median ms", statistics.median(asked), 80, "`two_worlds`"),
        Figure("the same, 95th percentile, ms", percentile_95(asked), 160),
        Figure(f"moves without a picture, of {FAST} fast ones", FAST - shown, 5, f"`interact`: {FAST - peer_shown}"),
        Figure("largest explorer on the wire, MB", sizes[largest] / 1e6, 2, f"`{largest}`"),
        Figure("slowest lecture: seconds until all explorers show", slow, 20, f"`{slow_name}`"),
    ]
