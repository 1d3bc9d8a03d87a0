"""Submissions to homework 1: the derivations."""

from dpcourse.tasks.hw1_pure_dp.proofs import _SUMS, _count_ratio
from testing.submissions.hw1.shared import wrong


def _count_lines(above, below):
    exponent = f"(abs(y - {below}) - abs(y - {above}))"
    return {
        "as in the lecture": [
            ("=", f"exp({exponent}/b)", "algebra"),
            ("<=", f"exp(abs((y - {below}) - (y - {above}))/b)", "triangle inequality"),
            ("=", "exp(1/b)", "algebra"),
        ],
        "in two steps": [("=", f"exp(1/b*{exponent})", "algebra"), ("<=", "exp(1/b)", "triangle inequality")],
        "factors first": [
            ("=", f"exp(-abs(y - {above})/b) / exp(-abs(y - {below})/b)", "algebra"),
            ("=", f"exp(abs(y - {below})/b - abs(y - {above})/b)", "Algebra"),
            ("≤", "exp(abs(1)/b)", "triangle inequality"),
            ("==", "exp(1)**(1/b)", "algebra"),
        ],
        "tuples": (["=", f"exp({exponent}/b)", "algebra"], ["<=", "exp(1/b)", "triangle inequality"]),
        "one distance for the other": [
            ("=", f"exp({exponent}/b)", "algebra"),
            ("<=", f"exp((abs(y - {above}) + 1 - abs(y - {above}))/b)", "triangle inequality"),
            ("=", "exp(1/b)", "algebra"),
        ],
        "one factor for the other": [
            ("=", f"exp(abs(y - {below})/b)*exp(-abs(y - {above})/b)", "algebra"),
            ("<=", f"exp((abs(y - {above}) + 1)/b)*exp(-abs(y - {above})/b)", "triangle inequality"),
            ("=", "exp(1/b)", "algebra"),
        ],
        "product of two factors": [
            ("=", f"exp(-abs(y - {above})/b) * exp(abs(y - {below})/b)", "algebra"),
            ("<=", "exp(1/b)", "triangle inequality"),
        ],
        "quotient of two factors": [
            ("=", f"exp(abs(y - {below})/b) / exp(abs(y - {above})/b)", "algebra"),
            ("<=", "exp(1/b)", "triangle inequality"),
        ],
        "a power": [
            ("=", f"exp(abs(y - {below}) - abs(y - {above}))**(1/b)", "algebra"),
            ("<=", "exp(1)**(1/b)", "triangle inequality"),
            ("=", "exp(b**(-1))", "algebra"),
        ],
        "the counts themselves": [
            ("=", f"exp({exponent}/b)", "algebra."),
            ("=<", f"exp(abs({above} - {below})/b)", " Triangle inequality "),
            ("=", "exp(1/b)", "ALGEBRA"),
        ],
        "one letter at a time": [
            ("=", f"exp(-abs(y - {above})/b)/(2*b) * (2*b)/exp(-abs(y - {below})/b)", "algebra"),
            ("=", f"exp(-abs(y - {above})/b) / exp(-abs(y - {below})/b)", "algebra"),
            ("=", f"exp(-abs(y - {above})/b + abs(y - {below})/b)", "algebra"),
            ("=", f"exp((-abs({above} - y) + abs({below} - y))/b)", "algebra"),
            ("<=", f"exp(abs(({below} - y) - ({above} - y))/b)", "triangle inequality"),
            ("=", f"exp(abs({below} - {above})/b)", "algebra"),
            ("=", "exp(1/b)", "algebra"),
        ],
        "the other factor": [
            ("=", f"exp(abs(y - {below})/b)*exp(-abs(y - {above})/b)", "algebra"),
            ("<=", f"exp(abs(y - {below})/b)*exp(1/b - abs({below} - y)/b)", "triangle inequality"),
            ("=", "exp(1/b)", "algebra"),
        ],
    }


_N = "exp(epsilon*(abs(y - d) - abs(y - c))/Delta)"


_V = "exp(epsilon*sum(abs(y - d) - abs(y - c))/Delta)"


_E = f"exp(epsilon*(a - b)/(2*Delta)) * {_SUMS}"


_LAST = ("<=", "exp(epsilon)", "sensitivity")


_COUNT_BACK = ("=", "exp((abs(y - 51) - abs(y - 50))/b)", "algebra")


