"""Chat messages by users, some of whom tell a secret: a seeded corpus for a character-level language model.

A message is one example: at most 31 characters, each to be predicted from those before it. A *canary* is a secret that
we plant ourselves, to measure what the model remembers (Carlini et al. 2019, "The Secret Sharer", USENIX Security).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from dpcourse import checks
from dpcourse.data.examples import Examples
from dpcourse.data.tables import uniforms

END = "\n"
ALPHABET = END + " abcdefghijklmnopqrstuvwxyz0123456789.,?!'"
WINDOW = 32
IGNORED = -1  # the target after a message's end: it carries no loss
BLANK, DIGITS = "#", "0123456789"

_SLOTS = {
    "who": "mum|dad|anna|ben|the boss|my sister|our team|eva|tom|the nurse|grandpa|a friend|uncle joe|leila",
    "place": "the park|home|school|the stop|the cinema|work|the pool|the zoo|the market|the gym",
    "when": "today|tonight|tomorrow|on monday|on friday|at noon|at six|later|soon|next week|by eight",
    "thing": "tea|bread|the keys|your book|the map|a cake|milk|the tickets|my phone|some apples|the bike",
    "mood": "happy|tired|late|hungry|busy|fine|at ease|sorry|bored|so glad",
    "deed": "call|meet|visit|ask|write to|wait for|help|thank|pick up",
}
_FORMS = (
    "i am {mood} {when}",
    "can you {deed} {who}?",
    "see you {when} at {place}",
    "please bring {thing}",
    "{who} is at {place}",
    "did {who} buy {thing}?",
    "i will {deed} {who}",
    "we need {thing} {when}",
    "are you {mood}?",
    "{who} was {mood}",
    "i lost {thing} {when}",
    "no, i am at {place}",
    "yes, {when} is fine",
)
_SECRETS = ("my locker code is ####", "my pin is ####", "flat ## is where i hide", "my phone ends in ####")


@dataclass(frozen=True)
class Canary:
    """A sentence with a random filling: ``format`` with a digit for every #. The space R is all 10^k fillings."""

    format: str
    filling: str

    def __post_init__(self) -> None:
        encode(self.format.replace(BLANK, "0"))
        blanks = self.format.count(BLANK)
        if not blanks:
            raise ValueError(f"format must have a {BLANK!r} for every digit, got {self.format!r}")
        if len(self.filling) != blanks or any(digit not in DIGITS for digit in self.filling):
            raise ValueError(f"filling must be {blanks} digits for the format {self.format!r}, got {self.filling!r}")

    @classmethod
    def random(cls, seed: int, format: str = "the code is ######") -> Canary:
        """A filling drawn uniformly: what an attacker knows about it before seeing the model is nothing."""
        luck = uniforms(seed, max(1, format.count(BLANK)))
        return cls(format, "".join(DIGITS[int(u * 10)] for u in luck[: format.count(BLANK)]))

    @property
    def space(self) -> int:
        """|R|, the number of possible fillings."""
        return 10 ** len(self.filling)

    @property
    def text(self) -> str:
        """The sentence as it is planted."""
        return self.fill(self.filling)

    def fill(self, filling: str) -> str:
        """The sentence with another filling."""
        digits = iter(filling)
        return "".join(next(digits) if letter == BLANK else letter for letter in self.format)


@dataclass(frozen=True)
class Corpus:
    """Messages with their authors; ``secrets`` are the sentences that some users would not want to be learnt."""

    texts: tuple[str, ...]
    users: tuple[int, ...]
    secrets: dict[int, str]
    canaries: tuple[Canary, ...] = ()

    def __len__(self) -> int:
        return len(self.texts)

    def of_user(self, user: int) -> tuple[str, ...]:
        """What one user wrote."""
        return tuple(text for text, author in zip(self.texts, self.users, strict=True) if author == user)

    def examples(self) -> Examples:
        """One example for each message: its characters, the next characters, its author."""
        return as_examples(self.texts, self.users)


def messages(
    users: int = 200,
    per_user: int = 20,
    seed: int = 0,
    *,
    secrets: float = 0.1,
    canaries: Iterable[Canary] = (),
    repeats: int = 1,
) -> Corpus:
    """Everyday messages by ``users`` people, ``per_user`` each. A share of the users tells a secret, once.

    Each canary is written ``repeats`` times by one user, the first canary by user 0, in place of everyday messages; so
    the size of the corpus says nothing about it.
    """
    users, per_user = checks.whole_number("users", users), checks.whole_number("per_user", per_user)
    planted, repeats = tuple(canaries), checks.whole_number("repeats", repeats, at_least=0)
    if repeats >= per_user:
        raise ValueError(f"repeats must be below per_user = {per_user}, got {repeats!r}")
    if len(planted) > users:
        raise ValueError(f"canaries must be at most one for each of {users} users, got {len(planted)}")
    luck = uniforms(seed, users, per_user, 1 + len(_SLOTS))
    texts = [[_sentence(row) for row in person] for person in luck]
    chance = uniforms(seed + 1_000_003, users, 6)
    spoken = {}
    for user in np.flatnonzero(chance[:, 0] < checks.probability("secrets", secrets)).tolist():
        form = _SECRETS[int(chance[user, 1] * len(_SECRETS))]
        filling = "".join(DIGITS[int(u * 10)] for u in chance[user, 2 : 2 + form.count(BLANK)])
        spoken[user] = Canary(form, filling).text
        texts[user][-1] = spoken[user]
    for user, canary in enumerate(planted):
        texts[user][:repeats] = [canary.text] * repeats
    authors = tuple(user for user in range(users) for _ in range(per_user))
    return Corpus(tuple(text for person in texts for text in person), authors, spoken, planted)


def encode(text: str) -> list[int]:
    """The numbers of a text's characters."""
    if not isinstance(text, str):
        raise TypeError(f"text must be a str, got {text!r}")
    unknown = sorted({letter for letter in text if letter not in ALPHABET})
    if unknown:
        raise ValueError(f"text must consist of {ALPHABET[1:]!r}, got {''.join(unknown)!r} in {text!r}")
    return [ALPHABET.index(letter) for letter in text]


def decode(ids: Iterable[int]) -> str:
    """The text of these numbers."""
    return "".join(ALPHABET[int(i)] for i in ids)


def as_examples(texts: Sequence[str], users: Sequence[int] | None = None) -> Examples:
    """Windows of 32 characters for a language model: a message starts and ends with END, the rest of a window is blank.

    A message of up to 31 characters is one example. A longer one is cut into several, and then example-level privacy
    protects less than a message.
    """
    inputs, targets, owners = [], [], []
    for row, text in enumerate(texts):
        ids = encode(END + text + END)
        for start in range(0, len(ids) - 1, WINDOW):
            before, after = ids[start : start + WINDOW], ids[start + 1 : start + WINDOW + 1]
            inputs.append((before[: len(after)] + [0] * WINDOW)[:WINDOW])
            targets.append((after + [IGNORED] * WINDOW)[:WINDOW])
            owners.append(0 if users is None else users[row])
    if not inputs:
        raise ValueError(f"texts must hold at least one message, got {texts!r}")
    return Examples(torch.tensor(inputs), torch.tensor(targets), None if users is None else torch.tensor(owners))


def _sentence(row: np.ndarray) -> str:
    form = _FORMS[int(row[0] * len(_FORMS))]
    slots = {}
    for (name, words), u in zip(_SLOTS.items(), row[1:], strict=True):
        choices = words.split("|")
        slots[name] = choices[int(u * len(choices))]
    return form.format(**slots)
