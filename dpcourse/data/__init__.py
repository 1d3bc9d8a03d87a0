"""The data sets of the course: the slides' own, exactly; larger generated ones; and examples to train on.

Seeded and offline. Tables are pandas'; what needs torch is imported when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from dpcourse.data.conversations import CONVERSATIONS, REMOVALS, removed
from dpcourse.data.parties import PARTIES
from dpcourse.data.slides import MAX_DEBT, MAX_SKIPPED, bank_debts, hospital, lectures_skipped
from dpcourse.data.society import cities, meeting_utility, secret_society, utility_sensitivity
from dpcourse.data.tables import replaced, without

if TYPE_CHECKING:
    from dpcourse.data.chat_messages import Canary, Corpus, messages
    from dpcourse.data.examples import Examples, Texts, digits, load_csv, sentiments

_NEEDS_TORCH = {"examples": "Examples Texts digits load_csv sentiments", "chat_messages": "Canary Corpus messages"}
_WHERE = {name: module for module, names in _NEEDS_TORCH.items() for name in names.split()}

__all__ = [
    "CONVERSATIONS", "MAX_DEBT", "MAX_SKIPPED", "PARTIES", "REMOVALS", "Canary", "Corpus", "Examples", "Texts",
    "bank_debts", "cities", "digits", "hospital", "lectures_skipped", "load_csv", "meeting_utility", "messages",
    "removed", "replaced", "secret_society", "sentiments", "utility_sensitivity", "without",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(importlib.import_module(f"dpcourse.data.{_WHERE[name]}"), name)
    raise AttributeError(f"dpcourse.data has no {name!r}; it has: {', '.join(__all__)}")
