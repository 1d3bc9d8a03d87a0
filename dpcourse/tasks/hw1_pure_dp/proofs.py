"""Homework 1, derivations: the Laplace mechanism for a count (both ways), a number, a vector; the exponential."""

from __future__ import annotations

from dpcourse.tasks.proofs.derivation import ALGEBRA, TRIANGLE, Reason, derivation
from dpcourse.tasks.proofs.domains import Given, positive, real, vector
from dpcourse.tasks.proofs.proof import Lines, proof
from dpcourse.tasks.task import Task

REWRITE, TRIANGULAR, BOUNDED = "algebra", "triangle inequality", "sensitivity"


def _count_ratio(above: int, below: int) -> str:
    return f"(exp(-abs(y - {above})/b)/(2*b)) / (exp(-abs(y - {below})/b)/(2*b))"


def _count_proof(name: str, above: int, below: int) -> Task:
    exponent = f"exp((abs(y - {below}) - abs(y - {above}))/b)"
    start: Lines = [("=", exponent, REWRITE)]
    return proof(
        name,
        "lecture 1, section 6",
        derivation(
            start=_count_ratio(above, below),
            goal="exp(1/b)",
            symbols={"y": real(44, 57), "b": positive(0.5, 5)},
            reasons={REWRITE: ALGEBRA, TRIANGULAR: TRIANGLE},
            required=(REWRITE, TRIANGULAR),
        ),
        (
            "distances the wrong way round", [("=", f"exp((abs(y - {above}) - abs(y - {below}))/b)", REWRITE)],
            "Dividing by exp(-x) is multiplying by exp(x): the distance from the lower density comes with a plus.",
        ),
        (
            "equal instead of at most", [*start, ("=", "exp(1/b)", REWRITE)],
            "The ratio depends on y and the bound does not; they are equal for some y only.",
        ),
        (
            "triangle inequality called algebra", [*start, ("<=", "exp(1/b)", REWRITE)],
            "The inequality is true, but where does it come from? |u| - |v| <= |u - v| has a name.",
        ),
        (
            "wrong direction", [*start, (">=", "exp(1/b)", TRIANGULAR)],
            "The bound is an upper one: no answer may speak more strongly than exp(1/b).",
        ),
        (
            "b upside down", [*start, ("<=", "exp(b)", TRIANGULAR)],
            "A large b is much noise, and must give a small bound.",
        ),
    )  # fmt: skip


proof_count = _count_proof("proof_count", 51, 50)
proof_count_back = _count_proof("proof_count_back", 50, 51)

_NUMBER = "exp(epsilon*(abs(y - d) - abs(y - c))/Delta)"
_NUMBER_START: Lines = [("=", _NUMBER, REWRITE)]
_NUMBER_TRIANGLE: Lines = [*_NUMBER_START, ("<=", "exp(epsilon*abs(c - d)/Delta)", TRIANGULAR)]

proof_numeric = proof(
    "proof_numeric",
    "lecture 1, section 10",
    derivation(
        start="(epsilon/(2*Delta)*exp(-epsilon*abs(y - c)/Delta)) / (epsilon/(2*Delta)*exp(-epsilon*abs(y - d)/Delta))",
        goal="exp(epsilon)",
        symbols={"y": real(), "c": real(), "d": real(), "epsilon": positive(0.2, 3), "Delta": positive(0.3, 8)},
        reasons={REWRITE: ALGEBRA, TRIANGULAR: TRIANGLE, BOUNDED: Reason("<=", given=("sensitivity",))},
        givens={"sensitivity": Given("abs(c - d) <= Delta")},
        required=(REWRITE, TRIANGULAR, BOUNDED),
    ),
    (
        "distances the wrong way round", [("=", "exp(epsilon*(abs(y - c) - abs(y - d))/Delta)", REWRITE)],
        "Dividing by exp(-x) is multiplying by exp(x): the distance from d comes with a plus.",
    ),
    (
        "sensitivity before the triangle", [*_NUMBER_START, ("<=", "exp(epsilon)", BOUNDED)],
        "The bracket is not |c - d| yet, it still has y in it: first the triangle inequality, then Delta.",
    ),
    (
        "equal to the bound", [*_NUMBER_TRIANGLE, ("=", "exp(epsilon)", REWRITE)],
        "|c - d| is at most Delta, and for most neighbours less. That is a fact about the query, not algebra.",
    ),
    (
        "triangle called sensitivity", [*_NUMBER_START, ("<=", "exp(epsilon*abs(c - d)/Delta)", BOUNDED)],
        "This line holds for any two numbers c and d: Delta has not been used yet.",
    ),
    (
        "absolute value dropped", [*_NUMBER_START, ("=", "exp(epsilon*(c - d)/Delta)", REWRITE)],
        "|y - d| - |y - c| is c - d only if y lies above both. Below both it is d - c.",
    ),
)  # fmt: skip

