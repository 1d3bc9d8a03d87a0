"""Does a DP-SGD step keep its promise? An audit from outside, and five faults that it finds.

The loss x . theta has the gradient x, so a dataset *is* its gradients, and the worst neighbours can be written down. A
release takes such a dataset and publishes one noisy average; thousands of releases of two neighbours give a lower
bound on the true epsilon (``dpcourse.audit``), to be compared with what noise and sampling promise.
"""

from __future__ import annotations

import inspect
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType

import numpy as np
import torch
from torch import Tensor, nn

from dpcourse import checks
from dpcourse.accounting.dp_sgd import dp_sgd_epsilon
from dpcourse.audit import epsilon_lower_bound
from dpcourse.audit.epsilon import EpsilonBound
from dpcourse.sgd import reference
from dpcourse.sgd.clipping.clipper import Clipper
from dpcourse.sgd.private_step import PrivateGradient, toss_coins


@dataclass(frozen=True)
class Setting:
    """What a release is to do: clip to this length, add this noise, to a lot that is drawn and expected like this."""

    clip_norm: float
    noise_multiplier: float
    sampling_rate: float
    lot_size: float


Release = Callable[[Tensor, Setting, torch.Generator], Tensor]  # gradients (n, d) -> a published vector of length d


def honest(gradients: Tensor, setting: Setting, generator: torch.Generator) -> Tensor:
    """The step of this package: a Poisson lot, each gradient clipped, noise once on the sum, the expected lot."""
    lot = gradients[toss_coins(len(gradients), setting.sampling_rate, generator)]
    private_gradient = PrivateGradient(
        _product(gradients.shape[1]),
        clip_norm=setting.clip_norm,
        noise_multiplier=setting.noise_multiplier,
        lot_size=setting.lot_size,
        generator=generator,
    )
    return private_gradient(lot, torch.zeros(len(lot)))[0]["weight"][0]


@lru_cache(maxsize=8)
def _product(width: int) -> Clipper:
    """x . theta; theta does not matter. One clipper for all draws, which has tried out a lot: zeros tell nothing."""
    clipper = Clipper(nn.Linear(width, 1, bias=False), _first_output)
    clipper.clipped_sum(torch.ones(5, width), torch.zeros(5), clip_norm=1.0)
    return clipper


def _first_output(outputs: Tensor, targets: Tensor) -> Tensor:
    return outputs[:, 0]


def edited_reference(before: str, after: str) -> ModuleType:
    """The reference's page with these words in the place of others, which must stand on it exactly once."""
    page = inspect.getsource(reference)
    if page.count(before) != 1:
        raise ValueError(f"before must stand once on the page of sgd.reference, got {before!r}: {page.count(before)}")
    copy = ModuleType("edited_reference", f"sgd.reference, but {after!r} for {before!r}")
    exec(compile(page.replace(before, after), "edited_reference.py", "exec"), vars(copy))
    return copy


def release_of(page: ModuleType) -> Release:
    """The step of the reference, or of an edited copy of it, as the audit takes it."""

    def release(gradients: Tensor, setting: Setting, generator: torch.Generator) -> Tensor:
        (average,) = page.private_gradient(
            nn.Linear(gradients.shape[1], 1, bias=False),
            gradients,
            torch.zeros(len(gradients)),
            _first_output,
            **vars(setting),
            generator=generator,
        )
        return average[0]

    return release


def no_clipping(gradients: Tensor, setting: Setting, generator: torch.Generator) -> Tensor:
    """Fault: the gradients are summed as they are."""
    lot = gradients[toss_coins(len(gradients), setting.sampling_rate, generator)]
    return (lot.sum(0) + _noise(gradients, setting.noise_multiplier * setting.clip_norm, generator)) / setting.lot_size


def batch_clipping(gradients: Tensor, setting: Setting, generator: torch.Generator) -> Tensor:
    """Fault: the sum is clipped instead of each example: one person can turn it around, which moves it by 2 C."""
    total = gradients[toss_coins(len(gradients), setting.sampling_rate, generator)].sum(0)
    total = total * min(1.0, setting.clip_norm / max(float(total.norm()), 1e-12))
    return (total + _noise(gradients, setting.noise_multiplier * setting.clip_norm, generator)) / setting.lot_size


def unscaled_noise(gradients: Tensor, setting: Setting, generator: torch.Generator) -> Tensor:
    """Fault: noise of standard deviation sigma where sigma C was promised."""
    lot = _clipped(gradients[toss_coins(len(gradients), setting.sampling_rate, generator)], setting.clip_norm)
    return (lot.sum(0) + _noise(gradients, setting.noise_multiplier, generator)) / setting.lot_size


