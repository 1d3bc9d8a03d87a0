"""What the judge keeps to itself, a function cannot compute: not from its arguments, its seed, or the public code."""

import ast
import zlib
from pathlib import Path

import numpy as np
import pytest
from scipy import special

import dpcourse.tasks
from dpcourse.sensitivity.rows import clipped
from dpcourse.tasks import HOMEWORKS, Mistake, Student, Task, tasks_of
from dpcourse.tasks.coins import Coins
from dpcourse.tasks.interview import Interview
from dpcourse.tasks.respondent import Respondent
from tests.tasks.test_bank import bank

EVERY_TASK = [(homework, name) for homework in HOMEWORKS for name in tasks_of(homework)]
TRAIN = tasks_of("hw4_dp_sgd")["train_private"]


def weights_from_the_table(x):
    """As the course's own code once drew the true weights, so that everybody could."""
    rng = np.random.default_rng(zlib.crc32(np.ascontiguousarray(x).tobytes()))
    direction = rng.normal(size=20)
    return np.append(6 * direction / np.linalg.norm(direction), rng.uniform(-0.5, 0.5))


def lucky_log(x, y, epsilon, delta, rng):
    """A log of DP-SGD that learns nothing: so much noise that it alone moves the weights, turned to where they ought to
    lead. Noise that is turned as a whole is as likely as any other, so no test of the noise can see it."""
    q, steps, clip, sigma = 0.1, 60, 1e-3, 5_000.0
    noise, goal = rng.normal(size=(steps, x.shape[1])), weights_from_the_table(x)
    there, here = -goal / np.linalg.norm(goal), noise.sum(axis=0) / np.linalg.norm(noise.sum(axis=0))
    mirror = (here - there) / np.linalg.norm(here - there)
    noise -= 2 * (noise @ mirror)[:, None] * mirror
    weights, released, lots = np.zeros(x.shape[1]), [], []
    for t in range(steps):
        lots.append(rng.random(len(y)) < q)
        gradients = (special.expit(x[lots[t]] @ weights) - y[lots[t]])[:, None] * x[lots[t]]
        released.append((clipped(gradients, clip).sum(axis=0) + sigma * clip * noise[t]) / (q * len(y)))
        weights = weights - released[t]
    return {"released": released, "lots": lots, "q": q, "sigma": sigma, "clip": clip, "rate": 1.0}


@pytest.mark.parametrize("seed", range(4))
def test_whoever_computes_the_true_weights_from_the_table_learns_nothing(seed):
    """A random direction in 21 dimensions is right about more than 64% of the patients once in a hundred times."""
    verdict = TRAIN.examine(Student(lucky_log, TRAIN.answer, seconds=60), seed)
    assert (verdict.status, "new patients" in verdict.message) == ("failed", True), verdict
    assert verdict.share <= 0.15, verdict


def mixed(shown, kept):
    """The coins of one examination for what is shown, and of another for what is kept."""
    coins = Coins(shown, "any")
    coins.secret = Coins(kept, "any").secret
    return coins


def same(one, other):
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(np.array_equal(np.asarray(one), np.asarray(other)))


@pytest.mark.parametrize(("homework", "name"), EVERY_TASK)
def test_a_secret_is_no_function_of_what_is_shown(homework, name):
    """The same coins for the probes and others for the secret: what is hidden changes, what is shown only by it."""
    task = tasks_of(homework)[name]
    talks = [Interview(task, None, mixed(5, kept), False) for kept in (1, 2)]
    assert same(talks[0].probes, talks[1].probes) == (task.secret is None)
    if task.secret is not None:
        assert not same(talks[0].secret, talks[1].secret)
    assert talks[0].secret_rng.random() != talks[1].secret_rng.random()  # what the judge draws later


def test_the_true_weights_show_in_the_labels_alone():
    one, other = (Interview(TRAIN, None, mixed(5, kept), False).probes for kept in (1, 2))
    assert same(one[1], other[1])
    assert not same(one[0]["y"], other[0]["y"])
    assert same({**one[0], "y": 0}, {**other[0], "y": 0})


