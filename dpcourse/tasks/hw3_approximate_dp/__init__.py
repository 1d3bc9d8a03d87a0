"""Homework 3, approximate differential privacy: ``TASKS`` in the order of the notebook."""

from dpcourse.tasks.hw3_approximate_dp.delta import delta_after, heavy_tail, leaks
from dpcourse.tasks.hw3_approximate_dp.loss import exact_delta, laplace_loss_sample, loss_mean
from dpcourse.tasks.hw3_approximate_dp.proofs import proof_group_of_two
from dpcourse.tasks.hw3_approximate_dp.release import gaussian_release
from dpcourse.tasks.hw3_approximate_dp.rules import group_guarantee, ledger
from dpcourse.tasks.hw3_approximate_dp.sigma import smallest_sigma, textbook_sigma

TASKS = (
    laplace_loss_sample,
    loss_mean,
    leaks,
    heavy_tail,
    textbook_sigma,
    gaussian_release,
    exact_delta,
    smallest_sigma,
    delta_after,
    group_guarantee,
    proof_group_of_two,
    ledger,
)
