"""Homework 1, derivations: the Laplace mechanism for a count (both ways), a number, a vector; the exponential."""

from __future__ import annotations

from dpcourse.tasks.mistake import mistake
from dpcourse.tasks.proofs.derivation import ALGEBRA, TRIANGLE, Lines, Reason, proof_task
from dpcourse.tasks.proofs.domains import Given, positive, real, vector
from dpcourse.tasks.task import Task

REWRITE, TRIANGULAR, BOUNDED = "algebra", "triangle inequality", "sensitivity"


def _count_ratio(above: int, below: int) -> str:
    return f"(exp(-abs(y - {above})/b)/(2*b)) / (exp(-abs(y - {below})/b)/(2*b))"


def _count_proof(name: str, above: int, below: int) -> Task:
    exponent = f"exp((abs(y - {below}) - abs(y - {above}))/b)"
    start: Lines = [("=", exponent, REWRITE)]
    return proof_task(
        name,
        see="lecture 1, section 6",
        start=_count_ratio(above, below),
        goal="exp(1/b)",
        symbols={"y": real(44, 57), "b": positive(0.5, 5)},
        reasons={REWRITE: ALGEBRA, TRIANGULAR: TRIANGLE},
        mistakes=[
            mistake(
                "distances the wrong way round",
                "Dividing by exp(-x) is multiplying by exp(x): the distance from the lower density comes with a "
                "plus.",
                ways=[[("=", f"exp((abs(y - {above}) - abs(y - {below}))/b)", REWRITE)]],
            ),
            mistake(
                "equal instead of at most",
                "The ratio depends on y and the bound does not; they are equal for some y only.",
                ways=[[*start, ("=", "exp(1/b)", REWRITE)]],
            ),
            mistake(
                "triangle inequality called algebra",
                "The inequality is true, but where does it come from? |u| - |v| <= |u - v| has a name.",
                ways=[[*start, ("<=", "exp(1/b)", REWRITE)]],
            ),
            mistake(
                "wrong direction",
                "The bound is an upper one: no answer may speak more strongly than exp(1/b).",
                ways=[[*start, (">=", "exp(1/b)", TRIANGULAR)]],
            ),
            mistake(
                "b upside down",
                "A large b is much noise, and must give a small bound.",
                ways=[[*start, ("<=", "exp(b)", TRIANGULAR)], [*start, ("=", "exp(b)", REWRITE)]],
            ),
            mistake(
                "sign lost",
                "One distance is subtracted from the other: exp(-u) divided by exp(-v) is exp(v - u).",
                ways=[[("=", f"exp((abs(y - {below}) + abs(y - {above}))/b)", REWRITE)]],
            ),
            mistake(
                "absolute value dropped",
                "The bars may go only where y lies above both counts. Below both the difference has the other sign.",
                ways=[
                    [*before, ("=", f"exp(((y - {below}) - (y - {above}))/b)", REWRITE)] for before in ([], start)
                ],
            ),
            mistake(
                "2b in the exponent",
                "The 2b stands in front of both exponentials, and cancels. In the exponents it is b alone.",
                ways=[[("=", f"exp((abs(y - {below}) - abs(y - {above}))/(2*b))", REWRITE)]],
            ),
        ],
    )  # fmt: skip


proof_count = _count_proof("proof_count", 51, 50)
proof_count_back = _count_proof("proof_count_back", 50, 51)

_NUMBER = "exp(epsilon*(abs(y - d) - abs(y - c))/Delta)"
_NUMBER_START: Lines = [("=", _NUMBER, REWRITE)]
_NUMBER_TRIANGLE: Lines = [*_NUMBER_START, ("<=", "exp(epsilon*abs(c - d)/Delta)", TRIANGULAR)]

