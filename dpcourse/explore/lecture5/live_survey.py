"""Lecture 5: ``watch_survey`` runs a survey and shows its estimate, its subset and its error while it goes on."""

from __future__ import annotations

import base64
import html
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpcourse import checks
from dpcourse.adaptive_ldp import AdaptiveSurvey, total_variation
from dpcourse.explore.lecture5.surveys import set_in_words, shares_panel
from dpcourse.randomness import Rng, generator
from dpcourse.scenes import Axis, Line, Picture, dot, panel, picture_of

__all__ = ["watch_survey"]

FRAMES = 20


def watch_survey(survey: AdaptiveSurvey, people: Any, truth: Any, *, rng: Rng = None) -> None:
    """Let people answer one after the other, each with a secret category of ``people``, and show what is known.

    The shares shown are the mean of the survey's samples since the picture before; looking changes nothing. Only this
    function knows ``people`` and ``truth``: the survey is told reports.
    """
    secrets, coins = checks.categories("people", people, survey.k), generator(rng)
    shares = checks.probability_vector("truth", truth, tolerance=1e-6)
    if len(shares) != survey.k:
        raise ValueError(f"truth must have a share for each of {survey.k} categories, got {len(shares)}")
    if secrets.ndim != 1 or len(secrets) == 0:
        raise ValueError(f"people must be a list of at least one category, got {people!r}")
    show = _screen()
    samples: list[np.ndarray] = []
    errors: list[tuple[int, float]] = []
    stops = {round(len(secrets) * (i + 1) / FRAMES) for i in range(FRAMES)}
    for done, secret in enumerate(secrets.tolist(), 1):
        subset = survey.ask().subset
        survey.tell(survey.ask().release(secret, rng=coins))
        samples.append(survey.sample)
        if done in stops:
            estimate = np.mean(samples, axis=0)
            errors.append((done, float(total_variation(estimate, shares))))
            show(done, len(secrets), _picture(done, len(secrets), estimate, subset, shares, errors))
            samples.clear()


def _picture(
    done: int,
    last: int,
    estimate: np.ndarray,
    subset: Sequence[int],
    truth: np.ndarray,
    errors: list[tuple[int, float]],
) -> Picture:
    arrivals, heights = zip(*errors, strict=True)
    return picture_of(
        f"{done:,} of {last:,} answers; the last one was asked with {set_in_words(subset)}; the error is "
        f"{heights[-1]:.3f}.",
        shares_panel(f"After {done:,} answers", 100 * estimate, subset, 100 * truth, 100 * float(estimate.max())),
        panel(
            "The error so far",
            Axis("answers", 0, 1.04 * last),
            Axis("total variation", 0, 1),
            Line(arrivals, heights, colour="blue", width=3),
            dot(done, heights[-1], colour="blue"),
        ),
    )


def _screen() -> Callable[[int, int, Picture], None]:
    """In a notebook a picture that is painted over; elsewhere a line."""
    try:
        from IPython import get_ipython

        inside = get_ipython() is not None
    except ImportError:
        inside = False
    if not inside:
        return lambda done, last, picture: print(f"\r{picture.says:<110}", end="\n" if done == last else "", flush=True)
    from IPython.display import HTML, display

    from dpcourse.scenes import matplotlib_painter

    handle = display(HTML(""), display_id=True)

    def show(done: int, last: int, picture: Picture) -> None:
        data = base64.b64encode(matplotlib_painter.png(picture)).decode()
        bar = f'<progress value="{done}" max="{last}" style="width:100%"></progress>'
        image = f'<img alt="{html.escape(picture.says)}" style="max-width:100%" src="data:image/png;base64,{data}">'
        handle.update(HTML(bar + image))

    return show
