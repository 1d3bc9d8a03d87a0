"""A loss knows which neighbours it is about: every operation keeps that, and two kinds are never added up."""

import pytest

from dpcourse import DiscreteLaplace, Gaussian, GaussianLoss, KaryResponse, Laplace, LeakRows, Neighbours
from dpcourse.accounting import dp_sgd_loss
from dpcourse.privacy_loss.base import NeighbourWarning

REPLACE, ADD_REMOVE = Neighbours.REPLACE, Neighbours.ADD_REMOVE
LOSSES = [
    Laplace(epsilon=1, sensitivity=1).plrv(),
    Gaussian(sigma=2, sensitivity=1, neighbours="replace").plrv(),
    DiscreteLaplace(epsilon=1).plrv(),
    KaryResponse(epsilon=1, k=4).plrv(),
    LeakRows(delta=0.1).plrv(),
]


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
@pytest.mark.filterwarnings(f"ignore::{NeighbourWarning.__module__}.{NeighbourWarning.__name__}")
def test_every_operation_keeps_the_relation(loss):
    assert loss.neighbours in (REPLACE, ADD_REMOVE)
    for other in (loss.reverse(), loss.compose(3), loss + loss, sum([loss, loss]), loss.subsample(0.1)):
        assert other.neighbours is loss.neighbours
    assert loss.compose(2).reverse().subsample(0.5).compose(2).neighbours is loss.neighbours


def test_losses_of_different_neighbours_are_not_added():
    """Before, the sum was taken without a word, as the loss of neighbours that replace a person."""
    one, other = Laplace(epsilon=1, sensitivity=1).plrv(), KaryResponse(epsilon=1, k=4).plrv()
    for add in (lambda: one + other, lambda: one.reverse() + other.reverse(), lambda: sum([one, one, other])):
        with pytest.raises(ValueError, match=r"'add/remove'.*'replace'"):
            add()


def test_a_pair_of_no_datasets_may_be_added_to_either():
    plain = GaussianLoss(0.5)
    assert plain.neighbours is None
    assert (plain + KaryResponse(epsilon=1, k=2).plrv()).neighbours is REPLACE
    assert (plain + Laplace(epsilon=1, sensitivity=1).plrv()).neighbours is ADD_REMOVE
    assert plain.between(REPLACE).neighbours is REPLACE
    with pytest.raises(TypeError, match="'both'"):
        plain.between("both")


def test_a_training_run_is_about_a_person_more_or_less():
    assert dp_sgd_loss(1, 0.1, 10).neighbours is ADD_REMOVE


def test_to_reverse_a_loss_does_not_hide_that_sampling_needs_other_neighbours():
    loss = KaryResponse(epsilon=1, k=4).plrv()
    with pytest.warns(NeighbourWarning):
        loss.reverse().subsample(0.1)
