"""One look at the answers to one probe: has noise its centre, width, shape and tails, alone and jointly?"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from itertools import combinations

import numpy as np
from scipy import special

from dpcourse.audit import binomial_fit, ks_fit
from dpcourse.audit.fit_result import Fit
from dpcourse.tasks.complaints import Complaint
from dpcourse.tasks.interview import CLOSER, Interview
from dpcourse.tasks.judges.noise_law import LAPLACE, NORMAL, Law, Noise
from dpcourse.tasks.judges.repeats import CUT_NOISE, SOMETIMES_NONE, spacing
from dpcourse.tasks.judges.scale_tests import largest_fit, width_fit
from dpcourse.tasks.pictures import spread
from dpcourse.tasks.wording import number

OTHER_SHAPE, SHAPELESS = "its shape is another one.", 1e-4
GRAIN = 64  # steps between numbers of this precision are needed to tell small noise
ONE_SIGN, ONE_SIZE = "has the same sign", "is large or small together"
OF_ITS_OWN, SHARED = "every coordinate needs noise of its own, because shared noise cancels", "shared noise"


class Look:
    """The answers to one probe, beside the law that they should have."""

    def __init__(self, talk: Interview, answers: np.ndarray, right: Noise, about: str, level: float) -> None:
        self.talk, self.answers, self.right, self.about, self.level = talk, answers, right, about, level
        self.z = right.standardized(answers)
        self.draws, self.columns = self.z.shape

    def look_at_centers(self) -> None:
        """Half of the answers lie above the centre, in each coordinate."""
        above = (self.z > 0).sum(axis=0)
        odd = int(np.argmax(np.abs(above - self.draws / 2)))
        middle = number(float(np.median(self.answers[:, odd])), 6)
        words = (
            f"{above[odd] / self.draws:.0%} of your answers{self._in(odd)} lie above "
            f"{number(float(self.right.centers[odd]), 6)}, and half should: their median is {middle}."
        )
        self._require(self._worst(binomial_fit(int(above[odd]), self.draws, 0.5, level=self._each)), words, odd)

    def look_at_means(self) -> None:
        """Of Gaussian noise, in all coordinates together."""
        if self.right.law is NORMAL:
            means = self.z.mean(axis=0)
            off = int(np.argmax(np.abs(means)))
            words = (
                f"Your answers{self._in(off)} lie around {number(float(self.answers[:, off].mean()), 6)} on average; "
            )
            words += f"{number(float(self.right.centers[off]), 6)} is right."
            freedom = chi_square_of("mean", self.draws * float(means @ means), self.columns, self.draws, self.level)
            if np.abs(self.z).mean() < 2:  # wider noise has other means, too: that is said by the widths
                self._require(freedom, words, off)

    def look_at_widths(self) -> None:
        """All coordinates together, then the oddest one."""
        law = self.right.law
        fit = width_fit(self.z.ravel(), law.sizes, level=self.level)
        self._require(fit, "" if fit.passed else self._width_words(None), 0)
        fits = [width_fit(self.z[:, column], law.sizes, level=self._each) for column in range(self.columns)]
        odd = int(np.argmin([fit.p_value for fit in fits]))
        fit = self._worst(fits[odd])
        self._require(fit, "" if fit.passed else self._width_words(odd), odd)

    def look_at_shapes(self) -> None:
        """The distribution function of all coordinates together, then that of the oddest one."""
        fit = ks_fit(self.z.ravel(), self.right.law.cdf, level=self.level)
        self._require(fit, "" if fit.passed else self._shape_words(), 0)
        fits = [ks_fit(self.z[:, column], self.right.law.cdf, level=self._each) for column in range(self.columns)]
        odd = int(np.argmin([fit.p_value for fit in fits]))
        self._require(self._worst(fits[odd]), f"The noise{self._in(odd)} is not {self._needed()}.", odd)

    def look_at_tails(self) -> None:
        """How many noises are far out, and the largest of all."""
        flat, law = self.z.ravel(), self.right.law
        far = float(self.right.law.far)
        beyond, share = int(np.count_nonzero(np.abs(flat) > far)), 2 * float(law.cdf(np.array(-far)))
        words = (
            f"{beyond} of your {flat.size:,} noises are more than {number(far)} times the {self._unit()}; "
            f"{flat.size * share:.0f} are right."
        )
        self._require(binomial_fit(beyond, flat.size, share, level=self.level), words, 0)
        largest = float(np.abs(flat).max())
        fit, name = largest_fit(flat, law.cdf, level=self.level), ""
        words = f"The largest noise among them is {number(largest)} times the {self._unit()}."
        # None is larger, though larger ones were to be expected: is it cut, or is its shape another one?
        if not fit.passed and 2 * float(law.cdf(np.array(-largest))) * flat.size > 1:
            cut = ks_fit(self._closer().ravel(), law.cdf, level=SHAPELESS).passed
            further = "Is it cut further out? An answer that can never come speaks against one of the two worlds."
            words, name = f"{words} {further if cut else f'I{self._other_shape()[1:]}'}", CUT_NOISE if cut else ""
        self._require(fit, words, 0, name=name)

    def look_at_signs_of_pairs(self) -> None:
        """Every two coordinates: signs that go together, whatever the widths are."""
        self._look_at_pairs(ONE_SIGN, self.z > 0)

    def look_at_coordinates(self) -> None:
        """Every two coordinates: sizes that go together; and the signs of all of them."""
        if self.columns == 1:
            return
        self._look_at_pairs(ONE_SIZE, np.abs(self.z) > self.right.law.typical)
        plus = (self.z > 0).sum(axis=1)
        low = _few_of(self.columns)
        beyond = int(np.count_nonzero((plus <= low) | (plus >= self.columns - low)))
        share = 2 * float(special.bdtr(low, self.columns, 0.5))
        words = (
            f"In {beyond / self.draws:.1%} of your answers nearly all noises have one sign; {share:.1%} is right for "
            f"noises that know nothing of each other: {OF_ITS_OWN}."
        )
        self._require(binomial_fit(beyond, self.draws, share, level=self.level), words, 0, name=SHARED)

    def _look_at_pairs(self, what: str, high: np.ndarray) -> None:
        pairs = list(combinations(range(self.columns), 2))
        if not pairs:
            return
        together = high.T.astype(float) @ high + (~high).T.astype(float) @ ~high
        agree = np.array([together[pair] for pair in pairs])
        odd = int(np.argmax(np.abs(agree - self.draws / 2)))
        fit = binomial_fit(int(agree[odd]), self.draws, 0.5, level=self.level / 2 / len(pairs))
        one, other = pairs[odd]
        words = f"The noise of coordinates {one} and {other} {what} in {agree[odd] / self.draws:.0%} of the answers"
        self._require(
            self._worst(fit, len(pairs), self.level / 2),
            f"{words}, and should in half of them: {OF_ITS_OWN}.",
            other,
            name=SHARED,
        )

    def look_at_small_ones(self) -> None:
        """Noise that is nearly absent now and then: too many numbers, or whole answers, lie very near the truth."""
        flat, law = np.abs(self.z), self.right.law
        limits = 0.5 ** np.arange(1, 24)
        limits = limits[limits > GRAIN * spacing(self.answers) / self.right.scale]
        kinds = [(flat.ravel(), 1, "noises")]
        kinds += [(flat.max(axis=1), self.columns, "answers, in all coordinates,")] if self.columns > 1 else []
        tests = [
            (
                int(np.count_nonzero(sizes < limit)),
                sizes.size,
                float(1 - 2 * law.cdf(np.array(-limit))) ** power,
                what,
                limit,
            )
            for sizes, power, what in kinds
            for limit in limits.tolist()
        ]
        if not tests:
            return
        near, of, share, what, limit = min(
            tests, key=lambda one: min(special.bdtrc(one[0] - 1, *one[1:3]), special.bdtr(*one[:3]))
        )
        fit = binomial_fit(near, of, share, level=self.level / len(tests))
        words = f"{near:,} of your {of:,} {what} are smaller than {number(limit)} times the {self._unit()}; "
        words += f"{number(of * share)} are right: "
        fit, name = self._worst(fit, len(tests), self.level), ""
        if not fit.passed and near > of * share and self._is_absent_at_times(limit):
            words, name = f"{words}noise that is nearly absent now and then hides nobody.", SOMETIMES_NONE
        elif not fit.passed:
            words += self._other_shape()
        self._require(fit, words, 0, name=name)

    def _is_absent_at_times(self, limit: float) -> bool:
        """Small far too often, or else of the right shape? Laplace noise for Gaussian is small 1.8 times as often."""
        closer = self._closer()
        share = float(1 - 2 * self.right.law.cdf(np.array(-limit)))
        return (
            bool((np.abs(closer) < limit).mean() > 3 * share)
            or ks_fit(closer.ravel(), self.right.law.cdf, level=SHAPELESS).passed
        )

    def _closer(self) -> np.ndarray:
        """These noises, or so many more that they tell their shape."""
        if self.talk.failing is not None and self.draws < CLOSER:
            with contextlib.suppress(Complaint):
                return self.right.standardized(self.talk.draws(self.talk.failing, CLOSER).reshape(CLOSER, -1))
        return self.z

    def paint(self, column: int) -> None:
        """The picture of one coordinate, for who may see it."""
        if self.talk.public:
            title = self.talk.task.name + (f", coordinate {column}" if self.columns > 1 else "")
            self.talk.picture = spread(
                title, self.answers[:, column], float(self.right.centers[column]), self.right.scale, self.right.law.cdf
            )

    def _require(self, fit: Fit, words: str, column: int, *, name: str = "") -> None:
        if not fit.passed:
            self.paint(column)
        self.talk.require(fit, f"{self.about} {words}", name=name)

    @property
    def _each(self) -> float:
        """The level of each coordinate, where the oddest one decides."""
        return self.level / self.columns

    def _worst(self, fit: Fit, of: int | None = None, level: float | None = None) -> Fit:
        """The oddest of several, at the price of all of them."""
        of, level = of or self.columns, level or self.level
        return replace(fit, level=level, p_value=min(1.0, of * fit.p_value))

    def _in(self, column: int) -> str:
        return f" in coordinate {column}" if self.columns > 1 else ""

    def _unit(self) -> str:
        return self.right.law.words.rpartition(" of ")[2]

    def _needed(self) -> str:
        return f"{self.right.law.words} {number(self.right.scale)}"

    def _shape_words(self, column: int | None = None) -> str:
        where = "" if column is None else self._in(column)
        return f"Your noise{where} is not {self._needed()}, nor of any other {self._unit()}: {self._other_shape()}"

    def _other_shape(self) -> str:
        """That it is another shape; and which one, if it is the other law of the course."""
        sizes, other = np.abs(self._closer()), LAPLACE if self.right.law is NORMAL else NORMAL
        middle = np.median(sizes, axis=0)
        if not middle.min() > 0:
            return OTHER_SHAPE
        units = (sizes / middle).ravel()

        def likely(law: Law) -> float:
            """Sizes in units of their median."""
            return ks_fit(units, lambda size: 2 * law.cdf(size * law.typical) - 1, level=SHAPELESS).p_value

        if likely(other) < max(SHAPELESS, 100 * likely(self.right.law)):
            return OTHER_SHAPE
        scale = float(middle.mean()) / other.typical * self.right.scale
        return f"{OTHER_SHAPE} It looks like {other.words} about {number(scale)}."

    def _width_words(self, column: int | None) -> str:
        rows = self._closer()
        z = rows if column is None else rows[:, [column]]
        factor = float(np.median(np.abs(z - np.median(z, axis=0)))) / self.right.law.typical
        where = "" if column is None else self._in(column)
        if factor > 0 and not ks_fit(z.ravel() / factor, self.right.law.cdf, level=SHAPELESS).passed:
            return self._shape_words(column)
        return (
            f"Your noise{where} is like {self.right.law.words} about {number(factor * self.right.scale)}; "
            f"{number(self.right.scale)} is needed."
        )


def _few_of(columns: int) -> int:
    """So many plus signs, or fewer, have about an eighth of all rows; so have so many minus signs."""
    return max(0, int(np.searchsorted(special.bdtr(np.arange(columns), columns, 0.5), 0.125, side="right")) - 1)


def chi_square_of(name: str, statistic: float, freedom: int, draws: int, level: float) -> Fit:
    """A two-sided test of a statistic that is chi-square with ``freedom`` degrees under the right law."""
    upper, lower = float(special.chdtrc(freedom, statistic)), float(special.chdtr(freedom, statistic))
    high = float(special.chdtri(freedom, level / 2))
    return Fit(
        name=f"chi-square of the {name}", statistic=statistic, p_value=min(1.0, 2 * min(upper, lower)), level=level,
        power=1 - level, draws=draws, smallest_error=(float(np.sqrt(high)) + 6) / float(np.sqrt(draws)),
        unit="shift in standard deviations, approximately",
    )  # fmt: skip
