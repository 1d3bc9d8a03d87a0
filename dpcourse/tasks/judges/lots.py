"""Does everybody have a coin of their own? Tests of many lots of the same people, each exactly binomial."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import special

from dpcourse.audit import binomial_fit
from dpcourse.tasks.interview import Interview

TESTS = 8  # of the same lots: each may spend an eighth of the level
HANG_TOGETHER, SAME_LOT = "coins that hang together", "a lot used twice"
AVOID, STICK = "lots that avoid each other", "lots that hang together"


def look_at_lots(talk: Interview, lots: np.ndarray, q: float, about: str, level: float) -> None:
    """Rows of 0 and 1: empty lots, all entries, each person, neighbours in the list, every pair, sizes, two calls.

    Pairs come before the sizes, which vary too much if coins hang together. Two calls: the members, and the sizes,
    which are the same if a lot comes again in another order.
    Chance fails right ones with probability ``level`` at most. Persons (and pairs) all have the same law, so only the
    one that comes most often and the one that comes least often have to be looked at, for the price of all.
    """
    (draws, n), sizes, level = lots.shape, lots.sum(axis=1), level / TESTS
    empty = int(np.sum(sizes == 0))
    talk.require(
        binomial_fit(empty, draws, (1 - q) ** n, level=level),
        f"{about} {empty / draws:.1%} of your lots are empty; {(1 - q) ** n:.1%} is right: if all coins say no, nobody "
        f"is in the lot.",
        name="" if empty else "never empty",
    )
    inside = int(sizes.sum())
    talk.require(
        binomial_fit(inside, draws * n, q, level=level),
        f"{about} Somebody is in your lot with probability {inside / draws / n:.3f}; {q:.3f} is right.",
    )
    counts = lots.sum(axis=0)
    for person in sorted((int(np.argmin(counts)), int(np.argmax(counts))), key=lambda i: -abs(counts[i] - draws * q)):
        _worst_of(
            talk, n, int(counts[person]), draws, q, level / 2,
            f"{about} Person {person} is in {counts[person] / draws:.1%} of your lots; {q:.1%} is right, for "
            f"everybody.",
            name="unequal coins",
        )  # fmt: skip
    pairs = int((lots[:, 0 : n - 1 : 2] * lots[:, 1:n:2]).sum())
    talk.require(
        binomial_fit(pairs, draws * (n // 2), q * q, level=level),
        f"{about} Two neighbours in the list come together too often or too rarely: every coin is to be independent.",
        name=HANG_TOGETHER,
    )
    first, second = np.triu_indices(n, 1)
    together = (lots.T @ lots)[first, second]
    for pair in (int(np.argmax(together)), int(np.argmin(together))):
        _worst_of(
            talk, len(together), int(together[pair]), draws, q * q, level / 2,
            f"{about} Persons {first[pair]} and {second[pair]} come together in {together[pair] / draws:.1%} of your "
            f"lots; {q * q:.1%} is right: every coin is to be independent.",
            name=HANG_TOGETHER,
        )  # fmt: skip
    low, high = n * q - 0.7 * np.sqrt(n * q * (1 - q)), n * q + 0.7 * np.sqrt(n * q * (1 - q))
    usual = float(special.bdtr(np.floor(high), n, q) - special.bdtr(np.ceil(low) - 1, n, q))
    middle = int(np.count_nonzero((sizes >= np.ceil(low)) & (sizes <= np.floor(high))))
    talk.require(
        binomial_fit(middle, draws, usual, level=level),
        f"{about} The sizes of your lots vary with a standard deviation of {sizes.std():.2f}; with independent coins "
        f"it is {np.sqrt(n * q * (1 - q)):.2f}.",
    )
    chances = special.binom(n, np.arange(n + 1)) * q ** np.arange(n + 1) * (1 - q) ** np.arange(n, -1, -1)
    for start in (0, 1):  # the first lot of each two, or the second, and the next one
        one, other = lots[start : draws - 1 : 2], lots[start + 1 : draws : 2]
        both, possible = int((one * other).sum()), one.size
        talk.require(
            binomial_fit(both, possible, q * q, level=level / 2),
            f"{about} Somebody is in one lot and in the next with probability {both / possible:.3f}; {q * q:.3f} is "
            f"right: every lot needs coins of its own.",
            name=in_a_row(one, other, q),
        )
        alike, share = int((one.sum(axis=1) == other.sum(axis=1)).sum()), float(chances @ chances)
        talk.require(
            binomial_fit(alike, len(one), share, level=level / 2),
            f"{about} A lot has as many members as the one before in {alike / len(one):.1%} of all cases; {share:.1%} "
            f"is right: every lot needs coins of its own.",
            name=SAME_LOT if alike > 2 * share * len(one) else STICK,
        )


def in_a_row(one: np.ndarray, other: np.ndarray, q: float) -> str:
    """The name of what makes people come too often, or too rarely, in two lots in a row."""
    if (one * other).mean() < q * q:
        return AVOID
    by_chance = (q**2 + (1 - q) ** 2) ** one.shape[1]
    return SAME_LOT if (one == other).all(axis=1).mean() > 2 * by_chance + 0.05 else STICK


def _worst_of(
    talk: Interview, number: int, count: int, draws: int, share: float, level: float, text: str, name: str
) -> None:
    """The test of the most extreme of ``number`` counts: any of them fails by chance with probability ``level``."""
    fit = binomial_fit(count, draws, share, level=level / number)
    talk.require(replace(fit, level=level, p_value=min(1.0, number * fit.p_value)), text, name=name)
