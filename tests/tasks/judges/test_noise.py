"""The judge of noise: what it convicts at every seed, what it says of it, and what it leaves alone.

A right answer fails with probability 5e-8. A wrong one here is missed with probability below 1e-6, as the tests of its
single parts compute; so 3 seeds of each are enough to see a hole.
"""

import numpy as np
import pytest

from dpcourse.audit import ks_fit
from dpcourse.tasks import LEVEL, VECTOR, Student, gaussian_task, laplace_task, mistake
from dpcourse.tasks.judges.noise import DRAWS, TESTS
from dpcourse.tasks.judges.noise_law import LAPLACE, NORMAL
from dpcourse.tasks.judges.scale_tests import LAPLACE_SIZES, largest_fit, width_fit
from dpcourse.tasks.probes import drawn, each, fixed, uniform

SEEDS = range(3)
TASKS = {
    kind: make(
        "release",
        see="here",
        probes=each(
            2,
            values=drawn(lambda rng: rng.integers(200, 900, 5).astype(float)),
            b=fixed(3.0, 8.0),
            most=uniform(900, 950),
        ),
        law=lambda p: (p.values, p.b),
        form=VECTOR,
        mistakes=[
            mistake("mean for value", "You take the mean.", center=lambda p: p.values.mean() + 0 * p.values),
            mistake("b for the root", "Take b itself.", scale=lambda p: np.sqrt(p.b)),
            mistake("from the data", "The width is the secret.", scale=lambda p: p.values.max() / 20, hides=False),
        ],
    )
    for kind, make in (("laplace", laplace_task), ("gaussian", gaussian_task))
}
DRAW = {"laplace": LAPLACE.draw, "gaussian": NORMAL.draw}


def judged(kind, function, seed=0):
    task = TASKS[kind]
    return task.examine(Student(function, task.answer), seed)


def plus(noise):
    """A release whose noise of scale 1, ``noise(z, values, rng)``, is made from independent draws z."""
    return {
        kind: lambda values, b, most, rng, draw=draw: values + b * noise(draw(rng, values.shape), values, rng)
        for kind, draw in DRAW.items()
    }


def zero_sum(z, values, rng):
    """Each number alone has the right width, but the sum of all is exact."""
    return (z - z.mean()) * np.sqrt(len(z) / (len(z) - 1))


def one_size(z, values, rng):
    return np.abs(z[0]) * rng.choice([-1, 1], len(z))


def one_sign(z, values, rng):
    return np.abs(z) * rng.choice([-1, 1])


def same_at_the_ends(z, values, rng):
    return np.append(z[:-1], z[0])


def sometimes_absent(share):
    return lambda z, values, rng: z * (rng.random() >= share)


def absent_on_one(share):
    return lambda z, values, rng: np.where(np.arange(len(z)) == 2, z * (rng.random() >= share), z)


WRONG = {
    "zero sum": zero_sum,
    "one size": one_size,
    "one sign": one_sign,
    "same at the ends": same_at_the_ends,
    "absent in a fifth": sometimes_absent(0.2),
    "absent in a hundredth": sometimes_absent(0.01),
    "absent on one, in a hundredth": absent_on_one(0.01),
    "a tenth too narrow": lambda z, values, rng: 0.9 * z,
    "an eighth too wide on one": lambda z, values, rng: z * np.where(np.arange(len(z)) == 3, 1.13, 1.0),
    "shifted on one": lambda z, values, rng: z + 0.15 * (np.arange(len(z)) == 4),
    "cut at four": lambda z, values, rng: np.clip(z, -4, 4) if np.abs(z).max() > 4 else z,
    "never below": lambda z, values, rng: np.maximum(z, -1e-3),
    "one-sided": lambda z, values, rng: np.abs(z) - np.abs(z).mean(),
}
#: A Gaussian larger than 4 comes once in 16,000 times: cut there it is the same law for all that anybody sees.
INVISIBLE = {("gaussian", "cut at four")}


