"""The small models: seeded, known to the fast path, causal where they should be, and able to learn."""

import pytest
import torch

from dpcourse.data.chat_messages import IGNORED, messages
from dpcourse.data.examples import digits, sentiments
from dpcourse.sgd.clipping.clipper import clipped_sum
from dpcourse.sgd.models import (
    CharacterModel,
    TextClassifier,
    cross_entropy,
    digit_cnn,
    digit_mlp,
    next_character_loss,
)

TRAIN, TEST = digits()
REVIEWS = sentiments(2000)
MESSAGES = messages(users=20).examples()
MAKERS = {
    "mlp": (digit_mlp, TRAIN, cross_entropy),
    "cnn": (digit_cnn, TRAIN, cross_entropy),
    "text": (lambda seed=0: TextClassifier(REVIEWS.vocabulary, seed=seed), REVIEWS.train, cross_entropy),
    "character": (lambda seed=0: CharacterModel(width=16, seed=seed), MESSAGES, next_character_loss),
}


def learn(model, examples, loss, steps=150, learning_rate=0.5, batch=128):
    """Plain SGD with momentum, seeded: what a test needs of training."""
    optimiser = torch.optim.SGD(model.parameters(), lr=learning_rate, momentum=0.9)
    generator = torch.Generator().manual_seed(0)
    for _ in range(steps):
        rows = torch.randint(len(examples), (batch,), generator=generator)
        optimiser.zero_grad()
        loss(model(examples.inputs[rows]), examples.targets[rows]).mean().backward()
        optimiser.step()
    return model


def accuracy(model, examples):
    return (model(examples.inputs).argmax(-1) == examples.targets).float().mean().item()


@pytest.mark.parametrize("name", MAKERS)
def test_the_fast_path_takes_it_and_is_right(name):
    make, examples, loss = MAKERS[name]
    model = make()
    x, y = examples.inputs[:6], examples.targets[:6]
    losses = loss(model(x), y)
    assert losses.shape == (6,)
    fast, slow = (clipped_sum(model, x, y, loss, clip_norm=0.5, method=method) for method in ("fast", "loop"))
    assert torch.allclose(fast.norms, slow.norms, rtol=1e-5, atol=1e-6)
    for parameter, total in slow.total.items():
        assert torch.allclose(fast.total[parameter], total, rtol=1e-4, atol=1e-5), parameter


@pytest.mark.parametrize("name", MAKERS)
def test_the_seed_decides_the_weights_and_nothing_else(name):
    make, *_ = MAKERS[name]
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    first, again, other = make(seed=1), make(seed=1), make(seed=2)
    assert torch.equal(torch.rand(3), expected)  # torch's own generator was left alone
    weights = [torch.cat([p.flatten() for p in model.parameters()]) for model in (first, again, other)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_digits_are_learnt():
    assert accuracy(learn(digit_mlp(), TRAIN, cross_entropy), TEST) > 0.9


def test_reviews_are_learnt_from_many_words():
    model = learn(TextClassifier(REVIEWS.vocabulary), REVIEWS.train, cross_entropy, steps=200, learning_rate=3.0)
    few = REVIEWS.test.inputs.clone()
    few[few >= 60] = 1  # somebody who knows the first sixty words only
    blind = (model(few).argmax(-1) == REVIEWS.test.targets).float().mean().item()
    assert accuracy(model, REVIEWS.test) > 0.75
    assert blind < accuracy(model, REVIEWS.test) - 0.1


def test_padding_does_not_count():
    model = TextClassifier(50)
    short = torch.tensor([[3, 4]])
    assert torch.allclose(model(short), model(torch.tensor([[3, 4, 0, 0, 0]])))
    assert torch.isfinite(model(torch.zeros(1, 4, dtype=torch.long))).all()  # not even a text without any word


def test_a_character_model_does_not_look_ahead():
    model = CharacterModel(width=16)
    ids = MESSAGES.inputs[:1].clone()
    before = model(ids)
    ids[0, 10] = (ids[0, 10] + 1) % 30
    after = model(ids)
    assert torch.equal(before[:, :10], after[:, :10])
    assert not torch.allclose(before[:, 10:], after[:, 10:])


def test_the_loss_of_a_message_leaves_out_what_follows_it():
    logits, targets = torch.randn(1, 4, 5), torch.tensor([[2, 3, IGNORED, IGNORED]])
    chances = logits.log_softmax(-1)
    assert next_character_loss(logits, targets)[0] == pytest.approx(-(chances[0, 0, 2] + chances[0, 1, 3]).item() / 2)
    assert next_character_loss(logits, torch.full((1, 4), IGNORED)).tolist() == [0]


@pytest.mark.parametrize(
    ("wrong", "quoted"),
    [
        (lambda: digit_mlp(0), "0"),
        (lambda: digit_cnn(-1), "-1"),
        (lambda: TextClassifier(1), "1"),
        (lambda: CharacterModel(width=10, heads=4), "10"),
        (lambda: CharacterModel(width=8)(torch.zeros(1, 33, dtype=torch.long)), "33"),
    ],
)
def test_bad_input_is_quoted(wrong, quoted):
    with pytest.raises(ValueError, match=quoted):
        wrong()
