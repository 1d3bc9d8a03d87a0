"""The audit finds every planted fault and does not accuse the step of this package."""

from __future__ import annotations

import pytest

from dpcourse.sgd.step_audit import FAULTS, audit_step, honest


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_a_planted_fault_is_found(name: str) -> None:
    """Seeded. Sizes: the smallest margin is that of fixed-size lots, 0.7 certified where 0.38 was promised."""
    found = audit_step(FAULTS[name], seed=0)
    assert found.violated, str(found.bound)
    assert str(found).endswith(": refuted")


def test_the_step_of_this_package_is_not_accused() -> None:
    """A correct step is accused with probability 1e-6 at most. The bound is not empty: it comes near the truth."""
    found = audit_step(honest, seed=0)
    assert not found.violated, str(found.bound)
    assert str(found).endswith(": not refuted")
    assert found.bound.epsilon > 0.3 * (found.bound.claimed or 0)


def test_what_cannot_be_audited_is_quoted() -> None:
    with pytest.raises(TypeError, match="'a step'"):
        audit_step("a step")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"shape \(2,\).*got 0\.5"):
        audit_step(lambda *given: 0.5)  # type: ignore[arg-type,return-value]
    with pytest.raises(ValueError, match=r"shape \(2,\)"):
        audit_step(lambda gradients, setting, generator: gradients)
