"""The datasets of the slides, exactly, and generated larger versions of them: seeded, offline, as pandas tables."""

from dpcourse.data.conversations import CONVERSATIONS, REMOVALS, removed
from dpcourse.data.parties import PARTIES
from dpcourse.data.slides import MAX_DEBT, MAX_SKIPPED, bank_debts, hospital, lectures_skipped
from dpcourse.data.society import cities, meeting_utility, secret_society, utility_sensitivity
from dpcourse.data.tables import replaced, without

__all__ = [
    "CONVERSATIONS",
    "MAX_DEBT",
    "MAX_SKIPPED",
    "PARTIES",
    "REMOVALS",
    "bank_debts",
    "cities",
    "hospital",
    "lectures_skipped",
    "meeting_utility",
    "removed",
    "replaced",
    "secret_society",
    "utility_sensitivity",
    "without",
]
