"""What an attacker or an unlucky user might hand in: clipping bounds it all the same, or says why it cannot."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dpcourse.sgd import Examples, SlowPathWarning, clipped_sum, train
from dpcourse.sgd.auditing import Setting, audit_release, honest
from dpcourse.sgd.fedavg import federated_round, user_update
from dpcourse.sgd.generators import generator_from
from tests.sgd.zoo import ZOO, label_loss

METHODS = ("fast", "func", "loop")


def length(total: dict[str, Tensor]) -> float:
    return float(sum(part.square().sum() for part in total.values()) ** 0.5)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("poison", [float("nan"), float("inf"), 1e30])
def test_an_example_without_a_length_contributes_nothing_and_a_huge_one_no_more_than_the_clip(
    method: str, poison: float
) -> None:
    model, draw, loss = ZOO["mlp"]()
    inputs, targets = draw(6)
    inputs[3] = poison
    kept = [0, 1, 2, 4, 5]
    found = clipped_sum(model, inputs, targets, loss, clip=0.5, method=method)
    rest = clipped_sum(model, inputs[kept], targets[kept], loss, clip=0.5, method=method)
    moved = length({name: found.total[name] - total for name, total in rest.total.items()})
    assert moved < 1e-5 if not np.isfinite(poison) else moved <= 0.5 * (1 + 1e-5)  # 1e30 overflows in some ways only


def test_a_poisoned_example_does_not_ruin_the_model() -> None:
    model, draw, loss = ZOO["mlp"]()
    inputs, targets = draw(60)
    inputs[7, 2] = float("nan")
    run = train(model, Examples(inputs, targets), epsilon=3, lot_size=30, epochs=4, loss=loss, seed=0, progress=False)
    assert all(parameter.isfinite().all() for parameter in run.model.parameters())


def test_positions_that_cancel_do_not_hide_a_long_gradient() -> None:
    """Two positions with huge, almost equal inputs and opposite output gradients: the Gram matrices round to zero."""
    model = nn.Linear(4, 3, bias=False)
    direction, other = torch.tensor([1.0, 0, 0, 0]), torch.tensor([0, 1.0, 0, 0])
    inputs = torch.stack([torch.stack([1e6 * direction, 1e6 * direction + 100 * other])] * 2)
    inputs[1] *= 0.5

    def loss(outputs: Tensor, targets: Tensor) -> Tensor:
        return outputs[:, 0].sum(1) - outputs[:, 1].sum(1)

    found = clipped_sum(model, inputs, torch.zeros(2), loss, clip=1)
    assert found.norms.tolist() == pytest.approx([100 * 3**0.5, 50 * 3**0.5], rel=1e-3)
    assert length(found.total) <= 2 * (1 + 1e-3)


def test_the_same_word_with_opposite_gradients() -> None:
    model = nn.Embedding(5, 4)
    words = torch.tensor([[1, 1], [2, 2]])

    def loss(outputs: Tensor, targets: Tensor) -> Tensor:
        return (1e4 * outputs[:, 0] - (1e4 + 1) * outputs[:, 1]).sum(1)

    fast, slow = (clipped_sum(model, words, torch.zeros(2), loss, clip=1, method=m) for m in ("fast", "loop"))
    assert fast.norms.tolist() == pytest.approx(slow.norms.tolist(), rel=1e-3)


class Centred(nn.Module):
    """Subtracts the mean of the lot: no layer is to blame."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(9, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x - x.mean(0))


class Remembering(nn.Module):
    """Keeps the mean of what it sees, without noise."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(9, 4)
        self.register_buffer("seen", torch.zeros(9))

    def forward(self, x: Tensor) -> Tensor:
        if self.training:
            self.seen = 0.9 * self.seen + 0.1 * x.detach().mean(0)
        return self.layer(x - self.seen)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("model", "words"), [(Centred(), "mixes the examples"), (Remembering(), "'seen'")])
def test_models_that_mix_or_remember_are_refused(model: nn.Module, words: str, method: str) -> None:
    inputs, targets = torch.randn(5, 9), torch.randint(4, (5,))
    with pytest.raises(ValueError, match=words):
        clipped_sum(model, inputs, targets, label_loss, clip=1, method=method)
    if isinstance(model, Remembering):
        assert torch.equal(model.seen, torch.zeros(9))  # nothing was written in the trying


class FunctionallyTied(nn.Module):
    """The word vectors are used a second time, outside their layer, as many language models do."""

    def __init__(self) -> None:
        super().__init__()
        self.word = nn.Embedding(20, 8)

    def forward(self, x: Tensor) -> Tensor:
        return self.word(x) @ self.word.weight.T


class ByHand(nn.Module):
    """A layer whose weight is used without calling the layer."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(9, 9), nn.Linear(9, 4)

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(self.first(input=x), self.second.weight)


