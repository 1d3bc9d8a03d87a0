"""DP-SGD on torch: clipping, noise, accounting, and training within a budget (Abadi et al. 2016)."""

from dpcourse.sgd.auditing import FAULTS, audit_release, honest
from dpcourse.sgd.clipping import Clipped, SlowPathWarning, clipped_sum
from dpcourse.sgd.fedavg import federated_round, train_federated, user_update
from dpcourse.sgd.given import OddTraining, cross_entropy
from dpcourse.sgd.guards import check_model
from dpcourse.sgd.models import CharacterModel, TextClassifier, digit_cnn, digit_mlp, next_character_loss
from dpcourse.sgd.recipes import CHARACTERS, DIGITS
from dpcourse.sgd.run import Moment, Plan, Run
from dpcourse.sgd.steps import (
    descend,
    minibatch_gradient,
    noisy_average,
    online_gradient,
    poisson_lot,
    private_gradient,
)
from dpcourse.sgd.training import plan, train

__all__ = [
    "CHARACTERS", "DIGITS", "FAULTS", "CharacterModel", "Clipped", "Moment", "OddTraining", "Plan", "Run",
    "SlowPathWarning", "TextClassifier", "audit_release", "check_model", "clipped_sum", "cross_entropy", "descend",
    "digit_cnn", "digit_mlp", "federated_round", "honest", "minibatch_gradient", "next_character_loss",
    "noisy_average", "online_gradient", "plan", "poisson_lot", "private_gradient", "train", "train_federated",
    "user_update",
]  # fmt: skip
