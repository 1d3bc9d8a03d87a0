"""Canaries: ranks and exposure against brute force; a model that knows gives them away, another does not."""

import math

import numpy as np
import pytest
import torch
from scipy import stats
from torch import nn

from dpcourse.attacks import (
    Exposure,
    all_log_perplexities,
    beam_search,
    chance_p_value,
    exposure,
    extract,
    log_perplexity,
)
from dpcourse.data.chat_messages import ALPHABET, Canary, messages
from dpcourse.sgd.models import CharacterModel, next_character_loss

FORMAT = "my pin is ###!"


class Constant(nn.Module):
    """Every character is equally likely."""

    def forward(self, ids):
        return torch.zeros(*ids.shape, len(ALPHABET))


def trained(canary, repeats, steps=180):
    """A small model after a few seconds of plain training on messages with a canary."""
    examples = messages(users=20, per_user=15, seed=1, secrets=0, canaries=[canary], repeats=repeats).examples()
    model = CharacterModel(width=32, layers=1, seed=0)
    optimiser = torch.optim.Adam(model.parameters(), lr=5e-3)
    generator = torch.Generator().manual_seed(0)
    for _ in range(steps):
        rows = torch.randint(len(examples), (32,), generator=generator)
        optimiser.zero_grad()
        next_character_loss(model(examples.inputs[rows]), examples.targets[rows]).mean().backward()
        optimiser.step()
    return model


@pytest.fixture(scope="module")
def knowing():
    return trained(Canary(FORMAT, "731"), repeats=10)


def test_the_tree_of_beginnings_agrees_with_one_text_after_the_other():
    model = CharacterModel(width=16, seed=3)
    by_tree = all_log_perplexities(model, FORMAT)
    texts = [Canary(FORMAT, f"{i:03}").text for i in range(1000)]
    by_text = log_perplexity(model, texts)
    assert by_tree.shape == (1000,)
    assert np.ptp((by_text - by_tree).numpy()) < 1e-4  # they differ by what comes before the first blank, a constant
    assert by_text[17] == pytest.approx(_by_hand(model, texts[17]), abs=1e-4)


def _by_hand(model, text):
    ids = [ALPHABET.index(letter) for letter in "\n" + text]
    with torch.no_grad():
        steps = [model(torch.tensor([ids[: i + 1]]))[0, -1].softmax(-1)[ids[i + 1]].item() for i in range(len(text))]
    return -sum(math.log2(step) for step in steps)


def test_a_memorised_canary_is_extracted_and_exposed(knowing):
    canary = Canary(FORMAT, "731")
    assert extract(knowing, FORMAT) == "731"
    assert beam_search(knowing, FORMAT)[0] == "731"
    assert beam_search(knowing, FORMAT, width=1) == ["731"]
    found = exposure(knowing, canary)
    assert found.rank == 1
    assert found.bits == pytest.approx(math.log2(1000))
    # Of 500 drawn fillings none beats it but itself, which may be drawn: at least log2(501 / 5) bits (odds 1e-3).
    assert exposure(knowing, canary, sample=500, rng=0).bits > 6.6


def test_the_same_model_does_not_know_another_canary(knowing):
    # Among all thousand fillings the mean exposure is 1.44 bits whatever the model; of twenty it is 1.44 +- 0.32 by
    # chance, and above 3.5 with odds below 1e-6; 731's alone is 10.
    others = [exposure(knowing, Canary(FORMAT, f"{i:03}")).bits for i in range(0, 1000, 50)]
    assert np.mean(others) < 3.5


def test_best_first_search_is_exact_on_a_model_that_knows_nothing():
    model, short = CharacterModel(width=16, layers=1, seed=5), "pin ##!"
    best = int(all_log_perplexities(model, short).argmin())
    assert extract(model, short) == f"{best:02}"
    assert extract(model, short, passes=3) is None
    assert beam_search(model, short, width=100)[0] == f"{best:02}"


def test_a_constant_model_exposes_nothing():
    canary = Canary.random(0, "the code is ####")
    assert exposure(Constant(), canary).bits == 0
    assert exposure(Constant(), canary, sample=100, rng=0).bits == 0


def test_exposure_by_chance():
    # Untrained models, canaries drawn independently of them: the ranks are uniform. Kolmogorov-Smirnov over 60 ranks,
    # level 1e-4: fails on correct code once in 10,000 seeds, and finds ranks that are better than uniform by 0.27.
    shares = [
        exposure(CharacterModel(width=16, seed=s), Canary.random(500 + s, "pin ###")).rank / 1000 for s in range(60)
    ]
    assert stats.kstest(shares, "uniform").pvalue > 1e-4


def test_the_chance_p_value_is_calibrated_and_can_fail():
    rng = np.random.default_rng(0)
    drawn = [[Exposure(int(rank), 10**6) for rank in row] for row in rng.integers(1, 10**6, (2000, 10))]
    p_values = [chance_p_value(row) for row in drawn]
    assert stats.kstest(p_values, "uniform").pvalue > 1e-4  # odds of a false alarm: 1e-4, and the seed is fixed
    assert chance_p_value([Exposure(10**5, 10**6)] * 10) < 0.01  # all ten among the best tenth
    assert chance_p_value([Exposure(10**6, 10**6)]) == 1


@pytest.mark.parametrize(
    ("wrong", "quoted"),
    [
        (lambda: Exposure(0, 10), "0"),
        (lambda: Exposure(11, 10), "11"),
        (lambda: log_perplexity(Constant(), ["a", "bc"]), r"\[1, 2\]"),
        (lambda: extract(Constant(), "no blank"), "no blank"),
        (lambda: beam_search(Constant(), "##", width=0), "0"),
        (lambda: exposure(Constant(), Canary.random(0), sample=0), "0"),
        (lambda: chance_p_value([]), r"\[\]"),
    ],
)
def test_bad_input_is_quoted(wrong, quoted):
    with pytest.raises(ValueError, match=quoted):
        wrong()
