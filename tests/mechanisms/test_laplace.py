"""Laplace noise, continuous and discrete: shapes, vectors, the floating-point leak, and the exact sampler."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpcourse import DiscreteLaplace, Laplace, LocalLaplace, Neighbours, SystemRandomness
from dpcourse.audit.float_leak import reachable
from dpcourse.mechanisms.exact_sampling import ExactTable, _two_sided, sample_two_sided_geometric


def test_the_designs_example() -> None:
    count = Laplace(epsilon=0.5, sensitivity=1)
    assert count.privacy_loss(output=52, data=51, neighbour=50) == 0.5
    assert isinstance(count.release(51, rng=1), float)
    assert count.release(51, size=3, rng=1).shape == (3,)
    assert count.release([1.0, 2.0], rng=1).shape == (2,)
    assert count.release([1.0, 2.0], size=5, rng=1).shape == (5, 2)
    assert count.release(51, size=1, rng=1).shape == (1,)


@settings(max_examples=40, deadline=None)
@given(st.floats(1e-3, 1e3), st.floats(0.01, 0.999))
def test_the_margin_holds_what_it_says(epsilon: float, probability: float) -> None:
    mechanism = Laplace(epsilon=epsilon, sensitivity=1)
    inside = stats.laplace(scale=mechanism.scale).cdf(mechanism.margin(probability)) * 2 - 1
    assert inside == pytest.approx(probability, rel=1e-9)


def test_a_margin_for_certainty_is_refused() -> None:
    with pytest.raises(ValueError, match=r"below 1.*got 1"):
        Laplace(epsilon=1, sensitivity=1).margin(1)


def test_release_leaves_the_data_alone() -> None:
    data = np.array([1.0, 2.0])
    Laplace(epsilon=1, sensitivity=1).release(data, size=3, rng=1)
    assert data.tolist() == [1.0, 2.0]


def test_a_vectors_loss_is_bounded_by_its_l1_distance() -> None:
    mechanism = Laplace(epsilon=1, sensitivity=3)
    data, neighbour = np.array([1.0, 5.0, 2.0]), np.array([0.0, 4.0, 1.0])  # l1 distance 3
    outputs = mechanism.release(data, size=2_000, rng=3)
    losses = mechanism.log_prob(outputs, data) - mechanism.log_prob(outputs, neighbour)
    assert np.abs(losses).max() <= 1 + 1e-12
    far = mechanism.privacy_loss(data + 100, data, neighbour)
    assert far == pytest.approx(1, rel=1e-12)
    assert mechanism.privacy_loss(outputs, data, neighbour) == pytest.approx(losses, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.floats(0.05, 3), st.floats(0.05, 0.95))
def test_a_change_in_one_coordinate_is_worse_than_the_same_change_spread_over_two(shift: float, share: float) -> None:
    """The worst case of a vector query: delta of the split change never exceeds that of the concentrated one."""
    mechanism = Laplace(epsilon=1, sensitivity=1)
    whole = mechanism.plrv([shift, 0.0], [0.0, 0.0])
    split = mechanism.plrv([share * shift, (1 - share) * shift], [0.0, 0.0])
    for epsilon in (0.0, shift / 4, shift / 2):
        assert split.delta(epsilon, bracket=True).lower <= whole.delta(epsilon)


def test_numpy_laplace_on_floats_gives_counts_away_and_the_discrete_one_does_not() -> None:
    """The errata's figure: about 80% of outputs can come from only one of the counts 0 and 1.

    1,500 outputs of each world; the share's standard deviation is below 0.0103, so 0.1 is 9 of them (false fail 1e-17).
    """
    rng = np.random.default_rng(5)
    certain = []
    for count in (0.0, 1.0):
        outputs = [float(y) for y in count + rng.laplace(size=1_500)]
        assert all(reachable(y, count) for y in outputs)  # the attack never rules out the truth
        certain += [not reachable(y, 1.0 - count) for y in outputs]
    assert np.mean(certain) == pytest.approx(0.8, abs=0.1)
    discrete = DiscreteLaplace(epsilon=1)
    samples = discrete.release(0, size=20_000, rng=5)
    assert np.isfinite(discrete.log_prob(samples, 1)).all()


@pytest.mark.parametrize(("count", "scale"), [(0.0, 10.0), (1.0, 10.0), (1.0, 0.5), (3.0, 2.0), (51.0, 1.0)])
def test_a_float_that_was_drawn_is_reachable(count: float, scale: float) -> None:
    """Whatever numpy did draw is found among the uniforms, also where many of them share one float."""
    outputs = Laplace(epsilon=1 / scale, sensitivity=1).release(count, size=300, rng=7)
    assert reachable(outputs, count, scale).all()


@pytest.mark.parametrize("rate", [0.02, 0.3, 1.0, 7.0])
def test_the_tables_boundaries_are_the_true_cumulative_probabilities(rate: float) -> None:
    """Every boundary equals 2^256 times the cdf, computed independently at 120 digits, to the last of 256 bits."""
    table = _two_sided(rate)
    with mpmath.workdps(120):
        decay = mpmath.exp(-mpmath.mpf(rate))
        for i in range(0, len(table.boundaries) - 1, max(1, len(table.boundaries) // 40)):
            k = table.first + i
            below = decay ** (-k) / (1 + decay) if k < 0 else 1 - decay ** (k + 1) / (1 + decay)
            assert abs(mpmath.mpf(table.boundaries[i]) - below * 2**256) < 4


def test_the_lookup_decides_only_what_its_bits_decide() -> None:
    """For every 16-bit prefix the table's answer is right for the smallest and the largest completion."""
    table = _two_sided(0.3)
    for prefix in range(0, 2**16, 97):
        answer = table.lookup[prefix]
        low, high = prefix << 240, (prefix + 1 << 240) - 1
        first, last = (table.first + sum(boundary <= u for boundary in table.boundaries) for u in (low, high))
        assert (answer == first == last) or (answer == np.iinfo(np.int32).min and first != last)


