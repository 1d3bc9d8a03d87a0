"""Time and memory: an answer costs well under a second, and a million rounds fit in 500 MB."""

import subprocess
import sys
import textwrap
import time
from collections.abc import Callable

import pytest

from dpcourse.privacy_loss import DiscreteLoss, GaussianLoss, LaplaceLoss, PrivacyLoss

SECONDS = 5.0  # about one second on an idle core; five so that a busy machine does not fail the suite


def run_in_a_fresh_process(code: str) -> dict[str, float]:
    """Peak memory is a property of a process: measure it in one of its own, imports not counted."""
    prologue = """
        import resource, time
        import numpy as np, scipy.fft, scipy.special, scipy.optimize
        from dpcourse.privacy_loss import DiscreteLoss, GaussianLoss, LaplaceLoss
        def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        GaussianLoss(1.0).subsample(0.5).compose(2).epsilon(0.1)
        before, started = peak(), time.perf_counter()
    """
    epilogue = """
        print(peak() - before, time.perf_counter() - started)
    """
    script = textwrap.dedent(prologue) + textwrap.dedent(code) + textwrap.dedent(epilogue)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stderr
    megabytes, seconds = map(float, done.stdout.split())
    return {"megabytes": megabytes, "seconds": seconds}


@pytest.mark.parametrize(
    "code",
    [
        "DiscreteLoss.from_probabilities([.75, .25], [.25, .75]).compose(1e6).epsilon(1e-5, bracket=True)",
        "DiscreteLoss.from_probabilities([.6, .2, .2], [.2, .6, .2]).compose(1e6).epsilon(1e-5, bracket=True)",
        "DiscreteLoss.from_probabilities([.5, .3, .2], [.25, .35, .4]).compose(1e6).epsilon(1e-5, bracket=True)",
        "LaplaceLoss(0.01).compose(1e6).epsilon(1e-5, bracket=True)",
        "GaussianLoss(1 / 1.1).subsample(256 / 60_000).compose(1e6).epsilon(1e-12, bracket=True)",
        "GaussianLoss(1 / 0.3).subsample(1e-4).compose(1e6).delta(1.0, bracket=True)",
        "GaussianLoss(1 / 0.7).subsample(0.9).compose(6187).delta(0.76, bracket=True)",
        "(GaussianLoss(1.0).subsample(0.01).compose(1e6) + LaplaceLoss(0.1)).epsilon(1e-5, bracket=True)",
    ],
)
def test_a_million_rounds_stay_within_500_megabytes(code: str) -> None:
    assert run_in_a_fresh_process(code)["megabytes"] <= 500


CORNERS = [(sigma, q, rounds) for sigma in (0.3, 20.0) for q in (1e-4, 0.7) for rounds in (1, 30, 100_000)]


@pytest.mark.slow  # bare times depend on the machine: not for make test
@pytest.mark.parametrize(("sigma", "q", "rounds"), CORNERS)
def test_every_corner_of_dp_sgd_is_answered_quickly(sigma: float, q: float, rounds: int) -> None:
    loss = GaussianLoss(1 / sigma).subsample(q).compose(rounds)
    for delta in (1e-12, 0.1):
        assert seconds(lambda d=delta: loss.epsilon(d, bracket=True)) < SECONDS, f"epsilon({delta})"
    for epsilon in (0.0, 20.0):
        assert seconds(lambda e=epsilon: loss.delta(e, bracket=True)) < SECONDS, f"delta({epsilon})"


@pytest.mark.slow
@pytest.mark.parametrize(
    "loss",
    [
        LaplaceLoss(0.5).compose(7).subsample(0.3),
        DiscreteLoss.from_probabilities([0.5, 0.5], [0.5, 0.5]).compose(10),
        DiscreteLoss.from_probabilities([0.7, 0.3], [0.4, 0.6])
        + DiscreteLoss.from_probabilities([0.1, 0.9], [0.3, 0.7]),
        LaplaceLoss(0.5) + GaussianLoss(1.0),
        LaplaceLoss(1.0).compose(10**6),
    ],
    ids=["sampled sum", "nothing to learn", "two small tables", "laplace + gaussian", "a million laplaces"],
)
def test_other_sums_are_answered_quickly(loss: PrivacyLoss) -> None:
    for delta in (1e-12, 0.1):
        assert seconds(lambda d=delta: loss.epsilon(d, bracket=True)) < SECONDS, f"epsilon({delta})"
    for epsilon in (0.0, 20.0):
        assert seconds(lambda e=epsilon: loss.delta(e, bracket=True)) < SECONDS, f"delta({epsilon})"


def seconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started
