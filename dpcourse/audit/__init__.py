"""Audit: what can be said about a sampler from its samples alone, and how often that is wrong.

:func:`epsilon_lower_bound` and :func:`audit_mechanism` bound the true epsilon of a black box from below;
:func:`ks_fit`, :func:`chi_square_fit`, :func:`binomial_fit` and :func:`scale_fit` compare samples with a reference.
Every answer states its false-alarm probability (``level``) and the smallest error that it would have caught.
"""

from dpcourse.audit.binomial import binomial_fit, draws_to_tell_apart
from dpcourse.audit.distribution_fit import chi_square_fit, ks_fit
from dpcourse.audit.epsilon import EpsilonBound, audit_mechanism, detectable_epsilon, epsilon_lower_bound
from dpcourse.audit.fit_result import Fit
from dpcourse.audit.scale_fit import draws_needed_for_scale_error, scale_fit

__all__ = [
    "EpsilonBound",
    "Fit",
    "audit_mechanism",
    "binomial_fit",
    "chi_square_fit",
    "detectable_epsilon",
    "draws_needed_for_scale_error",
    "draws_to_tell_apart",
    "epsilon_lower_bound",
    "ks_fit",
    "scale_fit",
]