proof_numeric = proof_task(
    "proof_numeric",
    see="lecture 1, section 10",
    start="(epsilon/(2*Delta)*exp(-epsilon*abs(y - c)/Delta)) / (epsilon/(2*Delta)*exp(-epsilon*abs(y - d)/Delta))",
    goal="exp(epsilon)",
    symbols={"y": real(), "c": real(), "d": real(), "epsilon": positive(0.2, 3), "Delta": positive(0.3, 8)},
    reasons={REWRITE: ALGEBRA, TRIANGULAR: TRIANGLE, BOUNDED: Reason("<=", given=("sensitivity",))},
    givens={"sensitivity": Given("abs(c - d) <= Delta")},
    mistakes=[
        mistake(
            "distances the wrong way round",
            "Dividing by exp(-x) is multiplying by exp(x): the distance from d comes with a plus.",
            ways=[[("=", "exp(epsilon*(abs(y - c) - abs(y - d))/Delta)", REWRITE)]],
        ),
        mistake(
            "sensitivity before the triangle",
            "The bracket is not |c - d| yet, it still has y in it: first the triangle inequality, then Delta.",
            ways=[[*_NUMBER_START, ("<=", "exp(epsilon)", BOUNDED)]],
        ),
        mistake(
            "equal to the bound",
            "|c - d| is at most Delta, and for most neighbours less. That is a fact about the query, not algebra.",
            ways=[[*_NUMBER_TRIANGLE, ("=", "exp(epsilon)", REWRITE)]],
        ),
        mistake(
            "triangle called sensitivity",
            "This line holds for any two numbers c and d: Delta has not been used yet.",
            ways=[[*_NUMBER_START, ("<=", "exp(epsilon*abs(c - d)/Delta)", BOUNDED)]],
        ),
        mistake(
            "sign lost",
            "One distance is subtracted from the other: exp(-u) divided by exp(-v) is exp(v - u).",
            ways=[[("=", "exp(epsilon*(abs(y - d) + abs(y - c))/Delta)", REWRITE)]],
        ),
        mistake(
            "Delta upside down",
            "The noise has the scale Delta/epsilon, and the exponent is divided by it: Delta stands below.",
            ways=[
                [("=", "exp(epsilon*Delta*(abs(y - d) - abs(y - c)))", REWRITE)],
                [*_NUMBER_START, ("<=", "exp(epsilon*Delta*abs(c - d))", TRIANGULAR)],
            ],
        ),
        mistake(
            "absolute value dropped",
            "|y - d| - |y - c| is c - d only if y lies above both. Below both it is d - c.",
            ways=[
                [*_NUMBER_START, ("=", "exp(epsilon*(c - d)/Delta)", REWRITE)],
                [*_NUMBER_START, ("<=", "exp(epsilon*(c - d)/Delta)", TRIANGULAR)],
            ],
        ),
    ],
)  # fmt: skip

_VECTOR = "exp(epsilon*sum(abs(y - d) - abs(y - c))/Delta)"
_VECTOR_START: Lines = [("=", _VECTOR, REWRITE)]
_VECTOR_TRIANGLE: Lines = [*_VECTOR_START, ("<=", "exp(epsilon*sum(abs(c - d))/Delta)", TRIANGULAR)]