@pytest.mark.parametrize("kind", DRAW)
@pytest.mark.parametrize("name", WRONG)
def test_wrong_noise_is_convicted_at_every_seed(kind, name):
    if (kind, name) in INVISIBLE:
        return
    for seed in SEEDS:
        verdict = judged(kind, plus(WRONG[name])[kind], seed)
        assert not verdict.passed, (seed, verdict)
        assert not verdict.wasteful, verdict


@pytest.mark.parametrize("kind", DRAW)
def test_right_noise_passes(kind):
    styles = {
        "numpy": plus(lambda z, values, rng: z)[kind],
        "single": lambda **call: plus(lambda z, values, rng: z)[kind](**call).astype(np.float32),
        "list": lambda **call: plus(lambda z, values, rng: z)[kind](**call).tolist(),
    }
    for name, function in styles.items():
        for seed in range(6):
            verdict = judged(kind, function, seed)
            assert verdict.passed, (name, seed, verdict)
            assert verdict.false_fail <= LEVEL * (1 + 1e-9)


@pytest.mark.parametrize("kind", DRAW)
@pytest.mark.parametrize("calls", [200, 1_000])
def test_a_counter_is_convicted(kind, calls):
    """Right at first, the exact values from some call on."""
    for seed in SEEDS:
        asked = []

        def counting(values, b, most, rng, asked=asked):
            asked.append(1)
            return values + b * DRAW[kind](rng, values.shape) * (len(asked) < calls)

        assert not judged(kind, counting, seed).passed


def tied(kind, distance, change):
    """Each noise comes again so many calls later, ``change``d."""
    noises = []

    def release(values, b, most, rng):
        fresh = len(noises) // distance % 2 == 0
        noises.append(DRAW[kind](rng, values.shape) if fresh else change(noises[-distance], rng))
        return values + b * noises[-1]

    return release


TIES = {
    "again": lambda z, rng: z * (1 + 1e-9),
    "turned": lambda z, rng: -z,
    "with other signs": lambda z, rng: np.abs(z) * rng.choice([-1, 1], z.shape),
}


@pytest.mark.parametrize("kind", DRAW)
@pytest.mark.parametrize("change", TIES)
@pytest.mark.parametrize("distance", [1, 2, 7, 40, 601, 5_000])
def test_noise_that_two_calls_share_is_convicted_at_any_distance(kind, change, distance):
    for seed in range(2):
        assert not judged(kind, tied(kind, distance, TIES[change]), seed).passed


@pytest.mark.parametrize("kind", DRAW)
def test_noise_that_begins_anew_with_every_probe_is_convicted(kind):
    state = {}

    def same_for_every_probe(values, b, most):
        if state.get("b") != b:
            state.update(b=b, rng=np.random.default_rng(5))
        return values + b * DRAW[kind](state["rng"], values.shape)

    assert not judged(kind, same_for_every_probe).passed


@pytest.mark.parametrize("kind", DRAW)
@pytest.mark.parametrize(("share", "left"), [(0.01, 1e-3), (0.02, 1e-2), (0.05, 0.03), (0.015, 1e-6)])
def test_noise_that_is_nearly_absent_now_and_then_is_convicted(kind, share, left):
    """In all coordinates of a call, or in one of them."""

    def one(z, values, rng):
        return z * np.where((np.arange(len(z)) == 3) & (rng.random() < share), left / 10, 1)

    for noise in (lambda z, values, rng: z * (left if rng.random() < share else 1), one):
        for seed in SEEDS:
            verdict = judged(kind, plus(noise)[kind], seed)
            assert not verdict.passed
            assert "costs no privacy" not in verdict.message


