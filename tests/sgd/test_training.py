"""train(): within its budget, repeatable, interrupted and resumed without losing model or ledger; and DP-FedAvg."""

from __future__ import annotations

import math
import os
import signal
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from dpcourse.accounting.dp_sgd import dp_sgd_epsilon
from dpcourse.sgd import OddTraining, Run, plan, train
from dpcourse.sgd.fedavg import federated_round, train_federated, user_update
from tests.sgd.zoo import label_loss


@dataclass(frozen=True)
class Points:
    inputs: Tensor
    targets: Tensor


def two_clouds(n: int = 300) -> Points:
    generator = torch.Generator().manual_seed(4)
    targets = torch.arange(n) % 2
    return Points(torch.randn(n, 2, generator=generator) + 2.0 * targets[:, None], targets)


def model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))


SETTINGS: dict[str, Any] = {"epsilon": 2.0, "delta": 1e-4, "lot_size": 30, "epochs": 4, "seed": 1, "progress": False}


def weights(run: Run) -> Tensor:
    return torch.cat([p.detach().flatten() for p in run.model.parameters()])


def test_it_learns_and_spends_what_it_was_given_and_no_more() -> None:
    run = train(model(), two_clouds(), **SETTINGS)
    assert run.finished
    assert 1.99 < run.epsilon <= 2.0
    assert run.epsilon == pytest.approx(dp_sgd_epsilon(run.plan.noise_multiplier, 0.1, 40, 1e-4), rel=1e-9)
    assert run.spent.epsilon == run.epsilon
    costs = [moment.epsilon for moment in run.history]
    assert costs == sorted(costs)
    assert run.accuracy is not None
    assert run.accuracy > 0.85  # the best possible is 92%


def test_given_the_noise_it_stops_before_the_budget_is_overspent() -> None:
    run = train(model(), two_clouds(), **{**SETTINGS, "noise_multiplier": 2.0, "epochs": 1000})
    assert run.epsilon <= 2.0
    assert dp_sgd_epsilon(2.0, 0.1, run.step + 1, 1e-4) > 2.0


def test_the_same_seed_gives_the_same_model_and_none_gives_another() -> None:
    first, second = (train(model(), two_clouds(), **SETTINGS) for _ in range(2))
    assert torch.equal(weights(first), weights(second))
    third, fourth = (train(model(), two_clouds(), **{**SETTINGS, "seed": None}) for _ in range(2))
    assert not torch.equal(weights(third), weights(fourth))


def test_interrupted_saved_and_resumed_it_ends_where_it_would_have_ended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = train(model(), two_clouds(), momentum=0.5, **SETTINGS)
    calls = 0

    def stops(outputs: Tensor, targets: Tensor) -> Tensor:
        nonlocal calls
        if len(targets) > 5 and torch.is_grad_enabled():  # not where model and loss are tried out, nor at a look
            calls += 1
            if calls == 20:
                raise KeyboardInterrupt
        return label_loss(outputs, targets)

    broken = train(model(), two_clouds(), momentum=0.5, loss=stops, looks=1, **{**SETTINGS, "progress": True})
    assert f"interrupted at step 19 of {broken.plan.steps}, ε {broken.epsilon:.2f} of 2:" in capsys.readouterr().out
    assert not broken.finished
    assert broken.step == broken.history[-1].step == 19  # it was looked at once more, before it was given back
    assert broken.accuracy is not None
    assert broken.epsilon < whole.epsilon
    broken.save(tmp_path / "run.pt")
    loaded = Run.load(tmp_path / "run.pt", model())
    assert loaded.plan == broken.plan
    # The interrupted step had drawn its lot already, so the rest of the run differs in its draws, not in its cost.
    done = train(loaded.model, two_clouds(), resume=loaded, **SETTINGS)
    assert done.finished
    assert done.epsilon == whole.epsilon


def test_a_run_without_a_seed_never_uses_the_same_noise_twice(tmp_path: Path) -> None:
    begun = Run(model(), plan(300, epsilon=2.0, delta=1e-4, clip_norm=1, lot_size=30, epochs=1, learning_rate=1))
    begun.state = {"generator": torch.Generator().get_state()}
    begun.save(tmp_path / "run.pt")
    assert "generator" not in Run.load(tmp_path / "run.pt", model()).state


def test_without_a_budget_it_is_plain_sgd() -> None:
    run = train(model(), two_clouds(), **{**SETTINGS, "epsilon": math.inf})
    assert run.plan.noise_multiplier == 0
    assert run.epsilon == math.inf
    assert run.accuracy is not None
    assert run.accuracy > 0.88


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": -1}, "-1"),
        ({"delta": 0}, "delta"),
        ({"lot_size": 301}, "301"),
        ({"clip_norm": 0}, "clip"),
        ({"noise_multiplier": 0.01}, "already costs more"),
        ({"noise_multiplier": 2.0, "epsilon": math.inf}, r"2\.0"),
        ({"epochs": 0}, "epochs"),
        ({"momentum": 5}, "5"),
        ({"seed": "x"}, "'x'"),
        ({"resume": "run.pt"}, r"run\.pt"),
        ({"test": (1, 2)}, "tuple"),
    ],
)
def test_bad_input_is_quoted(change: dict[str, Any], words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=words):
        train(model(), two_clouds(), **{**SETTINGS, **change})


