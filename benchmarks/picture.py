"""The README's picture: python -m benchmarks.picture writes docs/two_pictures.png from the package itself."""

from __future__ import annotations

import math
import pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from dpcourse import Laplace
from dpcourse.accounting import dp_sgd_accounts

TARGET = pathlib.Path(__file__).parent.parent / "docs" / "two_pictures.png"
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000"]  # Okabe-Ito: told apart by colour-blind readers
STYLES = ["-", "--", "-.", ":", "-"]


def privacy_loss(axes: plt.Axes) -> None:
    """The loss of every answer a noisy count can give, for 51 against 50 people, and the rails it never leaves."""
    answers = np.linspace(46, 55, 721)
    for b, colour, style in zip((1, 2, 4), COLOURS, STYLES, strict=False):
        count = Laplace(epsilon=1 / b, sensitivity=1)
        axes.plot(answers, count.privacy_loss(answers, 51, 50), colour, ls=style, lw=2, label=f"noise scale b = {b}")
        for rail in (count.epsilon, -count.epsilon):
            axes.axhline(rail, color=colour, lw=0.6, alpha=0.6)
        axes.annotate(
            f"$\\varepsilon$ = {count.epsilon:g}",
            (55.1, count.epsilon),
            color=colour,
            va="center",
            annotation_clip=False,
        )
    axes.set(xlabel="published count y", ylabel="privacy loss  ln Pr[y | Alice] / Pr[y | no Alice]", xlim=(46, 55))
    axes.set_title("What can one answer give away?", loc="left")
    axes.set_ylim(-1.15, 1.85)
    axes.legend(loc="upper left", frameon=False)


def accountants(axes: plt.Axes) -> None:
    """epsilon of a DP-SGD run over its steps, as five accountants see it."""
    sigma, q, delta = 1.1, 256 / 60_000, 1e-5
    steps = np.unique(np.geomspace(10, 14_062, 12).astype(int))
    columns = [dp_sgd_accounts(sigma, q, int(k), delta) for k in steps]
    for i, (colour, style) in enumerate(zip(COLOURS, STYLES, strict=True)):
        values = [column[i].epsilon for column in columns]
        name = {"privacy loss distribution": "exact privacy loss"}.get(columns[0][i].method, columns[0][i].method)
        axes.loglog(steps, values, colour, ls=style, lw=3 if i == 4 else 2, label=f"{name}: {values[-1]:,.4g}")
    axes.set(xlabel="training steps", ylabel="$\\varepsilon$ at $\\delta = 10^{-5}$")
    axes.set_title("What does a training run cost?", loc="left")
    axes.legend(
        loc="upper left",
        frameon=False,
        title=f"DP-SGD, noise {sigma}, q = 256/60,000: $\\varepsilon$ after {steps[-1]:,} steps",
    ).set_alignment("left")
    axes.set_ylim(top=10 ** (math.ceil(math.log10(columns[-1][0].epsilon)) + 2.6))


def main() -> None:
    plt.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})
    figure, (left, right) = plt.subplots(1, 2, figsize=(12.5, 4.6), constrained_layout=True)
    privacy_loss(left)
    accountants(right)
    TARGET.parent.mkdir(exist_ok=True)
    figure.savefig(TARGET, dpi=110)
    print(f"wrote {TARGET.name}")


if __name__ == "__main__":
    main()
