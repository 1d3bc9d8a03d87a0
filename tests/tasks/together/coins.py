"""The module ``random``, asked many times: its numbers as arrays, in the order in which single calls would come."""

import random

import numpy as np


def uniforms(*shape):
    return _many(random.random, shape)


def exponentials(*shape):
    """Of mean 1."""
    return _many(lambda: random.expovariate(1.0), shape)


def normals(*shape):
    """Standard normal numbers."""
    return _many(lambda: random.gauss(0.0, 1.0), shape)


def _many(draw, shape):
    size = int(np.prod(shape))
    return np.fromiter((draw() for _ in range(size)), float, size).reshape(shape)
