"""The non-adaptive competitors, all at the same true epsilon: five ways to report one of K categories."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpcourse import checks
from dpcourse.adaptive_ldp.frequency_oracle import Oracle
from dpcourse.mechanisms import KaryResponse


def _marks(reports: np.ndarray, given: Any, k: int) -> None:
    """Refuse anything but a row of k truth values for each report."""
    if reports.size and (reports.ndim != 2 or reports.shape[1] != k or not np.isin(reports, (0, 1)).all()):
        raise ValueError(f"reports must be rows of {k} truth values, got shape {reports.shape}: {given!r:.200}")


def _numbers(reports: np.ndarray, given: Any, k: int) -> None:
    """Refuse anything but one of the numbers 0..k-1 for each report."""
    checks.categories("reports", given, k)
    if reports.ndim != 1:
        raise ValueError(f"reports must be one number each, got shape {reports.shape}: {given!r:.200}")


class DirectResponse(Oracle):
    """SRR: a report supports itself (Kairouz, Bonawitz & Ramage 2016)."""

    @property
    def _response(self) -> KaryResponse:
        return KaryResponse(epsilon=self.epsilon, k=self.k)

    @property
    def own(self) -> float:
        return self._response.truth

    @property
    def other(self) -> float:
        return self._response.other

    def _report(self, people: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return np.asarray(self._response.release(people, rng=rng))

    def support(self, reports: Any) -> np.ndarray:
        return np.asarray(reports)[..., None] == np.arange(self.k)

    def _check(self, reports: np.ndarray, given: Any) -> None:
        _numbers(reports, given, self.k)

    def _log_low(self, reports: np.ndarray) -> Any:
        return np.full(reports.shape, math.log(self.other))


class UnaryEncoding(Oracle):
    """OUE: k bits, one's own kept with 1/2, each other raised with 1/(e^eps + 1) (Wang et al. 2017)."""

    own = 0.5

    @property
    def other(self) -> float:
        return math.exp(-self.epsilon) / (1 + math.exp(-self.epsilon))

    def _report(self, people: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        bits = rng.random((len(people), self.k)) < self.other
        bits[np.arange(len(people)), people] = rng.random(len(people)) < self.own
        return bits

    def support(self, reports: Any) -> np.ndarray:
        return np.asarray(reports, dtype=bool)

    def _check(self, reports: np.ndarray, given: Any) -> None:
        _marks(reports, given, self.k)

    def _log_low(self, reports: np.ndarray) -> Any:
        raised = np.count_nonzero(reports, axis=-1)
        return math.log(0.5) + raised * math.log(self.other) + (self.k - 1 - raised) * math.log1p(-self.other)


class SubsetSelection(Oracle):
    """d categories, one's own among them with d e^eps / (d e^eps + k - d) (Wang et al. 2016; Ye & Barg 2018)."""

    @property
    def d(self) -> int:
        """The size of a report: k / (e^eps + 1), rounded, at least one."""
        return max(1, round(self.k / (math.exp(self.epsilon) + 1)))

    @property
    def own(self) -> float:
        return self.d / (self.d + (self.k - self.d) * math.exp(-self.epsilon))

    @property
    def other(self) -> float:
        return (self.own * (self.d - 1) + (1 - self.own) * self.d) / (self.k - 1)

    def _report(self, people: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        # The d smallest of random keys are a random set; one's own key is made the first of all, or the last.
        keys = rng.random((len(people), self.k))
        taken = rng.random(len(people)) < self.own
        keys[np.arange(len(people)), people] = np.where(taken, -1.0, 2.0)
        chosen = np.zeros(keys.shape, dtype=bool)
        np.put_along_axis(chosen, np.argpartition(keys, self.d - 1, axis=1)[:, : self.d], True, axis=1)
        return chosen

    def support(self, reports: Any) -> np.ndarray:
        return np.asarray(reports, dtype=bool)

    def _check(self, reports: np.ndarray, given: Any) -> None:
        _marks(reports, given, self.k)
        if reports.size and (np.count_nonzero(reports, axis=1) != self.d).any():
            raise ValueError(f"each report must hold {self.d} of {self.k} categories, got {given!r:.200}")

    def _log_low(self, reports: np.ndarray) -> Any:
        # comb(k - 1, d) sets leave one's own out and share what is left equally
        low = math.log1p(-self.own) - math.log(math.comb(self.k - 1, self.d))
        return np.full(reports.shape[:-1], low)


class LocalHashing(Oracle):
    """OLH: SRR on one of g = e^eps + 1 buckets, by a hash function that each person draws (Wang et al. 2017).

    A report is (seed, bucket). The hash mixes seed and category (splitmix64), as if every category's bucket were
    drawn at random; privacy does not depend on that, because the seed is drawn without looking at the category.
    """

    @property
    def g(self) -> int:
        """The number of buckets."""
        return max(2, round(math.exp(self.epsilon) + 1))

    @property
    def own(self) -> float:
        return 1 / (1 + (self.g - 1) * math.exp(-self.epsilon))

    @property
    def other(self) -> float:
        return 1 / self.g

    def buckets(self, seeds: np.ndarray) -> np.ndarray:
        """The bucket of every category under each seed (n, k)."""
        x = seeds.astype(np.uint64)[..., None] + np.arange(1, self.k + 1, dtype=np.uint64) * np.uint64(
            0x9E3779B97F4A7C15
        )
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
        return ((x ^ (x >> np.uint64(31))) % np.uint64(self.g)).astype(np.int64)

    def _report(self, people: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        seeds = rng.integers(0, 1 << 62, len(people))
        mine = self.buckets(seeds)[np.arange(len(people)), people]
        told = KaryResponse(epsilon=self.epsilon, k=self.g).release(mine, rng=rng)
        return np.column_stack([seeds, told])

    def support(self, reports: Any) -> np.ndarray:
        pairs = np.asarray(reports)
        return self.buckets(pairs[..., 0]) == pairs[..., 1:]

    def _check(self, reports: np.ndarray, given: Any) -> None:
        if reports.size and (reports.ndim != 2 or reports.shape[1] != 2):
            raise ValueError(f"reports must be pairs (seed, bucket), got shape {reports.shape}")
        if reports.size:
            checks.categories("the buckets of reports", reports[:, 1], self.g)

    def _log_low(self, reports: np.ndarray) -> Any:
        return np.full(reports.shape[:-1], math.log(self.own) - self.epsilon)  # given the seed


class HadamardResponse(Oracle):
    """A column of a block of Hadamard matrices, where one's own row is + (Acharya, Sun & Zhang 2019).

    ``blocks`` B = the largest power of 2 up to min(e^eps, 2k), each of width b = the smallest power of 2 from k/B + 1;
    a category is a row (not the first) of a block and supports the b/2 columns where that row is +1.
    """

    @property
    def blocks(self) -> int:
        """B."""
        return 1 << int(math.log2(min(math.exp(self.epsilon), 2 * self.k)))

    @property
    def width(self) -> int:
        """b."""
        return 1 << math.ceil(math.log2(self.k / self.blocks + 1))

    @property
    def _total(self) -> float:
        return self.width / 2 * (math.exp(self.epsilon) - 1) + self.blocks * self.width

    @property
    def own(self) -> float:
        return self.width / 2 * math.exp(self.epsilon) / self._total

    @property
    def other(self) -> float:
        """Averaged over the other categories: those of one's own block are supported more often."""
        block = np.arange(self.k) // (self.width - 1)
        near = ((block[:, None] == block).sum() - self.k) / (self.k * (self.k - 1))
        return self.width / self._total * (near * (math.exp(self.epsilon) + 1) / 4 + (1 - near) / 2)

    @property
    def _plus(self) -> np.ndarray:
        """(k, B b): which columns each category supports."""
        column = np.arange(self.blocks * self.width)
        block, row = np.divmod(np.arange(self.k), self.width - 1)
        even = np.bitwise_count(np.bitwise_and(row[:, None] + 1, column % self.width)) % 2 == 0
        return even & (column // self.width == block[:, None])

    def _report(self, people: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        # Columns sorted so that a category's own come first: a place below b/2 is one of them.
        order = np.argsort(~self._plus, axis=1, kind="stable")
        half, everything = self.width // 2, self.blocks * self.width
        inside = rng.random(len(people)) < self.own
        place = np.where(inside, rng.integers(0, half, len(people)), rng.integers(half, everything, len(people)))
        return order[people, place]

    def support(self, reports: Any) -> np.ndarray:
        return self._plus.T[np.asarray(reports)]

    def _check(self, reports: np.ndarray, given: Any) -> None:
        _numbers(reports, given, self.blocks * self.width)

    def _log_low(self, reports: np.ndarray) -> Any:
        return np.full(reports.shape, -math.log(self._total))

    def estimate(self, reports: Any) -> np.ndarray:
        """Supported by minus half of all in the block, times 2 total / (b/2 (e^eps - 1)): unbiased."""
        supported = self._supported(reports).mean(axis=0)
        seen = np.bincount(np.asarray(reports) // self.width, minlength=self.blocks) / len(np.asarray(reports))
        half_block = seen[np.arange(self.k) // (self.width - 1)] / 2
        return (supported - half_block) * 4 * self._total / (self.width * math.expm1(self.epsilon))


#: The competitors by name.
COMPETITORS: dict[str, type[Oracle]] = {
    "SRR": DirectResponse,
    "OUE": UnaryEncoding,
    "subset selection": SubsetSelection,
    "OLH": LocalHashing,
    "Hadamard": HadamardResponse,
}
