"""What a person sees while a command works, and what a pipe gets: lines as they are, and nothing else."""

import os
import pty
import subprocess
import sys

import pytest

from autograder.console import Output, Problem, note
from testing import ROOT

ODD = "[bold]x[/bold] :smile: https://a.org 1.5 " + "long " * 60 + "\ttab"
#: A command that tells two lines while its bar moves.
PROBE = f"""
from autograder.console import Output, note, watched
for number in watched(range(3), "counting [b]"):
    Output().tell({ODD!r} + str(number))
    note("noted " + str(number))
"""


def run_probe(*, stdout: bool, stderr: bool, **settings: str) -> tuple[str, str, str]:
    """Run it where stdout or stderr is a terminal; gives what came to stdout, to stderr and to the terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", PROBE], cwd=ROOT, text=True, env={**os.environ, "TERM": "xterm", **settings},
        stdout=theirs if stdout else subprocess.PIPE, stderr=theirs if stderr else subprocess.PIPE,
    )  # fmt: skip
    os.close(theirs)
    seen = b""
    while True:
        try:
            seen += (some := os.read(ours, 65536))
        except OSError:  # the other side is closed
            break
        if not some:
            break
    os.close(ours)
    out, err = process.communicate()
    assert process.returncode == 0, (err, seen)
    return out or "", err or "", seen.decode().replace("\r\n", "\n")


LINES = [f"{ODD}{number}" for number in range(3)]
NOTES = [f"noted {number}" for number in range(3)]


def test_pipes_get_the_lines_as_they_are():
    found = run_probe(stdout=False, stderr=False, FORCE_COLOR="1", COLUMNS="20")
    assert found == ("\n".join(LINES) + "\n", "\n".join(NOTES) + "\n", "")


def test_the_bar_is_on_stderr_where_a_person_watches():
    out, _, terminal = run_probe(stdout=False, stderr=True)
    assert out.splitlines() == LINES
    assert "counting [b]" in terminal
    assert "2/3" in terminal
    assert all(f"{line}\n" in terminal for line in NOTES)
    assert run_probe(stdout=True, stderr=False)[1:] == ("\n".join(NOTES) + "\n", "\n".join(LINES) + "\n")


def test_on_one_terminal_every_line_goes_above_the_bar():
    _, _, terminal = run_probe(stdout=True, stderr=True)
    for line in [*LINES, *NOTES]:
        before = terminal.partition(f"{line}\n")[0].rpartition("\n")[2]
        assert line in terminal
        assert before == "" or before.endswith("\x1b[2K")  # a new line, or the bar's, which was wiped


@pytest.mark.parametrize("words", ["--help", "doctor"])
def test_who_stops_reading_gets_no_traceback(words, tmp_path):
    command = f"{sys.executable} -m autograder {words} | true"
    done = subprocess.run(
        ["bash", "-c", f"{command}; exit ${{PIPESTATUS[0]}}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode in (0, 1), done.stderr) == (True, "")


def test_the_result_for_machines_may_take_stdout(capfdbinary):
    with_json, plain = Output("-"), Output()
    with_json.tell("for a person")
    with_json.write_json({"name": "zoë"})
    plain.tell("told")
    plain.write_json("nowhere")
    note("noted")
    out, err = capfdbinary.readouterr()
    assert (out.decode(), err) == ('{\n "name": "zoë"\n}\ntold\n', b"for a person\nnoted\n")


def test_a_file_for_machines_is_checked_before_the_work(tmp_path):
    with pytest.raises(Problem, match="there is no folder"):
        Output(str(tmp_path / "nowhere" / "x.json"))
    Output(str(tmp_path / "x.json")).write_json([1])
    assert (tmp_path / "x.json").read_text() == "[\n 1\n]\n"
