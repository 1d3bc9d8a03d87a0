"""Homework 1, pure differential privacy: ``TASKS`` in the order of the notebook."""

from dpcourse.tasks.hw1_pure_dp import choices, counts, median, naive, proofs, sums

TASKS = (*counts.TASKS, *sums.TASKS, *choices.TASKS, *naive.TASKS, *median.TASKS, *proofs.TASKS)
