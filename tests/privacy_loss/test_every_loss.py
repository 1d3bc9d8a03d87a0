"""One contract for every kind of loss: tails fit together, the mean is KL, samples fit the cdf, E[e^-L] = 1."""

import math
from collections.abc import Callable

import mpmath as mp
import numpy as np
import pytest

from dpcourse.privacy_loss import DiscreteLoss, EitherDirection, GaussianLoss, LaplaceLoss, PrivacyLoss

Density = Callable[[mp.mpf], mp.mpf]

LEAKY = DiscreteLoss.from_probabilities([0.2, 0.5, 0.3, 0.0], [0.0, 0.25, 0.7, 0.05])
THREE_ARY = DiscreteLoss.from_probabilities([0.6, 0.2, 0.2], [0.2, 0.6, 0.2])


def both(sampled: PrivacyLoss) -> tuple[PrivacyLoss, PrivacyLoss]:
    assert isinstance(sampled, EitherDirection)
    return sampled.removed, sampled.added


LOSSES: dict[str, PrivacyLoss] = {
    "gaussian": GaussianLoss(1.3),
    "tiny gaussian": GaussianLoss(1e-5),
    "wide gaussian": GaussianLoss(12.0),
    "laplace": LaplaceLoss(0.8),
    "wide laplace": LaplaceLoss(9.0),
    "randomized response": DiscreteLoss.from_probabilities([0.75, 0.25], [0.25, 0.75]),
    "three-ary response": THREE_ARY,
    "leaky": LEAKY,
    "leaky, reversed": LEAKY.reverse(),
    "off-grid atoms": DiscreteLoss.from_probabilities([0.5, 0.3, 0.2], [0.25, 0.35, 0.4]),
    "nothing to learn": DiscreteLoss.from_probabilities([0.5, 0.5], [0.5, 0.5]),
}
for name, base in {"gaussian": GaussianLoss(1.3), "laplace": LaplaceLoss(0.8), "leaky": LEAKY}.items():
    for q in (0.03, 0.9):
        LOSSES[f"{name} sampled {q} removed"], LOSSES[f"{name} sampled {q} added"] = both(base.subsample(q))
LOSSES["gaussian sampled twice"] = both(GaussianLoss(1.3).subsample(0.5).subsample(0.2))[0]
COMPOSED: dict[str, PrivacyLoss] = {
    "laplace x 20": LaplaceLoss(0.3).compose(20),
    "laplace + gaussian": LaplaceLoss(0.5) + GaussianLoss(0.7),
    "sampled gaussian x 50": both(GaussianLoss(1.0).subsample(0.1).compose(50))[0],
    "randomized response x 30": LOSSES["randomized response"].compose(30),
    "leaky x 5": LEAKY.compose(5),
}
single = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES.keys())
every = pytest.mark.parametrize("loss", [*LOSSES.values(), *COMPOSED.values()], ids=[*LOSSES, *COMPOSED])


def thresholds(loss: PrivacyLoss) -> np.ndarray:
    """Zero, both signs at all scales, and the samples themselves (so that atoms are hit exactly)."""
    drawn = np.asarray(loss.sample(200, rng=7))
    scales = np.geomspace(1e-8, 300, 60)
    return np.unique(np.concatenate(([0.0], scales, -scales, drawn[np.isfinite(drawn)])))


@single
def test_tails_are_probabilities_that_fall_and_rise(loss: PrivacyLoss) -> None:
    at = thresholds(loss)
    for tails, direction in ((loss.above(at), -1), (loss.below(at), 1)):
        for tail in tails:
            assert tail.shape == at.shape
            assert ((tail >= 0) & (tail <= 1 + 1e-12)).all()
            assert (direction * np.diff(tail) >= -1e-15).all()


