"""Twins of slow right submissions: the same sampler and the same arithmetic, for ``number`` calls at once.

Used by tools/judge_study.py, which grades every right submission thousands of times; tests/tasks/test_together.py
compares each twin with its function. A twin gets the number of calls, a generator and the probe.
"""

TOGETHER = {}
