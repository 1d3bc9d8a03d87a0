"""The seeds of fresh probes: a secret one for each run, and from it one for each student.

A student's program sees a few probes. With a short seed it could try all numbers until one draws those probes, and
would then know what else is asked; with one seed for everybody, what one student's program sees could help another's.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping

FEWEST_DIGITS = 16
MOST_DIGITS = 100
TRIALS = "--seed-for-tests: who knows the seed knows the probes, so these grades are for trials only"

#: For `nbgrader autograde`, which has no options of ours.
SECRET_VARIABLE, TRIAL_VARIABLE = "DPCOURSE_GRADING_SEED", "DPCOURSE_SEED_FOR_TESTS"


def new_seed() -> int:
    """A secret seed: one of 2^62, all of 19 digits."""
    return 2**62 + secrets.randbits(62)


def is_guessable(seed: int) -> bool:
    """Could a program try all seeds up to this one?"""
    return seed < 10 ** (FEWEST_DIGITS - 1)


def any_seed(text: str) -> int:
    """The whole number that was written."""
    if not text.isdecimal() or len(text) > MOST_DIGITS:
        shown = repr(text) if len(text) <= MOST_DIGITS else f"{text[:20]!r}... of {len(text):,} characters"
        raise ValueError(f"a seed is a whole number >= 0 of at most {MOST_DIGITS} digits, not {shown}")
    return int(text)


def long_seed(text: str) -> int:
    """The same for real grades: not a number that could be found by trying."""
    seed = any_seed(text)
    if is_guessable(seed):
        raise ValueError(
            f"the seed {text!r} is too short for real grades: a program that sees one probe could try all numbers of "
            f"fewer than {FEWEST_DIGITS} digits until it knows the others. Leave it out, and a secret one is drawn"
        )
    return seed


def seed_of(environment: Mapping[str, str]) -> int | None:
    """The seed that the environment asks for; None if it asks for none."""
    secret, trial = environment.get(SECRET_VARIABLE, ""), environment.get(TRIAL_VARIABLE, "")
    if secret and trial:
        raise ValueError(f"{SECRET_VARIABLE}={secret!r} and {TRIAL_VARIABLE}={trial!r} cannot both be set")
    for name, text, read in ((SECRET_VARIABLE, secret, long_seed), (TRIAL_VARIABLE, trial, any_seed)):
        if text:
            try:
                return read(text)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
    return None


def probe_seed(secret: int, homework: str, student: str) -> int:
    """What the probes of one submission are drawn from: the same on every machine, of no use for any other one."""
    about = json.dumps([homework, student]).encode()
    return int.from_bytes(hmac.digest(str(secret).encode(), about, hashlib.sha256)[:16])