@single
def test_below_atom_and_above_make_a_whole(loss: PrivacyLoss) -> None:
    """Between atoms above + below = 1 under both distributions; at an atom m is missing under P, m e^-l under Q."""
    at = thresholds(loss)
    (p_above, q_above), (p_below, q_below) = loss.above(at), loss.below(at)
    atom_p, atom_q = 1 - p_above - p_below, 1 - q_above - q_below
    assert (atom_p > -1e-12).all()
    assert (atom_q > -1e-12).all()
    atoms = (atom_p > 1e-10) & (atom_q > 1e-10)
    assert atom_q[atoms] == pytest.approx(atom_p[atoms] * np.exp(-at[atoms]), abs=1e-13, rel=1e-9)
    between = (at[1:] + at[:-1])[np.diff(at) > 1e-12] / 2
    gap = 1 - loss.above(between)[0] - loss.below(between)[0]
    assert np.abs(gap).max() < 1e-12


@single
def test_the_mass_between_two_thresholds_has_the_ratio_that_its_losses_say(loss: PrivacyLoss) -> None:
    at = thresholds(loss)
    p, q = (-np.diff(tail) for tail in loss.above(at))
    lower, upper = np.exp(np.clip(at[:-1], -700, 700)), np.exp(np.clip(at[1:], -700, 700))
    assert (lower * q <= p * (1 + 1e-9) + 1e-13 * (1 + lower)).all()
    assert (p <= upper * q * (1 + 1e-9) + 1e-13 * (1 + upper)).all()


@every
def test_cdf_is_the_complement_of_above(loss: PrivacyLoss) -> None:
    at = thresholds(loss)
    assert np.asarray(loss.cdf(at)) == pytest.approx(np.clip(1 - loss.above(at)[0], 0, 1), abs=0)
    assert np.ndim(loss.cdf(0.0)) == 0


@every
def test_delta_falls_from_total_variation_and_is_convex_in_e_to_the_eps(loss: PrivacyLoss) -> None:
    epsilons = np.linspace(0, 3, 13)
    upper = loss.delta(epsilons)
    lower = np.array([loss.delta(e, bracket=True).lower for e in epsilons])
    assert ((lower <= upper) & (lower >= 0) & (upper <= 1)).all()
    assert (lower[1:] <= upper[:-1]).all()
    a = np.exp(epsilons)
    chord = upper[:-2] + (upper[2:] - upper[:-2]) * (a[1:-1] - a[:-2]) / (a[2:] - a[:-2])
    assert (lower[1:-1] <= chord + 1e-15).all()


@every
def test_delta_and_epsilon_are_inverse(loss: PrivacyLoss) -> None:
    for delta in (1e-9, 1e-4, 0.02, 0.25):
        epsilon = loss.epsilon(loss.infinite_mass + delta * (1 - loss.infinite_mass), bracket=True)
        for bound, low, high in ((epsilon.lower, 1 - 1e-6, 2.0), (epsilon.upper, 0.5, 1 + 1e-6)):
            value = loss.delta(bound, bracket=True)
            target = loss.infinite_mass + delta * (1 - loss.infinite_mass)
            assert value.lower <= target * high
            assert value.upper >= target * low or bound == 0


@single
def test_samples_fit_the_cdf(loss: PrivacyLoss) -> None:
    """Dvoretzky-Kiefer-Wolfowitz holds for any distribution, atoms or not: Pr[sup gap > d] <= 2 e^(-2 n d^2).

    n = 40,000, d = 0.0142: false-fail probability 2 * 10^-7 per loss. A cdf that is off by 0.021 anywhere is caught
    with probability > 0.99.
    """
    n, limit = 40_000, 0.0142
    drawn = np.asarray(loss.sample(n, rng=20240229))
    assert drawn.shape == (n,)
    assert np.isposinf(drawn).mean() == pytest.approx(loss.infinite_mass, abs=limit)
    values, counts = np.unique(drawn[np.isfinite(drawn)], return_counts=True)
    up_to = np.cumsum(counts) / n
    before = up_to - counts / n
    hair = 1e-12 * np.maximum(1.0, np.abs(values))  # an atom that was computed in two ways may differ in its last bit
    assert np.abs(loss.cdf(values + hair) - up_to).max() < limit
    assert np.abs(loss.below(values - hair)[0] - before).max() < limit


