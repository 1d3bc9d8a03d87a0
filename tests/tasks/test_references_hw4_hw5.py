"""What homeworks 4 and 5 compare with, held against the systems of the lectures (in torch, or in closed form)."""

import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from dpcourse import accounting, adaptive_ldp, sgd
from dpcourse.attacks.canary import Exposure
from dpcourse.sensitivity.rows import clipped
from dpcourse.tasks.hw4_dp_sgd.people import bits, by_user
from dpcourse.tasks.hw4_dp_sgd.step import per_example
from dpcourse.tasks.hw5_adaptive_ldp.utilities import by_definition
from dpcourse.tasks.registry import tasks_of


@pytest.mark.parametrize("seed", range(5))
def test_the_utilities_by_definition_are_those_in_closed_form(seed):
    rng = np.random.default_rng(seed)
    theta, epsilon = rng.dirichlet(np.full(6, 1.5)), float(rng.uniform(0.5, 3))
    first = 0.8 * epsilon
    for size in range(6):
        subset = np.argsort(-theta, kind="stable")[:size].tolist()
        matrix = adaptive_ldp.RestrictedResponse(6, subset, epsilon=epsilon, first=first).matrix
        found = by_definition(theta, matrix)
        for name in adaptive_ldp.UTILITIES:
            right = adaptive_ldp.utilities(theta, epsilon, first, name)[size]
            assert math.isclose(found[name], right, rel_tol=1e-8), (name, size)


def test_the_exposure_is_that_of_the_attack():
    scores = np.random.default_rng(0).permutation(np.r_[np.linspace(3, 9, 90), np.full(10, 5.0)])
    for canary in range(0, 100, 7):
        rank = int((torch.tensor(scores) <= scores[canary]).sum())
        assert bits(scores, canary) == Exposure(rank, 100).bits


def test_the_clipped_gradients_are_those_of_torch():
    rng = np.random.default_rng(1)
    x, y, weights = rng.normal(size=(9, 4)), rng.integers(0, 2, 9), rng.normal(size=4)
    model = nn.Linear(4, 1, bias=False).double()
    with torch.no_grad():
        model.weight[:] = torch.tensor(weights)

    def loss(outputs, targets):
        return F.binary_cross_entropy_with_logits(outputs[:, 0], targets.double(), reduction="none")

    lot = sgd.clipped_sum(model, torch.tensor(x), torch.tensor(y), loss, clip_norm=0.6, method="loop")
    rows = clipped(per_example(weights, x, y), 0.6)
    np.testing.assert_allclose(rows.sum(axis=0), lot.total["weight"][0].numpy(), rtol=1e-9)
    still = sgd.noisy_average(lot.total, clip_norm=0.6, noise_multiplier=0, lot_size=20)
    right = tasks_of("hw4_dp_sgd")["noisy_average"].mistakes[-1]
    assert right.name == "no noise"
    np.testing.assert_allclose(
        right.wrong(clipped=rows, clip=0.6, sigma=1.0, expected=20), still["weight"][0].numpy(), rtol=1e-9
    )


def test_the_rows_of_a_user_are_added_up():
    users = np.array([7, 3, 7, 900, 3, 7])
    rows = np.arange(12.0).reshape(6, 2)
    np.testing.assert_array_equal(by_user(rows, users), [[10, 12], [14, 17], [6, 7]])
    assert by_user(rows[:0], users[:0]).shape == (0, 2)


def test_the_budget_of_a_probe_ends_between_two_steps():
    for probe in tasks_of("hw4_dp_sgd")["steps_in_budget"].probes(np.random.default_rng(3)):
        most = accounting.steps_within(probe["epsilon"], probe["delta"], sigma=probe["sigma"], q=probe["q"])
        within = {key: probe[key] for key in ("sigma", "q", "delta")}
        costs = [accounting.dp_sgd_epsilon(**within, steps=steps) for steps in (most, most + 1)]
        assert costs[0] < probe["epsilon"] < costs[1]
        assert math.isclose(sum(costs) / 2, probe["epsilon"], rel_tol=1e-9)