proof_vector = proof_task(
    "proof_vector",
    see="lecture 1, section 11",
    start="prod(exp(-epsilon*abs(y - c)/Delta)) / prod(exp(-epsilon*abs(y - d)/Delta))",
    goal="exp(epsilon)",
    symbols={
        "y": vector(-3, 3), "c": vector(-3, 3), "d": vector(-3, 3),
        "epsilon": positive(0.2, 2), "Delta": positive(0.8, 12),
    },
    reasons={REWRITE: ALGEBRA, TRIANGULAR: TRIANGLE, BOUNDED: Reason("<=", given=("sensitivity",))},
    givens={"sensitivity": Given("sum(abs(c - d)) <= Delta")},
    mistakes=[
        mistake(
            "sign lost",
            "The distance from c stands above with a minus; below, dividing turns the minus into a plus.",
            ways=[[("=", "prod(exp(epsilon*(abs(y - d) + abs(y - c))/Delta))", REWRITE)]],
        ),
        mistake(
            "distances the wrong way round",
            "Dividing by exp(-x) is multiplying by exp(x): the distance from d comes with a plus.",
            ways=[[("=", "exp(epsilon*sum(abs(y - c) - abs(y - d))/Delta)", REWRITE)]],
        ),
        mistake(
            "absolute value dropped",
            "|y - d| - |y - c| is c - d only in coordinates in which y lies above both. Below both it is d - c.",
            ways=[
                [*_VECTOR_START, ("=", "exp(epsilon*sum(c - d)/Delta)", REWRITE)],
                [*_VECTOR_START, ("<=", "exp(epsilon*sum(c - d)/Delta)", TRIANGULAR)],
                [*_VECTOR_START, ("<=", "exp(epsilon*abs(sum(c - d))/Delta)", TRIANGULAR)],
            ],
        ),
        mistake(
            "sum for product",
            "A product of exponentials is the exponential of the sum, and not the sum of exponentials.",
            ways=[
                [("=", "sum(exp(epsilon*(abs(y - d) - abs(y - c))/Delta))", REWRITE)],
                [("=", "sum(exp(-epsilon*abs(y - c)/Delta)) / sum(exp(-epsilon*abs(y - d)/Delta))", REWRITE)],
            ],
        ),
        mistake(
            "longest coordinate",
            "Every coordinate speaks, and their losses add up: it is the sum of |c_i - d_i|, not the largest of "
            "them.",
            ways=[[*_VECTOR_START, ("<=", "exp(epsilon*max(abs(c - d))/Delta)", TRIANGULAR)]],
        ),
        mistake(
            "l2 for l1",
            "The Euclidean length is too short: far out in all coordinates the losses add up to the l1 length.",
            ways=[[*_VECTOR_START, ("<=", "exp(epsilon*sqrt(sum((c - d)**2))/Delta)", TRIANGULAR)]],
        ),
        mistake(
            "sensitivity before the triangle",
            "There is still a y in the sum: first the triangle inequality in every coordinate, then Delta.",
            ways=[[*_VECTOR_START, ("<=", "exp(epsilon)", BOUNDED)]],
        ),
        mistake(
            "equal to the bound",
            "The l1 length of c - d is at most Delta, and for most neighbours less.",
            ways=[[*_VECTOR_TRIANGLE, ("=", "exp(epsilon)", REWRITE)]],
        ),
    ],
)  # fmt: skip

_SUMS = "sum(exp(epsilon*v/(2*Delta)))/sum(exp(epsilon*u/(2*Delta)))"
_SUMS_TURNED = "sum(exp(epsilon*u/(2*Delta)))/sum(exp(epsilon*v/(2*Delta)))"
_CHOICE_START: Lines = [("=", f"exp(epsilon*(a - b)/(2*Delta)) * {_SUMS}", REWRITE)]
OWN, RIVALS = "its own score", "the rivals' scores"

proof_exponential = proof_task(
    "proof_exponential",
    see="lecture 1, section 13",
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
    mistakes=[
        mistake(
            "sums upside down",
            "Dividing by a fraction turns it over: the sum of the neighbour's weights goes to the top.",
            ways=[[("=", f"exp(epsilon*(a - b)/(2*Delta)) * {_SUMS_TURNED}", REWRITE)]],
        ),
        mistake(
            "its own score upside down",
            "Dividing by exp(x) subtracts x: the score a stands above, with a plus, and b below, with a minus.",
            ways=[[("=", f"exp(epsilon*(b - a)/(2*Delta)) * {_SUMS}", REWRITE)]],
        ),
        mistake(
            "2 lost",
            "The weights are exp(epsilon u / (2 Delta)): the 2 stays in the exponent when they are divided.",
            ways=[[("=", f"exp(epsilon*(a - b)/Delta) * {_SUMS}", REWRITE)]],
        ),
        mistake(
            "sums cancelled",
            "The two sums are not the same: the neighbour changes the rivals' scores, too. That is where the 2 "
            "comes from.",
            ways=[[("=", "exp(epsilon*(a - b)/(2*Delta))", REWRITE)]],
        ),
        mistake(
            "half forgotten",
            "The exponent is divided by 2 Delta: its own score costs epsilon/2. With epsilon here, and again for "
            "the sums, you would end at 2 epsilon.",
            ways=[[*_CHOICE_START, ("<=", f"exp(epsilon) * {_SUMS}", OWN)]],
        ),
        mistake(
            "both at once",
            "Its own score gives the first epsilon/2. What bounds the quotient of the sums?",
            ways=[[*_CHOICE_START, ("<=", "exp(epsilon)", OWN)]],
        ),
        mistake(
            "called algebra",
            "a - b <= Delta is the definition of the utility's sensitivity, not a rule of algebra.",
            ways=[[*_CHOICE_START, ("<=", f"exp(epsilon/2) * {_SUMS}", REWRITE)]],
        ),
    ],
)  # fmt: skip
