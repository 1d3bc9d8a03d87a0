"""Who claims to be which student in one source: two identities that would be the same student are both refused."""

from __future__ import annotations

from collections import defaultdict

from autograder.course.names import BadName, same
from autograder.course.roster import Identity


class Claims:
    """What a whole source says, before anything of it is taken in. ``""`` is a homework that no file's name tells."""

    def __init__(self) -> None:
        self._claims: dict[tuple[str, str], dict[str, tuple[Identity, bool]]] = defaultdict(dict)

    def add(self, student: str, homework: str, identity: Identity, listed: bool) -> None:
        """This identity hands in as the student; ``listed``: the list of students names its number."""
        self._claims[same(student), homework][identity.label] = (identity, listed)

    def check(self, student: str, homework: str, identity: Identity) -> None:
        """BadName if another identity hands in as the same student, unless the list names this one and no other."""
        claims = {**self._claims[same(student), ""], **self._claims[same(student), homework]}
        others = [other for label, other in claims.items() if label != identity.label]
        if not others:
            return
        listed = claims[identity.label][1]
        by_list = [other for other, other_listed in others if other_listed]
        if listed and not by_list:
            return
        if not listed and len(by_list) == 1:
            raise BadName(f"is of {identity}, but the list of students says that {student!r} is {by_list[0]}")
        raise BadName(
            f"is of {identity}, and {others[0][0]} would be {student!r}, too: neither is taken. Say in the list of "
            f"students which of them it is (a column moodle or canvas), or collect from a source without the other one"
        )
