"""Extraction: does a language model know a secret that was said to it? (Carlini et al. 2019, "The Secret Sharer".)

Works on any model that turns character ids (batch, time) into logits of the next character (batch, time, alphabet), in
the alphabet of :mod:`dpcourse.data.chat_messages`.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
import torch
from torch import Tensor, nn

from dpcourse import checks
from dpcourse.data.chat_messages import ALPHABET, BLANK, DIGITS, END, Canary, encode
from dpcourse.randomness import Rng, generator

_DIGIT_IDS = [ALPHABET.index(digit) for digit in DIGITS]
_AT_ONCE = 4096  # texts in one forward pass


@dataclass(frozen=True)
class Exposure:
    """How much better than guessing a model ranks a canary: log2 |R| - log2 rank, in bits.

    ``rank`` 1 means that the canary is the most likely of all ``space`` fillings: it is extracted. Under a model that
    knows nothing of it the rank is uniform, and the exposure 1.44 bits on average, above b bits with probability 2^-b.
    """

    rank: float
    space: int

    def __post_init__(self) -> None:
        checks.whole_number("space", self.space)
        if not 1 <= checks.positive("rank", self.rank) <= self.space:
            raise ValueError(f"rank must be in 1..{self.space}, got {self.rank!r}")

    @property
    def bits(self) -> float:
        """log2 |R| - log2 rank."""
        return math.log2(self.space) - math.log2(self.rank)


def log_perplexity(model: nn.Module, texts: Sequence[str]) -> Tensor:
    """-log2 Pr[text] for every text, the sum over its characters; all texts must be equally long."""
    if not texts or len({len(text) for text in texts}) > 1:
        raise ValueError(f"texts must be equally long, got the lengths {sorted({len(text) for text in texts})}")
    ids = torch.tensor([encode(END + text) for text in texts])
    perplexities = []
    for part in ids.split(_AT_ONCE):
        chances = _log2(model, part[:, :-1])
        perplexities.append(-chances.gather(2, part[:, 1:, None]).squeeze(2).sum(1))
    return torch.cat(perplexities)


def all_log_perplexities(model: nn.Module, format: str) -> Tensor:
    """The log-perplexity of *every* filling of a format, in the order of the fillings (000, 001, ...).

    Fillings share their beginnings, and a causal model reads each beginning once: 10^6 fillings cost 111,111 passes.
    What comes before the first blank is the same for all and is left out; it does not change the ranks.
    """
    rows, scores = torch.tensor([encode(END + _lead(format))]), torch.zeros(1)
    for letter in format[len(_lead(format)) :]:
        chances = torch.cat([_log2(model, part)[:, -1] for part in rows.split(_AT_ONCE)])
        choices = _DIGIT_IDS if letter == BLANK else encode(letter)
        scores = (scores[:, None] - chances[:, choices]).flatten()
        rows = torch.cat([rows.repeat_interleave(len(choices), 0), torch.tensor(choices * len(rows))[:, None]], 1)
    return scores


def exposure(model: nn.Module, canary: Canary, *, sample: int | None = None, rng: Rng = None) -> Exposure:
    """The canary's exposure, from its rank among all fillings, or estimated from a random ``sample`` of them.

    Equal log-perplexities share the worst rank of them, so that a constant model exposes nothing. A sample of m can
    see at most log2(m + 1) bits: if none of them beats the canary, its rank is put at |R| / (m + 1).
    """
    if sample is None:
        scores = all_log_perplexities(model, canary.format)
        own = scores[int(canary.filling)]
        return Exposure(int((scores <= own).sum()), canary.space)
    sample = checks.whole_number("sample", sample)
    drawn = generator(rng).integers(0, canary.space, sample)
    others = [canary.fill(str(i).zfill(len(canary.filling))) for i in drawn]
    scores = log_perplexity(model, [canary.text, *others])
    better = int((scores[1:] <= scores[0]).sum())
    return Exposure(max(1.0, canary.space * (better + 1) / (sample + 1)), canary.space)


def extract(model: nn.Module, format: str, *, passes: int = 10_000) -> str | None:
    """The most likely filling of a format, without any knowledge of the canary; None if ``passes`` do not suffice.

    Best-first search over beginnings (Dijkstra's shortest path, as in the paper): the first complete filling that is
    taken from the queue is the most likely of all. It is quick exactly when the model has memorised something.
    """
    passes, start = checks.whole_number("passes", passes), _lead(format)
    order = count()  # ties are taken in the order of arrival
    queue = [(0.0, next(order), start)]
    for _ in range(passes):
        score, _, text = heapq.heappop(queue)
        if len(text) == len(format):
            return _filling(format, text)
        chances = _log2(model, torch.tensor([encode(END + text)]))[0, -1]
        letter = format[len(text)]
        for choice in DIGITS if letter == BLANK else letter:
            heapq.heappush(queue, (score - chances[ALPHABET.index(choice)].item(), next(order), text + choice))
    return None


def beam_search(model: nn.Module, format: str, *, width: int = 10) -> list[str]:
    """Up to ``width`` likely fillings, the likeliest first; ``width=1`` is greedy. Quick, but it may miss the best."""
    width, rows, scores = checks.whole_number("width", width), [_lead(format)], torch.zeros(1)
    for letter in format[len(rows[0]) :]:
        choices = DIGITS if letter == BLANK else letter
        chances = _log2(model, torch.tensor([encode(END + row) for row in rows]))[:, -1]
        scores = (scores[:, None] - chances[:, [ALPHABET.index(choice) for choice in choices]]).flatten()
        best = scores.argsort()[:width]
        rows = [rows[i // len(choices)] + choices[i % len(choices)] for i in best.tolist()]
        scores = scores[best]
    return [_filling(format, row) for row in rows]


def chance_p_value(exposures: Sequence[Exposure]) -> float:
    """Probability of exposures as large as these, in sum, if no model knew anything of its (independent) canary.

    ln(|R| / rank) is then at most exponential with mean 1, and the sum of k of them at most Gamma(k).
    """
    from scipy.special import gammaincc

    if not exposures:
        raise ValueError(f"exposures must not be empty, got {exposures!r}")
    return float(gammaincc(len(exposures), np.sum([one.bits for one in exposures]) * math.log(2)))


@torch.no_grad()
def _log2(model: nn.Module, ids: Tensor) -> Tensor:
    training = model.training
    model.eval()
    try:
        return torch.log_softmax(model(ids), -1) / math.log(2)
    finally:
        model.train(training)


def _lead(format: str) -> str:
    if BLANK not in format:
        raise ValueError(f"format must have a {BLANK!r} for every digit, got {format!r}")
    return format.split(BLANK)[0]


def _filling(format: str, text: str) -> str:
    return "".join(letter for blank, letter in zip(format, text, strict=True) if blank == BLANK)