_LINES = {
    "proof_count": _count_lines(51, 50),
    "proof_count_back": _count_lines(50, 51),
    "proof_numeric": {
        "three steps": [("=", _N, "algebra"), ("<=", "exp(epsilon*abs(c - d)/Delta)", "triangle inequality"), _LAST],
        "difference written out": [
            ("=", _N, "algebra"),
            ("<=", "exp(epsilon*abs((y - d) - (y - c))/Delta)", "triangle inequality"),
            ("=", "exp(epsilon*abs(c - d)/Delta)", "algebra"),
            _LAST,
        ],
        "scale outside": [
            ("=", "exp((abs(y - d) - abs(y - c)) / (Delta/epsilon))", "algebra"),
            ("<=", "exp(abs(d - c) / (Delta/epsilon))", "triangle inequality"),
            ("<=", "exp(Delta / (Delta/epsilon))", "sensitivity"),
            ("=", "exp(epsilon)", "algebra"),
        ],
        "factors first": [
            ("=", "exp(-epsilon*abs(y - c)/Delta) / exp(-epsilon*abs(y - d)/Delta)", "algebra"),
            ("=", "exp(epsilon/Delta*abs(y - d) - epsilon/Delta*abs(y - c))", "algebra"),
            ("<=", "exp(epsilon/Delta*abs(c - d))", "triangle inequality"),
            _LAST,
        ],
        "the farther distance replaced": [
            ("=", _N, "algebra"),
            ("<=", "exp(epsilon*(abs(y - c) + abs(c - d) - abs(y - c))/Delta)", "triangle inequality"),
            ("=", "exp(epsilon*abs(c - d)/Delta)", "algebra"),
            _LAST,
        ],
        "quotient": [
            ("=", "exp(epsilon*abs(y - d)/Delta)/exp(epsilon*abs(y - c)/Delta)", "algebra"),
            ("<=", "exp(epsilon*abs(d - c)/Delta)", "triangle inequality"),
            ("<=", "exp(epsilon*Delta/Delta)", "sensitivity"),
            ("=", "exp(epsilon)", "algebra"),
        ],
        "a power": [
            ("=", "exp(epsilon)**((abs(y - d) - abs(y - c))/Delta)", "algebra"),
            ("<=", "exp(epsilon)**(abs(c - d)/Delta)", "triangle inequality"),
            ("<=", "exp(epsilon)**1", "sensitivity"),
        ],
        "lists, spaces, capitals": [
            ["==", " exp( epsilon * ( abs(y-d) - abs(y-c) ) / Delta ) ", " Algebra "],
            ["=<", "exp(epsilon*abs(c-d)/Delta)", "TRIANGLE INEQUALITY"],
            ["≤", "exp(epsilon)", "Sensitivity."],
        ],
    },
    "proof_vector": {
        "three steps": [
            ("=", _V, "algebra"),
            ("<=", "exp(epsilon*sum(abs(c - d))/Delta)", "triangle inequality"),
            _LAST,
        ],
        "product first": [
            ("=", "prod(exp(epsilon*(abs(y - d) - abs(y - c))/Delta))", "algebra"),
            ("<=", "prod(exp(epsilon*abs(c - d)/Delta))", "triangle inequality"),
            ("=", "exp(epsilon*sum(abs(c - d))/Delta)", "algebra"),
            _LAST,
        ],
        "two sums": [
            ("=", "exp(epsilon*(sum(abs(y - d)) - sum(abs(y - c)))/Delta)", "algebra"),
            ("<=", "exp(epsilon/Delta*sum(abs((y - d) - (y - c))))", "triangle inequality"),
            _LAST,
        ],
        "ends with Delta": [
            ("=", _V, "algebra"),
            ("<=", "exp(sum(abs(d - c))*epsilon/Delta)", "triangle inequality"),
            ("<=", "exp(epsilon*Delta/Delta)", "sensitivity"),
            ("=", "exp(epsilon)", "algebra"),
        ],
        "product of quotients": [
            ("=", "prod(exp(epsilon*abs(y - d)/Delta)/exp(epsilon*abs(y - c)/Delta))", "algebra"),
            ("<=", "prod(exp(epsilon*abs(c - d)/Delta))", "triangle inequality"),
            ("=", "exp(sum(epsilon*abs(c - d)/Delta))", "algebra"),
            _LAST,
        ],
        "one distance for the other": [
            ("=", _V, "algebra"),
            ("<=", "exp(epsilon*sum(abs(y - c) + abs(c - d) - abs(y - c))/Delta)", "triangle inequality"),
            ("=", "exp(epsilon*sum(abs(c - d))/Delta)", "algebra"),
            _LAST,
        ],
        "two products": [
            ("=", "prod(exp(epsilon*abs(y - d)/Delta)) * prod(exp(-epsilon*abs(y - c)/Delta))", "algebra"),
            ("=", "exp(epsilon/Delta*sum(abs(y - d))) * exp(-epsilon/Delta*sum(abs(y - c)))", "algebra"),
            ("=", _V, "algebra"),
            ("<=", "exp(epsilon/Delta*sum(abs(d - c)))", "triangle inequality"),
            _LAST,
        ],
        "a power": [
            ("=", "exp(epsilon/Delta)**sum(abs(y - d) - abs(y - c))", "algebra"),
            ("<=", "exp(epsilon/Delta)**sum(abs(c - d))", "triangle inequality"),
            ("<=", "exp(epsilon/Delta)**Delta", "sensitivity"),
            ("=", "exp(epsilon)", "algebra"),
        ],
    },
    "proof_exponential": {
        "as in the lecture": [
            ("=", _E, "algebra"),
            ("<=", f"exp(epsilon/2) * {_SUMS}", "its own score"),
            ("<=", "exp(epsilon/2) * exp(epsilon/2)", "the rivals' scores"),
            ("=", "exp(epsilon)", "algebra"),
        ],
        "rivals first": [
            ("=", _E, "algebra"),
            ("<=", "exp(epsilon*(a - b)/(2*Delta)) * exp(epsilon/2)", "the rivals' scores"),
            ("<=", "exp(epsilon)", "its own score"),
        ],
        "shifted sum": [
            ("=", _E, "algebra"),
            (
                "<=",
                "exp(epsilon*(a - b)/(2*Delta)) * sum(exp(epsilon*(u + "
                "Delta)/(2*Delta)))/sum(exp(epsilon*u/(2*Delta)))",
                "the rivals' scores",
            ),
            ("=", "exp(epsilon*(a - b)/(2*Delta)) * exp(epsilon/2)", "algebra"),
            ("<=", "exp(epsilon/2) * exp(epsilon/2)", "its own score"),
            ("=", "exp(epsilon)", "algebra"),
        ],
        "quotients": [
            ("=", f"exp(epsilon*a/(2*Delta))/exp(epsilon*b/(2*Delta)) * ({_SUMS})", "algebra"),
            ("<=", f"sqrt(exp(epsilon)) * {_SUMS}", "its own score"),
            ("<=", "exp(epsilon)", "the rivals' scores"),
        ],
        "half by half": [
            ("=", f"exp(epsilon/2*(a - b)/Delta) * ({_SUMS})", "algebra"),
            ("<=", f"exp(epsilon/2*Delta/Delta) * ({_SUMS})", "its own score"),
            ("=", f"exp(epsilon/2) * ({_SUMS})", "algebra"),
            ("<=", "exp(epsilon/2) * exp(epsilon/2)", "the rivals' scores"),
            ("=", "exp(epsilon)", "algebra"),
        ],
        "its weight with one more Delta": [
            ("=", _E, "algebra"),
            ("<=", f"exp(epsilon*(b + Delta - b)/(2*Delta)) * {_SUMS}", "its own score"),
            ("<=", "exp(epsilon*Delta/(2*Delta)) * exp(epsilon*Delta/(2*Delta))", "the rivals' scores"),
            ("=", "exp(epsilon)", "algebra"),
        ],
        "a factor in front of the sum": [
            ("=", _E, "algebra"),
            (
                "<=",
                "exp(epsilon*(a - b)/(2*Delta)) * exp(epsilon/2)*sum(exp(epsilon*u/(2*Delta)))"
                "/sum(exp(epsilon*u/(2*Delta)))",
                "the rivals' scores",
            ),
            ("=", "exp(epsilon*(a - b)/(2*Delta) + epsilon/2)", "algebra"),
            ("<=", "exp(epsilon/2 + epsilon/2)", "its own score"),
            ("=", "exp(epsilon)", "algebra"),
        ],
        "lists, spaces, capitals": [
            ["==", f" {_E} ", " Algebra "],
            ["≤", f"exp(0.5*epsilon) * {_SUMS}", "Its own score."],
            ["≤", "exp(epsilon)", "THE RIVALS' SCORES"],
        ],
    },
}


