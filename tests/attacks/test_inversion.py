"""Model inversion: a picture of the class from a trained model, and none from an untrained one."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from dpcourse.attacks import class_means, invert, likeness
from dpcourse.data.examples import Examples, digits
from dpcourse.sgd.models import digit_mlp

TRAIN, _ = digits()
MEANS = class_means(TRAIN)


@pytest.fixture(scope="module")
def model():
    made = digit_mlp()
    optimiser = torch.optim.Adam(made.parameters(), lr=0.01)
    for _ in range(100):
        optimiser.zero_grad()
        F.cross_entropy(made(TRAIN.inputs), TRAIN.targets).backward()
        optimiser.step()
    return made


def recognised(model, **how):
    return sum(likeness(invert(model, digit, **how).image, MEANS).argmax() == digit for digit in range(10))


def test_a_trained_model_shows_its_digits(model):
    # By chance one digit in ten is recognised: nine or more of ten with probability 9.1e-9.
    assert recognised(model) >= 9
    found = invert(model, 3)
    assert found.confidence > 0.9
    assert found.image.shape == (1, 8, 8)
    assert 0 <= found.image.min() < found.image.max() <= 1


def test_confidences_alone_suffice(model):
    by_gradient, by_queries = invert(model, 6, steps=100), invert(model, 6, steps=100, queries_only=True)
    assert np.corrcoef(by_gradient.image.flatten(), by_queries.image.flatten())[0, 1] > 0.95
    assert likeness(by_queries.image, MEANS).argmax() == 6


def test_an_untrained_model_shows_nothing():
    # Ten guesses at 1/10: five or more with probability 1.6e-3, and the seeds are fixed.
    assert recognised(digit_mlp(seed=4)) < 5


def test_likeness_knows_the_digits_themselves():
    assert [int(likeness(mean, MEANS).argmax()) for mean in MEANS] == list(range(10))
    right = [likeness(x, MEANS).argmax() == y for x, y in zip(TRAIN.inputs[:200], TRAIN.targets[:200], strict=True)]
    assert np.mean(right) > 0.8  # real digits are recognised by the same score
    grey = likeness(torch.full((1, 8, 8), 0.5), MEANS)
    assert np.abs(grey).max() < 1e-6


def test_the_model_is_left_as_it_was(model):
    model.train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    invert(model, 1, steps=3)
    assert model.training
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert all(parameter.grad is None or parameter.requires_grad for parameter in model.parameters())


@pytest.mark.parametrize(
    ("wrong", "quoted"),
    [
        (lambda: invert(digit_mlp(), 10), "10"),
        (lambda: invert(digit_mlp(), -1), "-1"),
        (lambda: invert(digit_mlp(), 1, step_size=0), "0"),
        (lambda: invert(digit_mlp(), 1, shrink=-0.5), "-0.5"),
        (lambda: likeness(torch.zeros(8, 8), MEANS), r"\(8, 8\)"),
        (lambda: class_means(Examples(torch.zeros(2, 1), torch.tensor([0, 2]))), r"\[1\]"),
    ],
)
def test_bad_input_is_quoted(wrong, quoted):
    with pytest.raises(ValueError, match=quoted):
        wrong()
