"""Models and losses that mix, remember or change: clipping is right all the same, or says why it cannot be."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dpcourse.sgd import Clipper, SlowPathWarning, clipped_sum
from tests.sgd.zoo import ZOO, label_loss, length

METHODS = ("fast", "func", "loop")


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


class ScaledByTheLargest(Centred):
    """Divides by the largest pixel of the lot, which is the same in most lots."""

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x / x.amax())


class QuietlyRemembering(Centred):
    """The same in an attribute that torch knows nothing of."""

    seen = torch.zeros(9)

    def forward(self, x: Tensor) -> Tensor:
        if self.training:
            self.seen = 0.9 * self.seen + 0.1 * x.detach().mean(0)
        return self.layer(x - self.seen)


def balanced(outputs: Tensor, targets: Tensor) -> Tensor:
    """Divides by how many of the lot are of one's class."""
    return label_loss(outputs, targets) / torch.bincount(targets, minlength=4)[targets]


def test_a_loss_that_looks_at_the_whole_lot_is_refused_even_after_one_that_does_not() -> None:
    model, inputs, targets = nn.Linear(9, 4), torch.randn(8, 9), torch.tensor([0, 1, 2, 3, 1, 2, 3, 0])
    clipped_sum(model, inputs, targets, label_loss, clip_norm=1)
    with pytest.raises(ValueError, match="mixes the examples"):
        clipped_sum(model, inputs, targets, balanced, clip_norm=1)


class MixingLargeLots(Centred):
    """Subtracts the mean, but only of lots that are large: five examples do not show it."""

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x - x.mean(0) if len(x) > 40 else x)


@pytest.mark.parametrize("method", METHODS)
def test_a_model_that_mixes_only_large_lots_is_refused(method: str) -> None:
    """Tried out on five examples alone it passed, and one example moved the sum of clip norm 1 by 27.5."""
    clipper = Clipper(MixingLargeLots(), label_loss, method=method)
    inputs, targets = torch.randn(64, 9), torch.randint(4, (64,))
    clipper.clipped_sum(inputs[:20], targets[:20], clip_norm=1)
    with pytest.raises(ValueError, match="mixes the examples"):
        clipper.clipped_sum(inputs, targets, clip_norm=1)


class Anchored(Centred):
    """Subtracts the first example."""

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x - x[:1])


def test_a_model_that_mixes_by_the_first_example_is_refused() -> None:
    with pytest.raises(ValueError, match="mixes the examples"):
        clipped_sum(Anchored(), torch.randn(8, 9), torch.randint(4, (8,)), label_loss, clip_norm=1)


@pytest.mark.parametrize("method", METHODS)
def test_a_loss_that_reads_the_parameters_loses_no_gradient(method: str) -> None:
    """A penalty on the weights in the loss: torch.func and the fast way left it out without a word."""
    model, inputs, targets = nn.Linear(9, 4), torch.randn(8, 9), torch.randint(4, (8,))

    def penalised(outputs: Tensor, targets: Tensor) -> Tensor:
        return label_loss(outputs, targets) + 0.1 * model.weight.square().sum()

    rows = [torch.autograd.grad(penalised(model(x[None]), y[None])[0], model.parameters())
            for x, y in zip(inputs, targets, strict=True)]  # fmt: skip
    norms = torch.stack([torch.cat([part.flatten() for part in row]).norm() for row in rows])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lot = clipped_sum(model, inputs, targets, penalised, clip_norm=1, method=method)
    torch.testing.assert_close(lot.norms, norms)
    right = sum((row[0] * (1 / norm).clamp(max=1) for row, norm in zip(rows, norms, strict=True)), torch.zeros(4, 9))
    torch.testing.assert_close(lot.total["weight"], right)
    assert any("one example after the other" in str(one.message) for one in caught) == (method != "loop")


class Sorted(Centred):
    """Sorts the examples, works, and puts them back: the output is right, but the rows in between are others'."""

    def forward(self, x: Tensor) -> Tensor:
        order = x[:, 0].argsort()
        return self.layer(x[order])[order.argsort()]