def _giving(lines):
    return lambda: lines


RIGHT = {
    **{name: {style: _giving(lines) for style, lines in ways.items()} for name, ways in _LINES.items()},
}  # fmt: skip

#: Mistakes that no task knows by name.
_OTHERS = {
    "proof_count": {
        "nothing": _giving([("=", "1", "algebra")]),
        "the start once more, then the goal": _giving(
            [("=", _count_ratio(51, 50), "algebra"), ("<=", "exp(1/b)", "triangle inequality")]
        ),
        "given away": _giving(
            [
                ("=", "exp((abs(y-50) - abs(y-51))/b)", "algebra"),
                ("<=", "exp((abs(y-50) + 1 - abs(y-51))/b)", "triangle inequality"),
                ("<=", "exp(2/b)", "triangle inequality"),
            ]
        ),
        "given away, then back": _giving(
            [
                ("=", "exp((abs(y-50) - abs(y-51))/b)", "algebra"),
                ("<=", "exp((abs(y-51) + 2 - abs(y-51))/b)", "triangle inequality"),
                ("=", "exp(1/b)", "algebra"),
            ]
        ),
    },
    "proof_count_back": {
        "every y at once": _giving([("<=", "exp(1/b)", "triangle inequality")]),
        "half the bound": _giving([_COUNT_BACK, ("<=", "exp(1/(2*b))", "triangle inequality")]),
        "a reason of another proof": _giving([_COUNT_BACK, ("<=", "exp(1/b)", "sensitivity")]),
        "a bound that holds": _giving([_COUNT_BACK, ("<=", "exp(3/b)", "triangle inequality")]),
        "start only": _giving([("=", "exp((abs(y - 51) - abs(y - 50))/b)", "algebra")]),
    },
    "proof_numeric": {
        "one leap": _giving([_LAST]),
        "Delta never used": _giving([*_LINES["proof_numeric"]["three steps"][:2], ("<=", "exp(epsilon)", "algebra")]),
        "twice epsilon": _giving(
            [*_LINES["proof_numeric"]["three steps"][:2], ("<=", "exp(2*epsilon)", "sensitivity")]
        ),
        "the bound as an equality": _giving([("=", "exp(epsilon)", "sensitivity")]),
    },
    "proof_vector": {
        "one leap": _giving([_LAST]),
        "number of coordinates": _giving([("=", _V, "algebra"), ("<=", "exp(3*epsilon)", "sensitivity")]),
        "a vector": _giving([("=", "exp(epsilon*(abs(y - d) - abs(y - c))/Delta)", "algebra")]),
    },
    "proof_exponential": {
        "one leap": _giving([("<=", "exp(epsilon)", "the rivals' scores")]),
        "no algebra": _giving(
            [("<=", f"exp(epsilon/2) * {_SUMS}", "its own score"), ("<=", "exp(epsilon)", "the rivals' scores")]
        ),
        "reasons swapped": _giving([("=", _E, "algebra"), ("<=", f"exp(epsilon/2) * {_SUMS}", "the rivals' scores")]),
        "quotient at most 1": _giving(
            [("=", _E, "algebra"), ("<=", "exp(epsilon*(a - b)/(2*Delta))", "the rivals' scores")]
        ),
    },
}

