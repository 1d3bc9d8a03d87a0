"""Homework 4, DP-SGD: ``TASKS`` in the order of the notebook."""

from dpcourse.tasks.hw4_dp_sgd.accountant import steps_in_budget
from dpcourse.tasks.hw4_dp_sgd.average import noisy_average
from dpcourse.tasks.hw4_dp_sgd.budget import amplified_budget, composed_budget
from dpcourse.tasks.hw4_dp_sgd.lots import clip_gradients, poisson_lot
from dpcourse.tasks.hw4_dp_sgd.people import canary_exposure, user_level_average
from dpcourse.tasks.hw4_dp_sgd.proofs import proof_amplification
from dpcourse.tasks.hw4_dp_sgd.step import dp_sgd_step
from dpcourse.tasks.hw4_dp_sgd.training import train_private

TASKS = (
    clip_gradients,
    poisson_lot,
    noisy_average,
    dp_sgd_step,
    amplified_budget,
    proof_amplification,
    composed_budget,
    steps_in_budget,
    train_private,
    user_level_average,
    canary_exposure,
)
