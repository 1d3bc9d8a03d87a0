"""Very many positions, rows that share memory, layers that work in place: what an attacker's trial brought to light."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from dpcourse.sgd import clipped_sum
from tests.sgd.zoo import label_loss, length


def chosen(outputs: Tensor, targets: Tensor) -> Tensor:
    """The outputs' gradients are the targets."""
    return (outputs * targets).flatten(1).sum(1)


def squared(outputs: Tensor, targets: Tensor) -> Tensor:
    return (outputs - targets).square().flatten(1).sum(1)


def rounded_up(shape: tuple[int, ...], peak: float) -> Tensor:
    """Terms that are swallowed beside the peak when the norm is taken, and rounded up once they are weighted."""
    values = torch.full(shape, 0.499 * 2**-15).flatten(1)
    positions = values.shape[1]
    values[0, 0], values[0, 1], values[0, positions - 1] = peak, 1 / 0.505, -peak
    return values.view(shape)


def linear(positions: int) -> tuple[nn.Module, Tensor, tuple[int, ...]]:
    return nn.Linear(1, 1, bias=False), torch.ones(1, positions, 1), (1, positions, 1)


def embedding(positions: int) -> tuple[nn.Module, Tensor, tuple[int, ...]]:
    return nn.Embedding(3, 1), torch.zeros(1, positions, dtype=torch.long), (1, positions, 1)


def grouped(positions: int) -> tuple[nn.Module, Tensor, tuple[int, ...]]:
    side = int(positions**0.5)
    return nn.Conv2d(2, 2, 1, groups=2, bias=False), torch.ones(1, 2, side, side), (1, 2, side, side)


CASES = [(make, n) for make in (linear, embedding, grouped) for n in (60, 256, 4096)]


@pytest.mark.parametrize("peak", [70.0, 295.0])
@pytest.mark.parametrize(("make", "positions"), [*CASES, (linear, 60_000), (embedding, 60_000)])
def test_rounding_over_very_many_positions_does_not_lengthen_a_gradient(
    make: Callable[[int], tuple[nn.Module, Tensor, tuple[int, ...]]], positions: int, peak: float
) -> None:
    """An example of 100,000 positions moved the sum by 2.5 C, one of 4,096 by 1.06 C."""
    model, one, shape = make(positions)
    inputs, targets = torch.cat([one] * 4), torch.full((4, *shape[1:]), 1e-6)
    targets[3:] = rounded_up(shape, peak)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # by torch.func, if it must be
        whole = clipped_sum(model, inputs, targets, chosen, clip_norm=1).total
        rest = clipped_sum(model, inputs[:3], targets[:3], chosen, clip_norm=1).total
    assert length({name: whole[name].double() - rest[name].double() for name in whole}) <= 1.001


@pytest.mark.parametrize("words", [True, False])
def test_long_texts_agree_with_the_definition_without_a_detour(words: bool) -> None:
    """300 positions are added up in double precision, by the fast path."""
    torch.manual_seed(0)
    one = nn.Embedding(5, 4) if words else nn.Linear(3, 4)
    inputs = torch.randint(5, (6, 300)) if words else torch.randn(6, 300, 3)
    targets = torch.randn(6, 300, 2)
    model = nn.Sequential(one, nn.Tanh(), nn.Linear(4, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fast = clipped_sum(model, inputs, targets, squared, clip_norm=0.5)
    right = clipped_sum(model, inputs, targets, squared, clip_norm=0.5, method="loop")
    torch.testing.assert_close(fast.norms, right.norms)
    for name, value in right.total.items():
        torch.testing.assert_close(fast.total[name], value, rtol=1e-5, atol=1e-6)


class Attending(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.out = nn.Embedding(7, 8), nn.Linear(8, 2)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        h = self.words(x)
        return self.out((h + self.attention(h, h, h, need_weights=False)[0]).mean(1))


@pytest.mark.filterwarnings("error::dpcourse.sgd.SlowPathWarning", "ignore:There is a performance drop")
def test_a_frozen_projection_does_not_count() -> None:
    torch.manual_seed(0)
    model = Attending()
    model.attention.in_proj_weight.requires_grad_(False)
    model.attention.in_proj_bias.requires_grad_(False)
    inputs, targets = torch.randint(7, (9, 4)), torch.randint(2, (9,))
    fast, right = (
        clipped_sum(model, inputs, targets, label_loss, clip_norm=0.1, method=way) for way in ("fast", "func")
    )
    torch.testing.assert_close(fast.norms, right.norms)


class Centred(nn.Linear):
    """Works in place on what it is given."""

    def forward(self, x: Tensor) -> Tensor:
        x -= x.mean(1, keepdim=True)
        return super().forward(x)


@pytest.mark.parametrize("method", ["fast", "func", "loop"])
@pytest.mark.filterwarnings("ignore:clipping the slow way")
def test_windows_of_a_series_share_memory_and_are_not_mixed(method: str) -> None:
    torch.manual_seed(0)
    model, series, targets = Centred(4, 2), torch.randn(12), torch.randn(9, 2)
    before, windows = series.clone(), series.unfold(0, 4, 1)
    right = clipped_sum(model, windows.clone(), targets, squared, clip_norm=1, method=method).total
    found = clipped_sum(model, windows, targets, squared, clip_norm=1, method=method).total
    assert torch.equal(found["weight"], right["weight"])
    assert torch.equal(series, before)


def test_columns_of_a_table_may_go_into_a_group_norm() -> None:
    model, table = nn.Sequential(nn.GroupNorm(2, 4), nn.Linear(4, 2)), torch.randn(8, 6)
    assert len(clipped_sum(model, table[:, :4], torch.randn(8, 2), squared, clip_norm=1).norms) == 8


@pytest.mark.parametrize("first", [nn.ReLU(), nn.ReLU(inplace=True)])
def test_an_activation_in_place_after_a_layer_of_texts_loses_no_gradient(first: nn.Module) -> None:
    """The examples that are tried out are dead behind the second layer: nothing can be learnt from them there."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), first, nn.Linear(4, 4), nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(8, 2))
    with torch.no_grad():
        model[0].bias.zero_()  # type: ignore[union-attr,operator]
        model[2].bias.fill_(-0.01)  # type: ignore[union-attr,operator]
    inputs, targets = torch.randn(20, 2, 3), torch.randint(2, (20,))
    inputs[:5] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fast = clipped_sum(model, inputs, targets, label_loss, clip_norm=1).total
    right = clipped_sum(model, inputs, targets, label_loss, clip_norm=1, method="loop").total
    assert float(right["2.weight"].norm()) > 0.1
    for name, value in right.items():
        torch.testing.assert_close(fast[name], value, rtol=1e-5, atol=1e-6)


def test_unusual_kinds_and_shapes() -> None:
    doubles = torch.randn(9, 1, dtype=torch.float64)  # as numpy makes them
    inputs = torch.randn(9, 4)
    inputs[0] = 1e30
    assert clipped_sum(nn.Linear(4, 1), inputs, doubles, squared, clip_norm=1).norms.dtype == torch.float32
    numbers = nn.Sequential(nn.Unflatten(0, (-1, 1)), nn.Linear(1, 2))
    assert len(clipped_sum(numbers, torch.randn(9), torch.randn(9, 2), squared, clip_norm=1).norms) == 9
    in_place = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(4, 2))  # a first layer that changes what it is given
    assert len(clipped_sum(in_place, torch.randn(9, 4), torch.randn(9, 2), squared, clip_norm=1).norms) == 9
