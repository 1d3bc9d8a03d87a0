"""Homework 5, derivation: with the lecture's eps2 the ratio that binds, of RRRR outside S, is at most e^eps."""

from __future__ import annotations

from dpcourse.tasks.mistake import mistake
from dpcourse.tasks.proofs.derivation import ALGEBRA, Lines, Reason, proof_task
from dpcourse.tasks.proofs.domains import Given, positive, whole
from dpcourse.tasks.task import Task

REWRITE, CHOICE = "algebra", "choice of eps2"
_START = "(E1*E2/((E1 + k)*(E2 + n - 1))) / (1/((E1 + k)*n))"
_RATIO: Lines = [("=", "n*E1*E2/(E2 + n - 1)", REWRITE)]
_SPLIT: Lines = [*_RATIO, ("=", "E*(E2*(n*E1/E - 1) + E2)/(E2 + n - 1)", REWRITE)]

proof_second_epsilon = proof_task(
    "proof_second_epsilon",
    see="lecture 5, How large may ε₂ be?",
    start=_START,
    goal="E",
    symbols={
        "E": positive(1.05, 12), "E1": positive(1.01, 12), "E2": positive(1, 12), "n": whole(2, 9),
        "k": whole(1, 9),
    },
    reasons={REWRITE: ALGEBRA, CHOICE: Reason("<=", given=("chosen",))},
    givens={"chosen": Given("E2*(n*E1/E - 1) <= n - 1", edge={"E1": "E*((n - 1)/E2 + 1)/n"})},
    mistakes=[
        mistake(
            "n forgotten",
            "Somebody in S reports a given outsider with a/n. Dividing by a/n multiplies by n.",
            ways=[[("=", "E1*E2/(E2 + n - 1)", REWRITE)]],
        ),
        mistake(
            "eps1 + eps2",
            "n/(E2 + n - 1) <= 1 is true, but gives away what eps2 was chosen for. From here E is out of reach.",
            ways=[[*_RATIO, ("<=", "E1*E2", CHOICE)]],
        ),
        mistake(
            "equal to the bound",
            "E2 (n E1/E - 1) is at most n - 1, by the choice of eps2. That is neither algebra nor an equality.",
            ways=[[*_SPLIT, ("=", "E*(n - 1 + E2)/(E2 + n - 1)", REWRITE)]],
        ),
        mistake(
            "called algebra",
            "True, but not by algebra: it is where eps2 comes in.",
            ways=[[*_SPLIT, ("<=", "E*(n - 1 + E2)/(E2 + n - 1)", REWRITE)]],
        ),
        mistake(
            "straight to the goal",
            "That is what is to be shown. Which property of eps2 makes it true, and why?",
            ways=[[("<=", "E", REWRITE)]],
        ),
    ],
)  # fmt: skip

TASKS: tuple[Task, ...] = (proof_second_epsilon,)