_VECTOR = "exp(epsilon*sum(abs(y - d) - abs(y - c))/Delta)"
_VECTOR_START: Lines = [("=", _VECTOR, REWRITE)]

proof_vector = proof(
    "proof_vector",
    "lecture 1, section 11",
    derivation(
        start="prod(exp(-epsilon*abs(y - c)/Delta)) / prod(exp(-epsilon*abs(y - d)/Delta))",
        goal="exp(epsilon)",
        symbols={
            "y": vector(-3, 3), "c": vector(-3, 3), "d": vector(-3, 3),
            "epsilon": positive(0.2, 2), "Delta": positive(0.8, 12),
        },
        reasons={REWRITE: ALGEBRA, TRIANGULAR: TRIANGLE, BOUNDED: Reason("<=", given=("sensitivity",))},
        givens={"sensitivity": Given("sum(abs(c - d)) <= Delta")},
        required=(REWRITE, TRIANGULAR, BOUNDED),
    ),
    (
        "sign lost", [("=", "prod(exp(epsilon*(abs(y - d) + abs(y - c))/Delta))", REWRITE)],
        "The distance from c stands above with a minus; below, dividing turns the minus into a plus.",
    ),
    (
        "longest coordinate", [*_VECTOR_START, ("<=", "exp(epsilon*max(abs(c - d))/Delta)", TRIANGULAR)],
        "Every coordinate speaks, and their losses add up: it is the sum of |c_i - d_i|, not the largest of them.",
    ),
    (
        "l2 for l1", [*_VECTOR_START, ("<=", "exp(epsilon*sqrt(sum((c - d)**2))/Delta)", TRIANGULAR)],
        "The Euclidean length is too short: far out in all coordinates the losses add up to the l1 length.",
    ),
    (
        "sensitivity before the triangle", [*_VECTOR_START, ("<=", "exp(epsilon)", BOUNDED)],
        "There is still a y in the sum: first the triangle inequality in every coordinate, then Delta.",
    ),
    (
        "equal to the bound",
        [*_VECTOR_START, ("<=", "exp(epsilon*sum(abs(c - d))/Delta)", TRIANGULAR), ("=", "exp(epsilon)", REWRITE)],
        "The l1 length of c - d is at most Delta, and for most neighbours less.",
    ),
)  # fmt: skip

_SUMS = "sum(exp(epsilon*v/(2*Delta)))/sum(exp(epsilon*u/(2*Delta)))"
_SUMS_TURNED = "sum(exp(epsilon*u/(2*Delta)))/sum(exp(epsilon*v/(2*Delta)))"
_CHOICE_START: Lines = [("=", f"exp(epsilon*(a - b)/(2*Delta)) * {_SUMS}", REWRITE)]
OWN, RIVALS = "its own score", "the rivals' scores"

proof_exponential = proof(
    "proof_exponential",
    "lecture 1, section 13",
    derivation(
        start="(exp(epsilon*a/(2*Delta))/sum(exp(epsilon*u/(2*Delta))))"
        " / (exp(epsilon*b/(2*Delta))/sum(exp(epsilon*v/(2*Delta))))",
        goal="exp(epsilon)",
        symbols={
            "a": real(-3, 3), "b": real(-3, 3), "u": vector(-3, 3), "v": vector(-3, 3),
            "epsilon": positive(0.2, 2), "Delta": positive(0.5, 4),
        },
        reasons={
            REWRITE: ALGEBRA, OWN: Reason("<=", given=("own",)), RIVALS: Reason("<=", given=("rivals",)),
        },
        givens={
            "own": Given("a - b <= Delta", edge={"a": "b + Delta"}),
            "rivals": Given("v - u <= Delta", edge={"v": "u + Delta"}),
        },
        required=(REWRITE, OWN, RIVALS),
    ),
    (
        "sums upside down",
        [("=", f"exp(epsilon*(a - b)/(2*Delta)) * {_SUMS_TURNED}", REWRITE)],
        "Dividing by a fraction turns it over: the sum of the neighbour's weights goes to the top.",
    ),
    (
        "sums cancelled", [("=", "exp(epsilon*(a - b)/(2*Delta))", REWRITE)],
        "The two sums are not the same: the neighbour changes the rivals' scores, too. That is where the 2 comes from.",
    ),
    (
        "half forgotten", [*_CHOICE_START, ("<=", f"exp(epsilon) * {_SUMS}", OWN)],
        "The exponent is divided by 2 Delta: its own score costs epsilon/2. With epsilon here, and again for the sums, "
        "you would end at 2 epsilon.",
    ),
    (
        "both at once", [*_CHOICE_START, ("<=", "exp(epsilon)", OWN)],
        "Its own score gives the first epsilon/2. What bounds the quotient of the sums?",
    ),
    (
        "called algebra", [*_CHOICE_START, ("<=", f"exp(epsilon/2) * {_SUMS}", REWRITE)],
        "a - b <= Delta is the definition of the utility's sensitivity, not a rule of algebra.",
    ),
)  # fmt: skip
