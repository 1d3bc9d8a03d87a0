"""Homework 2, derivations: randomized response is epsilon-DP for every D, D' and y; case by case, then in one line."""

from __future__ import annotations

from dpcourse.tasks.mistake import mistake
from dpcourse.tasks.proofs.derivation import ALGEBRA, Lines, Reason, proof_task
from dpcourse.tasks.proofs.domains import Given, positive, real, whole
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

proof_truth_told = proof_task(
    "proof_truth_told",
    see="lecture 2, section 6 (Check it forwards)",
    start="theta/(1 - theta)",
    goal="exp(epsilon)",
    symbols=_SYMBOLS,
    reasons=_REASONS,
    givens=_GIVENS,
    optional=(BUDGET,),
    mistakes=[
        mistake(
            "first attempt",
            "That is the theta of the first attempt. Randomized response has theta = e^eps/(e^eps + 1).",
            ways=[[("=", "((epsilon + 1)/(epsilon + 2)) / (1 - (epsilon + 1)/(epsilon + 2))", COIN)]],
        ),
        mistake(
            "fraction not turned over",
            "1 - theta is 1/(e^eps + 1). Dividing by it is multiplying by e^eps + 1.",
            ways=[[*_TOLD, ("=", f"{_THETA} * 1/(exp(epsilon) + 1)", REWRITE)]],
        ),
        mistake(
            "called algebra",
            "For an arbitrary theta the odds are not e^eps: here the choice of theta is used.",
            ways=[[("=", "exp(epsilon)", REWRITE)]],
        ),
        mistake(
            "theta and its opposite",
            "The one who flipped reports this answer with 1 - theta, not with theta.",
            ways=[[("=", f"({_THETA}) / ({_THETA})", COIN)]],
        ),
        mistake(
            "all in one",
            "The numerator of theta is e^eps, and the e^eps + 1 cancels: it stands in both fractions.",
            ways=[[("=", "exp(epsilon) + 1", COIN)]],
        ),
    ],
)  # fmt: skip

_FLIPPED: Lines = [("=", f"(1 - {_THETA}) / ({_THETA})", COIN)]
_FLIPPED_SHORT: Lines = [*_FLIPPED, ("=", "exp(-epsilon)", REWRITE)]

proof_flipped = proof_task(
    "proof_flipped",
    see="lecture 2, section 5 (First attempt), the box on the ratio",
    start="(1 - theta)/theta",
    goal="exp(epsilon)",
    symbols=_SYMBOLS,
    reasons=_REASONS,
    givens=_GIVENS,
    mistakes=[
        mistake(
            "the ratio is 1",
            "That is the slide's slip. The one who told the truth says this answer with theta, the one who flipped "
            "with 1 - theta: the ratio is below 1, not 1.",
            ways=[[("=", "1", COIN)]],
        ),
        mistake(
            "equal to the bound",
            "With this theta the ratio is e^(-eps), and that is e^eps at eps = 0 only. The last step is an "
            "inequality, and it needs eps >= 0.",
            ways=[[*_FLIPPED_SHORT, ("=", "exp(epsilon)", REWRITE)]],
        ),
        mistake(
            "bounded at once",
            "First say what the ratio is with this theta, e^(-eps); only then does eps >= 0 say how large it may be.",
            ways=[[("<=", "exp(epsilon)", BUDGET)]],
        ),
        mistake(
            "called algebra",
            "True, but only because a budget is not negative: name that reason.",
            ways=[[*_FLIPPED_SHORT, ("<=", "exp(epsilon)", REWRITE)]],
        ),
        mistake(
            "upside down",
            "Here the one who flipped stands above: the ratio is the inverse of the odds, and not the odds "
            "themselves.",
            ways=[[("=", "theta/(1 - theta)", REWRITE)]],
        ),
        mistake(
            "upside down with theta put in",
            "Above stands the one who flipped, with 1 - theta, and below the one who told the truth, with theta. In "
            "yours they have changed places, or theta is taken for 1/(e^eps + 1), which is the probability of the "
            "lie.",
            ways=[[("=", f"({_THETA}) / (1 - {_THETA})", COIN)]],
        ),
        mistake(
            "the other case",
            "e^eps is the other case, theta/(1 - theta), in which D told the truth. Here D flipped: the ratio is "
            "its inverse, e^(-eps).",
            ways=[[("=", "exp(epsilon)", COIN)]],
        ),
        mistake(
            "first attempt",
            "That is the theta of the first attempt. Randomized response has theta = e^eps/(e^eps + 1).",
            ways=[[("=", "(1 - (1 + epsilon)/(2 + epsilon)) / ((1 + epsilon)/(2 + epsilon))", COIN)]],
        ),
        mistake(
            "one minus forgotten",
            "The one who flipped reports this answer with 1 - theta, so 1 - theta stands above, not 1.",
            ways=[[("=", f"1/({_THETA})", COIN)]],
        ),
        mistake(
            "minus one forgotten",
            "(1 - theta)/theta is 1/theta - 1: the part - theta of the numerator, divided by theta, is -1.",
            ways=[[("=", "1/theta", REWRITE)]],
        ),
        mistake(
            "coin called algebra",
            "That theta is e^eps/(e^eps + 1) is how the coin was chosen, not a rule of algebra.",
            ways=[[("=", "exp(-epsilon)", REWRITE)]],
        ),
        mistake(
            "wrong direction",
            "The definition asks for an upper bound: the ratio must not exceed e^eps.",
            ways=[[*_FLIPPED_SHORT, (">=", "exp(epsilon)", BUDGET)]],
        ),
    ],
)  # fmt: skip

_ODDS: Lines = [("=", "(theta/(1 - theta))**(s - t)", REWRITE)]
_ODDS_COIN: Lines = [*_ODDS, ("=", "exp(epsilon*(s - t))", COIN)]

proof_every_case = proof_task(
    "proof_every_case",
    see="lecture 2, section 2 (Both lines fit into one)",
    start="(theta**s*(1 - theta)**(1 - s)) / (theta**t*(1 - theta)**(1 - t))",
    goal="exp(epsilon)",
    symbols={**_SYMBOLS, "s": whole(0, 1), "t": whole(0, 1)},
    reasons=_REASONS,
    givens=_GIVENS,
    mistakes=[
        mistake(
            "exponents added",
            "Dividing by theta**t subtracts the exponent: s - t.",
            ways=[[("=", "(theta/(1 - theta))**(s + t)", REWRITE)]],
        ),
        mistake(
            "neighbour forgotten",
            "The neighbour's report stands below: its exponent t is still needed.",
            ways=[[("=", "(theta/(1 - theta))**s", REWRITE)]],
        ),
        mistake(
            "equal to the bound",
            "s - t is 1, 0 or -1. Only where D told the truth and D' flipped it is 1.",
            ways=[[*_ODDS_COIN, ("=", "exp(epsilon)", REWRITE)]],
        ),
        mistake(
            "called algebra",
            "True because s - t <= 1 and because a budget is not negative: with eps < 0 it would be false.",
            ways=[[*_ODDS_COIN, ("<=", "exp(epsilon)", REWRITE)]],
        ),
        mistake(
            "coin called algebra",
            "That theta/(1 - theta) is e^eps is how theta was chosen, not a rule of algebra.",
            ways=[[*_ODDS, ("=", "exp(epsilon*(s - t))", REWRITE)]],
        ),
    ],
)  # fmt: skip

TASKS: tuple[Task, ...] = (proof_truth_told, proof_flipped, proof_every_case)
