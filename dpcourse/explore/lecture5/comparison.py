"""Lecture 5: errors of many surveys, by mechanism and estimate (stored by ``experiments.adaptive_grid``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcourse.explore.stored import stored
from dpcourse.scenes import Axis, Bars, Line, Mark, Picture, Points, choice, panel, picture_of
from dpcourse.scenes.widget import explorer

__all__ = ["experiments"]

#: Those that choose subsets (the best of several, by its median), and those that ask everybody alike.
LEARNING, FIXED = ("adaptive", "semi-adaptive"), ("SRR", "OUE", "subset selection", "OLH", "Hadamard")
#: Estimates by the words of the choice: that of the learning ones, that of the others.
ESTIMATES = {
    "posterior mean": ("posterior mean", "posterior mean"),
    "maximum likelihood": ("maximum likelihood", "maximum likelihood"),
    "each its usual one": ("posterior mean", "unbiased, projected"),
}
EPSILONS = ("0.5", "1", "5")
EVENNESS = {"ρ = 0.01, very uneven": 0.01, "ρ = 0.1": 0.1, "ρ = 1, more even": 1.0}


def contestants(methods: list[dict[str, Any]], estimate: str) -> list[tuple[str, dict[str, Any]]]:
    """What is shown of one setting: (label, stored entry) for each row."""
    learnt, fixed = ESTIMATES[estimate]
    rows = []
    for label in NAMES:
        wanted, how, key = ("kind", learnt, label) if label in LEARNING else ("name", fixed, label)
        entries = [one for one in methods if one[wanted] == key and one["estimate"] == how]
        if label in LEARNING:  # a rule that never takes a subset is SRR, and no achievement of learning
            entries = [one for one in entries if one["size"]["median"] > 0] or entries
        rows.append((label, min(entries, key=lambda one: one["error"]["median"])))
    return rows


def stored_errors(estimate: str) -> dict[tuple[float, float], dict[str, np.ndarray]]:
    """The errors of all surveys, by (epsilon, rho) and by method."""
    return {
        (setting["epsilon"], setting["rho"]): {
            one["name"]: np.array(one["error"]["values"]) for one in setting["methods"] if one["estimate"] == estimate
        }
        for setting in stored("adaptive")["settings"]
    }


def largest_shares(epsilon: float, rho: float) -> np.ndarray:
    """The largest true share in each survey of a setting."""
    shares = {(one["epsilon"], one["rho"]): one["largest share"] for one in stored("adaptive")["settings"]}
    return np.array(shares[epsilon, rho])


NAMES = (*LEARNING, *FIXED)
PLACES = np.arange(len(NAMES), dtype=float)[::-1]
TICKS = tuple(zip(PLACES.tolist(), NAMES, strict=True))


def methods_of(epsilon: float, rho: float) -> list[dict[str, Any]]:
    """The stored entries of a setting."""
    grid = stored("adaptive")["settings"]
    return next(one["methods"] for one in grid if (one["epsilon"], one["rho"]) == (epsilon, rho))


def farthest(methods: list[dict[str, Any]]) -> float:
    """The end of the longest whisker, whatever the estimate: the three are drawn to one scale."""
    return max(one["error"]["whiskers"][1] for how in ESTIMATES for _, one in contestants(methods, how))


@explorer(
    "Mechanism or estimate?",
    "Which of the two makes an error small?",
    choice("estimate", "estimate", list(ESTIMATES)),
    choice("epsilon", "ε", EPSILONS, "1"),
    choice("evenness", "shares", list(EVENNESS), "ρ = 0.1"),
)
def experiments(estimate: str, epsilon: str, evenness: str) -> Picture:
    """The talk's boxplots anew: the total variation error of many surveys, by mechanism, for three estimates."""
    grid, methods = stored("adaptive"), methods_of(float(epsilon), EVENNESS[evenness])
    rows = contestants(methods, estimate)
    marks: list[Mark] = []
    for place, (label, one) in zip(PLACES, rows, strict=True):
        error, first = one["error"], label in (LEARNING[0], FIXED[0])
        (low, high), ends = error["quartiles"], error["whiskers"]
        look = ("sky", "solid") if label in LEARNING else ("orange", "striped")
        words = ("subsets that learn" if label in LEARNING else "everybody alike") if first else ""
        marks.append(Line(ends, [place, place], colour="ink", width=1.3))
        marks.append(Bars([place], [high], words, *look, width=0.56, base=low, lying=True))
    medians = {label: one["error"]["median"] for label, one in rows}
    marks.append(Points(list(medians.values()), PLACES, "median", "red", "diamond", 9))
    tried = [one for one in methods if one["kind"] == "adaptive" and one["estimate"] == ESTIMATES[estimate][0]]
    asking = sum(one["size"]["median"] > 0 for one in tried)
    best = min(medians, key=lambda label: medians[label])
    return picture_of(
        f"{_spelt(estimate)}, ε = {epsilon}, {evenness.split(',')[0]}: the smallest median error is "
        f"{medians[best]:.3f} ({best}). The best of the {asking} adaptive rules that take a subset has "
        f"{medians['adaptive']:.3f} "
        f"({rows[0][1]['name'].replace('eps1', 'ε₁').replace('eps', 'ε')}), SRR {medians['SRR']:.3f}, subset "
        f"selection {medians['subset selection']:.3f}. (The best rule was chosen by these very surveys, which "
        f"flatters it.)",
        panel(
            f"Error of {grid['runs']} surveys of {grid['arrivals']:,} people: half lie in the box",
            Axis("error (total variation)", 0, 1.05 * farthest(methods)),
            Axis("", -0.6, len(NAMES) - 0.4, ticks=TICKS),
            *marks,
            height=340,
        ),
    )


def _spelt(estimate: str) -> str:
    learnt, fixed = ESTIMATES[estimate]
    return f"All by {learnt}" if learnt == fixed else f"Learning ones by {learnt}, others {fixed}"
