"""Every task asks at the edges of what may be asked: who is careful only with ordinary inputs is found out.

Which edges a task has stands in its probes; that tables get small and large is checked here for all of a homework.
"""

import numpy as np
import pytest

from dpcourse.tasks import Student, tasks_of
from dpcourse.tasks.probes import Edge, each, edges, fixed, uniform
from testing.submissions import hw1, hw2, hw5

HOMEWORKS = ("hw1_pure_dp", "hw2_local_dp", "hw5_adaptive_ldp")
EVERY_TASK = [(homework, name) for homework in HOMEWORKS for name in tasks_of(homework) if "proof" not in name]
#: Tasks without edges, and why.
WITHOUT = {
    "break_naive": "its two arguments are public numbers; the tables are the student's own",
    "private_median": "its tables are pairs that are hard to hide, and every other argument is public",
    "adaptive_survey": "each survey begins with empty tables, and goes on as the student decides",
}
#: Arguments that are never empty nor alone, and why.
LONGER = {
    ("noisy_counts", "counts"): "of one number, scipy's `rvs` makes a number, not a list of one",
    ("six_utilities", "theta"): "the shares of one category tell nothing", ("six_utilities", "matrix"): "the same",
    ("best_subset", "theta"): "one category leaves no choice", ("sgld_step", "phi"): "the same",
    ("meeting_probabilities", "cities"): "one city leaves no choice",
    ("rrrr", "subset"): "", ("rrrr_matrix", "subset"): "",
}  # fmt: skip


def probes(homework, name, seeds=10):
    task = tasks_of(homework)[name]
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        yield list(task.probes(rng) if task.secret is None else task.probes(rng, task.secret(rng)))


@pytest.mark.parametrize(("homework", "name"), EVERY_TASK)
def test_every_task_asks_at_its_edges(homework, name):
    for asked in probes(homework, name):
        at_edges = [one for one in asked if isinstance(one, Edge)]
        assert bool(at_edges) is (name not in WITHOUT)
        assert not isinstance(asked[0], Edge)
        assert not isinstance(asked[-1], Edge)  # it is asked most
        if name in WITHOUT:
            continue
        for argument, value in asked[0].items():
            if np.ndim(value) and not isinstance(value, str) and (name, argument) not in LONGER:
                assert min(len(one[argument]) for one in asked) <= 1, argument
            assert any(
                np.any(np.shape(one[argument]) != np.shape(value)) or np.any(one[argument] != value) for one in asked
            )


def test_an_edge_is_the_first_probe_with_some_arguments_changed():
    asked = edges(each(2, a=fixed(1, 2), b=uniform(5, 6)), {"a": 0}, {"b": uniform(8, 9)})(np.random.default_rng(0))
    assert [type(one) for one in asked] == [dict, Edge, Edge, dict]
    assert [one["a"] for one in asked] == [1, 0, 1, 2]
    assert asked[1]["b"] == asked[0]["b"]
    assert 8 <= asked[2]["b"] <= 9


def exact_where(right, edge, exact):
    """Right, but without noise where the arguments are an edge."""
    takes = Student(right, None)._takes_rng

    def answer(rng, **asked):
        if edge(**asked):
            return exact(**asked)
        return right(**asked, **({"rng": rng} if takes else {}))

    return answer


def in_bins(years, bins, **_):
    return [float(np.count_nonzero(years == one)) for one in bins]


#: Task, where nobody is hidden, and what comes out there.
CARELESS = [
    ("noisy_count", lambda count, **_: count > 1_000, lambda count, **_: float(count)),
    ("noisy_count", lambda count, **_: count > 1_000_000, lambda count, **_: float(count)),
    ("noisy_count", lambda count, **_: count == 1, lambda count, **_: 1.0),
    ("noisy_count", lambda epsilon, **_: epsilon > 5, lambda count, **_: float(count)),
    ("total_debt", lambda debts, **_: len(debts) == 0, lambda **_: 0.0),
    (
        "total_debt",
        lambda debts, **_: len(debts) == 1,
        lambda debts, maximum, **_: float(np.clip(debts, 0, maximum)[0]),
    ),
    ("total_debt", lambda debts, **_: len(debts) >= 100, lambda debts, **_: float(debts.sum())),
    ("noisy_counts", lambda counts, **_: len(counts) < 4, lambda counts, **_: counts.astype(float)),
    ("noisy_counts", lambda counts, **_: not counts.any(), lambda counts, **_: counts.astype(float)),
    ("noisy_counts", lambda counts, **_: counts.min() > 1_000, lambda counts, **_: counts.astype(float)),
    ("noisy_histogram", lambda years, **_: len(years) == 0, in_bins),
    ("noisy_histogram", lambda years, **_: len(years) == 1, in_bins),
    ("noisy_histogram", lambda bins, **_: len(bins) == 1, in_bins),
    ("noisy_histogram", lambda years, **_: len(years) > 500, in_bins),
    ("exponential_choice", lambda candidates, **_: len(candidates) == 2, lambda candidates, **_: candidates[0]),
    ("exponential_choice", lambda utilities, **_: np.ptp(utilities) == 0, lambda candidates, **_: candidates[0]),
    ("local_laplace", lambda skipped, **_: skipped == 0, lambda **_: 0.0),
    ("local_laplace", lambda skipped, **_: skipped == 15, lambda **_: 15.0),
    ("local_laplace", lambda skipped, **_: skipped > 1_000, lambda **_: 15.0),
    ("local_laplace", lambda skipped, **_: skipped < -1_000, lambda **_: 0.0),
    ("randomized_response", lambda epsilon, **_: epsilon > 3.3, lambda bit, **_: bit),
    ("kary_response", lambda k, **_: k > 10, lambda category, **_: category),
    ("kary_response", lambda epsilon, **_: epsilon < 0.3, lambda category, **_: category),
    ("srr", lambda k, **_: k == 2, lambda x, **_: x),
    ("srr", lambda k, **_: k > 20, lambda x, **_: x),
    ("rrrr", lambda k, **_: k == 2, lambda x, **_: x),
]


@pytest.mark.parametrize(("name", "edge", "exact"), CARELESS)
def test_who_is_careless_at_an_edge_fails_and_is_never_called_harmless(name, edge, exact):
    banks = zip(HOMEWORKS, (hw1, hw2, hw5), strict=True)
    homework, bank = next(pair for pair in banks if name in tasks_of(pair[0]))
    task = tasks_of(homework)[name]
    careless = exact_where(next(iter(bank.RIGHT[name].values())), edge, exact)
    for seed in range(2):
        verdict = task.examine(Student(careless, task.answer), seed)
        assert not verdict.passed
        assert not verdict.wasteful
        assert "wasteful" not in verdict.message
        assert "costs no privacy" not in verdict.message


@pytest.mark.parametrize(
    "width",
    [
        lambda count, epsilon: 5 if count > 1_000 else 1,
        lambda count, epsilon: 2 if count > 600 else 3,
        lambda count, epsilon: 1 + (count == 0),
    ],
)
def test_a_width_that_follows_a_threshold_of_the_data_is_never_called_wasteful(width):
    task = tasks_of("hw1_pure_dp")["noisy_count"]
    for seed in range(2):
        wide = Student(
            lambda count, epsilon, rng: count + width(count, epsilon) * rng.laplace(0, 1 / epsilon), task.answer
        )
        verdict = task.examine(wide, seed)
        assert not verdict.passed
        assert not verdict.wasteful
        assert "follows from the data" in verdict.message
