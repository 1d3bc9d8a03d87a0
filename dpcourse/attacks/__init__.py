"""Attacks on releases and on trained models: they work, and then, under differential privacy, they do not."""

from dpcourse.attacks.canary import (
    Exposure,
    all_log_perplexities,
    beam_search,
    chance_p_value,
    exposure,
    extract,
    log_perplexity,
)
from dpcourse.attacks.differencing import Difference, difference, input_from_updates, snapshot
from dpcourse.attacks.inversion import Inversion, class_means, invert, likeness
from dpcourse.attacks.membership import (
    Roc,
    advantage_bound,
    advantage_by_luck,
    dp_bound,
    loss_threshold_attack,
    losses_of,
    roc,
)

__all__ = [
    "Difference", "Exposure", "Inversion", "Roc", "advantage_bound", "advantage_by_luck", "all_log_perplexities",
    "beam_search", "chance_p_value", "class_means", "difference", "dp_bound", "exposure", "extract",
    "input_from_updates", "invert", "likeness", "log_perplexity", "loss_threshold_attack", "losses_of", "roc",
    "snapshot",
]  # fmt: skip
