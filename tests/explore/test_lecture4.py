"""Lecture 4: the numbers that its explorers and its text state, against known values."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import gamma

from dpcourse import GaussianLoss, accounting, explore, sensitivity
from dpcourse.accounting.shuffled import shuffled_epsilon_at_least, shuffled_maxima
from dpcourse.data.conversations import CONVERSATIONS, REMOVALS, removed
from dpcourse.explore.lecture4 import attack_results, descents, privacy_accounts, training_results
from dpcourse.explore.stored import stored
from dpcourse.scenes import Line, Picture, Table
from dpcourse.sensitivity.rows import clipped, norms
from testing import ROOT


def picture(name: str, **values: object) -> Picture:
    return explore.CATALOGUE[name]().scene.picture(**values)


def test_explorers_do_not_load_torch() -> None:
    names = [*privacy_accounts.__all__, *descents.__all__, *training_results.__all__, "clipping", "conversations"]
    probe = f"import sys; from dpcourse import explore; [explore.CATALOGUE[name]() for name in {names}]; "
    probe += "print('torch' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=False)
    assert told.stdout.strip() == "False", told.stderr


def test_clipping_bounds_what_one_vector_does_to_the_sum() -> None:
    rows = np.random.default_rng(1).normal(0, 3, (200, 5))
    short = clipped(rows, 2.0)
    assert norms(short).max() <= 2 * (1 + 1e-12) == pytest.approx(sensitivity.clipped_sum(2.0))
    small = norms(rows) <= 2
    assert 0 < small.sum() < len(rows)
    assert np.array_equal(short[small], rows[small])
    direction = (short * rows).sum(1) / norms(short) / norms(rows)
    assert direction == pytest.approx(np.ones(len(rows)))
    assert np.array_equal(clipped(np.zeros((1, 3)), 1.0), np.zeros((1, 3)))
    with pytest.raises(ValueError, match="bound"):
        clipped(rows, 0)


def test_the_outlier_is_held_back() -> None:
    assert (
        "length 1.43 and direction 19° before, 0.71 and 23° after"
        in picture("clipping", bound=1.0, last="one like the others").says
    )
    says = picture("clipping", bound=1.0, last="an outlier").says
    assert "8.38 without clipping" in says
    assert "1.00 with it" in says


def test_the_walk_by_everybody_is_gradient_descent() -> None:
    """On a quadratic loss it is known in closed form: the distance to the best shrinks by I - 2 rate X'X / n."""
    rows, values = descents.people()
    best = np.linalg.solve(rows.T @ rows, rows.T @ values)
    shrink = np.eye(2) - 2 * descents.RATE * rows.T @ rows / len(rows)
    there = [best + np.linalg.matrix_power(shrink, t) @ (descents.START - best) for t in range(descents.STEPS + 1)]
    assert descents.walk(descents.PEOPLE, 0) == pytest.approx(np.array(there))
    assert descents.best() == pytest.approx(best)


def test_the_noise_of_a_private_walk_is_sigma_c_over_the_lot() -> None:
    """Of 1,000 normal numbers the deviation is 10% off with probability 8e-6; one that is 15% off is caught."""
    noise, lot = 2.0, 16
    first = np.array([descents.walk(lot, run, noise)[1] - descents.walk(lot, run, 0.0)[1] for run in range(500)])
    assert first.std() == pytest.approx(descents.RATE * noise * descents.CLIP / lot, rel=0.1)
    assert price_of(noise, lot) == pytest.approx(descents.price(noise, lot))


def price_of(noise: float, lot: int) -> float:
    step = GaussianLoss(mu=1 / noise).subsample(lot / descents.PEOPLE)
    return float(step.compose(descents.STEPS).epsilon(descents.DELTA))


def test_larger_lots_with_more_noise_cost_less_as_the_lecture_says() -> None:
    small, large = (picture("private_descent", noise=n, lot=m, run=0).says for n, m in ((1.0, 16), (4.0, 64)))
    for says, cost, ends in ((small, "5.077", "0.011"), (large, "3.133", "0.0044")):
        assert "= 0.25." in says
        assert f"ε = {cost} at" in says
        assert f"is {ends} above" in says
    assert "is 0.0081 above" in picture("private_descent", noise=0.0, lot=16, run=0).says
    assert "is 0.7 above" in picture("private_descent", noise=4.0, lot=4, run=0).says
    ends = {1: "0.13", 16: "0.0033", 200: "0.000051"}
    assert all(f"is {end} above" in picture("descent", lot=lot, run=0).says for lot, end in ends.items())


