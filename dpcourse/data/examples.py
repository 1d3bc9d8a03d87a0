"""Labelled examples as tensors, and the small supervised tasks of the lecture: digits, reviews, your own CSV.

Nothing is downloaded: the digits ship with scikit-learn, the reviews are generated, the CSV is yours.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from dpcourse import checks
from dpcourse.data.film_reviews import Vocabulary, reviews
from dpcourse.data.tables import uniforms


@dataclass(frozen=True)
class Examples:
    """Inputs and targets of equal length, and, where it matters, the user whom each example belongs to.

    Two such sets are neighbours if one lacks an example of the other (example level), or all examples of one user
    (user level; McMahan et al. 2018, "Learning Differentially Private Recurrent Language Models").
    """

    inputs: Tensor
    targets: Tensor
    users: Tensor | None = None

    def __post_init__(self) -> None:
        for name in ("inputs", "targets") if self.users is None else ("inputs", "targets", "users"):
            if not isinstance(getattr(self, name), Tensor) or getattr(self, name).dim() == 0:
                raise TypeError(f"{name} must be a tensor with one row for each example, got {getattr(self, name)!r}")
        sizes = [len(self.inputs), len(self.targets)] + ([] if self.users is None else [len(self.users)])
        if len(set(sizes)) > 1:
            raise ValueError(f"inputs, targets and users must be equally many, got {sizes}")

    def __len__(self) -> int:
        return len(self.inputs)

    def at(self, rows: Tensor | Sequence[int]) -> Examples:
        """The examples of these rows (indices or a mask)."""
        rows = torch.as_tensor(rows)
        if rows.numel() == 0:
            rows = rows.long()  # an empty list is taken for real numbers
        return Examples(self.inputs[rows], self.targets[rows], None if self.users is None else self.users[rows])

    def split(self, share: float = 0.8, seed: int = 0) -> tuple[Examples, Examples]:
        """Two parts at random: the first with this share of the examples. The same seed gives the same parts."""
        first = round(checks.probability("share", share) * len(self))
        if not 0 < first < len(self):
            raise ValueError(f"share must leave examples in both parts, got {share!r} of {len(self)}")
        order = torch.from_numpy(np.argsort(uniforms(seed, len(self)), kind="stable"))
        return self.at(order[:first]), self.at(order[first:])

    def without(self, index: int) -> Examples:
        """The neighbour that lacks example ``index``."""
        index = checks.whole_number("index", index, at_least=0)
        if index >= len(self):
            raise ValueError(f"index must be below the number of examples, {len(self)}, got {index!r}")
        return self.at(torch.arange(len(self)) != index)

    def of_user(self, user: int) -> Examples:
        """The examples of one user."""
        return self.at(self._whose(user))

    def without_user(self, user: int) -> Examples:
        """The user-level neighbour: all examples of one user are gone."""
        return self.at(~self._whose(user))

    def _whose(self, user: int) -> Tensor:
        if self.users is None:
            raise ValueError(f"these examples belong to no user, so user {user!r} has none")
        mine = self.users == user
        if not mine.any():
            raise ValueError(f"user must be one of {len(self.users.unique())} users, got {user!r}")
        return mine


@dataclass(frozen=True)
class Texts:
    """A text classification task: word ids padded with 0, and what the ids and the labels stand for."""

    train: Examples
    test: Examples
    vocabulary: Vocabulary
    labels: tuple[str, ...]
    left_out: int = 0  # rows of a file without a text or a label


def digits(seed: int = 0) -> tuple[Examples, Examples]:
    """1,438 handwritten digits to train on and 359 to test: 8 x 8 images in [0, 1], shape (n, 1, 8, 8).

    The test part of the UCI set "Optical Recognition of Handwritten Digits", as shipped with scikit-learn.
    """
    from sklearn.datasets import load_digits

    table = load_digits()
    images = torch.from_numpy(table.images).float()[:, None] / 16
    return Examples(images, torch.from_numpy(table.target).long()).split(0.8, seed)


def sentiments(n: int = 4000, seed: int = 0) -> Texts:
    """Generated film reviews, one in five for the test: is the review good (1) or bad (0)?

    Each review has two to five words of opinion, among several hundred, of which one in six speaks against its label;
    one label in twenty is wrong. Nobody can reach 100 %, and whoever has learnt few of the words stays far below.
    """
    n = checks.whole_number("n", n, at_least=10)
    texts, labels, vocabulary = reviews(n, checks.whole_number("seed", seed, at_least=0))
    ids = torch.tensor([vocabulary.ids(text, 24) for text in texts])
    train, test = Examples(ids, torch.tensor(labels)).split(0.8, seed)
    return Texts(train, test, vocabulary, ("bad", "good"))


def load_csv(
    path: str | Path,
    *,
    text: str | Sequence[str] = "text",
    label: str = "label",
    max_words: int = 128,
    vocabulary: Vocabulary | None = None,
    without: Sequence[str] = ("-",),
    share: float = 0.8,
    seed: int = 0,
) -> Texts:
    """A task from your own CSV: IMDb style (``text="review"``) or SNLI style (``text=("premise", "hypothesis")``).

    Of each text the first ``max_words`` words are read. Without a ``vocabulary`` the words are hashed into 4,096 ids:
    a list of words taken from private texts would publish these words, and no noise in the training makes up for it.
    Rows with an empty text or label are left out, and so are those whose label is one of ``without`` (SNLI writes "-"
    where its annotators disagreed); ``left_out`` counts them. The labels that occur are taken to be public.
    """
    import pandas as pd

    max_words = checks.whole_number("max_words", max_words)
    columns = [text] if isinstance(text, str) else list(text)
    if not columns:
        raise ValueError(f"text must name at least one column, got {text!r}")
    if not Path(path).is_file():
        raise ValueError(f"path must be a CSV file, but there is none at {str(path)!r}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # what follows a comma would be lost
            # "null" is a word like others; a row with more fields than the header is not one that begins with a name
            table = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[""], index_col=False)
    except (pd.errors.EmptyDataError, pd.errors.ParserError, pd.errors.ParserWarning, UnicodeDecodeError) as error:
        raise ValueError(
            f"{str(path)!r} cannot be read as a CSV table (a text with commas must stand in quotes): {error}"
        ) from error
    for column in [*columns, label]:
        if column not in table.columns:
            which = f"{'label' if column == label else 'text'}="
            raise ValueError(
                f"{str(path)!r} has no column {column!r}; it has {list(table.columns)}: name yours with {which}"
            )
    rows = len(table)
    table = table.dropna(subset=[*columns, label])
    table = table[~table[label].isin(list(without))]
    if len(table) < 2:
        raise ValueError(f"{str(path)!r} must have at least two rows with a text and a label, got {len(table)}")
    labels = tuple(sorted(table[label].unique()))
    if len(labels) < 2:
        raise ValueError(f"column {label!r} must have at least two different labels, got only {labels[0]!r}")
    if not 0 < round(checks.probability("share", share) * len(table)) < len(table):
        raise ValueError(
            f"{str(path)!r} has too few rows with a text and a label to train on a share of {share!r} of them and to "
            f"test on the rest: {len(table)}"
        )
    vocabulary = Vocabulary.hashed() if vocabulary is None else vocabulary
    joined = table[columns].agg(" . ".join, axis=1)
    ids = torch.tensor([vocabulary.ids(words, max_words) for words in joined])
    targets = torch.tensor([labels.index(value) for value in table[label]])
    train, test = Examples(ids, targets).split(share, seed)
    return Texts(train, test, vocabulary, labels, rows - len(table))
