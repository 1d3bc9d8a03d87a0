"""Adaptive local privacy for categories: AdOBEst-LDP (Yildirim & Aydin) with its corrections, and its competitors."""

from dpcourse.adaptive_ldp.estimates import grouped, inverted, maximum_likelihood, to_simplex, total_variation
from dpcourse.adaptive_ldp.frequency_oracle import Oracle
from dpcourse.adaptive_ldp.frequency_oracles import COMPETITORS
from dpcourse.adaptive_ldp.gibbs import gibbs
from dpcourse.adaptive_ldp.langevin import Langevin
from dpcourse.adaptive_ldp.matrices import (
    naive_matrix,
    published_matrix,
    published_second_epsilon,
    restricted_matrix,
    transition_matrix,
    true_epsilon,
)
from dpcourse.adaptive_ldp.rrrr import RestrictedResponse
from dpcourse.adaptive_ldp.rrrr_columns import Columns, columns, first_epsilons, second_epsilon
from dpcourse.adaptive_ldp.standard_response import StandardResponse
from dpcourse.adaptive_ldp.subsets import (
    best_subset,
    best_subset_sizes,
    best_subsets,
    semi_adaptive_sizes,
    semi_adaptive_subset,
    semi_adaptive_subsets,
)
from dpcourse.adaptive_ldp.survey import AdaptiveSurvey
from dpcourse.adaptive_ldp.utilities import UTILITIES, utilities

__all__ = [
    "COMPETITORS", "UTILITIES", "AdaptiveSurvey", "Columns", "Langevin", "Oracle", "RestrictedResponse",
    "StandardResponse", "best_subset", "best_subset_sizes", "best_subsets", "columns", "first_epsilons", "gibbs",
    "grouped", "inverted", "maximum_likelihood", "naive_matrix", "published_matrix", "published_second_epsilon",
    "restricted_matrix", "second_epsilon", "semi_adaptive_sizes", "semi_adaptive_subset", "semi_adaptive_subsets",
    "to_simplex", "total_variation", "transition_matrix", "true_epsilon", "utilities",
]  # fmt: skip
