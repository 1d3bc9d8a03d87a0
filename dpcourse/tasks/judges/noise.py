"""Judging noise: do the answers have the law that they should, in every coordinate, jointly, and from call to call?

Few draws of every probe first, many of the last one for what has passed. Each test is exact, and the one with the most
power for its error: signs for the centre, the sum of sizes for the scale (see ``scale_tests``), Kolmogorov-Smirnov for
the shape, the largest size for the tails and the smallest ones for noise that is nearly absent now and then, signs and
sizes of every two coordinates (and calls, at any distance) for noise that is shared, and the signs of all coordinates
together for noise that cancels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dpcourse.tasks.complaints import Complaint
from dpcourse.tasks.interview import LEVEL, Failed, Interview
from dpcourse.tasks.judges.calls import oddest_agreement
from dpcourse.tasks.judges.noise_law import Noise
from dpcourse.tasks.judges.noise_look import ONE_SIGN, ONE_SIZE, Look
from dpcourse.tasks.judges.noise_words import diagnose_noise
from dpcourse.tasks.judges.repeats import refuse_repeats
from dpcourse.tasks.probes import Edge
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.wording import arguments

TESTS = 11  # of one look
DRAWS = 13_000  # of the last look at one number: a Laplace scale off by 10%, or a Gaussian in its place, is seen
SAME_IN_TWO = "same noise in two calls"
HUGE = 1e100  # squares of larger numbers are no numbers any more


def noise_of(law: Callable[..., Noise], *, draws: int | None = None, hides: bool = True) -> Callable[[Interview], None]:
    """The student's answers must have the law ``law(**probe)``.

    ``draws``: of the last look. ``hides``: the noise is there to hide somebody, so a wrong one is told what it costs.
    """

    def judge(talk: Interview) -> None:
        look_at_noise(talk, law, LEVEL, draws=draws, hides=hides)
        many = f"to {len(talk.probes)} probes " if len(talk.probes) > 1 else ""
        talk.praise = (
            f"Your answers {many}have the right centre, spread and shape. (I hardly see what comes less often than "
            f"once in a thousand calls, noise that is ten times too small in less than one call of twenty, a secret "
            f"in the last digits, or noise that a generator of your own repeats tomorrow.)"
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
    looks = [*((place, talk.few) for place in range(len(rights))), (len(rights) - 1, most)]
    level = level / (len(looks) + 1)  # of each look, and of all calls together
    seen, stopped = list[np.ndarray](), None
    try:
        for place, number_of_draws in looks:
            try:
                seen.append(look_once(talk, probes[place], rights[place], number_of_draws, level / TESTS))
            except Complaint as complaint:  # at an edge: is it right elsewhere?
                if not isinstance(probes[place], Edge):
                    raise
                stopped = stopped or complaint
        look_at_calls(talk, seen, rights[-1].law.typical, level)
    except Failed as failed:
        raise diagnose_noise(talk, probes, law, failed, hides=hides) from None
    if stopped:
        raise stopped


def look_once(talk: Interview, probe: Probe, right: Noise, draws: int, level: float) -> np.ndarray:
    """One look at one probe: eleven tests, each at this level. The noises, a row for each call."""
    answers = talk.draws(probe, draws).reshape(draws, -1)
    about, talk.failing = f"I called you {draws:,} times with {arguments(probe)}.", probe
    if answers.shape[1] != right.centers.size:
        talk.fail(f"{about} You give back {answers.shape[1]} numbers; {right.centers.size} are asked for.")
    refuse_huge(talk, answers)
    refuse_repeats(talk, answers, right, about)
    seen = Look(talk, answers, right, about, level)
    seen.paint(0)
    seen.look_at_centers()
    seen.look_at_signs_of_pairs()
    seen.look_at_means()
    seen.look_at_widths()
    seen.look_at_shapes()
    seen.look_at_tails()
    seen.look_at_coordinates()
    seen.look_at_small_ones()
    return seen.z


def look_at_calls(talk: Interview, seen: Sequence[np.ndarray], typical: float, level: float) -> None:
    """Signs and sizes of all numbers in the order in which they came: every call has noise of its own, to any probe."""
    columns = {z.shape[1] for z in seen}
    for what, of in ((ONE_SIGN, lambda z: z > 0), (ONE_SIZE, lambda z: np.abs(z) > typical)):
        labels = np.concatenate([of(z).ravel() for z in seen]).astype(int)
        odd = oddest_agreement(labels, (0.5, 0.5), level / 2)
        calls, rest = divmod(odd.distance, min(columns))
        together = "calls" if len(columns) == 1 and not rest else "numbers"
        distance = calls if together == "calls" else odd.distance
        words = "one call and of the next" if (distance, together) == (1, "calls") else f"two {together} at a distance "
        words += "" if words.endswith("next") else f"of {distance:,}"
        talk.require(
            odd.fit,
            f"I called you {sum(map(len, seen)):,} times. The noise of {words} {what} in {odd.share:.0%} of the "
            f"pairs, and should in half of them: every call needs noise of its own, or else two answers together give "
            f"it away.",
            name=SAME_IN_TWO,
        )


def refuse_huge(talk: Interview, answers: np.ndarray) -> None:
    """Numbers whose squares are no numbers any more."""
    if np.abs(answers).max(initial=0.0) > HUGE:
        talk.fail(f"Your answers are as large as {np.abs(answers).max():.3g}: something runs away.", name="huge")