@pytest.mark.parametrize(
    ("outputs", "targets", "words"),
    [
        (nn.Linear(2, 3), torch.arange(300) % 5, "from 0 to 2, for the model has 3 outputs, got 3"),
        (nn.Linear(2, 3), torch.arange(300) % 3 - 1, "got -1"),
        (nn.Linear(2, 3), torch.ones(300), "torch.float32"),
        (nn.Sequential(nn.Linear(2, 1), nn.Flatten(0)), torch.zeros(300, dtype=torch.long), r"shape \(1,\)"),
    ],
)
def test_labels_without_an_output_are_named_before_anything_is_trained(
    outputs: nn.Module, targets: Tensor, words: str
) -> None:
    inputs, before = two_clouds().inputs, next(outputs.parameters()).clone()
    with pytest.raises(ValueError, match=words):
        train(outputs, Points(inputs, targets), **SETTINGS)
    with pytest.raises(ValueError, match=words):
        train(outputs, Points(inputs, torch.zeros(300, dtype=torch.long)), test=Points(inputs, targets), **SETTINGS)
    users = torch.arange(300) % 10
    with pytest.raises(ValueError, match=words):
        train_federated(
            outputs, Points(inputs, targets), users, rounds=1, sampling_rate=1, noise_multiplier=1, delta=1e-3
        )
    assert torch.equal(before, next(outputs.parameters()))


def test_examples_without_a_label_are_left_out_as_torch_does() -> None:
    data = two_clouds()
    data.targets[::3] = -100
    assert train(model(), data, **SETTINGS).finished


def test_what_hardly_anybody_means_is_said() -> None:
    with pytest.warns(OddTraining, match=r"delta = 0\.5"):
        train(model(), two_clouds(), **{**SETTINGS, "delta": 0.5})
    odd = two_clouds()
    odd.inputs[:7, 1] = math.nan
    with pytest.warns(OddTraining, match="7 of 300"):
        run = train(model(), odd, **SETTINGS)
    with pytest.warns(OddTraining, match=rf"for epsilon = {run.epsilon:.4g} at delta = 0\.0001"):
        train(run.model, two_clouds(), **SETTINGS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        once = train(model(), two_clouds(), **{**SETTINGS, "epsilon": math.inf})
        train(once.model, two_clouds(), **SETTINGS)


def test_another_dataset_cannot_be_slipped_under_a_resumed_run() -> None:
    run = Run(model(), plan(300, epsilon=1, delta=1e-5, clip_norm=1, lot_size=30, epochs=1, learning_rate=1))
    with pytest.raises(ValueError, match="300"):
        train(run.model, two_clouds(200), resume=run, **SETTINGS)


def test_what_was_begun_is_not_finished_with_another_model_or_budget() -> None:
    run = Run(model(), plan(300, epsilon=2.0, delta=1e-4, clip_norm=1, lot_size=30, epochs=1, learning_rate=1))
    with pytest.raises(ValueError, match=r"run\.model"):
        train(model(), two_clouds(), resume=run, **SETTINGS)
    with pytest.raises(ValueError, match=r"epsilon = 2\.0, got 5"):
        train(run.model, two_clouds(), resume=run, **{**SETTINGS, "epsilon": 5})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"clip_norm": 0.3}, r"clip_norm = 1\.0, got 0\.3"),
        ({"lot_size": 40}, r"lot_size = 30\.0, got 40"),
        ({"learning_rate": 0.1}, r"learning_rate = 1\.0, got 0\.1"),
        ({"momentum": 0.9}, r"momentum = 0\.0, got 0\.9"),
        ({"noise_multiplier": 7.0}, r"got 7\.0"),
        ({"seed": 5}, "seed = None, got 5"),
        ({"epochs": 2}, "10 steps, got epochs = 2: 20 steps"),
        ({"epochs": 0.5}, "10 steps, got epochs = 0.5: 5 steps"),
    ],
)
def test_nor_with_other_settings_and_the_same_ones_may_be_named_again(change: dict[str, Any], words: str) -> None:
    budget = {"epsilon": 2.0, "delta": 1e-4}
    named = {"clip_norm": 1, "lot_size": 30, "epochs": 1, "learning_rate": 1}
    run = Run(model(), plan(300, **budget, **named))
    with pytest.raises(ValueError, match=words):
        train(run.model, two_clouds(), resume=run, progress=False, **budget, **change)
    assert run.step == 0
    assert train(run.model, two_clouds(), resume=run, progress=False, **budget, **named).finished


def test_a_run_that_sigma_ends_early_is_resumed_by_the_same_words() -> None:
    words = {
        "epsilon": 2.0,
        "delta": 1e-4,
        "noise_multiplier": 2.0,
        "clip_norm": 1,
        "lot_size": 30,
        "epochs": 500,
        "learning_rate": 1,
    }
    run = Run(model(), plan(300, **words))
    assert run.plan.steps < 5_000
    assert train(run.model, two_clouds(), resume=run, progress=False, **words).finished


