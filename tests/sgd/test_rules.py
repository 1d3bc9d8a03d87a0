"""Rules of layers: one's own in two lines, those of norms and of sequences, and what a slow layer is told."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn

from dpcourse.sgd import Clipper, SlowPathWarning, clipped_sum, register_rule, train
from dpcourse.sgd.clipping.layers import RULES
from tests.sgd.zoo import label_loss


class Scaled(nn.Module):
    """A layer of one's own: every feature times a number."""

    def __init__(self) -> None:
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.rand(9)), nn.Parameter(torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.scale + self.shift


@pytest.fixture
def _rules() -> Iterator[None]:
    before = dict(RULES)
    yield
    RULES.clear()
    RULES.update(before)


MODEL = nn.Sequential(nn.Linear(9, 9), Scaled(), nn.Linear(9, 4))


@pytest.mark.usefixtures("_rules")
def test_a_rule_of_ones_own_takes_two_lines() -> None:
    inputs, targets = torch.randn(8, 9), torch.randint(4, (8,))
    with pytest.warns(SlowPathWarning, match=r"Scaled has no rule \(at '1'\)"):
        slow = clipped_sum(MODEL, inputs, targets, label_loss, clip_norm=0.3)

    @register_rule(Scaled)
    def scaled(layer: Scaled, inputs: Tensor, output_gradients: Tensor) -> dict[str, Tensor]:
        return {"scale": inputs * output_gradients, "shift": output_gradients.sum(1)}

    with warnings.catch_warnings():
        warnings.simplefilter("error", SlowPathWarning)
        fast = clipped_sum(MODEL, inputs, targets, label_loss, clip_norm=0.3)
    torch.testing.assert_close(fast.norms, slow.norms)
    torch.testing.assert_close(fast.total, slow.total, rtol=1e-4, atol=1e-6)


@pytest.mark.usefixtures("_rules")
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda layer, a, g: {"scale": 2 * a * g, "shift": g.sum(1)}, "the gradient of '1.scale'"),
        (lambda layer, a, g: {"scale": a * g}, "gives no gradient of 'shift'"),
        (lambda layer, a, g: {"scale": a[:, :1] * g, "shift": g.sum(1)}, "the gradient of '1.scale'"),
    ],
)
def test_a_wrong_rule_is_not_used(wrong: object, words: str) -> None:
    register_rule(Scaled)(wrong)
    inputs, targets = torch.randn(8, 9), torch.randint(4, (8,))
    right = clipped_sum(MODEL, inputs, targets, label_loss, clip_norm=0.3, method="loop")
    with pytest.warns(SlowPathWarning, match=words):
        total = clipped_sum(MODEL, inputs, targets, label_loss, clip_norm=0.3).total
    torch.testing.assert_close(total, right.total, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (nn.LayerNorm(6), (5, 6)),
        (nn.RMSNorm(6), (5, 6)),
        (nn.RMSNorm((5, 6)), (5, 6)),
        (nn.GroupNorm(2, 4), (4, 5, 6)),
        (nn.GroupNorm(2, 4), (4,)),
        (nn.Conv1d(3, 4, 3, padding=1, stride=2), (3, 9)),
        (nn.Conv1d(4, 6, 2, groups=2, dilation=2, bias=False), (4, 9)),
        (nn.Conv1d(1, 24, 300), (1, 700)),
    ],
)
@pytest.mark.parametrize("frozen", [False, True])
def test_norms_and_sequences_have_a_rule(layer: nn.Module, shape: tuple[int, ...], frozen: bool) -> None:
    torch.manual_seed(0)
    features = nn.Sequential(layer, nn.Flatten())(torch.randn(1, *shape)).shape[1]
    model = nn.Sequential(layer, nn.Tanh(), nn.Flatten(), nn.Linear(features, 3))
    list(layer.parameters())[-1].requires_grad_(not frozen)
    inputs, targets = torch.randn(8, *shape), torch.randint(3, (8,))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fast = clipped_sum(model, inputs, targets, label_loss, clip_norm=0.3)
    right = clipped_sum(model, inputs, targets, label_loss, clip_norm=0.3, method="loop")
    torch.testing.assert_close(fast.norms, right.norms, rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(fast.total, right.total, rtol=1e-4, atol=1e-5)


class Recurrent(nn.Module):
    """Reads a sequence, answers at its end."""

    def __init__(self, kind: type[nn.RNNBase]) -> None:
        super().__init__()
        self.memory, self.out = kind(4, 5, batch_first=True), nn.Linear(5, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(self.memory(x)[0][:, -1])


@pytest.mark.parametrize("method", ["fast", "func"])
@pytest.mark.parametrize("kind", [nn.GRU, nn.LSTM, nn.RNN])
def test_recurrent_layers_work_slowly_and_say_so_once(kind: type[nn.RNNBase], method: str) -> None:
    """A GRU ended in a raw error: "output with shape [1, 5] doesn't match the broadcast shape"."""
    torch.manual_seed(0)
    model, inputs, targets = Recurrent(kind), torch.randn(8, 6, 4), torch.randint(3, (8,))
    right = clipped_sum(model, inputs, targets, label_loss, clip_norm=0.3, method="loop")
    clipper = Clipper(model, label_loss, method=method)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            slow = clipper.clipped_sum(inputs, targets, clip_norm=0.3)
    torch.testing.assert_close(slow.total, right.total, rtol=1e-4, atol=1e-6)
    said = [str(one.message) for one in caught if one.category is SlowPathWarning]
    assert len(said) == (0 if (kind, method) == (nn.LSTM, "func") else 1)  # torch.func was asked for, and takes it
    if method == "fast":
        assert f"{kind.__name__} has no rule (at 'memory')" in said[0]


@pytest.mark.parametrize("method", ["fast", "func", "loop"])
@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ({"max_norm": 1.0}, r"Embedding \(at '0'\) with max_norm = 1.0 .* Use max_norm=None"),
        ({"sparse": True}, "sparse=False"),
    ],
)
def test_an_embedding_that_no_clipping_bounds_is_refused(kind: dict[str, object], words: str, method: str) -> None:
    """With max_norm it ended in a raw error of vmap; by the loop, rows changed without any noise on them."""
    model = nn.Sequential(nn.Embedding(9, 4, **kind), nn.Flatten(), nn.Linear(12, 3))  # type: ignore[arg-type]
    before = model[0].weight.detach().clone()
    with pytest.raises(ValueError, match=words):
        clipped_sum(model, torch.randint(9, (8, 3)), torch.randint(3, (8,)), label_loss, clip_norm=1, method=method)
    assert torch.equal(model[0].weight, before)


class Points:
    inputs, targets = torch.randn(60, 6, 4), torch.randint(3, (60,))


@pytest.mark.filterwarnings("ignore::dpcourse.sgd.SlowPathWarning")
def test_a_recurrent_model_trains() -> None:
    run = train(Recurrent(nn.GRU), Points(), epsilon=3, lot_size=20, epochs=1, seed=0, progress=False)
    assert run.finished
