"""A derivation is read without being run, and its first wrong step is named."""

import re

import numpy as np
import pytest

from dpcourse.tasks import HOMEWORKS, Student, tasks_of
from dpcourse.tasks.complaints import Complaint
from dpcourse.tasks.proofs.derivation import ALGEBRA, TRIANGLE, Derivation, Reason
from dpcourse.tasks.proofs.domains import Given, positive, real, vector
from dpcourse.tasks.proofs.formulas import at_one_point, at_points, parse
from dpcourse.tasks.proofs.steps import Steps
from dpcourse.tasks.proofs.tidy import tidied

SCALARS = {"x": False, "y": False, "v": True}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("__import__('os').system('true')", "I understand only"),
        ("x.__class__", "I understand only"),
        ("(lambda: x)()", "I understand only"),
        ("[x for x in (1, 2)]", "I understand only"),
        ("'a' * 9", "I understand only"),
        ("True", "I understand only"),
        ("1e400", "I understand only"),
        ("open('x')", "I understand only"),
        ("exp(x, y)", "takes one argument"),
        ("exp(x=1)", "I understand only"),
        ("sin(x)", "do not know the function"),
        ("z + 1", "do not know `z`"),
        ("e**x", "exp(x)"),
        ("2x", "not 2b"),
        ("x^2", "**"),
        ("(x", "cannot read"),
        ("v + x", "is a vector"),
        ("sum(x)", "there is no vector"),
        ("x" + "+x" * 300, "characters"),
        ("-" * 200 + "x", "nested too deeply"),
    ],
)
def test_what_is_no_formula_is_refused_with_a_sentence(text, complaint):
    with pytest.raises(Complaint, match=complaint.replace("(", r"\(").replace(")", r"\)").replace("*", r"\*")):
        parse(text, SCALARS)


def test_a_formula_has_the_same_value_by_numpy_and_exactly():
    text = "min(x, y, 0.5) + max(v)*abs(-x) + exp(sum(v)/3)/sqrt(y**2 + 1) - log(prod(exp(v)) + 2)"
    x, y, v = 0.125, -1.5, [0.25, -0.75, 1.0]
    direct = min(x, y, 0.5) + max(v) * x + np.exp(sum(v) / 3) / np.sqrt(y**2 + 1) - np.log(np.prod(np.exp(v)) + 2)
    point = {"x": np.array([[x]]), "y": np.array([[y]]), "v": np.array([v])}
    assert at_points(parse(text, SCALARS), point)[0, 0] == pytest.approx(direct, rel=1e-14)
    assert float(at_one_point(parse(text, SCALARS), point)) == pytest.approx(direct, rel=1e-14)


@pytest.mark.parametrize("text", ["(9**9**9)**0", "9**9**9 - 9**9**9 + 1", "(1/3)**(10**11)", "2**(2**(2**20))"])
def test_huge_powers_are_refused_before_they_are_computed(text):
    steps = Steps().read([("=", text, "algebra")])
    fault = NUMERIC.fault(steps, NUMERIC.map(np.random.default_rng(0)))
    assert fault is not None
    assert fault.kind in ("unreadable", "does not follow")


NUMERIC = Derivation(
    start="exp(epsilon*(abs(y - d) - abs(y - c))/Delta)",
    goal="exp(epsilon)",
    symbols={"y": real(), "c": real(), "d": real(), "epsilon": positive(0.2, 3), "Delta": positive(0.3, 8)},
    reasons={
        "algebra": ALGEBRA,
        "triangle inequality": TRIANGLE,
        "sensitivity": Reason("<=", given=("sensitivity",)),
    },
    givens={"sensitivity": Given("abs(c - d) <= Delta")},
    optional=("algebra",),
)
TRIANGLE_LINE = ("<=", "exp(epsilon*abs(c - d)/Delta)", "triangle inequality")
LAST = ("<=", "exp(epsilon)", "sensitivity")


def fault_of(steps, seed=0, judged=NUMERIC):
    return judged.fault(Steps().read(steps), judged.map(np.random.default_rng(seed)))