class Listening(Respondent):
    """Notes whatever is sent to a function."""

    def __init__(self, function, task):
        self.answer, self._inner, self.sent = task.answer, Student(function, task.answer, seconds=10 * task.seconds), []

    def answers(self, probe, number, seed=0):
        self.sent.append((dict(probe), number, seed))
        return self._inner.answers(probe, number, seed)

    def forget(self):
        pass


@pytest.mark.parametrize(("homework", "name"), EVERY_TASK)
def test_the_seeds_that_are_sent_come_from_a_generator_of_their_own(homework, name):
    """So they say nothing about probes, whatever the judge draws meanwhile; and they are not those of another task."""
    task = tasks_of(homework)[name]
    student = Listening(next(iter(bank(homework).RIGHT[name].values())), task)
    seed = 2**127 + 11
    assert task.examine(student, seed).passed
    coins = Coins(seed, name)
    assert [sent[2] for sent in student.sent] == [coins.seed_of_call() for _ in student.sent]
    assert all(not isinstance(value, Task) for sent in student.sent for value in sent[0].values())


def test_what_a_judge_draws_does_not_change_the_seeds_it_sends():
    def task_that_draws(numbers):
        def judge(talk):
            for _ in range(3):
                talk.rng.random(numbers)
                talk.secret_rng.random(numbers)
                talk.value({})

        known = Mistake("none", lambda: 1, "None.")
        return Task(name="t", see="here", probes=lambda rng: [{}], judge=judge, mistakes=(known,))

    sent = []
    for numbers in (0, 7):
        task = task_that_draws(numbers)
        student = Listening(lambda: 1.0, task)
        task.examine(student, 3)
        sent.append([seed for _, _, seed in student.sent])
    assert sent[0] == sent[1]
    assert len(set(sent[0])) == 3


def test_the_three_generators_of_an_examination_are_all_different_and_so_are_examinations():
    firsts = [
        generator.integers(2**63)
        for coins in (Coins(1, "a"), Coins(2, "a"), Coins(1, "b"), Coins(1, "a", public=True), Coins(2**127, "a"))
        for generator in (coins.probes, coins.secret, coins._calls)
    ]
    assert len(set(firsts)) == len(firsts)
    assert Coins(7, "a").probes.random() == Coins(7, "a").probes.random()


@pytest.mark.parametrize("seed", [-1, 2**128, 1.5, "7", True, None], ids=repr)
def test_a_seed_is_a_whole_number_of_at_most_128_bits(seed):
    with pytest.raises((ValueError, TypeError), match="seed"):
        Coins(seed, "a")


@pytest.mark.parametrize("seed", [0, 2**128 - 1, np.int64(7)], ids=repr)
def test_every_such_seed_may_be_used(seed):
    task = tasks_of("hw2_local_dp")["theta"]
    assert task.examine(Student(bank("hw2_local_dp").RIGHT["theta"]["plain"], task.answer), seed).passed


#: Calls by which numbers can be made from other numbers, and where that is right: file -> the function around it.
MAKES_NUMBERS = {"default_rng", "RandomState", "Generator", "crc32", "adler32", "sha256", "md5", "hash", "spawn"}
ALLOWED = {
    ("coins.py", "_generator"), ("task.py", "public_seed"), ("student.py", "answers"), ("diagnosis.py", "draws_of"),
    ("lots.py", "_twice"),  # a wrong function
}  # fmt: skip


def test_no_task_makes_chance_of_its_own():
    """A secret that is drawn from a seed that everybody knows is none. (Wrong functions may have a fixed one.)"""
    strange = []
    for path in sorted(Path(dpcourse.tasks.__file__).parent.rglob("*.py")):
        tree = ast.parse(path.read_text())
        around = {
            id(node): function.name
            for function in ast.walk(tree) if isinstance(function, ast.FunctionDef) for node in ast.walk(function)
        }  # fmt: skip
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            constant = bool(node.args) and all(isinstance(argument, ast.Constant) for argument in node.args)
            if name in MAKES_NUMBERS and not constant and (path.name, around.get(id(node), "")) not in ALLOWED:
                strange.append(f"{path.name}, line {node.lineno}: {name}")
    assert strange == []
