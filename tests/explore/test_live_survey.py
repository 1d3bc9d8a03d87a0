"""A survey that is watched takes the same course as one that is not, and what is shown is what it knows."""

from __future__ import annotations

import numpy as np
import pytest

from dpcourse import explore
from dpcourse.adaptive_ldp import AdaptiveSurvey
from dpcourse.data import PARTIES
from dpcourse.explore.lecture5 import live_survey
from dpcourse.scenes import Picture


def test_watching_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    people = np.random.default_rng(1).choice(20, 60, p=PARTIES)
    watched, alone = (AdaptiveSurvey(20, epsilon=3, rng=5) for _ in range(2))
    explore.watch_survey(watched, people, PARTIES, rng=2)
    coins = np.random.default_rng(2)
    for secret in people:
        alone.tell(alone.ask().release(secret, rng=coins))
    assert watched.history == alone.history
    assert "60 of 60 answers" in capsys.readouterr().out


def test_every_twentieth_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[tuple[int, int, Picture]] = []
    monkeypatch.setattr(live_survey, "_screen", lambda: lambda *frame: shown.append(frame))
    explore.watch_survey(AdaptiveSurvey(20, epsilon=3, rng=5), [0] * 40, np.eye(20)[0], rng=2)
    assert [done for done, *_ in shown] == list(range(2, 41, 2))
    assert "40 of 40 answers" in shown[-1][2].says


@pytest.mark.parametrize(
    ("people", "truth", "words"),
    [([20], PARTIES, "20"), ([], PARTIES, "people"), ([0], [0.5, 0.2], "truth"), ([0], [1.0], "truth")],
)
def test_bad_input_is_quoted(people: list[int], truth: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        explore.watch_survey(AdaptiveSurvey(20, epsilon=3, rng=5), people, truth)
