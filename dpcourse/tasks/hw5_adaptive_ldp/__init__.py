"""Homework 5, adaptive local differential privacy: ``TASKS`` in the order of the notebook."""

from dpcourse.tasks.hw5_adaptive_ldp.learning import best_subset, sgld_step
from dpcourse.tasks.hw5_adaptive_ldp.matrices import matrix_epsilon, second_epsilon_task, srr_matrix
from dpcourse.tasks.hw5_adaptive_ldp.proofs import proof_second_epsilon
from dpcourse.tasks.hw5_adaptive_ldp.reports import rrrr, rrrr_matrix, srr
from dpcourse.tasks.hw5_adaptive_ldp.survey import adaptive_survey
from dpcourse.tasks.hw5_adaptive_ldp.utilities import six_utilities

TASKS = (
    srr, srr_matrix, matrix_epsilon,
    second_epsilon_task, proof_second_epsilon, rrrr, rrrr_matrix,
    six_utilities, best_subset,
    sgld_step, adaptive_survey,
)  # fmt: skip