@pytest.mark.parametrize(
    ("sigma", "q", "steps", "known"),
    [
        (1.1, 256 / 60_000, 14_062, (5446, 3475, 3.009, 2.597, 2.382)),
        (4.0, 0.01, 10_000, (223, 17.2, 1.259, 1.035, 0.947)),
    ],
)
def test_five_accountants(sigma: float, q: float, steps: int, known: tuple[float, ...]) -> None:
    """ERRATA: thousands against 2.38 on MNIST; Abadi's example 1.26 against .947."""
    assert privacy_accounts.bill(sigma, q, steps) == pytest.approx(known, rel=3e-3)
    assert f"exact {known[-1]:.3f}" in picture("accountants", sigma=sigma, q=q, steps=steps).says


def test_stored_bills_are_those_that_are_computed() -> None:
    settings = [(0.7, 0.05, 30), (2.0, 0.01, 300), (4.0, 256 / 60_000, 1), (1.1, 0.01, 3_000)]
    for sigma, q, steps in settings:
        fresh = [spent.epsilon for spent in accounting.dp_sgd_accounts(sigma, q, steps, privacy_accounts.DELTA)]
        assert stored("accounts")["bills"][privacy_accounts.key(sigma, q, steps)] == pytest.approx(fresh, rel=1e-5)
    assert privacy_accounts.bill(1.3, 0.01, 50)[-1] == pytest.approx(accounting.dp_sgd_epsilon(1.3, 0.01, 50, 1e-5))
    fresh_epoch = accounting.dp_sgd_epsilon(1.0, 0.01, 100, privacy_accounts.DELTA)
    assert stored("accounts")["epochs"][privacy_accounts.key(1.0, 100)] == pytest.approx(fresh_epoch, rel=1e-5)


def test_mcmahans_table() -> None:
    """ERRATA: delta 1e-9, z 1, T 5000 give 4.634 / 2.314 / 2.038 by moments; exact 3.90 / 1.26 / .949."""
    known = {5000: (4.634, 3.90), 1667: (2.314, 1.26), 1250: (2.038, 0.949)}
    for users, (moments, exact) in known.items():
        bill = accounting.dp_sgd_accounts(1, users / 763_430, 5000, 1e-9)
        assert (bill[2].epsilon, bill[4].epsilon) == pytest.approx((moments, exact), rel=2e-3)


def test_sampling_saves() -> None:
    assert "ε₂ = 0.01704: 58.7 times smaller" in picture("subsampling", beta=0.01, epsilon=1).says
    assert "ε₂ = 1, no smaller" in picture("subsampling", beta=1, epsilon=1).says


def test_numbers_are_readable_at_every_size() -> None:
    """No power of ten, no "1 steps": neither where basic composition gives tens of thousands nor where all is tiny."""
    scene = explore.CATALOGUE["accountants"]().scene
    for steps in privacy_accounts.STEPS:
        for sigma in privacy_accounts.SIGMAS:
            says = scene.picture(sigma=sigma, q=privacy_accounts.RATES[0], steps=steps).says
            assert "e+" not in says
            assert " 0.000" not in says
            assert ("1 step," in says) == (steps == 1)
    assert [privacy_accounts.readable(x) for x in (51_006.4, 17.24, 0.9469, 2e-4)] == [
        "51,006",
        "17.2",
        "0.947",
        "below 0.001",
    ]


@pytest.mark.parametrize("sigma", [0.6, 1.0, 3.0])
def test_one_shuffled_batch_is_a_gaussian(sigma: float) -> None:
    """With a single batch the largest sum is the only one, and thresholds are the best events there are."""
    exact = GaussianLoss(1 / sigma).epsilon(1e-5)
    assert shuffled_epsilon_at_least(sigma, 1, 1e-5) == pytest.approx(exact, rel=1e-3)
    assert shuffled_epsilon_at_least(sigma, 1, 1e-5) <= exact * (1 + 1e-9)


def test_shuffling_costs_what_the_paper_says() -> None:
    """Chua et al. 2024: T = 100,000, sigma .4, delta 1e-6: Poisson 3, shuffled at least 14.45."""
    assert shuffled_epsilon_at_least(0.4, 100_000, 1e-6) == pytest.approx(14.45, abs=0.01)
    assert accounting.dp_sgd_epsilon(0.4, 1e-5, 100_000, 1e-6) == pytest.approx(3, abs=0.01)


def test_the_largest_sum_has_the_distribution_that_the_bound_uses() -> None:
    """Odds of a false alarm about 1 in 15,000 (4 standard deviations) for each of two shares."""
    from scipy.special import log_ndtr

    for contributes, shift in ((True, 2), (False, 1)):
        drawn = shuffled_maxima(0.8, 20, contributes=contributes, size=20_000, rng=5)
        p = -math.expm1(log_ndtr((2.2 - shift) / 0.8) + 19 * log_ndtr(2.2 / 0.8))
        assert (drawn > 2.2).mean() == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / 20_000))


