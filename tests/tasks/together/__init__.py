"""Twins of right submissions that draw: the same sampler and the same arithmetic, for ``number`` calls at once.

Used by tools/judge_study.py, which grades every right submission thousands of times; tests/tasks/test_together.py
compares each twin with its function. A twin gets the number of calls, a generator and the probe. What uses ``random``
still calls it once for every draw, in the same order.
"""

from collections.abc import Callable
from typing import Any

from tests.tasks.together import hw1, hw2, hw3, hw4, hw5

TOGETHER: dict[str, dict[str, Callable[..., Any]]] = {
    **hw1.TOGETHER,
    **hw2.TOGETHER,
    **hw3.TOGETHER,
    **hw4.TOGETHER,
    **hw5.TOGETHER,
}
