"""Small models for the lecture, made of layers that the fast way to clip knows, and their losses.

Each takes a ``seed``: the same seed gives the same initial weights, and leaves torch's own generator alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dpcourse import checks
from dpcourse.data.chat_messages import ALPHABET, IGNORED, WINDOW
from dpcourse.data.film_reviews import PADDING, Vocabulary


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(checks.whole_number("seed", seed, at_least=0))
        yield


def digit_mlp(hidden: int = 32, *, seed: int = 0) -> nn.Sequential:
    """64 pixels, ``hidden`` tanh units, 10 digits. Bounded activations lose less to clipping (Papernot et al. 2021)."""
    hidden = checks.whole_number("hidden", hidden)
    with _seeded(seed):
        return nn.Sequential(nn.Flatten(), nn.Linear(64, hidden), nn.Tanh(), nn.Linear(hidden, 10))


def digit_cnn(channels: int = 8, *, seed: int = 0) -> nn.Sequential:
    """Two convolutions with pooling between them, and one linear layer: 8 x 8 images to 10 digits."""
    channels = checks.whole_number("channels", channels)
    with _seeded(seed):
        return nn.Sequential(
            nn.Conv2d(1, channels, 3, padding=1),
            nn.Tanh(),
            nn.MaxPool2d(2),
            nn.Conv2d(channels, 2 * channels, 3, padding=1),
            nn.Tanh(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(8 * channels, 10),
        )


class TextClassifier(nn.Module):
    """The mean of a text's word vectors, padding left out, and one linear layer: (batch, words) to (batch, classes)."""

    def __init__(self, vocabulary: Vocabulary | int, *, width: int = 32, classes: int = 2, seed: int = 0) -> None:
        super().__init__()
        size = len(vocabulary) if isinstance(vocabulary, Vocabulary) else vocabulary
        size, width = checks.whole_number("vocabulary", size, at_least=2), checks.whole_number("width", width)
        with _seeded(seed):
            self.words = nn.Embedding(size, width, padding_idx=PADDING)
            self.decide = nn.Linear(width, checks.whole_number("classes", classes, at_least=2))

    def forward(self, ids: Tensor) -> Tensor:
        there = (ids != PADDING).unsqueeze(-1)
        mean = (self.words(ids) * there).sum(1) / there.sum(1).clamp(min=1)
        return self.decide(mean)


class Attention(nn.Module):
    """Causal self-attention (Vaswani et al. 2017): each position reads itself and those before it."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.read, self.write = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        batch, time, width = x.shape
        q, k, v = self.read(x).view(batch, time, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        future = torch.ones(time, time, dtype=torch.bool, device=x.device).triu(1)
        scores = (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])).masked_fill(future, -math.inf)
        return self.write((scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, time, width))


class Block(nn.Module):
    """Attention, then two linear layers, each with a LayerNorm before it and a shortcut around it."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.before_attention, self.attention = nn.LayerNorm(width), Attention(width, heads)
        self.before_thought, self.wide, self.narrow = (
            nn.LayerNorm(width),
            nn.Linear(width, 2 * width),
            nn.Linear(2 * width, width),
        )

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.before_attention(x))
        return x + self.narrow(F.gelu(self.wide(self.before_thought(x))))


class CharacterModel(nn.Module):
    """A tiny causal transformer: characters (batch, time) to logits of the next one (batch, time, alphabet)."""

    def __init__(
        self,
        alphabet: int = len(ALPHABET),
        *,
        width: int = 64,
        layers: int = 2,
        heads: int = 4,
        window: int = WINDOW,
        seed: int = 0,
    ) -> None:
        super().__init__()
        width, heads = checks.whole_number("width", width), checks.whole_number("heads", heads)
        if width % heads:
            raise ValueError(f"width must be a multiple of heads = {heads}, got {width!r}")
        self.window = checks.whole_number("window", window)
        with _seeded(seed):
            self.characters = nn.Embedding(checks.whole_number("alphabet", alphabet, at_least=2), width)
            self.positions = nn.Embedding(self.window, width)
            self.blocks = nn.ModuleList(Block(width, heads) for _ in range(checks.whole_number("layers", layers)))
            self.norm, self.decide = nn.LayerNorm(width), nn.Linear(width, alphabet)

    def forward(self, ids: Tensor) -> Tensor:
        batch, time = ids.shape
        if time > self.window:
            raise ValueError(f"texts must be at most {self.window} characters long, got {time}")
        x = self.characters(ids) + self.positions(torch.arange(time, device=ids.device).expand(batch, time))
        for block in self.blocks:
            x = block(x)
        return self.decide(self.norm(x))


def cross_entropy(outputs: Tensor, targets: Tensor) -> Tensor:
    """-ln Pr[label], one number for each example."""
    return F.cross_entropy(outputs, targets, reduction="none")


def next_character_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """The mean over a message's characters of -ln Pr[character | those before it]: one number for each message."""
    losses = F.cross_entropy(logits.transpose(1, 2), targets, reduction="none", ignore_index=IGNORED)
    return losses.sum(1) / (targets != IGNORED).sum(1).clamp(min=1)
