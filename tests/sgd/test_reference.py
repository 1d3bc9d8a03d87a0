"""Algorithm 1 on one page: every faster way agrees with it, the audit does not accuse it, and it learns."""

from __future__ import annotations

import inspect

import pytest
import torch
from torch import Tensor, nn

from dpcourse.accounting import dp_sgd_epsilon
from dpcourse.data import digits
from dpcourse.sgd import Clipper, PrivateGradient, audit_step, cross_entropy, digit_mlp, edited_reference, reference
from tests.sgd.zoo import ZOO, label_loss

EXACT = {"clip_norm": 0.3, "noise_multiplier": 0.0, "lot_size": 7.0}


@pytest.mark.parametrize("method", ["fast", "func", "loop"])
@pytest.mark.parametrize("name", sorted(ZOO))
def test_without_noise_and_coins_every_way_gives_what_the_page_gives(name: str, method: str) -> None:
    torch.manual_seed(3)
    model, draw, loss = ZOO[name]()
    inputs, targets = draw(9)
    page = reference.private_gradient(model, inputs.clone(), targets, loss, sampling_rate=1, **EXACT)
    step, lot = PrivateGradient(Clipper(model, loss, method=method), **EXACT)(inputs, targets)
    assert len(lot.norms) == 9
    for one, other in zip(step.values(), page, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)


def some_network(seed: int) -> tuple[nn.Module, Tensor]:
    """Layers at random: convolutions, norms, activations in place or not, then linear ones; images to go in."""
    torch.manual_seed(seed)
    pick = lambda *choices: choices[int(torch.randint(len(choices), ()))]  # noqa: E731
    channels, side = pick(1, 2, 4), pick(6, 9)
    inputs, layers = torch.randn(7, channels, side, side), []
    for _ in range(pick(0, 1, 2)):
        wider = pick(2, 4, 6)
        groups = pick(1, 2) if channels % 2 == 0 else 1
        layers.append(
            nn.Conv2d(channels, wider, pick(2, 3), pick(1, 2), pick(0, 1), groups=groups, bias=pick(True, False))
        )
        layers += pick([], [nn.GroupNorm(pick(1, 2), wider)])
        layers.append(pick(nn.ReLU(inplace=True), nn.Tanh(), nn.GELU()))
        channels = wider
    layers += pick([nn.Flatten()], [nn.Flatten(2), nn.Conv1d(channels, 3, 2, pick(1, 2), pick(0, 1)), nn.Flatten()])
    features = nn.Sequential(*layers)(inputs[:1].clone()).shape[1]
    layers += pick([], [nn.LayerNorm(features)], [nn.RMSNorm(features)])
    layers += [nn.Linear(features, 5, bias=pick(True, False)), pick(nn.ReLU(), nn.Sigmoid()), nn.Linear(5, 3)]
    model = nn.Sequential(*layers)
    for parameter in list(model.parameters())[:-1]:
        if pick(True, False, False, False):
            parameter.requires_grad_(False)
    return model, inputs


@pytest.mark.filterwarnings("error::dpcourse.sgd.SlowPathWarning")
@pytest.mark.parametrize("seed", range(60))
def test_random_networks_are_clipped_the_fast_way_as_on_the_page(seed: int) -> None:
    model, inputs = some_network(seed)
    targets, total = torch.randint(3, (7,)), {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            total[name] = torch.zeros_like(parameter)
    learning = [p for p in model.parameters() if p.requires_grad]
    for x, y in zip(inputs, targets, strict=True):
        gradient = torch.autograd.grad(label_loss(model(x[None].clone()), y[None]).sum(), learning)
        for one, part in zip(total.values(), reference.clip(gradient, 0.5), strict=True):
            one += part
    fast = Clipper(model, label_loss).clipped_sum(inputs, targets, clip_norm=0.5).total
    for name, right in total.items():
        torch.testing.assert_close(fast[name], right, rtol=1e-4, atol=1e-5)


def test_the_page_is_not_accused_and_its_edited_copies_are() -> None:
    """A correct page is accused with probability 1e-6 at most. The lecture edits the first of these lines."""
    assert not audit_step(reference, draws=500, seed=0).violated
    for before, after in (
        ("short = clip(gradient, clip_norm)", "short = gradient"),
        ("noise_multiplier * clip_norm * torch", "noise_multiplier * torch"),
        ("norm / clip_norm", "norm / (2 * clip_norm)"),
    ):
        assert audit_step(edited_reference(before, after), draws=500, seed=0).violated, before
    with pytest.raises(ValueError, match="'total': "):
        edited_reference("total", "sum")
    with pytest.raises(ValueError, match="once"):
        edited_reference("no such line", "")


def test_the_page_learns_digits_and_charges_for_it() -> None:
    """4 epochs in lots of 256; guessing gets 10%."""
    (data, test), model = digits(), digit_mlp()
    settings = {"lot_size": 256, "clip_norm": 0.5, "noise_multiplier": 1.5, "learning_rate": 1.5}
    coins = torch.Generator().manual_seed(1)
    epsilon = reference.train(
        model, data.inputs, data.targets, cross_entropy, steps=24, delta=1e-5, generator=coins, **settings
    )
    assert epsilon == dp_sgd_epsilon(1.5, 256 / len(data), 24, 1e-5)
    assert (model(test.inputs).argmax(1) == test.targets).float().mean() > 0.6


def test_the_page_is_one_page() -> None:
    assert len(inspect.getsource(reference).splitlines()) <= 70