def test_a_run_that_fails_half_way_is_not_lost() -> None:
    calls = 0

    def fails(outputs: Tensor, targets: Tensor) -> Tensor:
        nonlocal calls
        calls += len(targets) > 5 and torch.is_grad_enabled()
        if calls == 10:
            raise RuntimeError("out of luck")
        return label_loss(outputs, targets)

    with pytest.raises(RuntimeError, match="out of luck") as caught:
        train(model(), two_clouds(), loss=fails, looks=1, **SETTINGS)
    assert caught.value.run.step == 9  # type: ignore[attr-defined]
    assert "epsilon" in caught.value.__notes__[0]


def test_a_file_that_holds_no_run_is_named_and_a_failed_save_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "junk.pt").write_bytes(b"no run")
    with pytest.raises(ValueError, match=r"junk\.pt"):
        Run.load(tmp_path / "junk.pt", model())
    run = Run(model(), plan(9, epsilon=1, delta=1e-5, clip_norm=1, lot_size=9, epochs=1, learning_rate=1))
    run.state["unsaveable"] = (number for number in ())
    with pytest.raises(TypeError, match="generator"):
        run.save(tmp_path / "run.pt")
    with pytest.raises(ValueError, match=r"no folder .*nowhere' to save 'run\.pt'"):
        run.save(tmp_path / "nowhere" / "run.pt")
    assert [path.name for path in tmp_path.iterdir()] == ["junk.pt"]


def test_a_user_with_everything_they_wrote_moves_the_sum_by_the_clip_at_most() -> None:
    data = two_clouds()
    change, length = user_update(
        model(), data.inputs[:40] * 100, data.targets[:40], label_loss, learning_rate=1.0, epochs=3, clip_norm=0.2
    )
    assert length > 0.2
    assert math.sqrt(sum(float(part.square().sum()) for part in change.values())) == pytest.approx(0.2, rel=1e-5)


def test_federated_training_learns_and_accounts_for_users() -> None:
    data, users = two_clouds(), torch.arange(300) // 5  # 60 users with 5 examples each
    made = model()
    epsilon = train_federated(
        made,
        data,
        users,
        rounds=40,
        sampling_rate=0.5,
        noise_multiplier=1.0,
        delta=1e-3,
        clip_norm=0.5,
        learning_rate=1.0,
        seed=3,
    )
    assert epsilon == pytest.approx(dp_sgd_epsilon(1.0, 0.5, 40, 1e-3))
    with torch.no_grad():
        right = (made(data.inputs).argmax(1) == data.targets).float().mean().item()
    assert right > 0.8


def test_a_round_that_nobody_joins_still_adds_noise() -> None:
    made = model()
    before = weights(Run(made, plan(9, epsilon=1, delta=1e-5, clip_norm=1, lot_size=9, epochs=1, learning_rate=1)))
    data = two_clouds(10)
    generator = torch.Generator().manual_seed(0)
    took_part = federated_round(
        made,
        data,
        torch.arange(10),
        sampling_rate=1e-6,
        noise_multiplier=1.0,
        clip_norm=1e-6,
        learning_rate=1.0,
        generator=generator,
    )
    after = torch.cat([p.detach().flatten() for p in made.parameters()])
    assert took_part == 0
    assert not torch.equal(before, after)


def test_looks_are_taken_at_equal_distances() -> None:
    """15 looks at 42 steps: one after each fifteenth, and not one after every second step."""
    data = two_clouds()
    run = train(model(), data, epsilon=math.inf, lot_size=len(data.inputs) / 2, epochs=21, looks=15, progress=False)
    assert run.plan.steps == 42
    assert [moment.step for moment in run.history] == [round(42 * look / 15) for look in range(1, 16)]


def test_a_saved_run_of_another_model_changes_nothing(tmp_path: Path) -> None:
    run = train(model(), two_clouds(), **SETTINGS)
    run.save(tmp_path / "run.pt")
    other = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 3))
    before = [parameter.detach().clone() for parameter in other.parameters()]
    with pytest.raises(ValueError, match="another model"):
        Run.load(tmp_path / "run.pt", other)
    assert all(torch.equal(one, two) for one, two in zip(before, other.parameters(), strict=True))
    with pytest.raises(ValueError, match="no saved run at"):
        Run.load(tmp_path, model())


def test_rounds_that_were_interrupted_are_paid_for(capsys: pytest.CaptureFixture[str]) -> None:
    data, users, rounds = two_clouds(), torch.arange(300) // 3, 0

    def loss(outputs: Tensor, targets: Tensor) -> Tensor:
        nonlocal rounds
        rounds += 1
        if rounds == 40:
            os.kill(os.getpid(), signal.SIGINT)
        return label_loss(outputs, targets)

    epsilon = train_federated(
        model(), data, users, rounds=50, sampling_rate=0.1, noise_multiplier=1.0, delta=1e-4, loss=loss, seed=1
    )
    done = int(capsys.readouterr().out.split()[3])
    assert 1 < done < 10
    assert epsilon == dp_sgd_epsilon(1.0, 0.1, done, 1e-4)