def noise_per_example(gradients: Tensor, setting: Setting, generator: torch.Generator) -> Tensor:
    """Fault (line 7 of the slide): every example brings its own noise, so an empty lot brings none."""
    lot = _clipped(gradients[toss_coins(len(gradients), setting.sampling_rate, generator)], setting.clip_norm)
    noise = sum(
        (_noise(gradients, setting.noise_multiplier * setting.clip_norm, generator) for _ in lot),
        torch.zeros(lot.shape[1]),
    )
    return (lot.sum(0) + noise) / setting.lot_size


def fixed_size_lots(gradients: Tensor, setting: Setting, generator: torch.Generator) -> Tensor:
    """Fault: always the same number of examples, accounted as Poisson: who comes in pushes somebody out."""
    size = min(len(gradients), round(setting.lot_size))
    lot = _clipped(gradients[torch.randperm(len(gradients), generator=generator)[:size]], setting.clip_norm)
    return (lot.sum(0) + _noise(gradients, setting.noise_multiplier * setting.clip_norm, generator)) / setting.lot_size


FAULTS: dict[str, Release] = {
    "no clipping": no_clipping,
    "batch clipping": batch_clipping,
    "noise not scaled by C": unscaled_noise,
    "noise per example": noise_per_example,
    "fixed-size lots accounted as Poisson": fixed_size_lots,
}


def _noise(like: Tensor, deviation: float, generator: torch.Generator) -> Tensor:
    return deviation * torch.randn(like.shape[1], generator=generator)


def _clipped(gradients: Tensor, clip_norm: float) -> Tensor:
    return gradients * (clip_norm / gradients.norm(dim=1, keepdim=True).clamp(min=1e-12)).clamp(max=1)


#: Neighbours that bring faults to light: the others' gradients, and that of the one person more (in units of C).
SCENES: dict[str, tuple[list[float], float, float]] = {
    "an outlier": ([0.0, 0.0, 0.0], 100.0, 1.0),
    "one against all": ([-1.0, -1.0, -1.0], 50.0, 1.0),
    "one against all, sampled": ([-1.0, -1.0, -1.0], 1.0, 0.5),
    "alone or nobody": ([], 1.0, 1.0),
}


@dataclass(frozen=True)
class StepAudit:
    """The most telling pair of neighbours, and the bound that it gave."""

    scene: str
    bound: EpsilonBound

    @property
    def violated(self) -> bool:
        """Whether the promised epsilon is refuted."""
        return self.bound.violated

    def __str__(self) -> str:
        verdict = "refuted" if self.violated else "not refuted"
        return f"claimed {self.bound.claimed:.2f}, at least {self.bound.epsilon:.2f} ({self.scene}): {verdict}"


def audit_step(
    step: Release | ModuleType,
    *,
    clip_norm: float = 4.0,
    noise_multiplier: float = 1.0,
    delta: float = 0.1,
    draws: int = 4000,
    seed: int | None = None,
) -> StepAudit:
    """Audit a step (or a page like ``sgd.reference`` that holds one) over several pairs of neighbours.

    A correct step is accused with probability 1e-6 at most. A large delta is meant: it is where few draws tell most.
    """
    release = release_of(step) if isinstance(step, ModuleType) else step
    if not callable(release):
        raise TypeError(f"step must be a function of gradients, setting and generator, got {step!r}")
    draws = checks.whole_number("draws", draws, at_least=100)
    start = secrets.randbits(31) if seed is None else checks.whole_number("seed", seed, at_least=0)
    audits: list[tuple[float, StepAudit]] = []
    for number, (scene, (others, person, sampling_rate)) in enumerate(SCENES.items()):
        without = torch.tensor([[other, 0.0] for other in others]).reshape(-1, 2) * clip_norm
        present = torch.cat([without, torch.tensor([[person * clip_norm, 0.0]])])
        setting = Setting(clip_norm, noise_multiplier, sampling_rate, max(1.0, sampling_rate * len(present)))
        outputs = [
            _many(release, data, setting, draws, start + 2 * number + world)
            for world, data in enumerate((present, without))
        ]
        claimed = dp_sgd_epsilon(noise_multiplier, sampling_rate, 1, delta)
        width = outputs[0].shape[1]
        level = 1e-6 / len(SCENES) / width  # several pairs and coordinates are tried: their false alarms add up
        for one, other in zip(outputs[0].T, outputs[1].T, strict=True):
            bound = epsilon_lower_bound(one, other, delta=delta, level=level, claimed=claimed)
            audits.append((bound.epsilon / claimed, StepAudit(scene, bound)))
    return max(audits, key=lambda audit: audit[0])[1]


def _many(release: Release, data: Tensor, setting: Setting, draws: int, seed: int) -> np.ndarray:
    generator = torch.Generator().manual_seed(seed)
    outputs = [release(data, setting, generator) for _ in range(draws)]
    if getattr(outputs[0], "shape", None) != data.shape[1:]:
        raise ValueError(
            f"step must give a tensor of the shape {tuple(data.shape[1:])}, one number for each coordinate of a "
            f"gradient, got {outputs[0]!r}"
        )
    return torch.stack(outputs).numpy()