@pytest.mark.parametrize("loss", COMPOSED.values(), ids=COMPOSED.keys())
def test_samples_of_a_sum_fit_the_cdf_of_the_sum(loss: PrivacyLoss) -> None:
    """As above: n = 40,000, d = 0.0142, false-fail probability 2 * 10^-7, catches 0.021.

    An atom of the sum may sit a rounding error beside the grid's: the cdf is read a hair to either side.
    """
    n, limit = 40_000, 0.0142
    drawn = np.sort(loss.sample(n, rng=3))
    finite = drawn[np.isfinite(drawn)]
    up_to, before = np.arange(1, finite.size + 1) / n, np.arange(finite.size) / n
    nudge = 1e-3 if loss is not COMPOSED["randomized response x 30"] else 1e-9
    assert (loss.cdf(finite + nudge) - before > -limit).all()
    assert (loss.cdf(finite - nudge) - up_to < limit).all()


@every
def test_e_to_the_minus_loss_averages_to_the_mass_that_q_has_on_the_support_of_p(loss: PrivacyLoss) -> None:
    """E[e^-L] is the Q-mass where P lives: 1 - (mass only Q has). Deterministic: the total of Q's tails."""
    q_total = loss.above(-690.0)[1]
    only_q = loss.reverse().infinite_mass
    assert q_total == pytest.approx(1 - only_q, abs=1e-9)


def kullback_leibler(p: Density, q: Density, corners: list[float]) -> float:
    with mp.workdps(30):
        return float(mp.quad(lambda t: p(t) * mp.log(p(t) / q(t)), corners))


def normal(mu: float) -> Density:
    return lambda t: mp.npdf(t, mu, 1)


def mixture(p: Density, q: Density, rate: float) -> Density:
    return lambda t: (1 - mp.mpf(rate)) * q(t) + rate * p(t)


SAMPLED_GAUSSIANS = [(1.3, 0.03), (1.3, 0.9), (1e-3, 0.01), (0.05, 1e-4), (20.0, 0.5), (4.0, 1e-4)]


@pytest.mark.parametrize(("mu", "rate"), SAMPLED_GAUSSIANS)
def test_mean_of_a_sampled_gaussian_is_kl(mu: float, rate: float) -> None:
    with_person, without = mixture(normal(mu), normal(0), rate), normal(0)
    corners = [-30, -8, 0, mu / 2, mu, mu + 8, mu + 30]
    removed, added = both(GaussianLoss(mu).subsample(rate))
    assert removed.mean == pytest.approx(kullback_leibler(with_person, without, corners), rel=1e-6)
    assert added.mean == pytest.approx(kullback_leibler(without, with_person, corners), rel=1e-6)


@pytest.mark.parametrize("mu", [1e-6, 0.3, 50.0])
def test_mean_of_a_gaussian_is_kl(mu: float) -> None:
    assert GaussianLoss(mu).mean == pytest.approx(mu**2 / 2, rel=1e-14)


@pytest.mark.parametrize("shift", [1e-8, 1e-3, 0.00999, 0.01001, 0.5, 3.0, 50.0])
def test_mean_of_a_laplace_is_kl(shift: float) -> None:
    with mp.workdps(40):
        truth = float(mp.mpf(shift) - 1 + mp.exp(-mp.mpf(shift)))
    assert LaplaceLoss(shift).mean == pytest.approx(truth, rel=1e-11)


def test_mean_of_a_discrete_loss_is_kl_and_infinite_if_an_output_gives_everything_away() -> None:
    assert THREE_ARY.mean == pytest.approx(0.4 * math.log(3), rel=1e-14)
    assert LEAKY.mean == math.inf
    assert LEAKY.reverse().mean == math.inf


@pytest.mark.parametrize("loss", COMPOSED.values(), ids=COMPOSED.keys())
def test_means_add_up(loss: PrivacyLoss) -> None:
    """Against the samples: the mean of n = 20,000 draws lies within 5.5 standard errors (false-fail 4 * 10^-8)."""
    if math.isinf(loss.mean):
        assert loss.infinite_mass > 0
        return
    drawn = loss.sample(20_000, rng=11)
    assert abs(drawn.mean() - loss.mean) < 5.5 * drawn.std() / math.sqrt(drawn.size)
