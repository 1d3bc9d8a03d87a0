"""What a student might try against a grader, by families. None of it may gain, read or outlive anything.

An attack that gets at something it must not have answers right, or says the secret aloud: then its score, or the words
in its record, give it away. The same bank is run against stock nbgrader by ``benchmarks/attacks.py``.
"""

from testing.attacks import by_border, by_code, by_file, by_page, by_wall
from testing.attacks.attack import SECRET, VICTIM, Attack

__all__ = ["ATTACKS", "SECRET", "VICTIM", "Attack"]

ATTACKS: list[Attack] = [
    *by_code.ATTACKS, *by_wall.ATTACKS, *by_border.ATTACKS, *by_file.ATTACKS, *by_page.ATTACKS,
]  # fmt: skip
