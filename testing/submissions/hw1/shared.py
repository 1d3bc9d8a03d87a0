"""What several submissions to homework 1 use."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import torch

from testing.submissions.patterns import every_call, from_call, mixture


def wrong(others, known, more=None):
    """The wrong submissions of a part: without a name, with one that the task knows, and more with theirs."""
    return {
        name: {
            **{style: (function, None) for style, function in others[name].items()},
            **{f"{style}, again": (function, style) for style, function in known.get(name, {}).items()},
            **(more or {}).get(name, {}),
        }
        for name in others
    }


def then(function, last):
    """``last`` of what the function gives back."""
    return lambda rng, **probe: last(function(rng=rng, **probe))


#: Forms in which one number may come back.
NUMBERS = {
    "single precision": np.float32,
    "array without axes": np.array,
    "Decimal": lambda x: Decimal(float(x)),
    "Fraction": lambda x: Fraction(float(x)),
    "pandas": lambda x: pd.Series([float(x)]),
    "tuple": lambda x: (float(x),),
    "tensor": lambda x: torch.tensor(float(x), dtype=torch.float64),
}
#: Forms in which a list of numbers may come back.
VECTORS = {
    "single precision": lambda x: np.asarray(x, dtype=np.float32),
    "Decimals": lambda x: [Decimal(float(one)) for one in x],
    "Fractions": lambda x: tuple(Fraction(float(one)) for one in x),
    "pandas": lambda x: pd.Series(np.asarray(x, dtype=float)),
    "tensors in a list": lambda x: [torch.tensor(float(one)) for one in x],
}


def in_forms(function, forms):
    """The same function of an answer without chance, in other forms."""
    return {style: lambda rng=None, form=form, **probe: form(function(**probe)) for style, form in forms.items()}


def noisy_in_forms(function, forms):
    """The same function, which takes a generator, in other forms."""
    return {style: then(function, form) for style, form in forms.items()}


def repeated(right):
    """Each answer's generator serves for two calls."""
    seeds = []

    def twice(rng, **probe):
        if not seeds:
            seeds.append(int(rng.integers(2**32)))
            return right(rng=np.random.default_rng(seeds[0]), **probe)
        return right(rng=np.random.default_rng(seeds.pop()), **probe)

    return twice


def spoilt(right, exact):
    """Patterns of wrong noise that every task must see: with (style, name or None)."""
    return {
        "right in 80%": (mixture(right, exact, 0.8), None),
        "right in 95%": (mixture(right, exact, 0.95), None),
        "right in 99%": (mixture(right, exact, 0.99), None),
        "exact from call 10": (from_call(right, exact, 10), None),
        "exact from call 500": (from_call(right, exact, 500), None),
        "exact from call 1,000": (from_call(right, exact, 1_000), None),
        "exact in every 50th call": (every_call(right, exact, 50), None),
        "one generator for two calls": (repeated(right), None),
        "never below 0": (then(right, lambda x: np.maximum(x, 0)), None),
        "rounded to whole numbers": (then(right, np.round), "rounded"),
        "rounded down": (then(right, np.floor), "rounded"),
        "half precision": (then(right, lambda x: np.asarray(np.clip(x, -6e4, 6e4), dtype=np.float16)), None),
    }
