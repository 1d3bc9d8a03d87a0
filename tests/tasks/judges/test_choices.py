"""The judge of choices: what it convicts at every seed, what it says of it, and what it leaves alone."""

from bisect import bisect
from functools import cache
from inspect import signature

import numpy as np
import pytest

from dpcourse.tasks import HOMEWORKS, Student, choice_task, mistake, tasks_of
from dpcourse.tasks.judges.calls import oddest_agreement
from dpcourse.tasks.judges.choices import Asked, _look_at_calls
from dpcourse.tasks.judges.fixed_seed import SAME, SAME_COIN
from dpcourse.tasks.mistake import Arguments
from dpcourse.tasks.probes import each, fixed, uniform
from testing.submissions.bank import bank_of

SEEDS = range(3)


def even(p, truth):
    shares = np.full(p.k, (1 - truth) / (p.k - 1))
    shares[p.x] = truth
    return shares


def truth(p, others=None):
    return np.exp(p.epsilon) / (np.exp(p.epsilon) + (p.k - 1 if others is None else others))


TASK = choice_task(
    "respond",
    see="here",
    probes=each(3, x=fixed(0, 4, 2), k=fixed(4, 5, 6), epsilon=uniform(1.5, 2)),
    shares=lambda p: even(p, truth(p)),
    own=lambda p: p.x,
    every=True,
    mistakes=[
        mistake("two categories", "That is the coin for two.", shares=lambda p: even(p, truth(p, 1))),
        mistake("k for k - 1", "There are k - 1 others.", shares=lambda p: even(p, truth(p, p.k))),
        mistake("next one", "Any other one.", draw=lambda p, rng: (p.x + (rng.random() > truth(p))) % p.k),
        mistake(SAME, SAME_COIN, draw=lambda p, rng: p.x if np.random.default_rng(0).random() < truth(p) else 0),
    ],
)


def judged(function, seed=0):
    return TASK.examine(Student(function, TASK.answer), seed)


def drawing(shares):
    @cache
    def edges(x, k, epsilon):
        return np.cumsum(shares(Arguments(x=x, k=k, epsilon=epsilon)))[:-1].tolist()

    return lambda x, k, epsilon, rng: bisect(edges(x, k, epsilon), rng.random())


RIGHT = drawing(lambda p: even(p, truth(p)))


def quotas():
    """Each answer as often as it should come, but in a fixed order."""
    counts = {}

    def respond(x, k, epsilon, rng):
        share = np.exp(epsilon) / (np.exp(epsilon) + k - 1)
        shares = np.full(k, (1 - share) / (k - 1))
        shares[x] = share
        counts[k] = counts.get(k, 0) + 1
        place = (counts[k] * 0.6180339887498949) % 1
        return int(np.searchsorted(np.cumsum(shares), place))

    return respond


def counting(calls):
    asked = []

    def respond(x, k, epsilon, rng):
        asked.append(1)
        return RIGHT(x, k, epsilon, rng) if len(asked) < calls else x

    return respond


def twice():
    """Every report is given two times."""
    before = [None]

    def respond(x, k, epsilon, rng):
        report = RIGHT(x, k, epsilon, rng) if before[0] is None else before[0]
        before[0] = report if before[0] is None else None
        return report

    return respond


def tied(distance):
    """Every report is given once more so many calls later."""
    reports = []

    def respond(x, k, epsilon, rng):
        fresh = len(reports) // distance % 2 == 0
        reports.append(RIGHT(x, k, epsilon, rng) if fresh else reports[-distance] % k)
        return reports[-1]

    return respond


WRONG = {
    **{f"each report once more {distance} calls later": tied(distance) for distance in (2, 9, 250)},
    "always the truth": lambda x, k, epsilon: x,
    "the truth in a tenth": lambda x, k, epsilon, rng: x if rng.random() < 0.1 else RIGHT(x, k, epsilon, rng),
    "a fixed order": quotas(),
    "the truth from the thousandth call on": counting(1_000),
    "each report twice": twice(),
    "one lie is rarer": drawing(lambda p: rarer(p)),
}


def rarer(p):
    shares = even(p, truth(p))
    one, other = [place for place in range(p.k) if place != p.x][:2]
    shares[one], shares[other] = 1.25 * shares[one], 0.75 * shares[other]
    return shares


@pytest.mark.parametrize("name", WRONG)
def test_wrong_reports_are_convicted_at_every_seed_and_never_called_wasteful(name):
    for seed in SEEDS:
        verdict = judged(WRONG[name], seed)
        assert not verdict.passed, (seed, verdict)
        assert not verdict.wasteful, verdict


def test_wrong_shares_are_no_calls_that_hang_together():
    """A lie among all k changes how often two calls agree, too: that alone is no sign of it."""
    for seed in range(12):
        among_all = drawing(lambda p: even(p, truth(p) + (1 - truth(p)) / p.k))
        assert judged(among_all, seed).mistake != "calls that hang together"


