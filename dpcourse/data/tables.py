"""What all tables of the course share: reproducible draws, unique names, and the neighbours of a table."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcourse import checks

if TYPE_CHECKING:
    import pandas as pd

_GIVEN_NAMES: list[str] = re.findall(
    r"\w+",
    "Dana Emil Farah Goran Hanna Ines Jonas Kaya Liam Mira Noor Oskar Paula Quinn Rosa Sami Tara Umut Vera Wanda Yara "
    "Zoe Ada Boris Clara Dario Edda Felix Greta Hugo Iris Jana Karim Lena Milan Nadia Otis Petra Ravi Selma",
)


def uniforms(seed: int, *shape: int) -> np.ndarray:
    """Uniform numbers in [0, 1) that are the same on every machine and with every version of numpy.

    Only the raw PCG64 bits are drawn, whose stream numpy guarantees; the methods of Generator may change [NEP 19].
    """
    bits = np.random.PCG64(checks.whole_number("seed", seed, at_least=0)).random_raw(int(np.prod(shape)))
    return (bits >> np.uint64(11)).reshape(shape) * 2.0**-53


def pick(uniform: np.ndarray, low: int, high: int) -> np.ndarray:
    """Whole numbers low..high (both included) from uniform numbers."""
    return low + np.floor(uniform * (high - low + 1)).astype(np.int64)


def names(n: int) -> list[str]:
    """``n`` different names, none of them on the slides: Dana, Emil, ... Selma, Dana 2, Emil 2, ..."""
    size = len(_GIVEN_NAMES)
    return [_GIVEN_NAMES[i % size] + (f" {i // size + 1}" if i >= size else "") for i in range(n)]


def without(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """The neighbour D' of ``table``: the row of ``name`` is removed (lecture 4, "Defining neighboring datasets")."""
    return table.drop(index=table.index[_row_of(table, name)]).reset_index(drop=True)


def replaced(table: pd.DataFrame, name: str, **values: Any) -> pd.DataFrame:
    """The neighbour of ``table`` under replace-one: the row of ``name`` has other ``values`` (lecture 5)."""
    row = _row_of(table, name)
    unknown = [column for column in values if column not in table.columns]
    if unknown or not values:
        raise ValueError(f"values must name columns among {list(table.columns)}, got {unknown or values!r}")
    neighbour = table.copy()
    for column, value in values.items():
        column_values = table[column].tolist()
        column_values[row] = value
        neighbour[column] = column_values
    return neighbour


def _row_of(table: pd.DataFrame, name: str) -> int:
    if "name" not in table.columns:
        raise ValueError(f"table must have a column 'name', got {list(table.columns)}")
    rows = np.flatnonzero((table["name"] == name).to_numpy())
    if rows.size != 1:
        raise ValueError(f"name must be the name of exactly one row, got {name!r}, which {rows.size} rows have")
    return int(rows[0])