def test_examples_in_another_order_take_the_slow_path() -> None:
    model, inputs, targets = Sorted(), torch.randn(9, 9), torch.randint(4, (9,))
    with pytest.warns(SlowPathWarning, match="norms"):
        quick = clipped_sum(model, inputs, targets, label_loss, clip_norm=0.3)
    slow = clipped_sum(model, inputs, targets, label_loss, clip_norm=0.3, method="loop")
    torch.testing.assert_close(quick.norms, slow.norms, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("place", [0, 1])
def test_no_number_in_the_first_examples_stops_nothing(place: int) -> None:
    inputs, targets = torch.randn(9, 4), torch.randint(3, (9,))
    inputs[place, 0] = float("nan")
    with warnings.catch_warnings():
        warnings.simplefilter("error", SlowPathWarning)
        assert length(clipped_sum(nn.Linear(4, 3), inputs, targets, label_loss, clip_norm=1).total) <= 8


def test_a_layer_that_is_suddenly_used_twice_is_noticed() -> None:
    class Deeper(Centred):
        twice = False

        def forward(self, x: Tensor) -> Tensor:
            made = self.layer(x)
            return made + self.layer(2 * x) if self.twice else made

    model, inputs, targets = Deeper(), torch.randn(9, 9), torch.randint(4, (9,))
    clipper = Clipper(model, label_loss)
    clipper.clipped_sum(inputs, targets, clip_norm=1)
    model.twice = True
    with pytest.warns(SlowPathWarning, match="used twice"):
        quick = clipper.clipped_sum(inputs, targets, clip_norm=1)
    slow = clipped_sum(model, inputs, targets, label_loss, clip_norm=1, method="loop")
    torch.testing.assert_close(quick.norms, slow.norms, rtol=1e-5, atol=1e-6)


def test_an_attention_with_a_forward_of_its_own_keeps_it() -> None:
    model = nn.ModuleDict({"a": nn.MultiheadAttention(4, 2, batch_first=True), "b": nn.Linear(4, 3)})
    model["a"].forward = lambda q, k, v: (q, None)  # type: ignore[assignment, method-assign]
    model.forward = lambda x: model["b"](model["a"](x, x, x)[0]).sum(1)  # type: ignore[method-assign]
    with pytest.warns(SlowPathWarning, match="forward of its own"):
        clipped_sum(model, torch.randn(8, 2, 4), torch.randint(3, (8,)), label_loss, clip_norm=1)
    assert "forward" in vars(model["a"])


def test_coarse_numbers_and_tiny_clips_are_refused() -> None:
    inputs, targets = torch.randn(6, 9), torch.randint(4, (6,))
    with pytest.raises(ValueError, match="bfloat16"):
        clipped_sum(nn.Linear(9, 4).bfloat16(), inputs.bfloat16(), targets, label_loss, clip_norm=1)
    with torch.autocast("cpu", torch.bfloat16), pytest.raises(ValueError, match="autocast"):
        clipped_sum(nn.Linear(9, 4), inputs, targets, label_loss, clip_norm=1)
    with pytest.raises(ValueError, match="1e-30"):
        clipped_sum(nn.Linear(9, 4), inputs, targets, label_loss, clip_norm=1e-30)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("model", "words"),
    [
        (Centred(), "mixes the examples"),
        (ScaledByTheLargest(), "mixes the examples"),
        (Remembering(), "'seen'"),
        (QuietlyRemembering(), "remembers"),
    ],
)
def test_models_that_mix_or_remember_are_refused(model: nn.Module, words: str, method: str) -> None:
    inputs, targets = torch.rand(6, 9), torch.randint(4, (6,))
    inputs[:, 0] = 1
    with pytest.raises(ValueError, match=words):
        clipped_sum(model, inputs, targets, label_loss, clip_norm=1, method=method)
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
            quick = clipped_sum(model, inputs, targets, loss, clip_norm=0.3)
        slow = clipped_sum(model, inputs, targets, loss, clip_norm=0.3, method="loop")
        torch.testing.assert_close(quick.norms, slow.norms, rtol=1e-5, atol=1e-6)