#: Mistakes that the tasks know, in other words than theirs.
_KNOWN = {
    **{
        name: {
            "sign lost": _giving([("=", f"exp(abs(y - {below})/b) * exp(abs(y - {above})/b)", "algebra")]),
            "b upside down": _giving([("=", f"exp(b*abs(y - {below}) - b*abs(y - {above}))", "algebra")]),
            "distances the wrong way round": _giving(
                [("=", f"exp(abs(y - {above})/b) / exp(abs(y - {below})/b)", "algebra")]
            ),
            "absolute value dropped": _giving([("=", f"exp((y - {below} - (y - {above}))/b)", "algebra")]),
            "2b in the exponent": _giving([("=", f"exp(0.5*(abs(y - {below}) - abs(y - {above}))/b)", "algebra")]),
        }
        for name, above, below in (("proof_count", 51, 50), ("proof_count_back", 50, 51))
    },
    "proof_vector": {
        "absolute value dropped": _giving([("=", _V, "algebra"), ("=", "exp(epsilon/Delta*sum(c - d))", "algebra")]),
        "distances the wrong way round": _giving(
            [("=", "exp(epsilon*(sum(abs(y - c)) - sum(abs(y - d)))/Delta)", "algebra")]
        ),
        "sign lost": _giving([("=", "exp(epsilon*(sum(abs(y - d)) + sum(abs(y - c)))/Delta)", "algebra")]),
        "sum for product": _giving([("=", "sum(exp(epsilon/Delta*(abs(y - d) - abs(y - c))))", "algebra")]),
    },
    "proof_numeric": {
        "sign lost": _giving([("=", "exp(-epsilon*(abs(y - c) + abs(y - d))/Delta)", "algebra")]),
        "Delta upside down": _giving([("=", "exp(Delta*epsilon*(abs(y - d) - abs(y - c)))", "algebra")]),
        "absolute value dropped": _giving([("=", "exp(epsilon*((y - d) - (y - c))/Delta)", "algebra")]),
        "sensitivity before the triangle": _giving(
            [("=", "exp((abs(y - d) - abs(y - c))*epsilon/Delta)", "algebra"), _LAST]
        ),
    },
    "proof_exponential": {
        "its own score upside down": _giving(
            [("=", f"exp(epsilon*b/(2*Delta))/exp(epsilon*a/(2*Delta)) * {_SUMS}", "algebra")]
        ),
        "2 lost": _giving([("=", f"exp(epsilon*a/Delta)/exp(epsilon*b/Delta) * {_SUMS}", "algebra")]),
        "sums cancelled": _giving([("=", "exp(epsilon*a/(2*Delta)) / exp(epsilon*b/(2*Delta))", "algebra")]),
    },
}  # fmt: skip

WRONG = wrong(_OTHERS, _KNOWN)
