"""Where the noise comes from: a seeded numpy Generator for lectures and tests, the operating system for real use."""

from __future__ import annotations

import os
import secrets
from typing import Protocol, TypeAlias

import numpy as np

Rng: TypeAlias = "np.random.Generator | int | None"


class ByteSource(Protocol):
    """Anything that gives random bytes: numpy's Generator does, and so does :class:`SystemRandomness`."""

    def bytes(self, length: int) -> bytes: ...


class SystemRandomness:
    """Cryptographic random bytes from the operating system, for mechanisms that an attacker may study.

    numpy's generators are fast and reproducible, but their state can be recovered from outputs; whoever recovers it
    can subtract the noise.
    """

    def bytes(self, length: int) -> bytes:
        """``length`` bytes of the operating system's cryptographic generator."""
        return os.urandom(length)


def generator(rng: Rng) -> np.random.Generator:
    """A numpy Generator: the one given, one from a seed, or a fresh one from 128 bits of system entropy."""
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is None:
        return np.random.default_rng(secrets.randbits(128))
    if isinstance(rng, bool) or not isinstance(rng, int | np.integer):
        raise TypeError(f"rng must be a numpy Generator, a whole-number seed or None, got {rng!r}")
    if rng < 0:
        raise ValueError(f"rng as a seed must be >= 0, got {rng!r}")
    return np.random.default_rng(int(rng))
