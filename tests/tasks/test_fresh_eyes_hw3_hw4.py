"""What an attacker who had not seen the judges taught those of homeworks 3 to 5: each was passed, or was untrue."""

import re
from contextlib import nullcontext
from functools import partial

import numpy as np
import pytest

from dpcourse.tasks import HOMEWORKS, LEVEL, Student, tasks_of
from dpcourse.tasks.hw4_dp_sgd.accountant import _fits, _too_small
from dpcourse.tasks.hw4_dp_sgd.people import BUSY
from dpcourse.tasks.hw4_dp_sgd.training_noise import evenness_fit, heavy_within_steps
from dpcourse.tasks.judges.diagnosis import same_values
from dpcourse.tasks.mistake import arguments_of
from dpcourse.tasks.wording import compared, number
from testing.submissions import hw3
from testing.submissions.bank import few_draws_to_name
from testing.submissions.hw3 import fresh_eyes as eyes3
from testing.submissions.hw4 import fresh_eyes as eyes4
from tests.tasks.test_texts import text_of

compared = partial(compared, same=same_values)


def judged(homework, name, function, seed=100):
    task = tasks_of(homework)[name]
    return task.examine(Student(function, task.answer, seconds=task.seconds), seed)


def probes_of(homework, name, seeds=20):
    task = tasks_of(homework)[name]
    return [list(task.probes(np.random.default_rng(seed))) for seed in range(seeds)]


TRIED = [
    (homework, name, style)
    for homework, eyes in (("hw3_approximate_dp", eyes3), ("hw4_dp_sgd", eyes4))
    for name, submissions in eyes.WRONG.items()
    for style in submissions
    if name not in ("textbook_sigma", "train_private")
]


@pytest.mark.parametrize(("homework", "name", "style"), TRIED)
def test_what_went_past_the_judges_does_so_no_more(homework, name, style):
    """At one seed by the bank, here at three more."""
    function, expected = (eyes3 if homework.startswith("hw3") else eyes4).WRONG[name][style]
    for seed in range(3):
        with nullcontext() if expected else few_draws_to_name():
            verdict = judged(homework, name, function, seed)
        assert verdict.share < 1
        assert expected in (None, verdict.mistake), str(verdict)


def test_users_are_any_numbers_in_no_order_and_one_writes_many_messages():
    for first, *_ in probes_of("hw4_dp_sgd", "user_level_average"):
        users = first["users"]
        assert 0 in users
        assert users.min() < 0
        assert (np.diff(users) < 0).any()
        assert np.unique(users, return_counts=True)[1].max() == BUSY >= 30


def test_numbers_of_steps_are_none_few_dozens_and_thousands():
    for seed, asked in enumerate(probes_of("hw4_dp_sgd", "steps_in_budget", 3)):
        none, few, dozens, thousands = sorted(_fits(arguments_of(one)) for one in [*asked, _too_small(asked[0])])
        assert none == 0 < few <= 16 < dozens < 100 < 1_000 < thousands, seed


def test_every_budget_is_missed_by_a_hair_and_delta_may_be_0():
    for asked in probes_of("hw3_approximate_dp", "ledger"):
        hairs = {"epsilon": [], "delta": []}
        for probe in asked:
            spent = np.zeros(2)
            for cost in np.array(probe["costs"]):
                over = spent + cost - (probe["epsilon"], probe["delta"])
                for part, beyond in zip(hairs, over, strict=True):
                    hairs[part].append(beyond)
                spent = spent + cost * (over <= 0).all()
        assert all(any(0 < beyond < 1e-12 for beyond in several) for several in hairs.values())
        assert any(
            probe["delta"] == 0 and (0.0, min(d for _, d in probe["costs"] if d)) in probe["costs"] for probe in asked
        )
    for homework, name in (
        ("hw3_approximate_dp", "group_guarantee"), ("hw4_dp_sgd", "amplified_budget"),
        ("hw4_dp_sgd", "composed_budget"),
    ):  # fmt: skip
        assert all(any(one["delta"] == 0 for one in asked) for asked in probes_of(homework, name))


def test_who_asks_for_a_refusal_wants_a_value_error_that_says_why():
    asking = [
        (homework, name) for homework in HOMEWORKS for name in tasks_of(homework)
        if "raise ValueError" in text_of(homework, name)[0]
    ]  # fmt: skip
    assert asking == [("hw3_approximate_dp", "textbook_sigma")]
    for style, (function, name) in eyes3.WRONG["textbook_sigma"].items():
        verdict = judged(*asking[0], function)
        assert (verdict.status, verdict.mistake) == ("failed", name), style
    submissions = eyes3.WRONG["textbook_sigma"]
    words = {style: str(judged(*asking[0], function)) for style, (function, _) in submissions.items()}
    assert "you raise Refused, a kind of Exception, and not a ValueError" in words["an error of one's own"]
    assert "without a message" in words["no words"]
    assert "no number, in place of refusing" in words["minus infinity"]


