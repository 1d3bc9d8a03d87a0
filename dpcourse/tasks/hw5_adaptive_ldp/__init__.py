"""Homework 5, adaptive local differential privacy: ``TASKS`` in the order of the notebook."""

from dpcourse.tasks.hw5_adaptive_ldp import learning, matrices, proofs

TASKS = (*matrices.TASKS, *proofs.TASKS, *learning.TASKS)
