"""The right and wrong submissions to each homework, for whoever tries the judges."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from dpcourse.tasks import interview
from dpcourse.tasks.answers import Form
from dpcourse.tasks.judges import choices, diagnosis, noise_words, repeats
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.respondent import Probe


def bank_of(homework: str) -> Any:
    """The module with the submissions to a homework: ``RIGHT`` and ``WRONG``."""
    return importlib.import_module(f"testing.submissions.{homework.split('_')[0]}")


def gather(parts: Iterable[Mapping[str, Mapping[str, Any]]]) -> dict[str, dict[str, Any]]:
    """The submissions of several modules by task; two of one name are an error."""
    tasks: dict[str, dict[str, Any]] = {}
    for part in parts:
        for task, submissions in part.items():
            mine = tasks.setdefault(task, {})
            if same := mine.keys() & submissions.keys():
                raise ValueError(f"{task} has two submissions called {sorted(same)}")
            mine.update(submissions)
    return tasks


@contextmanager
def few_draws_to_name() -> Iterator[None]:
    """Mistakes are named by 400 draws in place of 6,000, where only the verdict counts: most of the time goes there."""
    with ExitStack() as stack:
        for module, constant in (
            (noise_words, "NAMING"), (noise_words, "SCREENING"), (choices, "NAMING"), (interview, "CLOSER"),
            (repeats, "CLOSER"),
        ):  # fmt: skip
            stack.enter_context(patch.object(module, constant, 400))
        yield


@contextmanager
def draws_of_mistakes_once() -> Iterator[None]:
    """What a known mistake of a task answers to a probe is drawn once for all submissions to that task."""
    known = dict[Any, np.ndarray]()

    def draws_of(mistake: Mistake, form: Form, probe: Probe, number: int, seed: int) -> np.ndarray:
        asked = b"|".join(np.asarray(value).tobytes() for value in probe.values())
        key = mistake.name, asked, number, seed
        if not mistake.name:  # two at once have none
            return draw(mistake, form, probe, number, seed)
        if key not in known:
            known[key] = draw(mistake, form, probe, number, seed)
        return known[key]

    draw = diagnosis.draws_of
    with ExitStack() as stack:
        for module in (diagnosis, noise_words, choices):
            stack.enter_context(patch.object(module, "draws_of", draws_of))
        yield
