"""A DP-SGD step of ours against Opacus' fastest, of the same model on the same batch; both in turns with plain SGD.

The promise is the ratio of the two: that to plain SGD moves with the machine, and is told beside it. Every model is
timed in processes of its own that keep the memory they gave back (``MALLOC``, for all ways alike). Otherwise it is up
to chance which of two steps must ask the system for its pages anew, and that moves a convolutional network's time by a
third, in either direction. The figure is the median of several processes, since where in memory a model lies is decided
once in each.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.figures import Figure, median_seconds
from dpcourse.sgd.clipping import Clipper
from dpcourse.sgd.noise import generator_from
from dpcourse.sgd.private_step import PrivateGradient

BATCH, REPEATS, IN_A_TURN, PROCESSES = 256, 15, 5, 5
LIMITS = {"MLP": 0.65, "CNN": 0.75, "transformer": 0.9}
OPACUS = ("hooks", "functorch", "ghost")
MALLOC = {"MALLOC_TRIM_THRESHOLD_": str(2**30), "MALLOC_MMAP_THRESHOLD_": str(2**30)}  # what glibc's malloc listens to


class Block(nn.Module):
    """Pre-norm attention and feed-forward part."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, self.first, self.second = heads, nn.LayerNorm(width), nn.LayerNorm(width)
        self.inward, self.outward = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        batch, time, width = x.shape
        parts = self.inward(self.first(x)).reshape(batch, time, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(parts[0], parts[1], parts[2], is_causal=True)
        x = x + self.outward(mixed.transpose(1, 2).reshape(batch, time, width))
        return x + self.narrow(F.gelu(self.wide(self.second(x))))


class Transformer(nn.Module):
    """A character-level language model of 130,000 parameters."""

    def __init__(self, letters: int = 60, width: int = 64, length: int = 32) -> None:
        super().__init__()
        self.word, self.place = nn.Embedding(letters, width), nn.Embedding(length, width)
        self.blocks, self.norm = nn.Sequential(Block(width, 4), Block(width, 4)), nn.LayerNorm(width)
        self.out = nn.Linear(width, letters)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(self.norm(self.blocks(self.word(x) + self.place(torch.arange(x.shape[1]).expand_as(x)))))


def label_loss(outputs: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(outputs, targets, reduction="none")


def word_loss(outputs: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(outputs.transpose(1, 2), targets, reduction="none").mean(1)


def cases(batch: int = BATCH) -> dict[str, tuple[nn.Module, Tensor, Tensor, Callable[..., Tensor]]]:
    """The three models of the promise, with one batch each."""
    torch.manual_seed(0)
    mlp = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
    cnn = nn.Sequential(
        nn.Conv2d(1, 16, 8, 2, padding=3), nn.ReLU(), nn.MaxPool2d(2, 1), nn.Conv2d(16, 32, 4, 2), nn.ReLU(),
        nn.MaxPool2d(2, 1), nn.Flatten(), nn.Linear(512, 32), nn.ReLU(), nn.Linear(32, 10),
    )  # fmt: skip
    labels, words = torch.randint(10, (batch,)), torch.randint(60, (batch, 32))
    return {
        "MLP": (mlp, torch.randn(batch, 784), labels, label_loss),
        "CNN": (cnn, torch.randn(batch, 1, 28, 28), labels, label_loss),
        "transformer": (Transformer(), words, words.roll(-1, 1), word_loss),
    }


def plain_step(model: nn.Module, x: Tensor, y: Tensor, loss: Callable[..., Tensor]) -> Callable[[], None]:
    optimiser = torch.optim.SGD(model.parameters(), lr=1e-4)

    def step() -> None:
        optimiser.zero_grad()
        loss(model(x), y).mean().backward()
        optimiser.step()

    return step


def our_step(
    model: nn.Module, x: Tensor, y: Tensor, loss: Callable[..., Tensor], method: str = "fast", seed: int | None = None
) -> Callable[[], None]:
    parameters, generator = dict(model.named_parameters()), generator_from(seed)
    optimiser = torch.optim.SGD(parameters.values(), lr=1e-4)
    clipper = Clipper(model, loss, method=method)
    private_gradient = PrivateGradient(clipper, clip_norm=1, noise_multiplier=1, lot_size=len(x), generator=generator)

    def step() -> None:
        gradient, _ = private_gradient(x, y)
        for name, parameter in parameters.items():
            parameter.grad = gradient[name]
        optimiser.step()

    return step


def opacus_step(model: nn.Module, x: Tensor, y: Tensor, loss: Callable[..., Tensor], mode: str) -> Callable[[], None]:
    from opacus.grad_sample.utils import wrap_model
    from opacus.optimizers import DPOptimizer, DPOptimizerFastGradientClipping

    options: dict[str, Any] = {"noise_multiplier": 1.0, "max_grad_norm": 1.0, "expected_batch_size": len(x)}
    sgd = torch.optim.SGD(model.parameters(), lr=1e-4)
    if mode == "ghost":
        wrapped = wrap_model(model, "ghost", max_grad_norm=1.0)
        optimiser: Any = DPOptimizerFastGradientClipping(sgd, **options)

        def ghost() -> None:
            losses = loss(wrapped(x), y)
            optimiser.zero_grad()
            losses.sum().backward(retain_graph=True)
            weights = wrapped.get_clipping_coef()
            optimiser.zero_grad()
            wrapped.disable_hooks()
            (weights * losses).sum().backward()
            wrapped.enable_hooks()
            optimiser.step()

        return ghost
    wrapped = wrap_model(model, mode)
    optimiser = DPOptimizer(sgd, **options)

    def step() -> None:
        optimiser.zero_grad()
        loss(wrapped(x), y).sum().backward()
        optimiser.step()

    return step


PEAK = """
import json, sys, torch
torch.set_num_threads(1)
from benchmarks.sgd import cases, our_step, plain_step, tensors_held
import gc
from dpcourse.sgd.clipping.conv2d import ConvolutionRule
def high_water():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) / 1024
model, *batch = cases(1024)[{name!r}]
step = {make}(model, *batch)
for _ in range(3): step()
process = high_water()
rooms = [t for one in gc.get_objects() if isinstance(one, ConvolutionRule) for t in one.memory.values()]
standing = sum(t.nbytes for t in [*model.parameters(), *batch[:2], *rooms]) / 2**20
print(json.dumps([standing + tensors_held(step), process]))
"""


def tensors_held(step: Callable[[], None]) -> float:
    """The most that a step's own tensors hold at one moment, in MB: torch's account of what it takes and frees."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as watched:
        step()
    blocks = [e for e in watched.profiler.kineto_results.events() if e.name() == "[memory]"]
    held = most = 0
    for block in sorted(blocks, key=lambda e: e.start_ns()):
        held += block.nbytes()
        most = max(most, held)
    return most / 2**20


def peak(name: str, make: str) -> tuple[float, float]:
    """MB that a step on 1,024 examples needs, in a process of its own: model, data and tensors; the whole process."""
    done = subprocess.run([sys.executable, "-c", PEAK.format(name=name, make=make)], capture_output=True, check=True)
    tensors, process = json.loads(done.stdout.splitlines()[-1])
    return tensors, process


def every_way(name: str) -> dict[str, float]:
    """The time of a step, every way, relative to plain SGD's."""
    ways: dict[str, Callable[[], Callable[[], None]]] = {
        "ours": lambda: our_step(*cases()[name]),
        "ours with a seed": lambda: our_step(*cases()[name], seed=0),
        "ours by torch.func": lambda: our_step(*cases()[name], method="func"),
        **{f"Opacus {mode}": lambda mode=mode: opacus_step(*cases()[name], mode) for mode in OPACUS},
    }
    ratios: dict[str, float] = {}
    for who, make in ways.items():
        try:
            step = make()
            step()
        except Exception as error:  # a mode that cannot take this model is no figure of ours
            print(f"  {who} does not take the {name}: {type(error).__name__}: {str(error)[:100]}")
            continue
        ratios[who] = _ratio(step, plain_step(*cases()[name]), REPEATS if who == "ours" else REPEATS // 3)
    return ratios


def _ratio(step: Callable[[], None], plain: Callable[[], None], turns: int) -> float:
    """In turns of a few steps each, as training takes them: the first of a turn finds the other's memory, not its own.

    One pair at a time: a way that holds every example's gradient, taken in between, slows down the other two, and ours
    more than plain SGD.
    """
    ratios = []
    for _ in range(turns):
        took = []
        for one in (step, plain):
            one()
            took.append(median_seconds(one, repeats=IN_A_TURN)[0])
        ratios.append(took[0] / took[1])  # of neighbours in time: the machine is now faster, now slower
    return statistics.median(ratios)


CHILD = """
import json, warnings, torch
warnings.filterwarnings("ignore")
torch.set_num_threads({threads})
from benchmarks import sgd
print(json.dumps(sgd.{function}(*{arguments!r})))
"""


def _in_a_process(function: str, threads: int, *arguments: str) -> Any:
    code = CHILD.format(function=function, arguments=arguments, threads=threads)
    environment = {**os.environ, **MALLOC}
    child = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True, env=environment)
    *lines, answer = child.stdout.splitlines()
    print("\n".join(lines), end="\n" if lines else "")
    return json.loads(answer)


def _against_opacus(name: str, threads: int) -> Figure:
    """Opacus' fastest is told anew in every process: one busy moment does not decide it."""
    every = [_in_a_process("every_way", threads, name) for _ in range(PROCESSES)]
    ratios = sorted(
        ways["ours"] / min(ratio for who, ratio in ways.items() if who.startswith("Opacus")) for ways in every
    )
    notes = [f"in {PROCESSES} processes {', '.join(f'{ratio:.2f}' for ratio in ratios)}; relative to plain SGD"]
    notes += [f"{who} {statistics.median(ways[who] for ways in every):.3g}" for who in every[0]]
    what = f"time of a DP-SGD step / Opacus' fastest, {name}, batch {BATCH}, torch threads: {threads}"
    return Figure(what, statistics.median(ratios), LIMITS[name], "; ".join(notes))


def run() -> list[Figure]:
    """Time relative to Opacus' best, and all to plain SGD beside it; then memory."""
    every = sorted({1, torch.get_num_threads()})
    figures = [_against_opacus(name, threads) for threads in every for name in LIMITS]
    peaks = {name: (peak(name, "our_step"), peak(name, "plain_step")) for name in LIMITS}
    for i, what in enumerate(("tensors", "process")):
        ratios = {name: ours[i] / plain[i] for name, (ours, plain) in peaks.items()}
        detail = ", ".join(f"{name} {value:.2f}" for name, value in ratios.items())
        title = f"peak memory of a DP-SGD step / plain SGD, batch 1,024, {what}"
        figures.append(Figure(title, max(ratios.values()), 1.5, detail))
    return figures
