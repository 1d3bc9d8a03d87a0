"""Normal numbers for the noise of DP-SGD: many at once, with a whole tail, from words that nobody can foretell.

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
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from torch import Tensor

from dpcourse.sgd.generators import Words, random_words

_BEYOND = 2.0**-12  # of the radii, those longer than _FAR, are drawn with more bits; a power of 2, for U is a fraction
_FAR = math.sqrt(-2 * math.log(_BEYOND))  # whose denominator is one
_AT_ONCE = 2**19  # numbers: beside them lie as many random words, and half as many cosines
_WHOLE = {torch.float32: np.int32, torch.float64: np.int64}
WORTH_A_THREAD = 2**15  # numbers: handing fewer to another thread takes longer than drawing them
CORES = os.cpu_count() or 1
_MEANWHILE = ThreadPoolExecutor(1, thread_name_prefix="dpcourse-noise")


def _new_thread() -> None:
    """A child process has a copy of the executor, but not of its thread."""
    global _MEANWHILE
    _MEANWHILE = ThreadPoolExecutor(1, thread_name_prefix="dpcourse-noise")


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_new_thread)


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
    drawn = words(-(-numbers.nbytes // 8)).view(whole)[: len(numbers)]  # uniform, with a sign
    made = numbers.numpy()
    made[:] = drawn
    radius, angle = made[:half], made[half:]
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
    sizes = [value.numel() for value in shapes.values()]
    widest = torch.float64 if any(value.dtype == torch.float64 for value in shapes.values()) else torch.float32
    parts = normal_numbers(sum(sizes), words, deviation, widest).split(sizes)
    found = zip(shapes.items(), parts, strict=True)
    return {name: part.view_as(value).to(value.device, value.dtype) for (name, value), part in found}


def noise_meanwhile(
    shapes: Mapping[str, Tensor], deviation: float, generator: torch.Generator | None
) -> Callable[[], dict[str, Tensor]]:
    """Noise that is wanted later: drawn at once on another core where torch leaves one free, or else when asked for."""
    words = random_words(generator)
    if sum(value.numel() for value in shapes.values()) < WORTH_A_THREAD or torch.get_num_threads() >= CORES:
        return lambda: gaussian_like(shapes, deviation, words)
    return _MEANWHILE.submit(gaussian_like, shapes, deviation, words).result