@pytest.mark.parametrize("style", ["a larger epsilon", "a larger delta"])
def test_one_steps_budget_is_named_where_one_step_uses_it_up(style):
    verdict = judged("hw4_dp_sgd", "train_private", eyes4.WRONG["train_private"][style][0])
    assert verdict.mistake == ""
    assert "the budget is" in verdict.message
    task = tasks_of("hw4_dp_sgd")["train_private"]
    one = next(known for known in task.mistakes if known.name == "one step's budget")
    assert judged("hw4_dp_sgd", "train_private", one.wrong).mistake == one.name


@pytest.mark.parametrize(
    "style", ["0.7 and 1.23", "0.6 and 1.28", "0.6 and 1.28 by chance", "0.7 and 1.23 by coordinate"]
)
def test_noise_must_be_as_wide_in_every_step_and_coordinate(style):
    verdict = judged("hw4_dp_sgd", "train_private", eyes4.WRONG["train_private"][style][0])
    assert verdict.mistake == "wrong noise"
    assert "is not as wide in every" in verdict.message


@pytest.mark.parametrize(("steps", "width"), [(40, 21), (120, 21), (21, 60)])
def test_even_noise_is_hardly_called_uneven(steps, width):
    rng = np.random.default_rng(5)
    p_values = np.array([evenness_fit(0.9 * rng.normal(size=(steps, width)), 1).p_value for _ in range(600)])
    for level in (0.1, 0.02):
        assert (p_values <= level).mean() <= level + 5 * np.sqrt(level / 600)
    for scales in ((0.7, 1.23), (0.6, 1.28)):
        wide = rng.choice(scales, size=(steps, 1)) * rng.normal(size=(steps, width))
        assert evenness_fit(wide, 1).p_value < 1e-9


def test_noise_whose_width_changes_is_not_taken_for_laplace_noise():
    rng = np.random.default_rng(6)
    for _ in range(100):
        assert heavy_within_steps(rng.laplace(size=(60, 21)))
        assert not heavy_within_steps(rng.choice((0.3, 1.4), size=(60, 1)) * rng.normal(size=(60, 21)))


def test_a_favoured_category_that_is_rare_is_no_subset_that_is_too_large():
    task = tasks_of("hw5_adaptive_ldp")["adaptive_survey"]
    known = {one.name: one for one in task.mistakes}
    verdict = judged("hw5_adaptive_ldp", "adaptive_survey", known["the wrong ones favoured"].wrong)
    assert verdict.mistake == "the wrong ones favoured"
    assert verdict.share <= 0.5
    assert "estimate is right" not in known["never adapts"].message


def test_two_answers_are_shown_by_what_differs():
    right = np.arange(12.0).reshape(4, 3)
    wrong = right.copy()
    wrong[2, 1] += 1
    assert compared(wrong, right) == "in row 2 (the first is 0) you answer [6, 8, 8]; right is [6, 7, 8]"
    wrong[2, 1] = 7.000_1
    assert "you answer [6.0, 7.0001, 8.0]; right is [6.0, 7.0, 8.0]" in compared(wrong, right)
    assert compared(np.append(np.zeros(9), 1), np.zeros(10)) == "in number 9 (the first is 0) you answer 1; right is 0"
    assert compared(1.000_000_1, 1.0) == "you answer 1.0000001; right is 1.0"
    assert compared(np.zeros(2), np.ones(2)) == "you answer [0, 0]; right is [1, 1]"
    assert compared({"a": 1.0}, {"a": 2.0}) == "you answer {a: 1}; right is {a: 2}"
    assert compared(None, 2.0) == "you answer None; right is 2"
    assert number(-0.0) == "0"
    verdict = judged("hw4_dp_sgd", "clip_gradients", eyes4.WRONG["clip_gradients"]["a thousandth longer"][0])
    answer, truth = re.search(
        r"in row \d \(the first is 0\) you answer (.*); right is (\[.*?\])", verdict.message
    ).groups()
    assert answer != truth


def test_words_that_had_to_be_read_twice():
    losses = hw3.WRONG["laplace_loss_sample"].values()
    with few_draws_to_name():
        said = [str(judged("hw3_approximate_dp", "laplace_loss_sample", function)) for function, _ in losses]
    assert any("lies on the side of `data` that is away from `neighbour`" in one for one in said)
    assert not any("own side" in one for one in said)
    assert "you allow 1 step; " in str(judged("hw4_dp_sgd", "steps_in_budget", eyes4.search(1)))
    lot = str(judged("hw4_dp_sgd", "poisson_lot", lambda n, q, rng: rng.random(n) < 1.1 * q))
    odds = rf"once in {1 / LEVEL:,.0f} times\. Its (sharpest )?test notices a probability that is 0\.\d+ off\.\)"
    assert re.search(odds, lot)
    assert "ties in its favour" in [one.name for one in tasks_of("hw4_dp_sgd")["canary_exposure"].mistakes]
