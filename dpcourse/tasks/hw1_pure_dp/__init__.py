"""Homework 1, pure differential privacy: ``TASKS`` in the order of the notebook."""

from dpcourse.tasks.hw1_pure_dp.choices import exponential_choice, exponential_probabilities, meeting_probabilities
from dpcourse.tasks.hw1_pure_dp.counts import likelihood_ratio, noisy_count, ratio_range, sensitivity_of
from dpcourse.tasks.hw1_pure_dp.median import private_median
from dpcourse.tasks.hw1_pure_dp.naive import break_naive
from dpcourse.tasks.hw1_pure_dp.proofs import (
    proof_count,
    proof_count_back,
    proof_exponential,
    proof_numeric,
    proof_vector,
)
from dpcourse.tasks.hw1_pure_dp.sums import noisy_counts, noisy_histogram, total_debt
from dpcourse.tasks.task import Task

TASKS: tuple[Task, ...] = (
    likelihood_ratio,
    ratio_range,
    noisy_count,
    proof_count,
    proof_count_back,
    sensitivity_of,
    total_debt,
    break_naive,
    proof_numeric,
    noisy_counts,
    noisy_histogram,
    proof_vector,
    exponential_probabilities,
    exponential_choice,
    meeting_probabilities,
    proof_exponential,
    private_median,
)
