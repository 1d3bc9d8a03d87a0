"""Global sensitivity: by how much can one person change the answer, in the worst case over all possible tables?

    Delta = max ||f(D) - f(D')|| over all neighbours D, D'    [lecture 4; Dwork and Roth 2014, Definition 3.1]

``closed_forms`` holds the sensitivities that are known; ``search`` looks for a pair that breaks a claimed one;
``rows`` clips vectors to a bounded length.
"""

from dpcourse.sensitivity.closed_forms import bounded_sum, clipped_sum, count, histogram, mean
from dpcourse.sensitivity.search import Search, find_violation, interval

__all__ = ["Search", "bounded_sum", "clipped_sum", "count", "find_violation", "histogram", "interval", "mean"]
