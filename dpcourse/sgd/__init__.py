"""DP-SGD on torch: clipping, noise, accounting, and training within a budget (Abadi et al. 2016)."""

from dpcourse.sgd.clipping.clipper import Clipped, SlowPathWarning, clipped_sum
from dpcourse.sgd.clipping.model_checks import check_model
from dpcourse.sgd.fedavg import federated_round, train_federated, user_update
from dpcourse.sgd.models import CharacterModel, TextClassifier, digit_cnn, digit_mlp, next_character_loss
from dpcourse.sgd.private_step import (
    descend,
    minibatch_gradient,
    noisy_average,
    online_gradient,
    poisson_lot,
    private_gradient,
)
from dpcourse.sgd.recipes import CHARACTERS, DIGITS
from dpcourse.sgd.run import Moment, Plan, Run
from dpcourse.sgd.step_audit import FAULTS, audit_release, honest
from dpcourse.sgd.training import plan, train
from dpcourse.sgd.training_checks import OddTraining, cross_entropy

__all__ = [
    "CHARACTERS", "DIGITS", "FAULTS", "CharacterModel", "Clipped", "Moment", "OddTraining", "Plan", "Run",
    "SlowPathWarning", "TextClassifier", "audit_release", "check_model", "clipped_sum", "cross_entropy", "descend",
    "digit_cnn", "digit_mlp", "federated_round", "honest", "minibatch_gradient", "next_character_loss",
    "noisy_average", "online_gradient", "plan", "poisson_lot", "private_gradient", "train", "train_federated",
    "user_update",
]  # fmt: skip
