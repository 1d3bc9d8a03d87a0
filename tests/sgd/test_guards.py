"""What an attacker or an unlucky user might hand in: clipping bounds it all the same, or says why it cannot."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dpcourse.sgd import SlowPathWarning, clipped_sum
from dpcourse.sgd.convolution import convolution
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


def signed_sum(outputs: Tensor, targets: Tensor) -> Tensor:
    """The positions' outputs, each times its target: the gradient can be written down."""
    return (outputs.sum(2) * targets).sum(1)


def moved(model: nn.Module, inputs: Tensor, targets: Tensor, loss: Any, clip: float, method: str = "fast") -> float:
    """How far the last example moves the sum."""
    kept = {"clip": clip, "method": method}
    whole, rest = (clipped_sum(model, inputs[:n], targets[:n], loss, **kept).total for n in (len(inputs), -1))
    return length({name: whole[name].double() - rest[name].double() for name in whole})


def test_positions_that_cancel_do_not_hide_a_long_gradient() -> None:
    """Two positions with huge, almost equal inputs and opposite output gradients: the Gram matrices round to zero."""
    model, inputs, signs = nn.Linear(4, 3, bias=False), torch.randn(7, 2, 4), torch.ones(7, 2)
    inputs[6] = torch.tensor([[1e6, 0, 0, 0], [1e6, 100, 0, 0]])
    signs[6, 1] = -1
    found = clipped_sum(model, inputs, signs, signed_sum, clip=1)
    assert float(found.norms[6]) == pytest.approx(100 * 3**0.5, rel=1e-3)
    assert moved(model, inputs, signs, signed_sum, 1) == pytest.approx(1, rel=1e-3)


@pytest.mark.parametrize("huge", [1e9, 1e18])
def test_positions_that_cancel_do_not_erase_the_others(huge: float) -> None:
    model, inputs, signs = nn.Linear(4, 3), torch.ones(33, 2, 4), torch.ones(33, 2)
    inputs[32], signs[32, 1] = huge, -1
    assert moved(model, inputs, signs, signed_sum, 1) <= 1 + 1e-4
    words = torch.ones(33, 2, dtype=torch.long)
    signs[32] = torch.tensor([huge, -huge])
    assert moved(nn.Embedding(5, 4), words, signs, signed_sum, 1) <= 1 + 1e-4


def squared(outputs: Tensor, targets: Tensor) -> Tensor:
    return (outputs - targets).square().sum(1)


def test_other_coins_at_the_second_look_let_nothing_through() -> None:
    """One example overflows for some of Dropout's coins; another is no number, so that the rest are looked at twice."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Dropout(0.5), nn.Linear(4, 2)).train()
    inputs, targets = torch.randn(9, 4), torch.randn(9, 2)
    inputs[0], inputs[8] = torch.tensor([3e38, 0, 0, 0]), float("nan")
    for _ in range(50):
        assert length(clipped_sum(model, inputs, targets, squared, clip=1).total) <= 9 + 1e-4


@pytest.mark.parametrize("method", METHODS)
def test_a_gradient_so_long_that_its_weight_loses_its_digits_is_not_longer_than_the_clip(method: str) -> None:
    model, loss = nn.Linear(10, 3, bias=False), lambda outputs, targets: (outputs * targets[:, None]).sum(1)
    for factor in torch.linspace(1e38, 3.3e38, 20):
        found = clipped_sum(model, torch.ones(1, 10), factor[None], loss, clip=1e-6, method=method)
        assert length(found.total) <= 1e-6 * (1 + 1e-4)


def signed_planes(outputs: Tensor, targets: Tensor) -> Tensor:
    return (outputs.sum(1).flatten(1) * targets).sum(1)


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("huge", [1e7, 1e18])
def test_positions_of_an_image_that_cancel_do_not_erase_the_others(huge: float, kept: bool) -> None:
    """The positions of a constant image see the same; with opposite signs they add up to nothing, after rounding."""
    model = nn.Conv2d(1, 2, 3) if kept else nn.Conv2d(4, 16, 3, bias=False)  # gradients that are kept, or formed twice
    images, signs = torch.ones(33, model.in_channels, 5, 5), torch.ones(33, 9)
    images[32], signs[32] = huge, torch.tensor([1, -1, 1, -1, 1, -1, 1, -1, 1e-9])
    assert moved(model, images, signs, signed_planes, 1) <= 1 + 1e-4


def test_a_huge_input_with_a_tiny_gradient_is_measured() -> None:
    """Squared, the gradient at the output is below the smallest number; times the input it is longer than C."""
    model, inputs = nn.Linear(256, 256, bias=False), torch.randn(7, 256, 256) * 1e-3
    inputs[6], targets = 1.1e18, torch.full((7, 256), 1e-3)
    targets[6] = 2.5e-23
    assert moved(model, inputs, targets, signed_sum, 1) == pytest.approx(1, rel=1e-3)


def test_the_same_word_with_opposite_gradients() -> None:
    model = nn.Embedding(5, 4)
    words, signs = torch.tensor([[1, 1], [2, 2], [3, 1]]), torch.tensor([[1e4, -1e4 - 1], [1.0, 2.0], [1.0, -2.0]])
    fast, slow = (clipped_sum(model, words, signs, signed_sum, clip=1, method=m) for m in ("fast", "loop"))
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
    clipped_sum(model, inputs, targets, label_loss, clip=1)
    with pytest.raises(ValueError, match="mixes the examples"):
        clipped_sum(model, inputs, targets, balanced, clip=1)


class Sorted(Centred):
    """Sorts the examples, works, and puts them back: the output is right, but the rows in between are others'."""

    def forward(self, x: Tensor) -> Tensor:
        order = x[:, 0].argsort()
        return self.layer(x[order])[order.argsort()]


