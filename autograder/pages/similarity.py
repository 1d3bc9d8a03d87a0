"""Submissions that resemble each other more than chance explains. For a person to look at; it proves nothing.

Names of variables, comments and layout do not count. What was handed out does not count, and what many write alike
counts little: a sequence of tokens weighs log(class size / how many have it). The similarity of two submissions is the
weight that they share, divided by the weight of both together.
"""

from __future__ import annotations

import keyword
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from autograder.course.homework import Assignment
from autograder.examine.records import Record

LENGTH = 8  # tokens in a sequence
MOST = 20_000  # tokens of an answer that are compared
ENOUGH = 30.0  # weight that two submissions must share: less is said by everybody who answers in one line
THRESHOLD = 0.8
TOKEN = re.compile(
    r"""#[^\n]*|(?P<string>"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?)"""  # one that does not end is one, too: to look
    r"""|(?P<name>[^\W\d]\w*)|(?P<number>\d[\w.]*)|[^\w\s]"""  # for its end from every quote takes hours
)


@dataclass(frozen=True)
class Pair:
    """Two submissions. ``similarity`` of what they do; ``verbatim``: the share of lines that are the same."""

    one: str
    other: str
    similarity: float
    verbatim: float


def tokens(code: str) -> list[str]:
    """A program without names, comments and layout. What stands after a dot is kept: it names what is called."""
    found: list[str] = []
    for match in TOKEN.finditer(code):
        text = match.group()
        if text.startswith("#"):
            continue
        if match["string"]:
            text = re.sub(r"\s+", "", f"s{text[1:-1]}")
        elif match["name"] and not keyword.iskeyword(text) and (not found or found[-1] != "."):
            text = "name"
        found.append(text)
    return found


def sequences(items: Sequence[str], label: str) -> Iterator[int]:
    """Hashes of all sequences of tokens; of the whole where it is shorter."""
    for start in range(max(1, len(items) - LENGTH + 1)):
        yield hash((label, *items[start : start + LENGTH]))


def fingerprint(answers: Mapping[str, str], assignment: Assignment) -> set[int]:
    """What a submission consists of."""
    found: set[int] = set()
    for grade_id, source in answers.items():
        cell = assignment.by_grade_id.get(grade_id)
        if cell is not None and source.strip():
            items = tokens(source) if cell.kind == "code" else re.findall(r"\w+", source.casefold())
            found.update(sequences(items[:MOST], grade_id))
    return found


def similar(records: Sequence[Record], assignment: Assignment, threshold: float = THRESHOLD) -> list[Pair]:
    """The pairs at or above the threshold, the most similar first."""
    import numpy as np
    from scipy import sparse

    given = assignment.released
    nothing = fingerprint(given, assignment)
    prints = [fingerprint(record.answers, assignment) - nothing for record in records]
    known = Counter(one for found in prints for one in found)
    # What most of a class has says nothing; leaving it out also keeps the product of the matrices small.
    common = len(records) / 2 if len(records) > 10 else len(records)
    columns = {one: i for i, one in enumerate(one for one, number in known.items() if 2 <= number <= common)}
    weight = {one: math.log((len(records) + 1) / number) for one, number in known.items() if number <= common}
    rows, places, values = [], [], []
    for i, found in enumerate(prints):
        for one in found & columns.keys():
            rows.append(i)
            places.append(columns[one])
            values.append(math.sqrt(weight[one]))
    matrix = sparse.csr_matrix((values, (rows, places)), shape=(len(records), max(1, len(columns))))
    shared = sparse.triu(matrix @ matrix.T, k=1).tocoo()
    whole = np.array([sum(weight.get(one, 0.0) for one in found) for found in prints])
    both = whole[shared.row] + whole[shared.col] - shared.data
    close = (shared.data >= threshold * both) & (shared.data >= ENOUGH)
    pairs = [
        Pair(records[i].student, records[j].student, float(value), verbatim(records[i], records[j], given))
        for i, j, value in zip(
            shared.row[close], shared.col[close], np.minimum(1.0, shared.data / both)[close], strict=True
        )
    ]
    return sorted(pairs, key=lambda pair: (-pair.similarity, -pair.verbatim, pair.one, pair.other))


def verbatim(one: Record, other: Record, given: Mapping[str, str]) -> float:
    """The share of the lines of both that are the same to the letter, comments included; handed-out lines apart."""
    out = {line.strip() for text in given.values() for line in text.splitlines()}
    lines = [
        {line.strip() for text in record.answers.values() for line in text.splitlines()} - out - {""}
        for record in (one, other)
    ]
    together = lines[0] | lines[1]
    return len(lines[0] & lines[1]) / len(together) if together else 0.0
