"""Homework 2, derivations: randomized response is epsilon-DP for every D, D' and y; case by case, then in one line."""

from __future__ import annotations

from dpcourse.tasks.proofs.derivation import ALGEBRA, Reason, derivation
from dpcourse.tasks.proofs.domains import Given, positive, real, whole
from dpcourse.tasks.proofs.proof import Lines, proof
from dpcourse.tasks.task import Task

REWRITE, COIN, BUDGET = "algebra", "definition of theta", "epsilon is not negative"

_THETA = "exp(epsilon)/(exp(epsilon) + 1)"
_REASONS = {
    REWRITE: ALGEBRA,
    COIN: Reason("=", given=("coin",)),
    BUDGET: Reason("<=", given=("budget",)),
}
_GIVENS = {"coin": Given(f"theta = {_THETA}"), "budget": Given("epsilon >= 0", edge={"epsilon": "0"})}
#: epsilon below 0 is tried as well: a step that needs epsilon >= 0 must say so.
_SYMBOLS = {"theta": positive(0.02, 0.98), "epsilon": real(-1.5, 3)}

_TOLD: Lines = [("=", f"({_THETA}) / (1 - {_THETA})", COIN)]

proof_truth_told = proof(
    "proof_truth_told",
    "lecture 2, section 6 (Check it forwards)",
    derivation(
        start="theta/(1 - theta)",
        goal="exp(epsilon)",
        symbols=_SYMBOLS,
        reasons=_REASONS,
        givens=_GIVENS,
        required=(REWRITE, COIN),
    ),
    (
        "first attempt", [("=", "((epsilon + 1)/(epsilon + 2)) / (1 - (epsilon + 1)/(epsilon + 2))", COIN)],
        "That is the theta of the first attempt. Randomized response has theta = e^eps/(e^eps + 1).",
    ),
    (
        "fraction not turned over", [*_TOLD, ("=", f"{_THETA} * 1/(exp(epsilon) + 1)", REWRITE)],
        "1 - theta is 1/(e^eps + 1). Dividing by it is multiplying by e^eps + 1.",
    ),
    (
        "called algebra", [("=", "exp(epsilon)", REWRITE)],
        "For an arbitrary theta the odds are not e^eps: here the choice of theta is used.",
    ),
    (
        "theta and its opposite", [("=", f"({_THETA}) / ({_THETA})", COIN)],
        "The one who flipped reports this answer with 1 - theta, not with theta.",
    ),
    (
        "all in one", [("=", "exp(epsilon) + 1", COIN)],
        "The numerator of theta is e^eps, and the e^eps + 1 cancels: it stands in both fractions.",
    ),
)  # fmt: skip

_FLIPPED: Lines = [("=", f"(1 - {_THETA}) / ({_THETA})", COIN)]
_FLIPPED_SHORT: Lines = [*_FLIPPED, ("=", "exp(-epsilon)", REWRITE)]