def test_examples_in_another_order_take_the_slow_path() -> None:
    model, inputs, targets = Sorted(), torch.randn(9, 9), torch.randint(4, (9,))
    with pytest.warns(SlowPathWarning, match="norms"):
        quick = clipped_sum(model, inputs, targets, label_loss, clip=0.3)
    slow = clipped_sum(model, inputs, targets, label_loss, clip=0.3, method="loop")
    torch.testing.assert_close(quick.norms, slow.norms, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("place", [0, 1])
def test_no_number_in_the_first_examples_stops_nothing(place: int) -> None:
    inputs, targets = torch.randn(9, 4), torch.randint(3, (9,))
    inputs[place, 0] = float("nan")
    with warnings.catch_warnings():
        warnings.simplefilter("error", SlowPathWarning)
        assert length(clipped_sum(nn.Linear(4, 3), inputs, targets, label_loss, clip=1).total) <= 8


def test_a_layer_that_is_suddenly_used_twice_is_noticed() -> None:
    class Deeper(Centred):
        twice = False

        def forward(self, x: Tensor) -> Tensor:
            made = self.layer(x)
            return made + self.layer(2 * x) if self.twice else made

    model, inputs, targets = Deeper(), torch.randn(9, 9), torch.randint(4, (9,))
    clipped_sum(model, inputs, targets, label_loss, clip=1)
    model.twice = True
    with pytest.warns(SlowPathWarning, match="not used once"):
        quick = clipped_sum(model, inputs, targets, label_loss, clip=1)
    slow = clipped_sum(model, inputs, targets, label_loss, clip=1, method="loop")
    torch.testing.assert_close(quick.norms, slow.norms, rtol=1e-5, atol=1e-6)


def test_an_attention_with_a_forward_of_its_own_keeps_it() -> None:
    model = nn.ModuleDict({"a": nn.MultiheadAttention(4, 2, batch_first=True), "b": nn.Linear(4, 3)})
    model["a"].forward = lambda q, k, v: (q, None)  # type: ignore[assignment, method-assign]
    model.forward = lambda x: model["b"](model["a"](x, x, x)[0]).sum(1)  # type: ignore[method-assign]
    with pytest.warns(SlowPathWarning, match="forward of its own"):
        clipped_sum(model, torch.randn(8, 2, 4), torch.randint(3, (8,)), label_loss, clip=1)
    assert "forward" in vars(model["a"])


def test_coarse_numbers_and_tiny_clips_are_refused() -> None:
    inputs, targets = torch.randn(6, 9), torch.randint(4, (6,))
    with pytest.raises(ValueError, match="bfloat16"):
        clipped_sum(nn.Linear(9, 4).bfloat16(), inputs.bfloat16(), targets, label_loss, clip=1)
    with torch.autocast("cpu", torch.bfloat16), pytest.raises(ValueError, match="autocast"):
        clipped_sum(nn.Linear(9, 4), inputs, targets, label_loss, clip=1)
    with pytest.raises(ValueError, match="1e-30"):
        clipped_sum(nn.Linear(9, 4), inputs, targets, label_loss, clip=1e-30)


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


@pytest.mark.parametrize("method", ["fast", "func", "loop"])
def test_a_layer_with_two_names_stays_where_it_is(method: str) -> None:
    model = nn.Sequential(nn.Linear(5, 5), nn.Linear(5, 3))
    own = model[0].weight
    model[1].register_module("alias", model[0])
    found = clipped_sum(model, torch.randn(6, 5), torch.randint(3, (6,)), label_loss, clip=0.3, method=method)
    assert model[0].weight is own
    assert model[1].alias.weight is own
    assert len(found.total) == 4


@pytest.mark.parametrize("clip", [1e-3, 1e-5, 1e-7])
@pytest.mark.parametrize("positions", [0, 3])
def test_an_input_too_short_to_be_squared_does_not_hide_a_long_gradient(clip: float, positions: int) -> None:
    """2e-23 squared is 0 in single precision; times a gradient of 1e18 it is no small matter."""
    model = nn.Linear(1, 1, bias=False)
    shape = (6, positions, 1) if positions else (6, 1)
    inputs, targets = torch.randn(shape), torch.randn(shape)
    inputs[-1], targets[-1] = 2e-23, 1e18

    def squared(outputs: Tensor, targets: Tensor) -> Tensor:
        return (outputs - targets).square().flatten(1).sum(1)

    whole, rest = (clipped_sum(model, inputs[:n], targets[:n], squared, clip=clip).total["weight"] for n in (6, 5))
    assert float((whole - rest).abs().max()) <= clip * (1 + 1e-3)


def centring(on: bool) -> Any:
    """A loss that is written anew: with ``on`` it looks at the whole lot."""
    return lambda outputs, targets: label_loss(outputs - outputs.mean(0) if on else outputs, targets)


class Judge:
    on = False

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return label_loss(outputs - outputs.mean(0) if self.on else outputs, targets)


def test_what_was_found_of_one_loss_is_not_believed_of_another_with_the_same_code() -> None:
    model, inputs, targets = nn.Linear(9, 4), torch.randn(8, 9), torch.randint(4, (8,))
    clipped_sum(model, inputs, targets, centring(False), clip=1)
    with pytest.raises(ValueError, match="mixes the examples"):
        clipped_sum(model, inputs, targets, centring(True), clip=1)
    one, other = Judge(), Judge()
    clipped_sum(model, inputs, targets, one.loss, clip=1)
    other.on = True
    with pytest.raises(ValueError, match="mixes the examples"):
        clipped_sum(model, inputs, targets, other.loss, clip=1)
    switches: list[bool] = []
    carried = lambda o, t: label_loss(o - o.mean(0) if switches else o, t)  # noqa: E731 - what a list holds, none knows
    clipped_sum(model, inputs, targets, carried, clip=1)
    switches.append(True)
    with pytest.raises(ValueError, match="mixes the examples"):
        clipped_sum(model, inputs, targets, carried, clip=1)


def test_a_loss_that_is_written_anew_for_every_step_is_looked_at_once() -> None:
    """The same code with the same numbers is the same loss: training by a lambda is as fast as by a function."""
    model, inputs, targets = nn.Linear(9, 4), torch.randn(8, 9), torch.randint(4, (8,))
    passes = 0

    def count(*_: Any) -> None:
        nonlocal passes
        passes += 1

    model.register_forward_hook(count)
    seen = []
    for _ in range(3):
        scale = 0.5
        clipped_sum(model, inputs, targets, lambda o, t: scale * label_loss(o, t), clip=1)  # noqa: B023
        seen.append(passes)
    assert seen[2] - seen[1] == seen[1] - seen[0] == 1 < seen[0]


def test_a_layer_in_anothers_place_is_looked_at() -> None:
    class LessTheMean(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x - x.mean(0)

    model, inputs, targets = nn.Sequential(nn.Linear(9, 4), nn.Identity()), torch.randn(8, 9), torch.randint(4, (8,))
    clipped_sum(model, inputs, targets, label_loss, clip=1)
    model[1] = LessTheMean()
    with pytest.raises(ValueError, match="mixes the examples"):
        clipped_sum(model, inputs, targets, label_loss, clip=1)


def test_large_numbers_do_not_blind_the_guards() -> None:
    """Inputs of which only one is ordinary; and one target so large that its loss dwarfs all others."""
    inputs, targets = 2e5 * torch.randn(20, 9), torch.randint(4, (20,))
    inputs[0] = 1
    with pytest.raises(ValueError, match="mixes the examples"):
        clipped_sum(Centred(), inputs, targets, label_loss, clip=1)
    words, model = torch.randint(7, (20, 3)), nn.Sequential(nn.Embedding(7, 4), nn.Flatten(), nn.Linear(12, 1))
    wanted = torch.randn(20, 1)
    wanted[0] = 1e9

    def apart_from_the_mean(outputs: Tensor, targets: Tensor) -> Tensor:
        return (10 * (outputs - outputs.mean(0).detach()) - targets).square().flatten(1).sum(1)

    with pytest.raises(ValueError, match="mixes the examples"):
        clipped_sum(model, words, wanted, apart_from_the_mean, clip=1)


def product(outputs: Tensor, targets: Tensor) -> Tensor:
    return (outputs * targets).flatten(1).sum(1)


@pytest.mark.parametrize("kind", ["linear", "embedding", "grouped convolution"])
def test_many_small_numbers_beside_a_large_one_are_not_rounded_away(kind: str) -> None:
    """Added one by one, 300,000 numbers of 6.2e-8 beside 1.01 would vanish, and with the 1.01 away they would not."""
    n, positions = 300, 1024
    targets = torch.full((n, positions, 1), 6.2e-8)
    targets[0] = 0
    targets[0, 0] = 1.01
    model, inputs = nn.Linear(1, 1, bias=False), torch.ones(n, positions, 1)
    if kind == "embedding":
        model, inputs = nn.Embedding(2, 1), torch.zeros(n, positions, dtype=torch.long)
    elif kind == "grouped convolution":
        model, inputs = nn.Conv2d(2, 2, 1, groups=2, bias=False), torch.ones(n, 2, 32, 32)
        targets = targets.reshape(n, 1, 32, 32).expand(n, 2, 32, 32) / 2**0.5
    whole, rest = (clipped_sum(model, inputs[i:], targets[i:], product, clip=1).total["weight"] for i in (0, 1))
    assert float((whole.double() - rest.double()).norm()) <= 1.001


def test_fast_and_slow_agree_on_very_many_positions() -> None:
    model, inputs, targets = nn.Linear(4, 1), torch.rand(300, 2048, 4), torch.rand(300, 2048, 1)
    fast, slow = (clipped_sum(model, inputs, targets, product, clip=1, method=way).total for way in ("fast", "func"))
    for name in fast:
        torch.testing.assert_close(fast[name], slow[name], rtol=1e-5, atol=1e-5)


def test_an_example_with_huge_gradients_of_a_convolutions_outputs_is_done_apart() -> None:
    """Formed, but not kept: an input of 2e-23 would otherwise hide that its products were too short to be squared."""
    layer, inputs, wanted = nn.Conv2d(2, 8, 3, bias=False), torch.randn(6, 2, 5, 5), torch.randn(6, 8, 3, 3)
    inputs[-1], wanted[-1] = 2e-23, 1e17
    _, added, _ = convolution(layer, inputs, wanted)
    assert added.isinf().tolist() == [False] * 5 + [True]


def test_gradients_can_be_asked_for_where_none_are_wanted() -> None:
    model, inputs, targets = nn.Linear(9, 4), torch.randn(8, 9), torch.randint(4, (8,))
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error", SlowPathWarning)
        inside = clipped_sum(model, inputs, targets, label_loss, clip=1).total
    outside = clipped_sum(model, inputs, targets, label_loss, clip=1).total
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
        clipped_sum(**{**given, **change}, clip=1)


def test_a_parameter_without_dimensions_is_clipped() -> None:
    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear, self.scale = nn.Linear(4, 3), nn.Parameter(torch.tensor(1.5))

        def forward(self, x: Tensor) -> Tensor:
            return self.linear(x) * self.scale

    with pytest.warns(SlowPathWarning):
        found = clipped_sum(Scaled(), torch.randn(6, 4), torch.randint(3, (6,)), label_loss, clip=0.3)
    assert found.total["scale"].shape == ()
