"""Homework 4, derivation: why a Poisson sample costs ln(1 + q (e^eps - 1)), one person more against one less."""

from __future__ import annotations

from dpcourse.tasks.mistake import mistake
from dpcourse.tasks.proofs.derivation import ALGEBRA, Lines, Reason, proof_task
from dpcourse.tasks.proofs.domains import Given, positive
from dpcourse.tasks.task import Task

REWRITE, PRIVATE = "algebra", "privacy of the step"
_START = "((1 - q)*p0 + q*p1)/p0"
_BOUNDED: Lines = [("<=", "((1 - q)*p0 + q*exp(epsilon)*p0)/p0", PRIVATE)]

proof_amplification = proof_task(
    "proof_amplification",
    see="lecture 4, Trick 3: perhaps you were not even there",
    start=_START,
    goal="1 + q*(exp(epsilon) - 1)",
    symbols={
        "q": positive(0.01, 1), "epsilon": positive(0.1, 3), "p0": positive(0.02, 1), "p1": positive(0.02, 1),
    },
    reasons={REWRITE: ALGEBRA, PRIVATE: Reason("<=", given=("private",))},
    givens={"private": Given("p1 <= exp(epsilon)*p0", edge={"p1": "exp(epsilon)*p0"})},
    mistakes=[
        mistake(
            "q times epsilon",
            "1 + q (e^eps - 1) is not e^(q eps): the two only touch at q = 0 and q = 1, and in between the first is "
            "larger.",
            ways=[[*_BOUNDED, ("=", "exp(q*epsilon)", REWRITE)]],
        ),
        mistake(
            "sign lost",
            "The lots without Ada have the share 1 - q: divided by p0, that part is 1 - q, and not 1 + q.",
            ways=[[("=", "1 + q + q*p1/p0", REWRITE)]],
        ),
        mistake(
            "called algebra",
            "p1 <= e^eps p0 is what the privacy of the step promises. Algebra knows nothing of it.",
            ways=[[("<=", "((1 - q)*p0 + q*exp(epsilon)*p0)/p0", REWRITE)]],
        ),
        mistake(
            "always in the lot",
            "That is the cost without sampling. You have given away the (1 - q) p0 of the lots without Ada.",
            ways=[[("<=", "exp(epsilon)", PRIVATE)]],
        ),
        mistake(
            "everything multiplied",
            "Only p1, the lot with Ada, is bounded by e^eps p0. Without her the probability is p0 on both sides.",
            ways=[[("<=", "((1 - q)*exp(epsilon)*p0 + q*exp(epsilon)*p0)/p0", PRIVATE)]],
        ),
        mistake(
            "equal to the bound",
            "p1 is at most e^eps p0, and often less: this step is an inequality.",
            ways=[[("=", "1 + q*(exp(epsilon) - 1)", PRIVATE)]],
        ),
    ],
)  # fmt: skip

TASKS: tuple[Task, ...] = (proof_amplification,)