@pytest.mark.parametrize(
    "steps",
    [
        [TRIANGLE_LINE, LAST],
        [
            ("<=", "exp(epsilon*abs((y - d) - (y - c))/Delta)", "Triangle inequality "),
            ("≤", "exp(epsilon)", "sensitivity"),
        ],
        [
            ("=", "exp(epsilon*abs(y - d)/Delta - epsilon*abs(y - c)/Delta)", "algebra"),
            ("<=", "exp(abs(d - c)*epsilon/Delta)", "triangle inequality"),
            ("=", "exp(epsilon)**(abs(c - d)/Delta)", "algebra"),
            ("<=", "exp(epsilon)*1", "sensitivity"),
        ],
        [
            ("<=", "exp(epsilon*(abs(y - c) + abs(c - d) - abs(y - c))/Delta)", "triangle inequality"),
            ("=", "exp(epsilon*abs(c - d)/Delta)", "algebra"),
            LAST,
        ],
        [
            ("=", "exp(epsilon*abs(y - d)/Delta) * exp(-epsilon*abs(y - c)/Delta)", "algebra"),
            ("<=", "exp(epsilon*abs(y - d)/Delta) * exp(-epsilon*(abs(y - d) - abs(c - d))/Delta)", TRIANGLE_LINE[2]),
            ("=", "exp(epsilon*abs(c - d)/Delta)", "algebra"),
            LAST,
        ],
    ],
)
def test_right_ones_pass_at_every_seed(steps):
    assert [fault_of(steps, seed) for seed in range(20)] == [None] * 20


@pytest.mark.parametrize(
    ("steps", "kind", "step"),
    [
        ([("=", "exp(epsilon*(c - d)/Delta)", "algebra"), LAST], "does not follow", 1),
        ([TRIANGLE_LINE, ("=", "exp(epsilon)", "algebra")], "does not follow", 2),
        ([TRIANGLE_LINE, ("=", "exp(epsilon*abs(c - d)/Delta) + 1/10**11", "algebra"), LAST], "does not follow", 2),
        ([LAST], "reason", 1),  # also needs the triangle inequality
        ([("<=", TRIANGLE_LINE[1], "sensitivity"), LAST], "reason", 1),  # holds without it
        ([("<=", TRIANGLE_LINE[1], "algebra"), LAST], "reason", 1),  # is no equality
        ([TRIANGLE_LINE, ("<=", "exp(epsilon)", "triangle inequality")], "reason", 2),
        ([TRIANGLE_LINE, ("<=", "exp(2*epsilon)", "sensitivity")], "reason", 2),  # gives more away
        ([("<=", "exp(epsilon*(abs(y - d) - abs(y - c) + 1)/Delta)", "triangle inequality")], "reason", 1),
        ([("<=", "exp(epsilon*(abs(y - c) + 9 - abs(y - c))/Delta)", "triangle inequality")], "reason", 1),
        ([(">=", TRIANGLE_LINE[1], "triangle inequality"), LAST], "wrong direction", 1),
        ([TRIANGLE_LINE, ("<=", "exp(epsilon*abs(c - d)/(Delta + 1))", "triangle inequality")], "wrong direction", 2),
        ([("<=", TRIANGLE_LINE[1], "because")], "unknown reason", 1),
        ([TRIANGLE_LINE], "not the goal", 1),
        ([("=", "log(y)", "algebra")], "does not follow", 1),  # has no value below 0
        ([("=", "2y", "algebra")], "unreadable", 1),
    ],
)
def test_the_first_wrong_step_is_named_at_every_seed(steps, kind, step):
    found = [fault_of(steps, seed) for seed in range(10)]
    assert [(fault.kind, fault.step) for fault in found if fault] == [(kind, step)] * 10


def test_a_reason_that_is_asked_for_must_be_used():
    judged = Derivation(
        start="exp(x)/exp(y)", goal="exp(x - y)", symbols={"x": real(), "y": real()},
        reasons={"algebra": ALGEBRA, "quotient": ALGEBRA}, optional=("algebra",),
    )  # fmt: skip
    assert fault_of([("=", "exp(x - y)", "quotient")], judged=judged) is None
    assert fault_of([("=", "exp(x - y)", "algebra")], judged=judged).kind == "reason missing"