@pytest.mark.parametrize("kind", DRAW)
def test_exact_digits_behind_rounded_noise_are_convicted(kind):
    task = (laplace_task if kind == "laplace" else gaussian_task)(
        "release", see="here", probes=each(1, values=fixed(np.array([200.3371, 31.3371])), b=fixed(8.0)),
        law=lambda p: (p.values, p.b), form=VECTOR, mistakes=[],
    )  # fmt: skip
    exact = Student(lambda values, b, rng: values + np.round(b * DRAW[kind](rng, values.shape), 1), VECTOR)
    right = Student(lambda values, b, rng: values + b * DRAW[kind](rng, values.shape), VECTOR)
    verdict = task.examine(exact, 0)
    assert "the digits of your answers" in verdict.message or verdict.mistake == "rounded"
    assert task.examine(right, 0).passed


def test_noise_of_another_shape_is_told_its_shape():
    for seed in SEEDS:
        verdict = judged("laplace", lambda values, b, most, rng: values + b * rng.normal(0, 1.03, len(values)), seed)
        assert "its shape is another one" in verdict.message


SAYS = {
    "twice as wide": (lambda z, values, rng: 2 * z, True, "private, but wasteful"),
    "half as wide": (lambda z, values, rng: z / 2, False, "too little to hide one person"),
    "as wide as the data": (lambda z, values, rng: z * values.mean() / 40, False, "follows from the data"),
    "absent at times": (sometimes_absent(0.1), False, "sometimes absent hides nobody"),
    "cut at the secret": (lambda z, values, rng: np.maximum(z, 0), False, "An end that is the secret"),
    "rounded": (lambda z, values, rng: np.round(30 * z) / 30, False, "rounded"),
}


@pytest.mark.parametrize("kind", DRAW)
@pytest.mark.parametrize("name", SAYS)
def test_what_is_said_of_it_is_true(kind, name):
    noise, wasteful, words = SAYS[name]
    for seed in SEEDS:
        verdict = judged(kind, plus(noise)[kind], seed)
        assert not verdict.passed
        assert words in verdict.message, verdict
        assert verdict.wasteful is wasteful
        assert "costs no privacy" not in verdict.message
        assert ("whoever rounds the noise may" in verdict.message) is (name == "rounded")
        assert ("wasteful" in verdict.message) is wasteful


@pytest.mark.parametrize("kind", DRAW)
def test_a_public_end_is_called_harmless_and_biased(kind):
    verdict = judged(
        kind, lambda values, b, most, rng: np.minimum(values + 40 * b * DRAW[kind](rng, values.shape), 1_000)
    )
    assert "If everybody knows the range, that costs no privacy" in verdict.message


@pytest.mark.parametrize("kind", DRAW)
def test_a_mistake_is_named_and_two_at_once_are_both(kind):
    def release(center, scale):
        return lambda values, b, most, rng: center(values) + scale(b, values) * DRAW[kind](rng, values.shape)

    def itself(values):
        return values

    def mean(values):
        return values.mean() + 0 * values

    for seed in SEEDS:
        assert judged(kind, release(itself, lambda b, values: np.sqrt(b)), seed).mistake == "b for the root"
        assert judged(kind, release(mean, lambda b, values: b), seed).mistake == "mean for value"
        both = judged(kind, release(mean, lambda b, values: np.sqrt(b)), seed)
        assert {both.mistake, *both.also} == {"mean for value", "b for the root"}
        assert "Take b itself." in both.message
        assert "You take the mean." in both.message
        assert judged(kind, release(itself, lambda b, values: 1.4 * np.sqrt(b)), seed).mistake == ""
        follows = judged(kind, release(itself, lambda b, values: values.max() / 20), seed)
        assert (follows.mistake, follows.wasteful) == ("from the data", False)


def test_a_scale_that_is_off_by_a_tenth_is_seen():
    """By the judge's own level and draws, with probability 1 - 1e-6."""
    fit = width_fit(np.random.default_rng(0).laplace(size=DRAWS), LAPLACE_SIZES, level=LEVEL / 4 / TESTS)
    assert 0.9 < fit.limits[0] < 1 < fit.limits[1] < 1.1


