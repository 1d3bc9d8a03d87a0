"""The planter of wrong lines: what it plants, what it leaves alone, and that excuses are about lines that exist."""

import ast
import tomllib

import pytest

from studies.mutants import EXCUSED, ROOMS, Mutant, changed, expressions, sampled
from testing import ROOT


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("a < b", "(a <= b)"),
        ("a is None", "(a is not None)"),
        ("a or b or c", "(a and b and c)"),
        ("a / b", "(a * b)"),
        ("not a", "(a)"),
        ("-a", "(a)"),
        ("True", "False"),
        ("4", "6"),
        ("0", "1"),
        ("0.0", "0.01"),
        ("0.5", "0.75"),
        ("np.maximum", "np.minimum"),
        ("'4'", None),
        ("a < b < c", None),
        ("largest", None),
    ],
)
def test_what_becomes_of_an_expression(right, wrong):
    assert changed(ast.parse(right, mode="eval").body) == wrong


def test_words_and_annotations_are_left_alone():
    source = """
@lru_cache(maxsize=1)
def f(x: Literal[2] = 3) -> Literal[4]:
    if x:
        raise ValueError(5)
    return f"{6}"
"""
    planted = [node for node in expressions(ast.parse(source)) if changed(node)]
    assert [ast.unparse(node) for node in planted] == ["3"]


@pytest.mark.parametrize("room", ROOMS)
def test_a_sample_is_wrong_in_one_place_and_the_same_for_the_same_seed(room):
    assert (ROOT / "tests" / room).is_dir()
    sample = sampled(room, 10, 1)
    assert len(sample) == 10
    assert sample == sampled(room, 10, 1) != sampled(room, 10, 2)
    for one in sample:
        assert ast.dump(ast.parse(one.after)) != ast.dump(ast.parse(one.before))
        assert str(one).count("@@") == 2


def test_every_excuse_is_about_a_line_that_is_there_and_has_a_reason():
    for one in tomllib.loads(EXCUSED.read_text(encoding="utf-8"))["survivor"]:
        assert one.keys() == {"file", "line", "wrong", "reason"}
        text = " ".join((ROOT / one["file"]).read_text(encoding="utf-8").split())
        assert " ".join(one["line"].split()) in text, one
        assert one["wrong"] != one["line"]
        assert len(one["reason"]) > 10


def test_an_excuse_is_for_one_change_of_one_line(tmp_path, monkeypatch):
    excuses = tmp_path / "excused.toml"
    excuses.write_text(
        '[[survivor]]\nfile = "a.py"\nline = "x = 1"\nwrong = "x = 2"\nreason = "why"\n', encoding="utf-8"
    )
    monkeypatch.setattr("studies.mutants.EXCUSED", excuses)
    assert Mutant("audit", "a.py", "y\n    x = 1\n", "y\n    x = 2\n").is_excused()
    assert not Mutant("audit", "a.py", "x = 1\n", "x = 3\n").is_excused()
    assert not Mutant("audit", "b.py", "x = 1\n", "x = 2\n").is_excused()
