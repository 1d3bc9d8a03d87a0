"""Wrong submissions to homework 3 by which an attacker who had not seen them got past the judges."""

import math

import numpy as np

from testing.submissions.hw3.rules import ledger_by


def _refusing(error):
    def sigma(epsilon, delta, sensitivity):
        if epsilon >= 1:
            raise error
        return math.sqrt(2 * math.log(1.25 / delta)) * sensitivity / epsilon

    return sigma


def _answering(value):
    return lambda epsilon, delta, sensitivity: _refusing(None)(epsilon, delta, sensitivity) if epsilon < 1 else value


class Refused(Exception):
    """A refusal that is no ValueError."""


def group_of_a_leak(epsilon, delta, k):
    """Takes delta = 0 for a mechanism that leaks a little."""
    return k * epsilon, sum(max(delta, 1e-5) * math.exp(i * epsilon) for i in range(k))


RIGHT = {}
OTHER_WORDS = "refuses in other words"
WRONG = {
    "textbook_sigma": {
        "an AssertionError": (_refusing(AssertionError("eps")), OTHER_WORDS),
        "a plain Exception": (_refusing(Exception("eps")), OTHER_WORDS),
        "an error of one's own": (_refusing(Refused("eps")), OTHER_WORDS),
        "no words": (_refusing(ValueError()), OTHER_WORDS),
        "an empty text": (_refusing(ValueError("")), OTHER_WORDS),
        "minus infinity": (_answering(-math.inf), OTHER_WORDS),
    },
    "ledger": {
        "a hair of delta": (ledger_by(lambda e, epsilon, d, delta: e <= epsilon and d <= delta + 1e-6), None),
        "a hair of epsilon": (ledger_by(lambda e, epsilon, d, delta: e <= epsilon + 1e-5 and d <= delta), None),
        "isclose": (
            ledger_by(
                lambda e, epsilon, d, delta: all(x <= y or math.isclose(x, y) for x, y in ((e, epsilon), (d, delta)))
            ),
            None,
        ),
        "numpy's isclose": (
            ledger_by(lambda e, epsilon, d, delta: e <= epsilon and (d <= delta or np.isclose(d, delta, atol=1e-11))),
            None,
        ),
    },
    "group_guarantee": {"a leak where there is none": (group_of_a_leak, None)},
}
