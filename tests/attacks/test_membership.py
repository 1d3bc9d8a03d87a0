"""Membership inference: the curve, the attack on an overfitted model, and the bound that DP puts on every attacker."""

import math

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from dpcourse import Gaussian, RandomizedResponse
from dpcourse.attacks import advantage_bound, advantage_by_luck, dp_bound, loss_threshold_attack, losses_of, roc
from dpcourse.data.examples import Examples, digits
from dpcourse.sgd.models import digit_mlp


def loss(outputs, targets):
    return F.cross_entropy(outputs, targets, reduction="none")


@pytest.fixture(scope="module")
def halves():
    """100 digits to train on and 100 to compare with; a fifth of the labels is wrong, so there is much to memorise."""
    train, _ = digits()
    few = train.at(torch.arange(200))
    targets = few.targets.clone()
    targets[::5] = (targets[::5] + 3) % 10
    return Examples(few.inputs, targets).split(0.5)


@pytest.fixture(scope="module")
def overfitted(halves):
    model, members = digit_mlp(64), halves[0]
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(300):
        optimiser.zero_grad()
        loss(model(members.inputs), members.targets).mean().backward()
        optimiser.step()
    return model


def test_the_curve_of_a_few_scores_by_hand():
    curve = roc([3, 2, 2], [2, 1])
    assert curve.fpr.tolist() == [0, 0, 0.5, 1]
    assert curve.tpr.tolist() == pytest.approx([0, 1 / 3, 1, 1])
    assert curve.thresholds.tolist() == [math.inf, 3, 2, 1]
    assert curve.advantage == pytest.approx(0.5)
    assert curve.tpr_at(0.4) == pytest.approx(1 / 3)
    pairs = [(m > o) + (m == o) / 2 for m in (3, 2, 2) for o in (2, 1)]
    assert curve.area == pytest.approx(np.mean(pairs))


def test_an_overfitted_model_gives_its_members_away(overfitted, halves):
    curve = loss_threshold_attack(overfitted, *halves, loss)
    assert curve.advantage > 0.3
    assert curve.area > 0.6


def test_an_untrained_model_gives_nobody_away(halves):
    # Two samples of 100 from one distribution: the advantage is their (one-sided) Kolmogorov-Smirnov distance, above
    # 0.3 with probability e^(-2 * 50 * 0.3^2) = 1.2e-4.
    assert loss_threshold_attack(digit_mlp(64), *halves, loss).advantage < 0.3


def test_a_member_is_told_by_the_loss_and_the_model_stays_as_it_was(overfitted, halves):
    overfitted.train()
    inside, outside = (losses_of(overfitted, part, loss) for part in halves)
    assert overfitted.training
    assert inside.shape == (100,)
    assert np.mean(inside) < np.mean(outside) / 4


def test_randomized_response_attains_the_bound():
    # One person's bit under epsilon-DP: "member if the answer is yes" has FPR 1 - p and TPR p, where the lines meet.
    answer = RandomizedResponse(epsilon=1.2)
    true, false = (math.exp(answer.log_prob(1, data)) for data in (1, 0))
    assert true == pytest.approx(dp_bound(false, 1.2))
    assert true - false == pytest.approx(advantage_bound(1.2))


@pytest.mark.parametrize("delta", [0.0, 1e-5, 0.1])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0, 50.0, 800.0])
def test_both_lines_and_the_largest_advantage(epsilon, delta):
    fpr = np.linspace(0, 1, 100_001)
    tpr = dp_bound(fpr, epsilon, delta)
    growth = math.exp(min(epsilon, 700))
    assert (tpr <= growth * fpr + delta + 1e-12).all()
    assert (1 - fpr <= growth * (1 - tpr) + delta + 1e-9 * growth).all()
    assert (np.diff(tpr) >= 0).all()
    assert tpr[0] == pytest.approx(min(delta, 1))
    assert tpr[-1] == 1
    assert (tpr - fpr).max() == pytest.approx(advantage_bound(epsilon, delta), abs=2e-5 * min(growth, 5e4))


def test_no_threshold_beats_the_bound_of_the_gaussian():
    # The best attack on Gaussian noise is known exactly: TPR = Phi(Phi^-1(FPR) + 1/sigma). It lies under every bound.
    from scipy import stats

    noise = Gaussian(sigma=1.5, sensitivity=1)
    fpr = np.linspace(0.001, 0.999, 500)
    best = stats.norm.cdf(stats.norm.ppf(fpr) + 1 / 1.5)
    gaps = np.array([dp_bound(fpr, eps, noise.plrv().delta(eps)) - best for eps in np.linspace(0, 4, 60)])
    assert gaps.min() > -1e-9
    assert gaps.min(axis=0).max() < 1e-3  # and all of them together leave nothing over


def test_without_privacy_everything_is_allowed():
    assert dp_bound([0, 0.5], math.inf).tolist() == [1, 1]
    assert advantage_bound(math.inf) == 1
    assert dp_bound(0.2, 0) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("wrong", "quoted"),
    [
        (lambda: dp_bound(1.2, 1), "1.2"),
        (lambda: dp_bound(0.2, -1), "-1"),
        (lambda: dp_bound(0.2, 1, 1.5), "1.5"),
        (lambda: advantage_bound(-2), "-2"),
        (lambda: roc([], [1]), "0 and 1"),
        (lambda: roc([math.nan], [1]), "nan"),
        (lambda: roc([1], [1]).tpr_at(2), "2"),
    ],
)
def test_bad_input_is_quoted(wrong, quoted):
    with pytest.raises(ValueError, match=quoted):
        wrong()


def test_luck_has_the_advantage_that_is_said() -> None:
    """2,000 useless scores, seeded. The mean's standard error is 0.0004; 5% of 2,000 is 100, give or take 10: four
    standard errors, passed by chance about once in 16,000 times; an error of a tenth in either number is noticed."""
    rng = np.random.default_rng(7)
    found = np.array([roc(rng.random(1_438), rng.random(359)).advantage for _ in range(2_000)])
    usual, seldom = advantage_by_luck(1_438, 359)
    assert found.mean() == pytest.approx(
        usual, abs=4 * found.std() / 2_000**0.5 + 0.001
    )  # exact for large numbers only
    assert abs((found > seldom).sum() - 100) < 40
    with pytest.raises(ValueError, match="once_in"):
        advantage_by_luck(10, 10, once_in=0.5)
