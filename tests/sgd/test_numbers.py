"""Numbers that an attacker or an unlucky user might hand in: huge, tiny, cancelling, none. Clipping bounds them all."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from dpcourse.sgd import clipped_sum
from dpcourse.sgd.clipping.conv2d import ConvolutionRule
from dpcourse.sgd.clipping.sums import weigh
from tests.sgd.zoo import ZOO, length

METHODS = ("fast", "func", "loop")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("poison", [float("nan"), float("inf"), 1e30])
def test_an_example_without_a_length_contributes_nothing_and_a_huge_one_no_more_than_the_clip(
    method: str, poison: float
) -> None:
    model, draw, loss = ZOO["mlp"]()
    inputs, targets = draw(6)
    inputs[3] = poison
    kept = [0, 1, 2, 4, 5]
    found = clipped_sum(model, inputs, targets, loss, clip_norm=0.5, method=method)
    rest = clipped_sum(model, inputs[kept], targets[kept], loss, clip_norm=0.5, method=method)
    moved = length({name: found.total[name] - total for name, total in rest.total.items()})
    assert moved < 1e-5 if not np.isfinite(poison) else moved <= 0.5 * (1 + 1e-5)  # 1e30 overflows in some ways only


def signed_sum(outputs: Tensor, targets: Tensor) -> Tensor:
    """The positions' outputs, each times its target: the gradient can be written down."""
    return (outputs.sum(2) * targets).sum(1)


def moved(model: nn.Module, inputs: Tensor, targets: Tensor, loss: Any, clip: float, method: str = "fast") -> float:
    """How far the last example moves the sum."""
    kept = {"clip_norm": clip, "method": method}
    whole, rest = (clipped_sum(model, inputs[:n], targets[:n], loss, **kept).total for n in (len(inputs), -1))
    return length({name: whole[name].double() - rest[name].double() for name in whole})


def test_positions_that_cancel_do_not_hide_a_long_gradient() -> None:
    """Two positions with huge, almost equal inputs and opposite output gradients: the Gram matrices round to zero."""
    model, inputs, signs = nn.Linear(4, 3, bias=False), torch.randn(7, 2, 4), torch.ones(7, 2)
    inputs[6] = torch.tensor([[1e6, 0, 0, 0], [1e6, 100, 0, 0]])
    signs[6, 1] = -1
    found = clipped_sum(model, inputs, signs, signed_sum, clip_norm=1)
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
        assert length(clipped_sum(model, inputs, targets, squared, clip_norm=1).total) <= 9 + 1e-4


@pytest.mark.parametrize("method", METHODS)
def test_a_gradient_so_long_that_its_weight_loses_its_digits_is_not_longer_than_the_clip(method: str) -> None:
    model, loss = nn.Linear(10, 3, bias=False), lambda outputs, targets: (outputs * targets[:, None]).sum(1)
    for factor in torch.linspace(1e38, 3.3e38, 20):
        found = clipped_sum(model, torch.ones(1, 10), factor[None], loss, clip_norm=1e-6, method=method)
        assert length(found.total) <= 1e-6 * (1 + 1e-4)


def signed_planes(outputs: Tensor, targets: Tensor) -> Tensor:
    return (outputs.sum(1).flatten(1) * targets).sum(1)


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("huge", [1e7, 1e18])
def test_positions_of_an_image_that_cancel_do_not_erase_the_others(
    huge: float, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The positions of a constant image see the same; with opposite signs they add up to nothing, after rounding."""
    monkeypatch.setattr("dpcourse.sgd.clipping.conv2d.HELD_NUMBERS", 0)
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
    fast, slow = (clipped_sum(model, words, signs, signed_sum, clip_norm=1, method=m) for m in ("fast", "loop"))
    assert fast.norms.tolist() == pytest.approx(slow.norms.tolist(), rel=1e-3)


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

    whole, rest = (clipped_sum(model, inputs[:n], targets[:n], squared, clip_norm=clip).total["weight"] for n in (6, 5))
    assert float((whole - rest).abs().max()) <= clip * (1 + 1e-3)


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
    whole, rest = (clipped_sum(model, inputs[i:], targets[i:], product, clip_norm=1).total["weight"] for i in (0, 1))
    assert float((whole.double() - rest.double()).norm()) <= 1.001


def test_fast_and_slow_agree_on_very_many_positions() -> None:
    model, inputs, targets = nn.Linear(4, 1), torch.rand(300, 2048, 4), torch.rand(300, 2048, 1)
    fast, slow = (
        clipped_sum(model, inputs, targets, product, clip_norm=1, method=way).total for way in ("fast", "func")
    )
    for name in fast:
        torch.testing.assert_close(fast[name], slow[name], rtol=1e-5, atol=1e-5)


def test_an_example_with_huge_gradients_of_a_convolutions_outputs_is_done_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Formed, but not kept: an input of 2e-23 would otherwise hide that its products were too short to be squared."""
    monkeypatch.setattr("dpcourse.sgd.clipping.conv2d.HELD_NUMBERS", 0)
    layer, inputs, wanted = nn.Conv2d(2, 8, 3, bias=False), torch.randn(6, 2, 5, 5), torch.randn(6, 8, 3, 3)
    inputs[-1], wanted[-1] = 2e-23, 1e17
    found = ConvolutionRule()(layer, inputs, wanted)
    assert weigh([found], clip_norm=1e6)[2].tolist() == [True] * 5 + [False]


@pytest.mark.parametrize("kind", ["linear", "convolution"])
def test_a_few_large_numbers_do_not_hide_that_a_gradient_is_longer(kind: str) -> None:
    """Squares of 4e-6, added one by one to a large one, vanish: the norm of such a gradient was 0.2% too short."""
    if kind == "linear":
        model, inputs = nn.Linear(2**20, 1, bias=False), torch.randn(6, 2**20) * 0.01
        inputs[-1] = 2e-3
        inputs[-1, :64] = 1
    else:
        model, inputs = nn.Conv2d(512, 512, 1, bias=False), torch.randn(6, 512, 4, 4) * 0.01
        inputs[-1] = 2e-3
        inputs[-1, 0] = 1
    targets = torch.ones(6, *model(inputs[:1]).shape[1:])
    assert moved(model, inputs, targets, product, 1) <= 1 + 1e-4


def test_inference_mode_is_refused_and_leaves_no_trace() -> None:
    model, inputs, targets = nn.Linear(3, 2), torch.randn(7, 3), torch.randn(7, 2)
    with torch.inference_mode(), pytest.raises(ValueError, match="inference mode"):
        clipped_sum(model, inputs, targets, product, clip_norm=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clipped_sum(model, inputs, targets, product, clip_norm=1)
