"""The recipes keep what the lecture says about them."""

import math
import statistics

import pytest

from dpcourse.attacks import chance_p_value, exposure, extract
from dpcourse.data.chat_messages import Canary, messages
from dpcourse.data.examples import digits
from dpcourse.sgd import train
from dpcourse.sgd.models import CharacterModel, digit_mlp
from dpcourse.sgd.recipes import CHARACTERS, DIGITS


@pytest.mark.parametrize(("epsilon", "least"), [(math.inf, 0.95), (3.0, 0.90)])
def test_digits(epsilon, least):
    found = []
    for seed in range(5):
        data, test = digits(seed)
        run = train(
            digit_mlp(seed=seed),
            data,
            test=test,
            epsilon=epsilon,
            seed=seed,
            progress=False,
            **DIGITS.settings(epsilon),
        )
        assert run.epsilon <= epsilon
        found.append(run.accuracy)
    assert statistics.median(found) >= least, found


def language_model(seed, epsilon, repeats):
    canary = Canary.random(100 + seed)
    corpus = messages(seed=seed, canaries=[canary], **{**CHARACTERS.corpus, "repeats": repeats})
    model = CharacterModel(layers=1, seed=seed)
    settings = CHARACTERS.settings(epsilon)
    train(model, corpus.examples(), epsilon=epsilon, seed=seed, progress=False, looks=1, **settings)
    return model, canary


@pytest.mark.slow
def test_a_canary_said_once_is_extracted_without_privacy():
    model, canary = language_model(0, math.inf, repeats=1)
    assert extract(model, canary.format) == canary.filling  # by chance: once in a million


@pytest.mark.slow
def test_a_canary_said_once_is_not_exposed_at_epsilon_5():
    # Ten canaries, drawn independently of the models' seeds. Level 0.01, one-sided: a mean exposure of 3 bits (chance:
    # 1.44) would be found. A sample of 2,000 fillings sees up to 11 bits.
    found = [language_model(seed, 5.0, repeats=1) for seed in range(10)]
    exposures = [exposure(model, canary, sample=2000, rng=1) for model, canary in found]
    assert chance_p_value(exposures) > 0.01, [round(one.bits, 1) for one in exposures]


def test_a_recipe_refuses_a_budget_that_is_none():
    with pytest.raises(ValueError, match="-1"):
        DIGITS.settings(-1)
