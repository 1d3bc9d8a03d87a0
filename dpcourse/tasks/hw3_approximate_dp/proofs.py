"""Homework 3, derivation: group privacy for two people, link by link."""

from __future__ import annotations

from dpcourse.tasks.mistake import mistake
from dpcourse.tasks.proofs.derivation import ALGEBRA, Lines, Reason, proof_task
from dpcourse.tasks.proofs.domains import Given, positive, real
from dpcourse.tasks.task import Task

REWRITE, FIRST, SECOND = "algebra", "d0 and d1 are neighbours", "d1 and d2 are neighbours"

_FIRST_LINK: Lines = [("<=", "exp(epsilon)*p1 + delta", FIRST)]
_BOTH_LINKS: Lines = [*_FIRST_LINK, ("<=", "exp(epsilon)*(exp(epsilon)*p2 + delta) + delta", SECOND)]

proof_group_of_two = proof_task(
    "proof_group_of_two",
    see="lecture 3, Group privacy",
    start="p0",
    goal="exp(2*epsilon)*p2 + (1 + exp(epsilon))*delta",
    symbols={
        "p0": real(0, 1), "p1": real(0, 1), "p2": real(0, 1),
        "epsilon": positive(0.05, 1.5), "delta": positive(0.01, 0.4),
    },
    reasons={REWRITE: ALGEBRA, FIRST: Reason("<=", given=("first",)), SECOND: Reason("<=", given=("second",))},
    givens={
        "first": Given("p0 <= exp(epsilon)*p1 + delta"),
        "second": Given("p1 <= exp(epsilon)*p2 + delta"),
    },
    mistakes=[
        mistake(
            "delta not multiplied",
            "The second bound goes in as a whole, in brackets: e^eps multiplies its delta, too.",
            ways=[[*_FIRST_LINK, ("<=", "exp(2*epsilon)*p2 + 2*delta", SECOND)]],
        ),
        mistake(
            "delta forgotten",
            "The definition is Pr[M(D) in T] <= e^eps Pr[M(D') in T] + delta.",
            ways=[[("<=", "exp(epsilon)*p1", FIRST)]],
        ),
        mistake(
            "both at once",
            "D0 and D2 differ in two rows: they are not neighbours. Go by way of D1.",
            ways=[[("<=", "exp(epsilon)*p2 + delta", FIRST)]],
        ),
        mistake(
            "equal",
            "Privacy gives a bound, not an equality, and it is a fact about the mechanism, not algebra.",
            ways=[[("=", "exp(epsilon)*p1 + delta", REWRITE)]],
        ),
        mistake(
            "brackets forgotten",
            "Multiplying out gives e^eps delta + delta, which is (1 + e^eps) delta. (2 e^eps delta is the slide's "
            "looser bound.)",
            ways=[[*_BOTH_LINKS, ("=", "exp(2*epsilon)*p2 + 2*exp(epsilon)*delta", REWRITE)]],
        ),
        mistake(
            "wrong link",
            "p1 and p2 belong to D1 and D2: it is their being neighbours that you use here.",
            ways=[[*_FIRST_LINK, ("<=", "exp(epsilon)*(exp(epsilon)*p2 + delta) + delta", FIRST)]],
        ),
    ],
)  # fmt: skip

TASKS: tuple[Task, ...] = (proof_group_of_two,)
