"""epsilon(delta) of DP-SGD runs: our time and our value against Opacus' PRV accountant and dp-accounting's PLD.

Cold: every call builds its objects anew and nothing is cached between calls; all modules are imported beforehand, for
everybody. dp-accounting runs with interval 1e-5 (connect the dots), Opacus with its defaults.
"""

from __future__ import annotations

import statistics
import warnings

from benchmarks.figures import Figure, median_seconds
from dpcourse.accounting import dp_sgd_epsilon, dp_sgd_loss

#: (sigma, q, steps, delta): MNIST, Abadi's example, IMDb-like, a small and noisy run, a long run, McMahan's users.
SETTINGS = [
    (1.1, 256 / 60_000, 14_062, 1e-5),
    (4.0, 0.01, 10_000, 1e-5),
    (0.8, 0.02, 2_000, 1e-6),
    (1.0, 0.05, 600, 1e-5),
    (2.0, 0.004, 50_000, 1e-6),
    (1.0, 5_000 / 763_430, 5_000, 1e-9),
]


def opacus_epsilon(sigma: float, q: float, steps: int, delta: float) -> float:
    from opacus.accountants import PRVAccountant

    accountant = PRVAccountant()
    accountant.history = [(sigma, q, steps)]
    return float(accountant.get_epsilon(delta))


def pld_epsilon(sigma: float, q: float, steps: int, delta: float) -> float:
    from dp_accounting.pld import privacy_loss_distribution as pld

    one_step = pld.from_gaussian_mechanism(
        sigma, sampling_prob=q, value_discretization_interval=1e-5, use_connect_dots=True
    )
    return float(one_step.self_compose(steps).get_epsilon_for_delta(delta))


def run() -> list[Figure]:
    warnings.simplefilter("ignore")
    for epsilon_of in (dp_sgd_epsilon, opacus_epsilon):  # imports, not answers, are warmed up
        epsilon_of(2.0, 0.5, 3, 1e-3)
    from dp_accounting.pld import privacy_loss_distribution as _  # noqa: F401

    against_opacus, against_pld, differences, widths = [], [], [], []
    for setting in SETTINGS:
        values: dict[str, float] = {}

        def take(name: str, epsilon_of, values=values, setting=setting) -> None:
            values[name] = epsilon_of(*setting)

        (pld,) = median_seconds(lambda: take("pld", pld_epsilon), repeats=1)
        ours, opacus = median_seconds(
            lambda: take("ours", dp_sgd_epsilon), lambda: take("opacus", opacus_epsilon), repeats=5
        )
        lower, upper = dp_sgd_loss(*setting[:3]).epsilon(setting[3], bracket=True)
        against_opacus.append(ours / opacus)
        against_pld.append(ours / pld)
        differences.append(abs(values["ours"] / values["pld"] - 1))
        widths.append((upper - lower) / upper)
        print(
            f"  sigma {setting[0]}, q {setting[1]:.5f}, T {setting[2]}, delta {setting[3]}: ours {values['ours']:.5f} "
            f"in [{lower:.5f}, {upper:.5f}], Opacus {values['opacus']:.5f}, PLD {values['pld']:.5f}; "
            f"{ours * 1e3:.0f} / {opacus * 1e3:.0f} / {pld * 1e3:.0f} ms",
            flush=True,
        )
    return [
        Figure(
            "time of `epsilon(delta)` of a DP-SGD run / Opacus PRV",
            statistics.median(against_opacus),
            0.2,
            f"median of {len(SETTINGS)} runs; worst {max(against_opacus):.2g}",
        ),
        Figure(
            "the same / dp-accounting PLD (interval 1e-5)",
            statistics.median(against_pld),
            0.02,
            f"worst {max(against_pld):.2g}",
        ),
        Figure(
            "largest relative difference to dp-accounting PLD (1e-5)",
            max(differences),
            1e-3,
            "upper bound against theirs",
        ),
        Figure("widest certified bracket, relative", max(widths), 1e-3, "(upper - lower) / upper"),
    ]
