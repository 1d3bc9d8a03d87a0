"""Where the randomness of a training run comes from: the system, or a seed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from dpcourse import checks
from dpcourse.randomness import SystemRandomness

Words = Callable[[int], np.ndarray]  # n -> n random words of 64 bits


def generator_from(seed: int | None) -> torch.Generator | None:
    """A generator from a seed, for runs that can be repeated; None, which stands for the system's, without one.

    torch uses 32 bits of a seed. An attacker can try out 2^32 seeds, so a real release must not come from one.
    """
    if seed is None:
        return None
    seed = checks.whole_number("seed", seed, at_least=0)
    if seed >= 2**32:
        raise ValueError(f"seed must be below 2^32, because torch uses no more of it, got {seed!r}")
    return torch.Generator().manual_seed(seed)


def random_words(generator: torch.Generator | None) -> Words:
    """A source of random words: cryptographic ones, or those that follow from the generator's next 256 bits.

    torch's own generator would take three times as long to make them. It is asked here and never by the source, which
    may therefore work in another thread.
    """
    if generator is not None and not isinstance(generator, torch.Generator):
        raise TypeError(f"generator must be a torch.Generator, or None for the system's randomness, got {generator!r}")
    if generator is None:
        system = SystemRandomness()
        return lambda n: np.frombuffer(system.bytes(8 * n), np.uint64)
    key = torch.empty(4, dtype=torch.int64).random_(-(2**63), None, generator=generator).numpy()
    return np.random.PCG64DXSM(np.random.SeedSequence(key.view(np.uint32).tolist(), pool_size=8)).random_raw