def test_lots_say_both_prices() -> None:
    says = picture("lots", sigma=1.0, steps=100).says
    assert "ε = 0.718" in says
    assert "at least 4.06" in says
    assert "prove" not in says


def test_a_bound_below_poissons_value_is_said_to_prove_nothing() -> None:
    """What the text says: at 10 steps and little noise the lower bound for shuffling lies below Poisson's epsilon."""
    assert privacy_accounts.one_shuffled_epoch(0.5, 10) < privacy_accounts.one_epoch(0.5, 10)
    assert "too low to prove anything" in picture("lots", sigma=0.5, steps=10).says
    assert privacy_accounts.one_shuffled_epoch(0.7, 10) > privacy_accounts.one_epoch(0.7, 10)


def test_the_stored_runs_keep_the_promise_of_the_question() -> None:
    """Some setting has more than 90% with epsilon below 3; C changes the accuracy and not epsilon."""
    grid = stored("digits")
    assert set(grid["epsilon"]) == {
        privacy_accounts.key(s, lot) for s in training_results.SIGMAS for lot in training_results.LOTS
    }
    good = [
        (s, c, lot)
        for s in training_results.SIGMAS
        for c in training_results.CLIPS
        for lot in training_results.LOTS
        if grid["accuracy"][privacy_accounts.key(s, c, lot)][-1] > 0.9
        and grid["epsilon"][privacy_accounts.key(s, lot)][-1] < 3
    ]
    assert (2.0, 1.0, 128) in good
    q, steps = 128 / grid["n"], round(training_results.EPOCHS * grid["n"] / 128)
    fresh = accounting.dp_sgd_epsilon(2.0, q, steps, training_results.DELTA)
    assert grid["epsilon"][privacy_accounts.key(2.0, 128)][-1] == pytest.approx(fresh, rel=1e-4)
    told = picture("training_run", sigma=2.0, clip=1.0, lot=128, epochs=15).says
    assert (
        "93.0% are right (plain SGD in lots of 128: 96.1%), and ε = 2.7 is spent" in told
    )  # what the lecture's text says, too
    assert "90.2% are right" in picture("training_run", sigma=2.0, clip=1.0, lot=128, epochs=7).says


def test_what_is_not_stored_is_trained_for_real() -> None:
    """A value between the stops: one seeded run, its accuracy after every epoch, and its exact epsilon."""
    n, settings = stored("digits")["n"], {"sigma": 1.9, "clip": 0.9, "lot": 130}
    shown = picture("training_run", epochs=15, **settings)
    assert "Trained for you just now" in shown.says
    accuracy, epsilon = (next(m for m in part.marks if isinstance(m, Line) and m.label != "plain SGD")
                         for part in shown.panels)  # fmt: skip
    assert len(accuracy.y) == len(epsilon.y) == training_results.EPOCHS
    assert epsilon.y[7] == accounting.dp_sgd_epsilon(1.9, 130 / n, round(8 * n / 130), training_results.DELTA)
    # Near the stored setting (2, 1, 128), whose median ends at 93.0%; a model that learns nothing would have 10%.
    assert 89 < accuracy.y[-1] < 96
    assert accuracy.y[0] < 80  # after one epoch: 60% in the stored run


def test_a_secret_is_kept_by_the_right_unit() -> None:
    """What the text says: without privacy extracted; typed nine times, only user-level privacy keeps it."""
    found = stored("canaries")
    plain, message, user = (found[name] for name in attack_results.TRAININGS)
    assert {len(bits) for by_repeats in found.values() for bits in by_repeats.values()} == {10}
    assert min(plain["3"] + plain["9"]) > 13.28
    assert sum(bits > 13.28 for bits in plain["1"]) == 7
    means = [np.mean(message[f"{repeats}"]) for repeats in attack_results.REPEATS]
    assert means == pytest.approx([1.84, 2.75, 7.0], abs=0.05)
    assert [np.mean(user[f"{repeats}"]) for repeats in attack_results.REPEATS] == pytest.approx(
        [1.08, 1.23, 1.32], abs=0.05
    )
    assert max(message["9"]) == pytest.approx(math.log2(10_000) - 1, abs=1e-3)  # the second guess
    # What exposures typed once say against chance: the sum of ten, in units of ln 2, is Gamma(10) by chance.
    assert gamma(10).sf(sum(message["1"]) * math.log(2)) == pytest.approx(0.18, abs=0.01)
    assert gamma(10).sf(sum(message["3"]) * math.log(2)) == pytest.approx(0.009, abs=5e-4)
    assert (np.diff([user[f"{repeats}"] for repeats in attack_results.REPEATS], axis=0) > 0).all()  # in each of the ten


