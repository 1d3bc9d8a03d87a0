"""The grid of experiments, in small: every kind of part, kept parts, and boxes."""

import dataclasses
import json

import numpy as np
import pytest

from experiments import adaptive_grid as grid

SMALL = grid.jobs(runs=2, arrivals=60)


@pytest.mark.parametrize("kind", ["adaptive", "semi-adaptive", "known", "competitor"])
def test_a_part_is_computed_kept_and_found_again(tmp_path, kind):
    job = next(job for job in SMALL if job.kind == kind and (job.epsilon, job.rho) == (5.0, 1.0))
    part = tmp_path / job.file
    assert grid.read_part(part, job) is None
    grid.work((job, part))
    found = grid.read_part(part, job)
    assert found is not None
    assert [path.name for path in tmp_path.iterdir()] == [job.file]  # nothing unfinished is left
    for errors in found["errors"].values():
        assert len(errors) == 2
        assert all(0 < error < 0.7 for error in errors)
    again = grid.compute(job)
    assert again["errors"] == found["errors"]
    assert grid.read_part(part, dataclasses.replace(job, arrivals=61)) is None
    part.write_text(part.read_text()[:-20])  # as if a disk had filled up
    assert grid.read_part(part, job) is None


def test_every_part_has_a_name_of_its_own():
    assert len({job.file for job in SMALL}) == len(SMALL) == 9 * (12 + 3 + 1 + 5)


def test_boxes_are_those_of_matplotlib():
    from matplotlib import cbook

    values = [*np.random.default_rng(1).random(49).tolist(), 9.0]
    made, (expected,) = grid.box(values), cbook.boxplot_stats(values)
    assert made["median"] == round(expected["med"], 4)
    assert made["quartiles"] == [round(expected["q1"], 4), round(expected["q3"], 4)]
    assert made["whiskers"] == [round(expected["whislo"], 4), round(expected["whishi"], 4)]


def test_the_result_lists_all_settings(tmp_path):
    fake = {"errors": {"posterior mean": [0.1, 0.2]}, "seconds": 1.0, "size": [1.0, 2.0]}
    result = json.loads(json.dumps(grid.collect([(job, fake) for job in SMALL])))
    assert [(setting["epsilon"], setting["rho"]) for setting in result["settings"]] == [
        (epsilon, rho) for epsilon in grid.EPSILONS for rho in grid.RHOS
    ]
    assert all(len(setting["methods"]) == 21 for setting in result["settings"])
    assert result["settings"][0]["methods"][0]["error"]["values"] == [0.1, 0.2]
