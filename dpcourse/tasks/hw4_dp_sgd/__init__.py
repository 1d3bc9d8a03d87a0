"""Homework 4, DP-SGD: ``TASKS`` in the order of the notebook."""

from dpcourse.tasks.hw4_dp_sgd import accountant, average, budget, lots, people, proofs, step, training

TASKS = (
    *lots.TASKS,
    *average.TASKS,
    *step.TASKS,
    *budget.TASKS,
    *accountant.TASKS,
    *proofs.TASKS,
    *training.TASKS,
    *people.TASKS,
)