class Counter:
    """A byte source that plays back what it is given, to steer the sampler onto a boundary."""

    def __init__(self, *chunks: bytes) -> None:
        self.chunks = list(chunks)

    def bytes(self, length: int) -> bytes:
        chunk = self.chunks.pop(0) if self.chunks else b""
        assert len(chunk) == length
        return chunk


@pytest.mark.parametrize(("offset", "expected_step"), [(-1, 0), (0, 1), (1, 1)])
def test_a_draw_on_a_boundary_is_decided_by_all_256_bits(offset: int, expected_step: int) -> None:
    table = _two_sided(1.0)
    i = len(table.boundaries) // 2
    u = table.boundaries[i] + offset
    source = Counter((u >> 240).to_bytes(2, "little"), (u & (2**240 - 1)).to_bytes(30, "little"))
    assert table.sample(1, source)[0] == table.first + i + expected_step


def test_an_exact_table_of_dyadic_probabilities_never_needs_more_bits() -> None:
    from decimal import Decimal

    table = ExactTable.of(0, [Decimal(1), Decimal(1), Decimal(2)])
    assert (table.lookup != np.iinfo(np.int32).min).all()
    assert np.bincount(table.lookup).tolist() == [2**14, 2**14, 2**15]
    assert Fraction(table.boundaries[0], 2**256) == Fraction(1, 4)


@pytest.mark.parametrize("rate", [0.1, 0.02, 1e-4, 3e-7])
def test_digit_by_digit_sampling_fits(rate: float) -> None:
    """Small rates are drawn digit by digit. KS against the exact cdf, n = 50,000, level 1e-6: sees 0.022 in the cdf."""
    n = 50_000
    samples = sample_two_sided_geometric(rate, n, np.random.default_rng(11))
    # A discrete cdf makes KS conservative; a uniform jitter within each step makes it exact.
    u = np.random.default_rng(12).random(n)
    decay = math.exp(-rate)
    k = samples.astype(float)
    at_most = np.where(k < 0, np.exp(rate * k) / (1 + decay), 1 - np.exp(-rate * (k + 1)) / (1 + decay))
    mass = np.tanh(rate / 2) * np.exp(-rate * np.abs(k))
    assert stats.kstest(at_most - u * mass, "uniform", method="exact").pvalue > 1e-6


def test_the_cryptographic_source_is_the_default_and_differs_every_time() -> None:
    mechanism = DiscreteLaplace(epsilon=0.01)
    assert list(mechanism.release(0, size=50)) != list(mechanism.release(0, size=50))
    # 100,000 draws: the sample variance of a right sampler lies within 4% but for 1e-6 (kurtosis 6: sd 0.7%, x 5).
    noise = mechanism.release(0, size=100_000, rng=SystemRandomness())
    assert noise.dtype == np.int64
    assert noise.var() / mechanism.variance == pytest.approx(1, abs=0.05)


def test_discrete_laplace_takes_whole_numbers_only() -> None:
    mechanism = DiscreteLaplace(epsilon=1)
    assert isinstance(mechanism.release(51, rng=1), int)
    assert isinstance(mechanism.release(51.0, rng=1), int)
    with pytest.raises(ValueError, match=r"51\.5"):
        mechanism.release(51.5)
    with pytest.raises(ValueError, match=r"2\.5"):
        DiscreteLaplace(epsilon=1, sensitivity=2.5)


def test_local_laplace_clips_to_the_public_range_and_estimates_the_mean() -> None:
    mechanism = LocalLaplace(epsilon=1, low=0, high=15)
    assert mechanism.neighbours is Neighbours.REPLACE
    assert mechanism.log_prob(3.0, 99.0) == mechanism.log_prob(3.0, 15.0)
    truth = np.random.default_rng(1).integers(0, 16, 20_000)
    estimate = mechanism.estimate(mechanism.release(truth, rng=2))
    # Within 5 standard errors: fails for one seed in 1.7 million; sees a bias of 10 standard errors (1.5) for sure.
    assert abs(estimate.value - truth.mean()) < 5 * estimate.standard_error
    repeated = [mechanism.estimate(r).value for r in mechanism.release(truth[:50], size=4_000, rng=3)]
    # The stated variance: a sample variance of 4,000 nearly normal values is within 12% but for 1e-7.
    assert np.var(repeated) / mechanism.estimate(truth[:50]).variance == pytest.approx(1, abs=0.12)
    with pytest.raises(ValueError, match="low = 5"):
        LocalLaplace(epsilon=1, low=5, high=5)


def test_bad_data_is_quoted() -> None:
    mechanism = Laplace(epsilon=1, sensitivity=1)
    with pytest.raises(ValueError, match="nan"):
        mechanism.release(math.nan)
    with pytest.raises(TypeError, match="many"):
        mechanism.release("many")
    with pytest.raises(ValueError, match="size"):
        mechanism.release(1, size=0)
    with pytest.raises(TypeError, match="rng"):
        mechanism.release(1, rng="seed")
    with pytest.raises(ValueError, match=r"sensitivity.*0"):
        Laplace(epsilon=1, sensitivity=0)
    with pytest.raises(ValueError, match="nearby"):
        Laplace(epsilon=1, sensitivity=1, neighbours="nearby")
