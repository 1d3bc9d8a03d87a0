"""Bad input is refused with the value in the message; good input never makes numpy complain."""

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpcourse.privacy_loss import DiscreteLoss, GaussianLoss, LaplaceLoss, PrivacyLoss

RESPONSE = DiscreteLoss.from_probabilities([0.75, 0.25], [0.25, 0.75])
LOSSES: dict[str, PrivacyLoss] = {
    "gaussian": GaussianLoss(1.0),
    "laplace": LaplaceLoss(1.0),
    "response": RESPONSE,
    "sampled": GaussianLoss(1.0).subsample(0.1),
    "composed": LaplaceLoss(0.5).compose(7),
    "dp-sgd": GaussianLoss(1.0).subsample(0.01).compose(100),
    "mixed": LaplaceLoss(0.5) + GaussianLoss(1.0),
}
every = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES.keys())


def refuses(call: Callable[[], Any], value: Any) -> None:
    with pytest.raises((ValueError, TypeError)) as refusal:
        call()
    shown = str(refusal.value)
    assert repr(value) in shown or str(value) in shown, f"the message does not quote {value!r}: {shown}"


@every
@pytest.mark.parametrize("delta", [-1e-9, -1, 1, 1.0, 1.5, math.nan, math.inf, -math.inf, "1e-5", None, True, 1 + 2j])
def test_delta_outside_zero_to_one_is_refused(loss: PrivacyLoss, delta: Any) -> None:
    refuses(lambda: loss.epsilon(delta), delta)
    refuses(lambda: loss.epsilon(delta, bracket=True), delta)


@every
@pytest.mark.parametrize("epsilon", [-1e-9, -1, math.nan, math.inf, -math.inf, "1", None, False, b"1"])
def test_negative_or_strange_epsilon_is_refused(loss: PrivacyLoss, epsilon: Any) -> None:
    refuses(lambda: loss.delta(epsilon), epsilon)
    refuses(lambda: loss.delta(epsilon, bracket=True), epsilon)


def test_a_bad_epsilon_inside_an_array_is_refused() -> None:
    for bad in (-1.0, math.nan):
        with pytest.raises(ValueError, match="epsilon"):
            GaussianLoss(1.0).delta(np.array([0.5, bad]))
    with pytest.raises(ValueError, match="one epsilon at a time"):
        GaussianLoss(1.0).delta([0.5, 1.0], bracket=True)  # type: ignore[arg-type]


@every
@pytest.mark.parametrize("k", [0, -1, 2.5, math.nan, math.inf, "3", None, True, 0.0])
def test_k_must_be_a_whole_number_of_at_least_one(loss: PrivacyLoss, k: Any) -> None:
    refuses(lambda: loss.compose(k), k)


@every
def test_whole_floats_and_numpy_integers_are_welcome_as_k(loss: PrivacyLoss) -> None:
    assert loss.compose(2.0).epsilon(1e-3) == loss.compose(2).epsilon(1e-3) == loss.compose(np.int64(2)).epsilon(1e-3)


@every
@pytest.mark.parametrize("q", [0, 0.0, -0.1, 1.0000001, 2, math.nan, math.inf, "0.1", None, True])
def test_q_must_lie_in_zero_to_one(loss: PrivacyLoss, q: Any) -> None:
    refuses(lambda: loss.subsample(q), q)


@pytest.mark.parametrize("kind", [GaussianLoss, LaplaceLoss])
@pytest.mark.parametrize("scale", [0, -1.0, math.nan, math.inf, "1", None, True])
def test_scales_must_be_positive_and_finite(kind: type, scale: Any) -> None:
    refuses(lambda: kind(scale), scale)


