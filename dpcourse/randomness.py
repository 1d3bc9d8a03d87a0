"""Where the noise comes from: a seeded numpy Generator for lectures and tests, the operating system for real use."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from functools import cache
from typing import Protocol, TypeAlias

import numpy as np

_AT_ONCE = 2**30  # bytes: OpenSSL counts them with 31 bits
Rng: TypeAlias = "np.random.Generator | int | None"


class ByteSource(Protocol):
    """Anything that gives random bytes: numpy's Generator does, and so does :class:`SystemRandomness`."""

    def bytes(self, length: int) -> bytes: ...


class SystemRandomness:
    """Cryptographic random bytes, for mechanisms that an attacker may study.

    They come from OpenSSL's generator (AES-256 in counter mode, NIST SP 800-90A), which seeds itself from the operating
    system, again in every child process; it gives several times as many a second as the system itself, which is asked
    where Python has no OpenSSL.

    numpy's generators are fast and reproducible, but their state can be recovered from outputs; whoever recovers it
    can subtract the noise.
    """

    def bytes(self, length: int) -> bytes:
        """``length`` bytes of a cryptographic generator."""
        source = _cryptographic()
        if length <= _AT_ONCE:
            return source(length)
        return b"".join(source(min(_AT_ONCE, length - start)) for start in range(0, length, _AT_ONCE))


@cache
def _cryptographic() -> Callable[[int], bytes]:
    try:
        from ssl import RAND_bytes  # only when it is needed: it would be a third of the time of `import dpcourse`
    except ImportError:
        return os.urandom
    return RAND_bytes


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
