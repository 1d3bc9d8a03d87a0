"""The randomness of DP-SGD: from the system or from a seed; normal numbers, many at once, with a whole tail.

Box and Muller 1958, "A Note on the Generation of Random Normal Deviates": if U is uniform on (0, 1] and the angle A on
a full turn, then R cos A and R sin A with R = sqrt(-2 ln U) are two independent normal numbers. numpy computes them
twice as fast as torch does; for a small network that is a fifth of a step.

Careful: this is noise in floating point, as everybody's DP-SGD has it. The theorem speaks of real numbers. Whoever sees
single steps, and knows the sum that was noised to the last digit, can tell from the last digits which sums the noise
could have been added to (Mironov 2012, "On Significance of the Least Significant Bits for Differential Privacy";
Holohan and Braghin 2021, "Secure Random Sampling in Differential Privacy").
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
import torch
from torch import Tensor

from dpcourse import checks
from dpcourse.randomness import SystemRandomness

Words = Callable[[int], np.ndarray]  # n -> n random words of 64 bits
_BEYOND = 2.0**-12  # of the radii, those longer than _FAR, are drawn with more bits; a power of 2, for U is a fraction
_FAR = math.sqrt(-2 * math.log(_BEYOND))  # whose denominator is one
_AT_ONCE = 2**19  # numbers: beside them lie as many random words, and half as many cosines
_WHOLE = {torch.float32: np.int32, torch.float64: np.int64}


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


def normal_numbers(n: int, words: Words, deviation: float = 1.0, kind: torch.dtype = torch.float32) -> Tensor:
    """n draws of a normal number around 0."""
    numbers = torch.empty(n + n % 2, dtype=kind)
    for part in numbers.split(_AT_ONCE) if n else ():
        _fill(part, words, deviation)
    return numbers[:n]


def _fill(numbers: Tensor, words: Words, deviation: float) -> None:
    """Normal numbers with a whole tail, as many as there is room for (an even number).

    torch's numbers in single precision come from 24 random bits and end at 5.77 standard deviations; whoever lands
    beyond would be found out. Here a radius beyond ``_FAR`` (one of 4,096) has 53 bits, which reaches 9.5: given that
    it is beyond, R^2 - FAR^2 is distributed as R^2 is. The others have as many as a number of their kind holds: 24, or
    53 in double precision.
    """
    whole, half, bits = _WHOLE[numbers.dtype], len(numbers) // 2, 8 * numbers.itemsize - 1
    signed = words(-(-numbers.nbytes // 8)).view(whole)[: len(numbers)]  # uniform, with a sign
    pairs = numbers.numpy()
    pairs[:] = signed
    radius, angle = pairs[:half], pairs[half:]
    radius *= 2.0**-bits
    np.abs(radius, out=radius)  # U
    far = np.flatnonzero(radius < _BEYOND)
    radius[far] = 1  # a number that has a logarithm
    np.log(radius, out=radius)
    radius *= -2
    np.sqrt(radius, out=radius)
    radius[far] = np.sqrt(_FAR**2 - 2 * np.log(_uniform(len(far), words)))
    radius *= deviation
    angle *= math.pi * 2.0**-bits
    cosine = np.cos(angle)
    np.sin(angle, out=angle)
    angle *= radius
    radius *= cosine


def _uniform(n: int, words: Words) -> np.ndarray:
    """Numbers of 53 bits in (0, 1]."""
    return np.asarray(((words(n) >> np.uint64(11)) + np.uint64(1)) * 2.0**-53)


def gaussian_like(shapes: Mapping[str, Tensor], deviation: float, words: Words) -> dict[str, Tensor]:
    """Noise in the shapes of the parameters. One draw for all of them: many small ones take longer."""
    widest, start, noise = torch.float32, 0, {}
    for value in shapes.values():
        widest = torch.promote_types(widest, value.dtype)
    numbers = normal_numbers(sum(map(Tensor.numel, shapes.values())), words, deviation, widest)
    for name, value in shapes.items():
        part = numbers[start : start + value.numel()]
        noise[name], start = part.view_as(value).to(value.device, value.dtype), start + value.numel()
    return noise
