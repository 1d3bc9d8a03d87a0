"""Submissions to homework 1: the derivations."""

from dpcourse.tasks.hw1_pure_dp.proofs import _SUMS
from tests.tasks.bank_hw1.shared import wrong


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
    "proof_count_back": {"start only": _giving([("=", "exp((abs(y - 51) - abs(y - 50))/b)", "algebra")])},
    "proof_numeric": {"one leap": _giving([_LAST])},
    "proof_vector": {"one leap": _giving([_LAST])},
    "proof_exponential": {"one leap": _giving([("<=", "exp(epsilon)", "the rivals' scores")])},
}

#: Mistakes that the tasks know, in other words than theirs.
_KNOWN = {
    "proof_numeric": {
        "sensitivity before the triangle": _giving(
            [("=", "exp((abs(y - d) - abs(y - c))*epsilon/Delta)", "algebra"), _LAST]
        ),
    },
    "proof_exponential": {
        "sums cancelled": _giving([("=", "exp(epsilon*a/(2*Delta)) / exp(epsilon*b/(2*Delta))", "algebra")]),
    },
}  # fmt: skip

WRONG = wrong(_OTHERS, _KNOWN)