proof_flipped = proof(
    "proof_flipped",
    "lecture 2, section 5 (First attempt), the box on the ratio",
    derivation(
        start="(1 - theta)/theta",
        goal="exp(epsilon)",
        symbols=_SYMBOLS,
        reasons=_REASONS,
        givens=_GIVENS,
        required=(REWRITE, COIN, BUDGET),
    ),
    (
        "the ratio is 1", [("=", "1", COIN)],
        "That is the slide's slip. The one who told the truth says this answer with theta, the one who flipped with 1 "
        "- theta: the ratio is below 1, not 1.",
    ),
    (
        "equal to the bound", [*_FLIPPED_SHORT, ("=", "exp(epsilon)", REWRITE)],
        "With this theta the ratio is e^(-eps), and that is e^eps at eps = 0 only. The last step is an inequality, and "
        "it needs eps >= 0.",
    ),
    (
        "bounded at once", [("<=", "exp(epsilon)", BUDGET)],
        "First say what the ratio is with this theta, e^(-eps); only then does eps >= 0 say how large it may be.",
    ),
    (
        "called algebra", [*_FLIPPED_SHORT, ("<=", "exp(epsilon)", REWRITE)],
        "True, but only because a budget is not negative: name that reason.",
    ),
    (
        "upside down", [("=", "theta/(1 - theta)", REWRITE)],
        "Here the one who flipped stands above: the ratio is the inverse of the odds, and not the odds themselves.",
    ),
    (
        "upside down with theta put in", [("=", f"({_THETA}) / (1 - {_THETA})", COIN)],
        "Above stands the one who flipped, with 1 - theta, and below the one who told the truth, with theta. In yours "
        "they have changed places, or theta is taken for 1/(e^eps + 1), which is the probability of the lie.",
    ),
    (
        "the other case", [("=", "exp(epsilon)", COIN)],
        "e^eps is the other case, theta/(1 - theta), in which D told the truth. Here D flipped: the ratio is its "
        "inverse, e^(-eps).",
    ),
    (
        "first attempt", [("=", "(1 - (1 + epsilon)/(2 + epsilon)) / ((1 + epsilon)/(2 + epsilon))", COIN)],
        "That is the theta of the first attempt. Randomized response has theta = e^eps/(e^eps + 1).",
    ),
    (
        "one minus forgotten", [("=", f"1/({_THETA})", COIN)],
        "The one who flipped reports this answer with 1 - theta, so 1 - theta stands above, not 1.",
    ),
    (
        "minus one forgotten", [("=", "1/theta", REWRITE)],
        "(1 - theta)/theta is 1/theta - 1: the part - theta of the numerator, divided by theta, is -1.",
    ),
    (
        "coin called algebra", [("=", "exp(-epsilon)", REWRITE)],
        "That theta is e^eps/(e^eps + 1) is how the coin was chosen, not a rule of algebra.",
    ),
    (
        "wrong direction", [*_FLIPPED_SHORT, (">=", "exp(epsilon)", BUDGET)],
        "The definition asks for an upper bound: the ratio must not exceed e^eps.",
    ),
)  # fmt: skip

_ODDS: Lines = [("=", "(theta/(1 - theta))**(s - t)", REWRITE)]
_ODDS_COIN: Lines = [*_ODDS, ("=", "exp(epsilon*(s - t))", COIN)]

proof_every_case = proof(
    "proof_every_case",
    "lecture 2, section 2 (Both lines fit into one)",
    derivation(
        start="(theta**s*(1 - theta)**(1 - s)) / (theta**t*(1 - theta)**(1 - t))",
        goal="exp(epsilon)",
        symbols={**_SYMBOLS, "s": whole(0, 1), "t": whole(0, 1)},
        reasons=_REASONS,
        givens=_GIVENS,
        required=(REWRITE, COIN, BUDGET),
    ),
    (
        "exponents added", [("=", "(theta/(1 - theta))**(s + t)", REWRITE)],
        "Dividing by theta**t subtracts the exponent: s - t.",
    ),
    (
        "neighbour forgotten", [("=", "(theta/(1 - theta))**s", REWRITE)],
        "The neighbour's report stands below: its exponent t is still needed.",
    ),
    (
        "equal to the bound", [*_ODDS_COIN, ("=", "exp(epsilon)", REWRITE)],
        "s - t is 1, 0 or -1. Only where D told the truth and D' flipped it is 1.",
    ),
    (
        "called algebra", [*_ODDS_COIN, ("<=", "exp(epsilon)", REWRITE)],
        "True because s - t <= 1 and because a budget is not negative: with eps < 0 it would be false.",
    ),
    (
        "coin called algebra", [*_ODDS, ("=", "exp(epsilon*(s - t))", REWRITE)],
        "That theta/(1 - theta) is e^eps is how theta was chosen, not a rule of algebra.",
    ),
)  # fmt: skip

TASKS: tuple[Task, ...] = (proof_truth_told, proof_flipped, proof_every_case)
