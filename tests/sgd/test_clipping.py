"""Three ways to clip agree to 1e-5; what the fast path does not know falls back; what breaks privacy is refused."""

from __future__ import annotations

import warnings

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dpcourse.sgd import Clipper, PrivateGradient, SlowPathWarning, clipped_sum, noisy_average, poisson_lot
from tests.sgd.zoo import ZOO, label_loss


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(11)


@pytest.mark.parametrize("clip", [0.05, 1.0, 1e6])
@pytest.mark.parametrize("name", sorted(ZOO))
def test_three_ways_agree(name: str, clip: float) -> None:
    model, draw, loss = ZOO[name]()
    inputs, targets = draw(17)
    slow = clipped_sum(model, inputs, targets, loss, clip_norm=clip, method="loop")
    for method in ("func", "fast"):
        with warnings.catch_warnings():
            warnings.simplefilter("error", SlowPathWarning)  # the zoo is known: no falling back
            quick = clipped_sum(model, inputs, targets, loss, clip_norm=clip, method=method)
        torch.testing.assert_close(quick.norms, slow.norms, rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(quick.losses, slow.losses, rtol=1e-5, atol=1e-6)
        for parameter in slow.total:
            torch.testing.assert_close(quick.total[parameter], slow.total[parameter], rtol=1e-5, atol=1e-5)
    assert all(parameter.requires_grad for parameter in model.parameters())  # left as it was found


def test_torch_takes_a_shortcut_around_its_layers_in_eval_mode_and_the_result_stays_right() -> None:
    model, draw, loss = ZOO["torch's transformer"]()
    model.eval()
    inputs, targets = draw(5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fast, slow = (clipped_sum(model, inputs, targets, loss, clip_norm=0.3, method=m) for m in ("fast", "loop"))
    torch.testing.assert_close(fast.norms, slow.norms, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("method", ["fast", "func", "loop"])
def test_no_example_moves_the_sum_by_more_than_the_clip(method: str) -> None:
    model, draw, loss = ZOO["cnn"]()
    inputs, targets = draw(9)
    inputs[4] *= 1e4  # an outlier
    whole = clipped_sum(model, inputs, targets, loss, clip_norm=0.7, method=method).total
    keep = [i for i in range(9) if i != 4]
    rest = clipped_sum(model, inputs[keep], targets[keep], loss, clip_norm=0.7, method=method).total
    moved = sum(float((whole[name] - rest[name]).square().sum()) for name in whole) ** 0.5
    assert 0.69 < moved <= 0.7 * (1 + 1e-4)


def test_frozen_parameters_count_for_nothing() -> None:
    model, draw, loss = ZOO["mlp"]()
    next(model.parameters()).requires_grad_(False)
    inputs, targets = draw(6)
    fast, slow = (clipped_sum(model, inputs, targets, loss, clip_norm=0.1, method=m) for m in ("fast", "loop"))
    assert list(fast.total) == ["0.bias", "2.weight", "2.bias", "4.weight"]
    torch.testing.assert_close(fast.norms, slow.norms, rtol=1e-5, atol=1e-6)


class Scaled(nn.Module):
    """A layer of our own."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(9))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.scale


class Twice(nn.Module):
    """One layer used twice in a pass: its two gradients add up before they are squared."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(9, 9)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.layer(F.relu(self.layer(x))))


class Places(nn.Module):
    """Learned places looked up once for the whole lot, which here has as many examples as a text has places."""

    def __init__(self) -> None:
        super().__init__()
        self.place, self.out = nn.Embedding(7, 9), nn.Linear(63, 9)

    def forward(self, x: Tensor) -> Tensor:
        return self.out((x[:, None] + self.place(torch.arange(7))).flatten(1))


def tied() -> nn.Module:
    model = nn.Sequential(nn.Linear(9, 9), nn.Linear(9, 9))
    model[1].weight = model[0].weight
    return model


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (Scaled(), "Scaled has no rule"),
        (Twice(), "used twice"),
        (tied(), "share a parameter"),
        (Places(), "not on the examples"),
    ],
)
def test_what_the_fast_path_does_not_know_is_slow_and_right(model: nn.Module, words: str) -> None:
    inputs, targets = torch.randn(7, 9), torch.randint(9, (7,))
    with pytest.warns(SlowPathWarning, match=words):
        quick = clipped_sum(model, inputs, targets, label_loss, clip_norm=0.3)
    slow = clipped_sum(model, inputs, targets, label_loss, clip_norm=0.3, method="loop")
    torch.testing.assert_close(quick.norms, slow.norms, rtol=1e-5, atol=1e-6)


def test_batch_norm_is_refused_with_the_reason() -> None:
    model = nn.Sequential(nn.Linear(9, 4), nn.BatchNorm1d(4))
    with pytest.raises(ValueError, match="mixes the examples of a lot"):
        clipped_sum(model, torch.randn(3, 9), torch.zeros(3, dtype=torch.long), label_loss, clip_norm=1)


def test_an_empty_lot_still_releases_noise() -> None:
    model, draw, loss = ZOO["mlp"]()
    inputs, targets = draw(0)
    coins = torch.Generator().manual_seed(1)
    private_gradient = PrivateGradient(
        Clipper(model, loss), clip_norm=2, noise_multiplier=1.5, lot_size=10, generator=coins
    )
    gradient, lot = private_gradient(inputs, targets)
    assert len(lot.norms) == 0
    noise = torch.cat([part.flatten() for part in gradient.values()])
    # 98 draws of standard deviation 0.3: the sample's lies within 5 of its own standard errors (odds 1e-6).
    assert abs(float(noise.std()) - 0.3) < 5 * 0.3 / (2 * len(noise)) ** 0.5


@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("name", sorted(ZOO))
def test_without_noise_a_step_is_the_clipped_sum_over_the_expected_lot(name: str, odd: bool) -> None:
    """The sum is added onto the noise, which is 0 here; also where one example must be done apart."""
    model, draw, loss = ZOO[name]()
    inputs, targets = draw(9)
    if odd and inputs.is_floating_point():
        inputs[2] *= 1e9
    step, _ = PrivateGradient(Clipper(model, loss), clip_norm=0.3, noise_multiplier=0, lot_size=7)(inputs, targets)
    slow = clipped_sum(model, inputs, targets, loss, clip_norm=0.3, method="loop")
    for part, found in step.items():
        torch.testing.assert_close(found, slow.total[part] / 7, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", sorted(ZOO))
def test_a_clipper_notices_that_the_model_has_changed(name: str) -> None:
    """It was looked over once: afterwards no layer may come or go, and no parameter freeze or thaw."""
    model, draw, loss = ZOO[name]()
    clipper = Clipper(model, loss)
    clipper.clipped_sum(*draw(6), clip_norm=1)
    next(model.parameters()).requires_grad_(False)
    with pytest.raises(ValueError, match="make a new Clipper"):
        clipper.clipped_sum(*draw(6), clip_norm=1)
    next(model.parameters()).requires_grad_(True)
    clipper.clipped_sum(*draw(6), clip_norm=1)
    model.another = nn.Identity()
    with pytest.raises(ValueError, match="make a new Clipper"):
        clipper.clipped_sum(*draw(6), clip_norm=1)


def test_noise_goes_once_onto_the_sum_and_the_average_divides_by_the_expected_lot() -> None:
    total = {"a": torch.full((200_000,), 8.0)}
    made = noisy_average(
        total, clip_norm=3, noise_multiplier=2, lot_size=50, generator=torch.Generator().manual_seed(5)
    )["a"]
    # mean 8/50, standard deviation 6/50; both within 5 standard errors (odds 1e-6), which are 0.2% and 0.16% of it.
    assert abs(float(made.mean()) - 0.16) < 5 * 0.12 / 200_000**0.5
    assert abs(float(made.std()) - 0.12) < 5 * 0.12 / 400_000**0.5


def test_poisson_lots_are_independent_coins() -> None:
    generator = torch.Generator().manual_seed(2)
    sizes = torch.tensor([float(len(poisson_lot(500, 0.02, generator))) for _ in range(4000)])
    # mean 10, variance 9.8; a fixed-size lot would have variance 0. Both within 5 standard errors (odds 1e-6).
    assert abs(float(sizes.mean()) - 10) < 5 * (9.8 / 4000) ** 0.5
    assert abs(float(sizes.var()) - 9.8) < 5 * 9.8 * (2 / 4000) ** 0.5 * 1.1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"clip_norm": 0}, "clip_norm"),
        ({"clip_norm": float("nan")}, "nan"),
        ({"method": "ghost"}, "'ghost'"),
        ({"n": 3}, "equally many"),
    ],
)
def test_bad_input_is_quoted(change: dict[str, object], words: str) -> None:
    model, draw, loss = ZOO["mlp"]()
    inputs, targets = draw(5)
    kept = {"clip_norm": 1.0, **{k: v for k, v in change.items() if k != "n"}}
    with pytest.raises((ValueError, TypeError), match=words):
        clipped_sum(model, inputs[: change.get("n", 5)], targets, loss, **kept)  # type: ignore[arg-type, misc]


def test_what_is_no_model_is_quoted() -> None:
    with pytest.raises(TypeError, match="torch module, got None"):
        clipped_sum(None, torch.ones(1, 2), torch.zeros(1), label_loss, clip_norm=1)  # type: ignore[arg-type]


def test_bad_noise_is_refused_at_the_door_and_quoted() -> None:
    total = {"w": torch.zeros(3)}
    with pytest.raises(ValueError, match="1e\\+300"):
        noisy_average(total, clip_norm=1e300, noise_multiplier=1e300, lot_size=1)
    with pytest.raises(TypeError, match=r"'w'.*0\.j"):
        noisy_average({"w": torch.zeros(3, dtype=torch.complex64)}, clip_norm=1, noise_multiplier=1, lot_size=1)
    with pytest.raises(TypeError, match=r"generator.*'x'"):
        poisson_lot(5, 1, "x")  # type: ignore[arg-type]
