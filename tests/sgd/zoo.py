"""Small models of every kind that the fast path knows, and some that it does not."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def label_loss(outputs: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(outputs, targets, reduction="none")


def word_loss(outputs: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(outputs.transpose(1, 2), targets, reduction="none").mean(1)


class Attention(nn.Module):
    """A causal self-attention of Linear layers and a LayerNorm."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm, self.heads = nn.LayerNorm(width), heads
        self.inward, self.outward = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        batch, time, width = x.shape
        parts = self.inward(self.norm(x)).reshape(batch, time, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        query, key, value = parts
        score = query @ key.transpose(-1, -2) / (width / self.heads) ** 0.5
        mask = torch.ones(time, time, dtype=torch.bool).tril()
        mixed = score.masked_fill(~mask, -1e9).softmax(-1) @ value
        return x + self.outward(mixed.transpose(1, 2).reshape(batch, time, width))


class LanguageModel(nn.Module):
    """A tiny transformer: embeddings, one attention, a feed-forward part."""

    def __init__(self, letters: int = 20, width: int = 16, length: int = 12) -> None:
        super().__init__()
        self.word, self.place = nn.Embedding(letters, width, padding_idx=0), nn.Embedding(length, width)
        self.attention, self.norm = Attention(width, 2), nn.LayerNorm(width)
        self.wide, self.narrow, self.out = nn.Linear(width, 40), nn.Linear(40, width), nn.Linear(width, letters)

    def forward(self, x: Tensor) -> Tensor:
        places = torch.arange(x.shape[1]).expand_as(x)
        h = self.attention(self.word(x) + self.place(places))
        return self.out(h + self.narrow(F.gelu(self.wide(self.norm(h)))))


class Encoder(nn.Module):
    """torch's own transformer, with its own attention, a causal mask and padding."""

    def __init__(self) -> None:
        super().__init__()
        self.word, self.out = nn.Embedding(20, 16), nn.Linear(16, 20)
        one = nn.TransformerEncoderLayer(16, 4, 24, dropout=0.0, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(one, 2, enable_nested_tensor=False)

    def forward(self, x: Tensor) -> Tensor:
        future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        padding = torch.cat([torch.zeros_like(x[:, :1], dtype=torch.bool), x[:, 1:] == 0], 1)
        return self.out(self.layers(self.word(x), mask=future, src_key_padding_mask=padding))


def images(n: int, channels: int = 1, side: int = 8) -> Tensor:
    return torch.randn(n, channels, side, side)


ZOO: dict[str, Callable[[], tuple[nn.Module, Callable[[int], tuple[Tensor, Tensor]], Callable[..., Tensor]]]] = {
    "mlp": lambda: (
        nn.Sequential(nn.Linear(9, 7), nn.Tanh(), nn.Linear(7, 6), nn.ReLU(inplace=True), nn.Linear(6, 4, bias=False)),
        lambda n: (torch.randn(n, 9), torch.randint(4, (n,))),
        label_loss,
    ),
    "cnn": lambda: (
        nn.Sequential(
            nn.Conv2d(1, 6, 3, padding=1), nn.ReLU(inplace=True), nn.MaxPool2d(2),
            nn.Conv2d(6, 8, 3, stride=2, bias=False), nn.Tanh(), nn.Flatten(), nn.Linear(8, 5),
        ),
        lambda n: (images(n), torch.randint(5, (n,))),
        label_loss,
    ),
    "grouped cnn": lambda: (
        nn.Sequential(nn.Conv2d(4, 8, 3, groups=2, dilation=2), nn.Flatten(), nn.Linear(128, 3)),
        lambda n: (images(n, 4), torch.randint(3, (n,))),
        label_loss,
    ),
    "cnn with margins": lambda: (  # strides that leave a rest, one plane with dilation, kernels larger than their input
        nn.Sequential(
            nn.Conv2d(1, 3, (2, 3), stride=(3, 2), dilation=(1, 2), padding=(2, 1)), nn.Tanh(),
            nn.Conv2d(3, 24, 2, stride=(2, 1)), nn.ReLU(), nn.Flatten(), nn.Linear(96, 4),
        ),
        lambda n: (images(n), torch.randint(4, (n,))),
        label_loss,
    ),
    "transformer": lambda: (
        LanguageModel(),
        lambda n: (torch.randint(20, (n, 12)), torch.randint(20, (n, 12))),
        word_loss,
    ),
    "torch's transformer": lambda: (
        Encoder(),
        lambda n: (torch.randint(20, (n, 12)), torch.randint(20, (n, 12))),
        word_loss,
    ),
}  # fmt: skip


def length(total: dict[str, Tensor]) -> float:
    """Over all parameters together."""
    return float(sum(part.square().sum() for part in total.values()) ** 0.5)