@pytest.mark.parametrize(
    ("steps", "number"),
    [
        ([("=", "exp(epsilon)", "definition of theta")], 1),
        ([("=", "theta/(1 - theta)", "budget"), ("=", "exp(epsilon)", "definition of theta")], 2),
    ],
)
def test_a_step_that_does_two_things_at_once_is_told_as_such(steps, number):
    judged = Derivation(
        start="theta/(1 - theta) - log(exp(epsilon)) + epsilon", goal="exp(epsilon)",
        symbols={"theta": real(0.5, 0.99), "epsilon": positive(0.1, 4)},
        reasons={"algebra": ALGEBRA, "budget": ALGEBRA, "definition of theta": Reason("=", given=("theta",))},
        givens={"theta": Given("theta = exp(epsilon)/(1 + exp(epsilon))")}, optional=("budget",),
    )  # fmt: skip
    fault = fault_of(steps, judged=judged)
    assert fault.kind == "reason missing"
    assert f"Step {number} does two things at once: it uses 'definition of theta'" in fault.text


def test_a_definition_is_a_given_that_is_an_equality():
    judged = Derivation(
        start="theta/(1 - theta)", goal="exp(epsilon)",
        symbols={"theta": real(0.5, 0.99), "epsilon": positive(0.1, 4)},
        reasons={"algebra": ALGEBRA, "definition of theta": Reason("=", given=("theta",))},
        givens={"theta": Given("theta = exp(epsilon)/(1 + exp(epsilon))")},
    )  # fmt: skip
    middle = "(exp(epsilon)/(1 + exp(epsilon))) / (1 - exp(epsilon)/(1 + exp(epsilon)))"
    right = [("=", middle, "definition of theta"), ("=", "exp(epsilon)", "algebra")]
    assert fault_of(right, judged=judged) is None
    assert fault_of([("=", middle, "algebra")], judged=judged).kind == "reason"
    assert fault_of([("=", "1/(1/theta - 1)", "definition of theta")], judged=judged).kind == "reason"


COIN = Derivation(
    start="(1 - theta)/theta", goal="exp(epsilon)",
    symbols={"theta": positive(0.02, 0.98), "epsilon": real(-1.5, 3)},
    reasons={
        "algebra": ALGEBRA, "definition of theta": Reason("=", given=("theta",)),
        "epsilon is not negative": Reason("<=", given=("budget",)),
    },
    givens={
        "theta": Given("theta = exp(epsilon)/(1 + exp(epsilon))"),
        "budget": Given("epsilon >= 0", edge={"epsilon": "0"}),
    },
)  # fmt: skip


@pytest.mark.parametrize("reason", ["algebra", "definition of theta", "epsilon is not negative"])
@pytest.mark.parametrize("line", ["1", "exp(epsilon)"])
def test_a_true_step_that_needs_two_givens_is_not_called_false(line, reason):
    for seed in range(5):
        fault = fault_of([("<=", line, reason)], seed, COIN)
        assert fault.kind == "too much in one step"
        assert "theta = exp(epsilon)/(1 + exp(epsilon)) and epsilon >= 0" in fault.text


def test_two_givens_do_not_help_a_false_step():
    assert fault_of([("<=", "exp(-2*epsilon)", "algebra")], judged=COIN).kind == "wrong direction"
    assert fault_of([("=", "exp(epsilon)", "definition of theta")], judged=COIN).kind == "does not follow"


@pytest.mark.parametrize("line", ["1/theta", "exp(epsilon)", "1/(1 + epsilon) + 7"])  # the last has no value at -1
def test_a_counterexample_is_taken_from_where_the_givens_hold(line):
    for seed in range(5):
        fault = fault_of([("=", line, "algebra")], seed, COIN)
        theta, *epsilon = (float(number) for number in re.findall(r"(?:theta|epsilon) = (-?[0-9.]+)", fault.text))
        assert 0.5 <= theta < 1
        assert not epsilon or epsilon[0] >= 0
        assert not epsilon or np.isclose(theta, 1 / (1 + np.exp(-epsilon[0])), atol=1e-3)