class Talk:
    """An interview that only listens."""

    def require(self, fit, text, name=""):
        self.passed, self.name = fit.passed, name


@pytest.mark.parametrize(
    ("same", "name"), [(126, ""), (136, "calls that hang together"), (150, "calls that hang together")]
)
def test_four_standard_errors_beyond_the_shares_hang_together(same, name):
    """200 pairs in a row, of which so many agree: 100 are right, and 7.07 are a standard error."""
    agree = np.random.default_rng(0).permutation(np.repeat([True, False], [same, 200 - same]))
    first = np.random.default_rng(50).permutation(np.repeat([0, 1], 100))
    labels = np.stack([first, np.where(agree, first, 1 - first)], axis=1).ravel()
    talk = Talk()
    _look_at_calls(talk, Asked({}, [0, 1], np.array([0.5, 0.5]), -1), labels, level=0.01)
    assert talk.name == name


def test_another_epsilon_is_not_called_another_mechanism():
    """1.1 epsilon in the exponential mechanism looks a little like Laplace noise on the scores."""
    task = tasks_of("hw1_pure_dp")["exponential_choice"]

    def more(candidates, utilities, epsilon, sensitivity, rng):
        weights = np.exp(factor * epsilon * (utilities - utilities.max()) / (2 * sensitivity))
        return candidates[rng.choice(len(weights), p=weights / weights.sum())]

    for factor in (1.1, 1.15):  # noqa: B007 (`more` reads it)
        for seed in range(4):
            assert task.examine(Student(more, task.answer), seed).mistake == ""


def test_right_reports_pass_in_any_form():
    for seed in SEEDS:
        for form in (int, np.int64, np.float32, lambda report: np.array([report])):
            assert judged(lambda x, k, epsilon, rng, form=form: form(RIGHT(x, k, epsilon, rng)), seed).passed


def test_too_seldom_is_wasteful_and_too_often_is_no_promise():
    for seed in SEEDS:
        seldom = judged(drawing(lambda p: even(p, 0.85 * truth(p))), seed)
        assert seldom.wasteful
        assert "private, but wasteful" in seldom.message
        often = judged(drawing(lambda p: even(p, min(0.98, 1.3 * truth(p)))), seed)
        assert not often.wasteful
        assert "that promise is not kept" in often.message


def test_mistakes_are_named():
    for seed in SEEDS:
        assert judged(drawing(lambda p: even(p, truth(p, 1))), seed).mistake == "two categories"
        wasteful = judged(drawing(lambda p: even(p, truth(p, p.k))), seed)
        assert (wasteful.mistake, wasteful.wasteful) == ("k for k - 1", True)
        assert judged(drawing(lambda p: even(p, 0.97 * truth(p))), seed).mistake in ("", "k for k - 1")
        assert judged(lambda x, k, epsilon, rng: int(rng.integers(k)), seed).mistake == ""


def test_an_odd_distance_that_leaves_a_handful_of_pairs_is_no_error():
    """Near half of all calls one of the two halves of the pairs has a few pairs only, and no test sees anything."""
    for seed in range(400):
        labels = np.random.default_rng(seed).integers(0, 2, 1_000)
        assert oddest_agreement(labels, (0.5, 0.5), 1e-9).fit.passed


def outright(task, own):
    """The first plain right submission, but in 3% of all calls the truth (or the best candidate) itself."""
    homework = next(one for one in HOMEWORKS if task in tasks_of(one))
    right = next(iter(bank_of(homework).RIGHT[task].values()))
    takes_rng = "rng" in signature(right).parameters

    def respond(rng, **probe):
        return own(probe) if rng.random() < 0.03 else right(**probe, **({"rng": rng} if takes_rng else {}))

    return respond


OWN = {
    "kary_response": lambda probe: probe["category"],
    "srr": lambda probe: probe["x"],
    "rrrr": lambda probe: probe["x"],
    "exponential_choice": lambda probe: probe["candidates"][int(np.argmax(probe["utilities"]))],
}


@pytest.mark.parametrize("task", OWN)
def test_the_truth_told_outright_in_three_of_a_hundred_calls_is_convicted(task):
    asked = next(tasks_of(one)[task] for one in HOMEWORKS if task in tasks_of(one))
    for seed in SEEDS:
        verdict = asked.examine(Student(outright(task, OWN[task]), asked.answer), seed)
        assert not verdict.passed
        assert "Laplace" not in verdict.mistake
        assert not verdict.wasteful


def test_a_little_less_truth_is_wasteful_at_every_seed():
    asked = tasks_of("hw2_local_dp")["randomized_response"]
    coins = (lambda epsilon: 1 / (1 + np.exp(-0.88 * epsilon)), lambda epsilon: 1 - 1 / (2 + epsilon + epsilon**2 / 2))
    for coin in coins:
        for seed in range(6):
            student = Student(lambda bit, epsilon, rng, p=coin: bit ^ int(rng.random() >= p(epsilon)), asked.answer)
            assert asked.examine(student, seed).wasteful
