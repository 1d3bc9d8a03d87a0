"""Homework 2, local differential privacy: ``TASKS`` in the order of the notebook."""

from dpcourse.tasks.hw2_local_dp.formulas import posterior, response_ratio, spent_epsilon, theta
from dpcourse.tasks.hw2_local_dp.own_noise import local_laplace
from dpcourse.tasks.hw2_local_dp.proofs import proof_every_case, proof_flipped, proof_truth_told
from dpcourse.tasks.hw2_local_dp.reports import kary_response, randomized_response
from dpcourse.tasks.hw2_local_dp.survey import share_of_class, students_needed

TASKS = (
    theta, spent_epsilon, response_ratio,
    proof_truth_told, proof_flipped, proof_every_case,
    randomized_response, local_laplace, kary_response,
    share_of_class, posterior, students_needed,
)  # fmt: skip