def test_weights_used_outside_their_layer_take_the_slow_path_and_are_right() -> None:
    cases = [
        (FunctionallyTied(), torch.randint(20, (6, 3)), torch.randint(20, (6, 3)), ZOO["transformer"]()[2]),
        (ByHand(), torch.randn(6, 9), torch.randint(4, (6,)), label_loss),
    ]
    for model, inputs, targets, loss in cases:
        with pytest.warns(SlowPathWarning):
            quick = clipped_sum(model, inputs, targets, loss, clip=0.3)
        slow = clipped_sum(model, inputs, targets, loss, clip=0.3, method="loop")
        torch.testing.assert_close(quick.norms, slow.norms, rtol=1e-5, atol=1e-6)


def test_what_was_true_of_a_frozen_model_is_asked_again_when_it_thaws() -> None:
    model = FunctionallyTied()
    model.out = nn.Linear(20, 20)  # type: ignore[assignment]
    model.forward = lambda x: model.out(model.word(x) @ model.word.weight.T)  # type: ignore[method-assign]
    inputs, targets, loss = torch.randint(20, (6, 3)), torch.randint(20, (6, 3)), ZOO["transformer"]()[2]
    model.word.weight.requires_grad_(False)
    with warnings.catch_warnings():
        warnings.simplefilter("error", SlowPathWarning)
        clipped_sum(model, inputs, targets, loss, clip=1)
    model.word.weight.requires_grad_(True)
    with pytest.warns(SlowPathWarning):
        clipped_sum(model, inputs, targets, loss, clip=1)


def test_dropout_is_no_mixing_and_needs_no_slow_path() -> None:
    model = nn.Sequential(nn.Linear(9, 16), nn.Dropout(0.5), nn.Linear(16, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("error", SlowPathWarning)
        found = clipped_sum(model, torch.randn(8, 9), torch.randint(4, (8,)), label_loss, clip=1)
    assert model[1].training
    assert length(found.total) <= 8


def test_models_in_double_precision_train() -> None:
    model, data = nn.Linear(3, 2).double(), Examples(torch.randn(40, 3).double(), torch.randint(2, (40,)))
    run = train(model, data, epsilon=5, lot_size=20, epochs=1, seed=0, progress=False)
    assert run.model.weight.dtype == torch.float64


def test_a_generator_without_a_seed_has_all_its_words_from_the_system() -> None:
    seeded = generator_from(5).get_state().numpy()[24 : 24 + 624 * 8].view(np.uint64)
    assert np.array_equal(seeded, np.random.RandomState(5).get_state()[1])  # type: ignore[index]  # the layout is right
    one, other = (generator_from(None).get_state().numpy()[24 : 24 + 624 * 8].view(np.uint64) for _ in range(2))
    assert np.count_nonzero(one == other) <= 2  # two of 624 random words agree by chance: once in 10^14
    assert torch.randn(3, generator=generator_from(None)).isfinite().all()
    with pytest.raises(ValueError, match=str(2**32)):
        generator_from(2**32)


def test_a_user_who_sends_no_number_contributes_nothing_and_the_divisor_is_a_constant() -> None:
    model = nn.Linear(3, 2)
    change, found = user_update(
        model, torch.full((2, 3), float("nan")), torch.tensor([0, 1]), label_loss, rate=1, epochs=1, clip=1
    )
    assert not np.isfinite(found)
    assert length(change) == 0
    before = model.weight.detach().clone()
    data = Examples(torch.randn(9, 3), torch.randint(2, (9,)), torch.arange(9))
    kept = {"q": 1e-9, "sigma": 1.0, "clip": 1.0, "rate": 1.0, "expected_users": 1000.0}
    federated_round(model, data, data.users, generator=generator_from(0), **kept)  # type: ignore[arg-type]
    assert float((model.weight.detach() - before).std()) < 0.003  # noise of 1 over 1,000, not over 9e-9


def leaks_elsewhere(gradients: Tensor, setting: Setting, generator: torch.Generator) -> Tensor:
    made = honest(gradients, setting, generator)
    return torch.stack([made[0], torch.tensor(float(len(gradients)))])


def test_the_audit_looks_at_every_coordinate() -> None:
    assert audit_release(leaks_elsewhere, draws=500).violated
