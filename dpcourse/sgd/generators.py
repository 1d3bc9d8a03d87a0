"""Where the noise of a training run comes from."""

from __future__ import annotations

import os

import numpy as np
import torch

from dpcourse import door

_WORDS = slice(24, 24 + 624 * 8)  # where torch's CPU generator keeps the 624 words of its Mersenne Twister


def generator_from(seed: int | None) -> torch.Generator:
    """A generator from a seed, for runs that can be repeated; without one, from 19,968 bits of the system's randomness.

    torch uses 32 bits of a seed. An attacker can try out 2^32 seeds, so a real release must not come from one.
    """
    generator = torch.Generator()
    if seed is not None:
        seed = door.whole_number("seed", seed, at_least=0)
        if seed >= 2**32:
            raise ValueError(f"seed must be below 2^32, because torch uses no more of it, got {seed!r}")
        return generator.manual_seed(seed)
    state = generator.manual_seed(0).get_state()
    state.numpy()[_WORDS].view(np.uint64)[:] = np.frombuffer(os.urandom(624 * 4), np.uint32)
    return generator.set_state(state)
