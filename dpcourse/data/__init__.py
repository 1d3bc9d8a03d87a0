"""The datasets of the slides, exactly, and generated larger versions of them: seeded, offline, as pandas tables."""

from dpcourse.data.slides import MAX_DEBT, MAX_SKIPPED, bank_debts, hospital, lectures_skipped
from dpcourse.data.society import cities, meeting_utility, secret_society, utility_sensitivity
from dpcourse.data.tables import replaced, without

__all__ = [
    "MAX_DEBT",
    "MAX_SKIPPED",
    "bank_debts",
    "cities",
    "hospital",
    "lectures_skipped",
    "meeting_utility",
    "replaced",
    "secret_society",
    "utility_sensitivity",
    "without",
]