@pytest.mark.parametrize(
    ("p", "q"),
    [
        ([0.5, 0.6], [0.5, 0.5]),
        ([0.5, 0.5], [0.5, 0.4]),
        ([1.5, -0.5], [0.5, 0.5]),
        ([], []),
        ([0.5, math.nan], [0.5, 0.5]),
        ([0.5, 0.5], [0.2, 0.3, 0.5]),
        ("ab", [0.5, 0.5]),
        ([[0.5, 0.5]], [[0.5, 0.5]]),
    ],
)
def test_probabilities_that_are_none_are_refused(p: Any, q: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        DiscreteLoss.from_probabilities(p, q)


@every
@pytest.mark.parametrize("other", [1, 0.5, None, "loss"])
def test_only_losses_can_be_added(loss: PrivacyLoss, other: Any) -> None:
    with pytest.raises(TypeError):
        loss + other


@every
@pytest.mark.parametrize("rng", ["seed", 1.5, -1, True])
def test_strange_random_sources_are_refused(loss: PrivacyLoss, rng: Any) -> None:
    refuses(lambda: loss.sample(3, rng=rng), rng)


@every
def test_the_same_seed_gives_the_same_sample(loss: PrivacyLoss) -> None:
    one, other = loss.sample((2, 3), rng=9), loss.sample((2, 3), rng=9)
    assert one.shape == (2, 3)
    assert (one == other).all()
    assert np.ndim(loss.sample(rng=9)) == 0


EXTREMES: dict[str, PrivacyLoss] = {
    **LOSSES,
    "tiny gaussian": GaussianLoss(1e-6),
    "huge gaussian": GaussianLoss(60.0),
    "many gaussians": GaussianLoss(1.0).compose(10**6),
    "huge laplace": LaplaceLoss(800.0),
    "tiny laplace": LaplaceLoss(1e-9),
    "two huge laplaces": LaplaceLoss(800.0).compose(2),
    "hardly sampled": GaussianLoss(1.0).subsample(1e-9),
    "hardly sampled, often": GaussianLoss(1.0).subsample(1e-9).compose(10),
    "hardly private": GaussianLoss(30.0).subsample(0.5),
    "hardly private, twice": GaussianLoss(30.0).subsample(0.5).compose(2),
    "nothing to learn": DiscreteLoss.from_probabilities([0.5, 0.5], [0.5, 0.5]),
    "nothing to learn, often": DiscreteLoss.from_probabilities([0.5, 0.5], [0.5, 0.5]).compose(10),
    "everything to learn": DiscreteLoss.from_probabilities([1.0, 0.0], [0.0, 1.0]),
    "everything to learn, twice": DiscreteLoss.from_probabilities([1.0, 0.0], [0.0, 1.0]).compose(2),
    "subnormal": DiscreteLoss.from_probabilities([0.5, 0.5], [5e-320, 1.0]),
    "a million responses": RESPONSE.compose(10**6),
    "a million laplaces": LaplaceLoss(1e-3).compose(10**6),
}


LONG = ("mixed", "dp-sgd", "hardly sampled, often", "hardly private, twice")  # ten to twenty seconds each


@pytest.mark.parametrize(
    "loss",
    [pytest.param(loss, id=name, marks=[pytest.mark.slow] * (name in LONG)) for name, loss in EXTREMES.items()],
)
def test_no_public_call_makes_numpy_warn_or_overflow(loss: PrivacyLoss) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for delta in (0.0, 1e-300, 1e-9, 0.9):
            bracket = loss.epsilon(delta, bracket=True)
            assert 0 <= bracket.lower <= bracket.upper
        for epsilon in (0.0, 1.0, 705.0, 2000.0):
            bracket = loss.delta(epsilon, bracket=True)
            assert 0 <= bracket.lower <= bracket.upper <= 1
        _also_ask_for_the_distribution(loss)


def _also_ask_for_the_distribution(loss: PrivacyLoss) -> None:
    rounds = getattr(loss, "parts", ((None, 1),))
    for threshold in (-1000.0, -1.0, 0.0, 1.0, 1000.0):
        assert 0 <= loss.cdf(threshold) <= 1 + 1e-12
    assert loss.mean >= 0
    assert loss.max_loss >= 0
    if sum(times for _, times in rounds) <= 1000:
        assert not np.isnan(loss.sample(100, rng=1)).any()
    assert loss.reverse().epsilon(1e-3) >= 0
    assert isinstance(repr(loss), str)
