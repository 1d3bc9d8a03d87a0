"""``from dpcourse import Laplace`` is a Laplace: when it runs, to mypy, and to an editor's completion."""

import ast
import re
import subprocess
import sys

import dpcourse
from testing import ROOT

PROGRAM = """
from dpcourse import Gaussian, Laplace, explore
from dpcourse.accounting import renyi_gaussian
reveal_type(Laplace(epsilon=1, sensitivity=1))
reveal_type(Gaussian(sigma=1, sensitivity=1).plrv())
reveal_type(renyi_gaussian(1.0).epsilon(1e-5))
reveal_type(explore.two_worlds())
Laplace(epsilon="one", sensitivity=1)
"""


def test_mypy_sees_the_types(tmp_path):
    """Before, all of them were Any."""
    (tmp_path / "program.py").write_text(PROGRAM)
    words = [sys.executable, "-m", "mypy", "--follow-imports=silent", str(tmp_path / "program.py")]
    said = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    for name in (
        "dpcourse.mechanisms.laplace.Laplace",
        "dpcourse.privacy_loss.base.PrivacyLoss",
        "float",
        "widget.Explorer",
    ):
        assert re.search(rf'Revealed type is "[\w.]*{re.escape(name)}"', said), said
    assert 'Argument "epsilon" to "Laplace" has incompatible type "str"' in said
    assert "Any" not in said


def test_what_a_type_checker_sees_is_what_is_loaded():
    tree = ast.parse((ROOT / "dpcourse" / "__init__.py").read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert typed == set(dpcourse.__all__) == {name for name in dir(dpcourse) if not name.startswith("_")}
    for name in dpcourse.__all__:
        assert getattr(dpcourse, name) is not None
