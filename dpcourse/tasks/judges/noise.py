"""Judging noise: do the answers have the law that they should, in every coordinate, jointly, and from call to call?

Few draws of every probe first, many of the last one for what has passed. Each test is exact, and the one with the most
power for its error: signs for the centre, the sum of sizes for the scale (see ``scale_tests``), Kolmogorov-Smirnov for
the shape, the largest size for the tails, signs and sizes of every two coordinates (and calls) for noise that is
shared, and the signs of all coordinates together for noise that cancels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from scipy import special

from dpcourse.audit import binomial_fit, ks_fit
from dpcourse.audit.fit_result import Fit
from dpcourse.tasks.interview import LEVEL, Failed, Interview
from dpcourse.tasks.judges.noise_law import NORMAL, Noise
from dpcourse.tasks.judges.noise_words import diagnose_noise
from dpcourse.tasks.judges.repeats import refuse_repeats
from dpcourse.tasks.judges.scale_tests import largest_fit, width_fit
from dpcourse.tasks.pictures import spread
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.wording import arguments, number

TESTS = 11  # of one look
DRAWS = 13_000  # of the last look at one number: a Laplace scale off by 10%, or a Gaussian in its place, is seen
HUGE = 1e100  # squares of larger numbers are no numbers any more


def noise_of(law: Callable[..., Noise], *, draws: int | None = None, hides: bool = True) -> Callable[[Interview], None]:
    """The student's answers must have the law ``law(**probe)``.

    ``draws``: of the last look. ``hides``: the noise is there to hide somebody, so a wrong one is told what it costs.
    """

    def judge(talk: Interview) -> None:
        look_at_noise(talk, law, LEVEL, draws=draws, hides=hides)
        many = f"to {len(talk.probes)} probes " if len(talk.probes) > 1 else ""
        talk.praise = (
            f"Your answers {many}have the right centre, spread and shape. (What comes less often than once in a "
            f"thousand calls, far out in the tails, I hardly see.)"
        )

    return judge


def look_at_noise(
    talk: Interview,
    law: Callable[..., Noise],
    level: float,
    *,
    probes: Sequence[Probe] | None = None,
    draws: int | None = None,
    hides: bool = True,
) -> None:
    """Look at these probes, or at all of the talk; chance fails right answers with probability ``level``."""
    most, probes = draws or DRAWS, talk.probes if probes is None else probes
    rights = [law(**probe) for probe in probes]
    level = level / (len(probes) + 1) / TESTS  # looks, and tests in each
    looks = [*((place, talk.few) for place in range(len(rights))), (len(rights) - 1, most)]
    try:
        for place, number_of_draws in looks:
            look_once(talk, probes[place], rights[place], number_of_draws, level)
    except Failed as failed:
        raise diagnose_noise(talk, probes, law, failed, hides=hides) from None


def look_once(talk: Interview, probe: Probe, right: Noise, draws: int, level: float) -> None:
    """One look at one probe: eleven tests, each at this level."""
    answers = talk.draws(probe, draws).reshape(draws, -1)
    about, talk.failing = f"I called you {draws:,} times with {arguments(probe)}.", probe
    if answers.shape[1] != right.centers.size:
        talk.fail(f"{about} You give back {answers.shape[1]} numbers; {right.centers.size} are asked for.")
    refuse_huge(talk, answers)
    refuse_repeats(talk, answers, right, about)
    seen = Look(talk, answers, right, about, level)
    seen.paint(0)
    seen.look_at_centers()
    seen.look_at_widths()
    seen.look_at_shapes()
    seen.look_at_tails()
    seen.look_at_coordinates()
    seen.look_at_calls()


def refuse_huge(talk: Interview, answers: np.ndarray) -> None:
    """Numbers whose squares are no numbers any more."""
    if np.abs(answers).max(initial=0.0) > HUGE:
        talk.fail(f"Your answers are as large as {np.abs(answers).max():.3g}: something runs away.", name="huge")


class Look:
    """The answers to one probe, beside the law that they should have."""

    def __init__(self, talk: Interview, answers: np.ndarray, right: Noise, about: str, level: float) -> None:
        self.talk, self.answers, self.right, self.about, self.level = talk, answers, right, about, level
        self.z = right.standardized(answers)
        self.draws, self.columns = self.z.shape

    def look_at_centers(self) -> None:
        """Half of the answers lie above the centre, in each coordinate; for Gaussian noise their mean is there, too."""
        above = (self.z > 0).sum(axis=0)
        odd = int(np.argmax(np.abs(above - self.draws / 2)))
        middle = number(float(np.median(self.answers[:, odd])), 6)
        words = (
            f"{above[odd] / self.draws:.0%} of your answers{self._in(odd)} lie above "
            f"{number(float(self.right.centers[odd]), 6)}, and half should: their median is {middle}."
        )
        self._require(self._worst(binomial_fit(int(above[odd]), self.draws, 0.5, level=self._each)), words, odd)
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
        self._require(width_fit(self.z.ravel(), law.sizes, level=self.level), self._width_words(None), 0)
        fits = [width_fit(self.z[:, column], law.sizes, level=self._each) for column in range(self.columns)]
        odd = int(np.argmin([fit.p_value for fit in fits]))
        self._require(self._worst(fits[odd]), self._width_words(odd), odd)

    def look_at_shapes(self) -> None:
        """The distribution function of all coordinates together, then that of the oddest one."""
        words = f"Your noise is not {self._needed()}, nor of any other {self._unit()}: its shape is another one."
        self._require(ks_fit(self.z.ravel(), self.right.law.cdf, level=self.level), words, 0)
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
        words = f"The largest noise among them is {number(largest)} times the {self._unit()}."
        if 2 * float(self.right.law.cdf(np.array(-largest))) * flat.size > 1:  # larger ones were to be expected
            words += " Is it cut further out? An answer that can never come speaks against one of the two worlds."
        name = "cut in the tails"
        self._require(largest_fit(flat, self.right.law.cdf, level=self.level), words, 0, name=name)

    def look_at_coordinates(self) -> None:
        """Every two coordinates: signs and sizes that go together; and the signs of all of them."""
        if self.columns == 1:
            return
        pairs = list(combinations(range(self.columns), 2))
        says = "every coordinate needs noise of its own, because shared noise cancels", "shared noise"
        for what, high in self._halves():
            together = high.T.astype(float) @ high + (~high).T.astype(float) @ ~high
            agree = np.array([together[pair] for pair in pairs])
            odd = int(np.argmax(np.abs(agree - self.draws / 2)))
            fit = binomial_fit(int(agree[odd]), self.draws, 0.5, level=self.level / 2 / len(pairs))
            one, other = pairs[odd]
            words = f"The noise of coordinates {one} and {other} {what} in {agree[odd] / self.draws:.0%} of the answers"
            self._require(
                self._worst(fit, len(pairs), self.level / 2),
                f"{words}, and should in half of them: {says[0]}.",
                other,
                name=says[1],
            )
        plus = (self.z > 0).sum(axis=1)
        low = _few_of(self.columns)
        beyond = int(np.count_nonzero((plus <= low) | (plus >= self.columns - low)))
        share = 2 * float(special.bdtr(low, self.columns, 0.5))
        words = (
            f"In {beyond / self.draws:.1%} of your answers nearly all noises have one sign; {share:.1%} is right for "
            f"noises that know nothing of each other: {says[0]}."
        )
        self._require(binomial_fit(beyond, self.draws, share, level=self.level), words, 0, name=says[1])

    def look_at_calls(self) -> None:
        """Signs and sizes of one call and of the next; as independent coins, compared, are independent coins, too."""
        for what, high in self._halves():
            same = high[1:, 0] == high[:-1, 0]
            agree = int(np.count_nonzero(same))
            words = (
                f"The noise of one call and of the next {what} in {agree / same.size:.0%} of the answers, and should "
                f"in half of them: every call needs noise of its own, or else two answers together give it away."
            )
            fit = binomial_fit(agree, same.size, 0.5, level=self.level / 2)
            self._require(fit, words, 0, name="same noise in two calls")

    def paint(self, column: int) -> None:
        """The picture of one coordinate, for who may see it."""
        if self.talk.public:
            title = self.talk.task.name + (f", coordinate {column}" if self.columns > 1 else "")
            self.talk.picture = spread(
                title, self.answers[:, column], float(self.right.centers[column]), self.right.scale, self.right.law.cdf
            )

    def _halves(self) -> list[tuple[str, np.ndarray]]:
        return [
            ("has the same sign", self.z > 0),
            ("is large or small together", np.abs(self.z) > self.right.law.typical),
        ]

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

    def _width_words(self, column: int | None) -> str:
        z = self.z if column is None else self.z[:, [column]]
        factor = float(np.median(np.abs(z - np.median(z, axis=0)))) / self.right.law.typical
        where = "" if column is None else self._in(column)
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
