"""DP-SGD on torch: clipping, noise, accounting, and training within a budget (Abadi et al. 2016).

``reference`` is the algorithm on one page; ``train`` is what to use.
"""

from dpcourse.sgd import reference
from dpcourse.sgd.clipping import ClippedSum, Clipper, Lot, SlowPathWarning, clipped_sum, register_rule
from dpcourse.sgd.clipping.model_checks import check_model
from dpcourse.sgd.fedavg import federated_round, train_federated, user_update
from dpcourse.sgd.models import (
    CharacterModel,
    TextClassifier,
    cross_entropy,
    digit_cnn,
    digit_mlp,
    next_character_loss,
)
from dpcourse.sgd.private_step import (
    PrivateGradient,
    descend,
    minibatch_gradient,
    noisy_average,
    online_gradient,
    poisson_lot,
)
from dpcourse.sgd.recipes import CHARACTERS, DIGITS
from dpcourse.sgd.run import Moment, Plan, Run, plan
from dpcourse.sgd.step_audit import FAULTS, audit_step, edited_reference, honest
from dpcourse.sgd.training import train
from dpcourse.sgd.training_checks import OddTraining

__all__ = [
    "CHARACTERS", "DIGITS", "FAULTS", "CharacterModel", "ClippedSum", "Clipper", "Lot", "Moment", "OddTraining", "Plan",
    "PrivateGradient", "Run", "SlowPathWarning", "TextClassifier", "audit_step", "check_model", "clipped_sum",
    "cross_entropy", "descend", "digit_cnn", "digit_mlp", "edited_reference", "federated_round", "honest",
    "minibatch_gradient", "next_character_loss", "noisy_average", "online_gradient", "plan", "poisson_lot", "reference",
    "register_rule", "train", "train_federated", "user_update",
]  # fmt: skip