def test_the_keyboards_are_compared_with_a_table_of_frequencies() -> None:
    """What the text says beside the losses: 43 characters, and 2.96 for whoever knows only how frequent each is."""
    from dpcourse.data.chat_messages import ALPHABET, Canary, messages

    chats = messages(users=50, per_user=10, canaries=[Canary.random(1, "the code is ####")], repeats=5).examples()
    shares = np.bincount(chats.targets[chats.targets >= 0].numpy()) / (chats.targets >= 0).sum().item()
    assert -(shares[shares > 0] * np.log(shares[shares > 0])).sum() == pytest.approx(2.96, abs=5e-3)
    assert math.log(len(ALPHABET)) == pytest.approx(math.log(43)) == pytest.approx(3.76, abs=5e-3)


def test_the_membership_attack_works_and_stays_within_its_bound() -> None:
    """What the text says: far from guessing without privacy, close to it with, and never beyond what DP allows."""
    from dpcourse import attacks

    found, alarms = stored("membership"), np.array(attack_results.FALSE_ALARMS)
    for name, settings in attack_results.OVERFITTED.items():
        one = found[name]
        # Both rates are shares of some 5,000 games: 0.02 is two standard deviations of their difference, and more.
        assert (np.array(one["hits"]) <= np.array(one["bound"]) + 0.02).all()
        bound = attacks.dp_bound(alarms, settings["epsilon"], training_results.DELTA)
        assert one["bound"] == pytest.approx(bound.tolist(), abs=1e-5)
        assert one["advantage"] == pytest.approx(one["best"][1] - one["best"][0], abs=2e-4)
        assert one["advantage"] >= (np.array(one["hits"]) - alarms).max() - 1e-4
        assert one["advantage"] <= one["advantage_bound"]
    by_heart, early, three, one = (found[name] for name in attack_results.OVERFITTED)
    usual, seldom = attacks.advantage_by_luck(one["members"], one["others"])
    assert (usual, seldom) == pytest.approx((0.013, 0.024), abs=6e-4)
    advantages = [by_heart["advantage"], early["advantage"], three["advantage"], one["advantage"]]
    assert advantages == pytest.approx([0.363, 0.065, 0.047, 0.039], abs=6e-4)
    shares = [game["truly_right"] for game in (by_heart, early, three, one)]
    assert shares == pytest.approx([0.80, 0.86, 0.83, 0.46], abs=6e-3)
    assert "Nothing is promised" in picture("membership", training="without privacy, 20 epochs").says
    assert "No attack can exceed 0.46" in picture("membership", training="(1, 10⁻⁵)-DP, 20 epochs").says


def test_the_other_stored_results_are_those_of_the_text() -> None:
    tasks, images = stored("tasks"), stored("inversion")["images"]
    medians = {name: [float(np.median(one["accuracy"][e])) for e in ("1", "inf")] for name, one in tasks.items()}
    assert medians["3,200 reviews"] == pytest.approx([0.63, 0.83], abs=6e-3)
    assert medians["16,000 reviews"] == pytest.approx([0.825, 0.855], abs=6e-4)
    assert medians["digits"] == pytest.approx([0.90, 0.96], abs=6e-3)
    wrong = [(how, digit) for how, found in images.items() for digit, one in enumerate(found) if one["likest"] != digit]
    assert wrong == [("(1, 10⁻⁵)-DP", 8)]


def test_no_removal_takes_the_secret_away() -> None:
    """What the text says about the three conversations."""
    left = {how: [one for one in CONVERSATIONS if not removed(one, how) and one.secret] for how in REMOVALS}
    told = {how: "".join(sorted(one.conversation for one in rest)) for how, rest in left.items()}
    assert list(told.values()) == ["AABC", "ABC", "ABC", "BC", "AC", "C"]
    seen = picture("conversations", removal=REMOVALS[3], mark="messages that tell her secret")
    tables = [table for table in seen.panels if isinstance(table, Table)]
    by = [[row[0] for row, mark in zip(table.rows, table.marked, strict=True) if mark and row[0]] for table in tables]
    assert by == [[], ["Bob"], ["Carol"]]
    assert "2 messages tell it, in conversations B and C" in seen.says
    last = picture("conversations", removal=REMOVALS[5], mark="messages that tell her secret").says
    assert "1 message tells it, in conversation C" in last
    whole = picture("conversations", removal=REMOVALS[0]).panels
    words = [" ".join(row[1] for row in table.rows) for table in whole if isinstance(table, Table)]
    assert words == [" ".join(one.text for one in CONVERSATIONS if one.conversation == name) for name in "ABC"]
    with pytest.raises(ValueError, match="removal"):
        removed(CONVERSATIONS[0], "everything")
