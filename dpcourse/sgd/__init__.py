"""DP-SGD on torch: clipping, noise, accounting, and training within a budget (Abadi et al. 2016)."""

from dpcourse.sgd.clipping import Clipped, SlowPathWarning, check_model, clipped_sum
from dpcourse.sgd.run import Moment, Plan, Run
from dpcourse.sgd.steps import (
    descend,
    minibatch_gradient,
    noisy_average,
    online_gradient,
    poisson_lot,
    private_gradient,
)
from dpcourse.sgd.training import cross_entropy, plan, train

__all__ = [
    "Clipped", "Moment", "Plan", "Run", "SlowPathWarning", "check_model", "clipped_sum", "cross_entropy", "descend",
    "minibatch_gradient", "noisy_average", "online_gradient", "plan", "poisson_lot", "private_gradient", "train",
]  # fmt: skip
