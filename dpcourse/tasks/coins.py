"""The chance of one examination: three generators, so that what a student sees of one says nothing about another.

A student's function sees the arguments that it is called with, and the seed of its own coins. From the numbers of one
generator its later ones can be computed, with much effort. So what the judge keeps to itself (a truth to be learnt,
people to be tested on, the order of the questions) is never drawn from a generator of which a number is shown. The
three seeds come from the examination's seed by SHA-256, which leads from none of them to another.
"""

from __future__ import annotations

import hashlib

import numpy as np

from dpcourse import checks

LARGEST_SEED = 2**128
LARGEST_COIN = 2**31  # what every library takes for a seed


class Coins:
    """``probes`` is for what is shown, ``secret`` for what is kept; ``seed_of_call`` is for the student's own coins."""

    def __init__(self, seed: int, task: str, *, public: bool = False) -> None:
        seed = checks.whole_number("seed", seed, at_least=0)
        if seed >= LARGEST_SEED:
            raise ValueError(f"seed must be below 2**128, got {seed!r:.60}")
        self.probes, self.secret, self._calls = (
            _generator(f"{seed}, {task}, {'public' if public else 'fresh'}, {purpose}")
            for purpose in ("probes", "secret", "calls")
        )

    def seed_of_call(self) -> int:
        """The seed of the coins of one question."""
        return int(self._calls.integers(LARGEST_COIN))


def _generator(name: str) -> np.random.Generator:
    return np.random.default_rng(int.from_bytes(hashlib.sha256(name.encode()).digest(), "big"))
