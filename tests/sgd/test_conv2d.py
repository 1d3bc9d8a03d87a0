"""The rule of a convolution, on its own: every kind of kernel, each way that it takes, however the images lie."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from dpcourse.sgd import SlowPathWarning, clipped_sum
from dpcourse.sgd.clipping import conv2d
from dpcourse.sgd.clipping.conv2d import ConvolutionRule, Kernel
from tests.sgd.zoo import label_loss

SEEDS = 60


def some_layer(seed: int) -> tuple[nn.Conv2d, Tensor]:
    """A convolution with a kernel, strides, gaps and margins of its own, and three images that it can take."""
    rng = np.random.default_rng(seed)
    pair = lambda least, most: (int(rng.integers(least, most + 1)), int(rng.integers(least, most + 1)))  # noqa: E731
    kernel, stride, padding = pair(1, 4), pair(1, 3), pair(0, 2)
    gaps = pair(1, 2) if seed % 3 == 0 else (1, 1)
    groups = 2 if seed % 5 == 0 else 1
    (inputs, outputs), sides = (pair(8, 24), pair(5, 7)) if seed % 3 == 1 else (pair(1, 5), pair(8, 12))
    layer = nn.Conv2d(groups * inputs, groups * outputs, kernel, stride, padding, gaps, groups).double()
    return layer, torch.randn(3, groups * inputs, *sides, dtype=torch.double)


@pytest.mark.parametrize("last", [True, False], ids=["channels last", "channels first"])
@pytest.mark.parametrize("seed", range(SEEDS))
def test_norms_and_weighted_sum_are_those_of_autograd(seed: int, last: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(seed)
    monkeypatch.setattr(conv2d, "CACHED_NUMBERS", 1 if seed % 2 else 2**18)  # an example at a time, or all at once
    monkeypatch.setattr(conv2d, "HELD_NUMBERS", 0)
    layer, a = some_layer(seed)
    outputs = layer(a)
    g, weights = torch.randn_like(outputs), torch.rand(3, dtype=torch.double)
    each = [torch.autograd.grad(outputs[i], layer.parameters(), g[i], retain_graph=True) for i in range(3)]
    if last:  # so may the gradients lie, for the model decides on that
        a, g = (one.clone(memory_format=torch.channels_last) for one in (a, g))
    found = ConvolutionRule()(layer, a, g)
    torch.testing.assert_close(found.norms, torch.stack([sum(p.square().sum() for p in one) for one in each]).sqrt())
    total = {name: torch.ones_like(p) for name, p in layer.named_parameters()}
    found.add(weights, total, 0.5)
    for i, name in enumerate(("weight", "bias")):
        wanted = 1 + 0.5 * sum(float(w) * one[i] for w, one in zip(weights, each, strict=True))
        torch.testing.assert_close(total[name], wanted)


def test_these_layers_take_every_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gradients that are kept, formed and let go, or never formed; bands that are shared, or not; a last one cut."""
    ways: Counter[str] = Counter()
    monkeypatch.setattr(conv2d, "HELD_NUMBERS", 0)
    patches_of, by_group = conv2d.patches_of, ConvolutionRule.by_group

    def watched(kernel: Kernel, a: Tensor, shared: bool) -> tuple[Tensor, int]:
        ways["shared" if shared else "not shared"] += 1
        return patches_of(kernel, a, shared)

    def watched_group(*given: Any) -> tuple[Tensor, Tensor, Tensor]:
        ways["not formed"] += 1
        return by_group(*given)

    monkeypatch.setattr(conv2d, "patches_of", watched)
    monkeypatch.setattr(ConvolutionRule, "by_group", watched_group)
    for seed in range(SEEDS):
        layer, a = some_layer(seed)
        before = ways["not formed"]
        found = ConvolutionRule()(layer, a, torch.randn_like(layer(a)))
        if ways["not formed"] == before:
            ways["kept" if found.unsigned is None else "formed"] += 1
        ways["cut"] += layer.kernel_size[0] % layer.stride[0] > 0
    assert min(ways[way] for way in ("kept", "formed", "not formed", "shared", "not shared", "cut")) >= 5, ways


ODD = {  # what torch's convolutions get wrong, or crash on, where the channels of images lie last (torch 2.13)
    "as wide as the image": (nn.Conv2d(1, 4, (1, 4), stride=(1, 4)), (64, 1, 2, 7)),
    "right for five images": (nn.Conv2d(1, 4, (2, 3), stride=(1, 2)), (64, 1, 4, 3)),
    "wider margins than image": (nn.Conv2d(2, 1, 2, stride=2, padding=(5, 3), dilation=(3, 2)), (16, 2, 8, 1)),
}


@pytest.mark.parametrize("last", [True, False], ids=["channels last", "channels first"])
@pytest.mark.parametrize("name", ODD)
def test_images_whose_channels_lie_last_are_turned(name: str, last: bool) -> None:
    torch.manual_seed(2)
    layer, shape = ODD[name]
    inputs, targets = torch.randn(shape), torch.randint(3, (shape[0],))
    outputs = layer(inputs)[0].numel()
    if last:
        inputs = inputs.clone(memory_format=torch.channels_last)
        assert inputs.stride()[1] == 1
    model = nn.Sequential(layer, nn.ReLU(), nn.Flatten(), nn.Linear(outputs, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error", SlowPathWarning)
        fast = clipped_sum(model, inputs, targets, label_loss, clip_norm=0.5)
    slow = clipped_sum(model, inputs, targets, label_loss, clip_norm=0.5, method="loop")
    torch.testing.assert_close(fast.losses, slow.losses, rtol=1e-5, atol=1e-6)
    for part in slow.total:
        torch.testing.assert_close(fast.total[part], slow.total[part], rtol=1e-5, atol=1e-5)
