"""Stored results: they stand in the files as the experiments write them, a record to a line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpcourse.explore.stored import stored
from experiments.results import RESULTS, compact_json, write_result


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_a_stored_result_is_written_compactly_and_loads(path: Path) -> None:
    content = stored(path.stem)
    assert path.read_text(encoding="utf-8") == compact_json(content) + "\n"


def test_a_short_record_stands_on_one_line_and_a_long_one_is_opened(tmp_path: Path) -> None:
    records = {"small": {"values": [1, 2.5]}, "große": [{"values": list(range(300))}, {"values": [None, True]}]}
    target = tmp_path / "some.json"
    write_result(target, records)
    assert json.loads(target.read_text(encoding="utf-8")) == records
    lines = target.read_text(encoding="utf-8").splitlines()
    assert lines[1] == '"small":{"values":[1,2.5]},'
    assert lines[-3:] == ['{"values":[null,true]}', "]", "}"]
    assert list(tmp_path.iterdir()) == [target]