def test_vectors_are_summed_over_their_coordinates():
    judged = Derivation(
        start="prod(exp(v))", goal="exp(sum(abs(v)))", symbols={"v": vector(-2, 2)},
        reasons={"algebra": ALGEBRA, "x <= |x|": Reason("<=")},
    )  # fmt: skip
    assert fault_of([("=", "exp(sum(v))", "algebra"), ("<=", "exp(sum(abs(v)))", "x <= |x|")], judged=judged) is None
    assert fault_of([("=", "sum(exp(v))", "algebra")], judged=judged).kind == "does not follow"


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        (None, "return"),
        ([], "list of steps"),
        ("x", "list of steps"),
        ([("=", "x")], "three texts"),
        ([("~", "x", "a")], "relation"),
        ([("=", "x", "a")] * 31, "31 steps"),
    ],
)
def test_what_are_no_steps_is_refused_with_a_sentence(raw, complaint):
    with pytest.raises(Complaint, match=complaint):
        Steps().read(raw)


def test_givens_that_never_hold_are_the_teachers_mistake():
    judged = Derivation(
        start="x", goal="x + 1", symbols={"x": real(0, 1)},
        reasons={"impossible": Reason("<=", given=("no",))}, givens={"no": Given("x >= 2", edge={"x": "2"})},
    )  # fmt: skip
    with pytest.raises(ValueError, match="leave 0 of"):
        fault_of([("<=", "x + 1", "impossible")], judged=judged)


def test_a_full_stop_after_a_reason_is_no_other_reason():
    assert [step.reason for step in Steps().read([("=", "1", "Algebra."), ("=", "1", "algebra")])] == ["algebra"] * 2


JUMPS = {
    "proof_count": [
        [("<=", "exp(1/b)", "triangle inequality")],
        [("=", "(exp(-abs(y - 51)/b)/(b*2)) / (exp(-abs(y - 50)/b)/(2*b))", "algebra"),
         ("<=", "exp(1/b)", "triangle inequality")],
        [("<=", "exp(1/b)*1", "triangle inequality"), ("=", "exp(1/b)", "algebra")],
        [("<=", "exp(2/b)*exp(-1/b)", "triangle inequality"), ("=", "exp(1/b)", "algebra")],
    ],
    "proof_amplification": [
        [("<=", "1 + q*(exp(epsilon) - 1)", "privacy of the step")],
        [("=", "(q*p1 + (1 - q)*p0)/p0", "algebra"), ("<=", "1 + q*(exp(epsilon) - 1)", "privacy of the step")],
        [("<=", "1 - q + q*exp(epsilon)", "privacy of the step"), ("=", "1 + q*(exp(epsilon) - 1)", "algebra")],
    ],
    "proof_second_epsilon": [
        [("=", "(E2*E1/((E1 + k)*(E2 + n - 1))) / (1/((E1 + k)*n))", "algebra"), ("<=", "E", "choice of eps2")],
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", JUMPS)
def test_a_jump_from_the_first_line_to_the_goal_is_told_as_two_things(name):
    task = next(tasks_of(homework)[name] for homework in HOMEWORKS if name in tasks_of(homework))
    for steps in JUMPS[name]:
        for seed in range(3):
            verdict = task.examine(Student(lambda steps=steps: steps, task.answer), seed)
            assert not verdict.passed, steps
            assert "does two things at once" in verdict.message


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("x*y + 2*x - x", "x + y*x", True),
        ("(x + 1)/(y*x)*y", "(1 + x)/x", True),
        ("exp(x*(y + 1) - x)", "exp(y*x)", True),
        ("abs(x - y)", "abs(y - x)", True),
        ("abs((x - 3) - (x - 5))", "2", True),
        ("sum(abs(2*v - v - x))", "sum(abs(x - v))", True),
        ("x*(y + 1)", "x*y + x", False),
        ("exp(x)*exp(y)", "exp(x + y)", False),
        ("x**2", "x*x", True),
        ("x/x", "1", True),
        ("(x + y)**(-1)", "1/(y + x)", True),
        ("2/(2*x + 2*y)", "1/(x + y)", True),
        ("0*x", "0", True),
        ("exp(x - x)", "1", True),
        ("x**0.5", "sqrt(x)", False),
    ],
)
def test_tidying_up_is_less_than_algebra(one, other, same):
    assert (tidied(parse(one, SCALARS)) == tidied(parse(other, SCALARS))) is same
