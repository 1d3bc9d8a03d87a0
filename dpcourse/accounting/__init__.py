"""How costs add up: the rules of the lectures, Renyi DP, the exact privacy loss of DP-SGD, and a budget to spend."""

from dpcourse.accounting.budget import Budget, BudgetExceeded, Entry
from dpcourse.accounting.cost import Cost
from dpcourse.accounting.dp_sgd import dp_sgd_accounts, dp_sgd_epsilon, dp_sgd_loss, sigma_for, steps_within
from dpcourse.accounting.renyi import MOMENTS, ORDERS, Renyi, renyi_gaussian, renyi_laplace, renyi_sampled_gaussian
from dpcourse.accounting.rules import (
    advanced_composition,
    amplify_by_sampling,
    basic_composition,
    best_composition,
    group_privacy,
)

__all__ = [
    "MOMENTS",
    "ORDERS",
    "Budget",
    "BudgetExceeded",
    "Entry",
    "Renyi",
    "Cost",
    "advanced_composition",
    "amplify_by_sampling",
    "basic_composition",
    "best_composition",
    "dp_sgd_accounts",
    "dp_sgd_epsilon",
    "dp_sgd_loss",
    "group_privacy",
    "renyi_gaussian",
    "renyi_laplace",
    "renyi_sampled_gaussian",
    "sigma_for",
    "steps_within",
]