def test_what_was_true_of_a_frozen_model_is_asked_again_when_it_thaws() -> None:
    model = FunctionallyTied()
    model.out = nn.Linear(20, 20)  # type: ignore[assignment]
    model.forward = lambda x: model.out(model.word(x) @ model.word.weight.T)  # type: ignore[method-assign]
    inputs, targets, loss = torch.randint(20, (6, 3)), torch.randint(20, (6, 3)), ZOO["transformer"]()[2]
    model.word.weight.requires_grad_(False)
    with warnings.catch_warnings():
        warnings.simplefilter("error", SlowPathWarning)
        clipped_sum(model, inputs, targets, loss, clip_norm=1)
    model.word.weight.requires_grad_(True)
    with pytest.warns(SlowPathWarning):
        clipped_sum(model, inputs, targets, loss, clip_norm=1)


def test_dropout_is_no_mixing_and_needs_no_slow_path() -> None:
    model = nn.Sequential(nn.Linear(9, 16), nn.Dropout(0.5), nn.Linear(16, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("error", SlowPathWarning)
        found = clipped_sum(model, torch.randn(8, 9), torch.randint(4, (8,)), label_loss, clip_norm=1)
    assert model[1].training
    assert length(found.total) <= 8


@pytest.mark.parametrize("method", ["fast", "func", "loop"])
def test_a_layer_with_two_names_stays_where_it_is(method: str) -> None:
    model = nn.Sequential(nn.Linear(5, 5), nn.Linear(5, 3))
    own = model[0].weight
    model[1].register_module("alias", model[0])
    found = clipped_sum(model, torch.randn(6, 5), torch.randint(3, (6,)), label_loss, clip_norm=0.3, method=method)
    assert model[0].weight is own
    assert model[1].alias.weight is own
    assert len(found.total) == 4


def centring(on: bool) -> Any:
    """A loss that is written anew: with ``on`` it looks at the whole lot."""
    return lambda outputs, targets: label_loss(outputs - outputs.mean(0) if on else outputs, targets)


class Judge:
    on = False

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return label_loss(outputs - outputs.mean(0) if self.on else outputs, targets)


def test_what_was_found_of_one_loss_is_not_believed_of_another_with_the_same_code() -> None:
    model, inputs, targets = nn.Linear(9, 4), torch.randn(8, 9), torch.randint(4, (8,))
    clipped_sum(model, inputs, targets, centring(False), clip_norm=1)
    with pytest.raises(ValueError, match="mixes the examples"):
        clipped_sum(model, inputs, targets, centring(True), clip_norm=1)
    one, other = Judge(), Judge()
    clipped_sum(model, inputs, targets, one.loss, clip_norm=1)
    other.on = True
    with pytest.raises(ValueError, match="mixes the examples"):
        clipped_sum(model, inputs, targets, other.loss, clip_norm=1)
    switches: list[bool] = []
    carried = lambda o, t: label_loss(o - o.mean(0) if switches else o, t)  # noqa: E731 - what a list holds, none knows
    clipped_sum(model, inputs, targets, carried, clip_norm=1)
    switches.append(True)
    with pytest.raises(ValueError, match="mixes the examples"):
        clipped_sum(model, inputs, targets, carried, clip_norm=1)


def test_a_clipper_looks_at_its_first_lot_only() -> None:
    """And at one that is much larger than any before: it may show what smaller ones did not."""
    model, inputs, targets = nn.Linear(9, 4), torch.randn(8, 9), torch.randint(4, (8,))
    passes = 0

    def count(*_: Any) -> None:
        nonlocal passes
        passes += 1

    model.register_forward_hook(count)
    clipper, seen = Clipper(model, label_loss), []
    for _ in range(3):
        clipper.clipped_sum(inputs, targets, clip_norm=1)
        seen.append(passes)
    assert seen[2] - seen[1] == seen[1] - seen[0] == 1 < seen[0]
    clipper.clipped_sum(inputs.repeat(2, 1), targets.repeat(2), clip_norm=1)
    assert passes - seen[2] > 1


def test_a_layer_in_anothers_place_is_looked_at() -> None:
    class LessTheMean(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x - x.mean(0)

    model, inputs, targets = nn.Sequential(nn.Linear(9, 4), nn.Identity()), torch.randn(8, 9), torch.randint(4, (8,))
    clipped_sum(model, inputs, targets, label_loss, clip_norm=1)
    model[1] = LessTheMean()
    with pytest.raises(ValueError, match="mixes the examples"):
        clipped_sum(model, inputs, targets, label_loss, clip_norm=1)


def test_large_numbers_do_not_blind_the_guards() -> None:
    """Inputs of which only one is ordinary; and one target so large that its loss dwarfs all others."""
    inputs, targets = 2e5 * torch.randn(20, 9), torch.randint(4, (20,))
    inputs[0] = 1
    with pytest.raises(ValueError, match="mixes the examples"):
        clipped_sum(Centred(), inputs, targets, label_loss, clip_norm=1)
    words, model = torch.randint(7, (20, 3)), nn.Sequential(nn.Embedding(7, 4), nn.Flatten(), nn.Linear(12, 1))
    wanted = torch.randn(20, 1)
    wanted[0] = 1e9

    def apart_from_the_mean(outputs: Tensor, targets: Tensor) -> Tensor:
        return (10 * (outputs - outputs.mean(0).detach()) - targets).square().flatten(1).sum(1)

    with pytest.raises(ValueError, match="mixes the examples"):
        clipped_sum(model, words, wanted, apart_from_the_mean, clip_norm=1)


def test_a_gradient_too_short_to_be_squared_is_no_reason_to_be_slow() -> None:
    """Of bright images some are right for certain: 1e-28 is their gradient, or 0, by who rounds."""
    inputs, targets = torch.eye(6, 9), torch.zeros(6).long()
    model = nn.Linear(9, 4)
    with torch.no_grad():
        model.weight.zero_()
        model.weight[0, 0] = 65.0
    with warnings.catch_warnings():
        warnings.simplefilter("error", SlowPathWarning)
        clipped_sum(model, inputs, targets, label_loss, clip_norm=1)


def test_gradients_can_be_asked_for_where_none_are_wanted() -> None:
    model, inputs, targets = nn.Linear(9, 4), torch.randn(8, 9), torch.randint(4, (8,))
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error", SlowPathWarning)
        inside = clipped_sum(model, inputs, targets, label_loss, clip_norm=1).total
    outside = clipped_sum(model, inputs, targets, label_loss, clip_norm=1).total
    torch.testing.assert_close(inside, outside)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"inputs": np.ones((4, 9))}, "inputs must be a tensor"),
        ({"targets": [0, 1, 2, 3]}, "targets must be a tensor"),
        ({"targets": None}, "targets must be a tensor"),
        ({"loss": None}, "loss must be a function"),
        ({"model": None}, "model must be a torch module"),
    ],
)
def test_what_is_no_tensor_or_no_function_is_quoted(change: dict[str, Any], words: str) -> None:
    given = {"model": nn.Linear(9, 4), "inputs": torch.ones(4, 9), "targets": torch.zeros(4).long(), "loss": label_loss}
    with pytest.raises(TypeError, match=words):
        clipped_sum(**{**given, **change}, clip_norm=1)


def test_a_parameter_without_dimensions_is_clipped() -> None:
    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear, self.scale = nn.Linear(4, 3), nn.Parameter(torch.tensor(1.5))

        def forward(self, x: Tensor) -> Tensor:
            return self.linear(x) * self.scale

    with pytest.warns(SlowPathWarning):
        found = clipped_sum(Scaled(), torch.randn(6, 4), torch.randint(3, (6,)), label_loss, clip_norm=0.3)
    assert found.total["scale"].shape == ()