@pytest.mark.parametrize("law", [LAPLACE, NORMAL], ids=["laplace", "normal"])
def test_its_parts_have_their_laws(law):
    """2,000 p-values of samples of 50 are uniform: fails right code once in 1e6 times, sees a distance of 0.12."""
    rng = np.random.default_rng(1)
    samples = [law.draw(rng, (50,)) for _ in range(2_000)]
    widths = [width_fit(sample, law.sizes, level=1e-3).p_value for sample in samples]
    largest = [largest_fit(sample, law.cdf, level=1e-3).p_value for sample in samples]
    for p_values in (widths, largest):
        assert ks_fit(p_values, lambda p: np.clip(p, 0, 1), level=1e-6)
    z = np.abs(law.draw(rng, (200_000,)))
    assert np.median(z) == pytest.approx(law.typical, rel=0.02)  # six deviations of either median
    assert z.mean() == pytest.approx(law.mean_size, rel=0.015)
    assert 2 * float(law.cdf(np.array(-law.far))) == pytest.approx(np.mean(z > law.far), abs=8e-4)


@pytest.mark.parametrize("kind", DRAW)
@pytest.mark.parametrize("noise", [lambda z: np.round(10 * z) / 10, lambda z: np.round(30 * z) / 30])
def test_of_rounded_answers_no_width_is_read(kind, noise):
    for seed in SEEDS:
        verdict = judged(kind, plus(lambda z, values, rng: noise(z))[kind], seed)
        assert verdict.mistake == "rounded"
        assert "too little to hide one person" not in verdict.message


@pytest.mark.parametrize(("kind", "other"), [("laplace", "gaussian"), ("gaussian", "laplace")])
def test_the_other_law_of_the_course_is_called_by_its_name(kind, other):
    """With the same standard deviation, too, where more of its noises are small: they are not absent."""
    for factor in (1.0, 2**0.5, 2**-0.5):
        for seed in SEEDS:
            verdict = judged(
                kind, lambda values, b, most, rng, by=factor * 1: values + by * b * DRAW[other](rng, values.shape), seed
            )
            assert verdict.mistake == "", (factor, verdict)
            assert f"It looks like {other.title()} noise" in verdict.message, (factor, verdict)


@pytest.mark.parametrize("kind", DRAW)
def test_one_noise_for_all_coordinates_is_shared_and_of_no_other_shape(kind):
    for seed in range(8):
        verdict = judged(kind, plus(lambda z, values, rng: np.full(len(z), z[0]))[kind], seed)
        assert "know nothing of each other" in verdict.message or "noise of its own" in verdict.message, verdict


@pytest.mark.parametrize("kind", DRAW)
def test_a_scale_that_is_off_by_two_fifths_at_one_probe_is_seen_there(kind):
    """At the first probe, which is not the one asked most."""
    right = plus(lambda z, values, rng: z)[kind]

    def release(values, b, most, rng):
        return values + (0.62 if b == 3 else 1) * (right(values, b, most, rng) - values)

    for seed in range(6):
        assert not judged(kind, release, seed).passed


def answers_to(kind, center, change):
    task = (laplace_task if kind == "laplace" else gaussian_task)(
        "release", see="here", probes=each(1, total=fixed(center), b=fixed(4e4)), law=lambda p: (p.total, p.b),
        mistakes=[],
    )  # fmt: skip
    release = Student(lambda total, b, rng: change(total + b * float(DRAW[kind](rng, (1,))[0])), task.answer)
    return [task.examine(release, seed) for seed in range(6)]


@pytest.mark.parametrize("kind", DRAW)
@pytest.mark.parametrize("center", [30_000.01, 12_000.34, 40_000.0])
def test_answers_that_were_cut_or_rounded_have_no_digits_of_the_secret(kind, center):
    for change in (lambda answer: max(0.0, answer), round, lambda answer: max(0, round(answer, 1))):
        for verdict in answers_to(kind, center, change):
            assert not verdict.passed
            assert verdict.mistake != "exact digits"
            assert "digits of your answers" not in verdict.message
            assert "too little" not in verdict.message
