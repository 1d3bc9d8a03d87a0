"""Homework 4, derivation: why a Poisson sample costs ln(1 + q (e^eps - 1)), one person more against one less."""

from __future__ import annotations

from dpcourse.tasks.proofs.derivation import ALGEBRA, Reason, derivation
from dpcourse.tasks.proofs.domains import Given, positive
from dpcourse.tasks.proofs.proof import Lines, proof
from dpcourse.tasks.task import Task

REWRITE, PRIVATE = "algebra", "privacy of the step"
_START = "((1 - q)*p0 + q*p1)/p0"
_BOUNDED: Lines = [("<=", "((1 - q)*p0 + q*exp(epsilon)*p0)/p0", PRIVATE)]

proof_amplification = proof(
    "proof_amplification",
    "lecture 4, Trick 3: perhaps you were not even there",
    derivation(
        start=_START,
        goal="1 + q*(exp(epsilon) - 1)",
        symbols={
            "q": positive(0.01, 1), "epsilon": positive(0.1, 3), "p0": positive(0.02, 1), "p1": positive(0.02, 1),
        },
        reasons={REWRITE: ALGEBRA, PRIVATE: Reason("<=", given=("private",))},
        givens={"private": Given("p1 <= exp(epsilon)*p0", edge={"p1": "exp(epsilon)*p0"})},
        required=(REWRITE, PRIVATE),
    ),
    (
        "q times epsilon", [*_BOUNDED, ("=", "exp(q*epsilon)", REWRITE)],
        "1 + q (e^eps - 1) is not e^(q eps): the two only touch at q = 0 and q = 1, and in between the first is "
        "larger.",
    ),
    (
        "called algebra", [("<=", "((1 - q)*p0 + q*exp(epsilon)*p0)/p0", REWRITE)],
        "p1 <= e^eps p0 is what the privacy of the step promises. Algebra knows nothing of it.",
    ),
    (
        "always in the lot", [("<=", "exp(epsilon)", PRIVATE)],
        "That is the cost without sampling. You have given away the (1 - q) p0 of the lots without Ada.",
    ),
    (
        "everything multiplied",
        [("<=", "((1 - q)*exp(epsilon)*p0 + q*exp(epsilon)*p0)/p0", PRIVATE)],
        "Only p1, the lot with Ada, is bounded by e^eps p0. Without her the probability is p0 on both sides.",
    ),
    (
        "equal to the bound", [("=", "1 + q*(exp(epsilon) - 1)", PRIVATE)],
        "p1 is at most e^eps p0, and often less: this step is an inequality.",
    ),
)  # fmt: skip

TASKS: tuple[Task, ...] = (proof_amplification,)
