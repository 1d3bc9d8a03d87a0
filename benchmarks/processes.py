"""What needs a process of its own: the time of an import, and the memory of a long composition."""

from __future__ import annotations

import statistics
import subprocess
import sys

from benchmarks.figures import Figure

_IMPORT = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"
_MEMORY = """
import re
import dpcourse, scipy.fft, scipy.optimize, scipy.special
from dpcourse.privacy_loss import GaussianLoss, DiscreteLoss
# The high-water mark of this process alone (getrusage would start with that of the process it was forked from).
peak = lambda: int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024
before = peak()
GaussianLoss(1 / {sigma}).subsample({q}).compose(1e6).epsilon(1e-6, bracket=True)
DiscreteLoss.from_probabilities([0.500001, 0.499999], [0.499999, 0.500001]).compose(1e6).epsilon(1e-6, bracket=True)
print(peak() - before)
"""


def _number(code: str) -> float:
    return float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)


def run() -> list[Figure]:
    ours, theirs, loaded = [], [], []
    for _ in range(7):  # in turns; the first pair fills the disk cache and is dropped
        ours.append(_number(_IMPORT.format("dpcourse")))
        theirs.append(_number(_IMPORT.format("scipy.stats")))
        loaded.append(_number(_IMPORT.format("dpcourse; dpcourse.Laplace, dpcourse.PrivacyLoss, dpcourse.Budget")))
    peer = statistics.median(theirs[1:])
    memory = max(_number(_MEMORY.format(sigma=sigma, q=q)) for sigma, q in ((1.0, 0.001), (0.7, 0.0001), (5.0, 0.02)))
    return [
        Figure(
            "time of `import dpcourse` / `import scipy.stats`",
            statistics.median(ours[1:]) / peer,
            0.35,
            f"{statistics.median(loaded[1:]) / peer:.2g} with mechanisms, losses and budget loaded",
        ),
        Figure("memory of `compose(1e6)`, MB", memory, 500, "peak above the imports, bracket included"),
    ]
