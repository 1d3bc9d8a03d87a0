"""What went wrong in a task: the known mistakes, and groups of answers that none of them explains."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from autograder.pages.anonymity import Anonymizer
from autograder.pages.page import WORDS, plain
from autograder.pages.results import Homework, Result

MOST_GROUPS = 20  # of a task, with examples
LONGEST = 400  # characters of what was said about an answer
WRONG = ("failed", "error", "timeout")

#: What a verdict says besides what is wrong: the arguments, the line of the program, where to read, the odds.
BESIDES = tuple(
    re.compile(pattern)
    for pattern in (
        r"\(A right answer fails this check[^()]*\)\s*$",
        r"(?<!\S)See [^.]*\.\s*$",
        r"I called you (?:[\d,]+ times )?with .*?(?<!\.\.)\.(?=\s+[A-Z\d]|\s*$)",
        r",? at `[^`]*` \(line \d+\)",
    )
)
NUMBER = re.compile(
    r"(?<!\w)[-+−]?(?:0x[0-9a-fA-F]+|(?:\d+(?:[,_]\d+)*(?:\.\d+)?|\.\d+)(?:e[-+]?\d+)?\w*)|\b(?:nan|inf)\b"
)
SEVERAL = re.compile(r"#(?:[,;\s]+#){2,}")


def group_mistakes(homework: Homework, task: str, anonymizer: Anonymizer) -> dict[str, Any]:
    """The mistakes in a task, the commonest first: ``mistakes`` that have a name, and groups of ``unexplained`` ones.

    Each has its number, what a student is told about it, and examples that show no names. ``unnamed`` is the number of
    answers in all groups, also in those that are too many to be listed.
    """
    known: dict[str, list[Result]] = {}
    unexplained: dict[tuple[str, str], list[Result]] = {}
    for result in homework.results:
        verdict = result.tasks.get(task)
        if verdict is None or verdict.status not in WRONG:
            continue
        if verdict.mistake:
            known.setdefault(verdict.mistake, []).append(result)
        else:
            said = anonymizer.hide_names(blank_numbers(verdict.feedback or verdict.message))
            unexplained.setdefault((verdict.status, said), []).append(result)

    def describe(results: Iterable[Result]) -> list[dict[str, Any]]:
        return anonymizer.choose_examples(result.record.answers.get(f"{task}-solution", "") for result in results)

    return {
        "mistakes": [
            {"mistake": name, "message": message_about(homework, task, name, results, anonymizer),
             "count": len(results), "examples": describe(results)}
            for name, results in commonest(known, str)
        ],
        "unnamed": sum(len(results) for results in unexplained.values()),
        "unexplained": [
            {"status": status, "words": WORDS[status], "said": said, "count": len(results),
             "examples": describe(results)}
            for (status, said), results in commonest(unexplained, tuple)
        ],
    }  # fmt: skip


def commonest(groups: dict[Any, list[Result]], key: Callable[[Any], Any]) -> list[tuple[Any, list[Result]]]:
    """The largest groups, the largest first."""
    return sorted(groups.items(), key=lambda group: (-len(group[1]), key(group[0])))[:MOST_GROUPS]


def message_about(
    homework: Homework, task: str, mistake: str, results: Iterable[Result], anonymizer: Anonymizer
) -> str:
    """What a student is told about a known mistake: in the task's words, else in those that most of them were told."""
    said = Counter(blank_numbers(result.tasks[task].feedback) for result in results)
    return homework.explain(task, mistake) or anonymizer.hide_names(said.most_common(1)[0][0])


def shorten(feedback: str) -> str:
    """What a student was told is wrong with an answer, and nothing besides."""
    text = plain(feedback, 10 * LONGEST)
    for pattern in BESIDES:
        text = pattern.sub("", text)
    return plain(" ".join(text.split()), LONGEST)


def blank_numbers(feedback: str) -> str:
    """The same with # for every number: the same words about other numbers are then the same text."""
    return SEVERAL.sub("#, ...", NUMBER.sub("#", shorten(feedback)))
