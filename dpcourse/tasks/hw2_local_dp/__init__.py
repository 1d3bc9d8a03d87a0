"""Homework 2, local differential privacy: ``TASKS`` in the order of the notebook."""

from dpcourse.tasks.hw2_local_dp import formulas, own_noise, proofs, reports, survey

TASKS = (*formulas.TASKS, *reports.TASKS, *own_noise.TASKS, *survey.TASKS, *proofs.TASKS)
