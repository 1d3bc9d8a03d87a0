"""Homework 3, approximate differential privacy: ``TASKS`` in the order of the notebook."""

from dpcourse.tasks.hw3_approximate_dp import delta, loss, proofs, release, rules, sigma

TASKS = (*loss.TASKS, *delta.TASKS, *sigma.TASKS, *release.TASKS, *rules.TASKS, *proofs.TASKS)
