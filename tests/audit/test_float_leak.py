"""Which floats a Laplace answer can be; more in tests/mechanisms/test_laplace.py."""

from dpcourse.audit.float_leak import reachable


def test_beyond_the_largest_noise_nothing_is_reachable() -> None:
    """The uniform nearest to 1 is 1 - 2^-53, whose noise is 36.04: the search must stop there."""
    assert not reachable(40.0, 0.0)
    assert not reachable(-40.0, 0.0)
