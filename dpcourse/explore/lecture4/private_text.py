"""Lecture 4: three conversations of the slides, and what must be removed from them to protect Alice."""

from __future__ import annotations

import textwrap

from dpcourse.data.conversations import CONVERSATIONS, REMOVALS, Message, removed
from dpcourse.scenes import Picture, Table, choice, picture_of
from dpcourse.scenes.widget import explorer

__all__ = ["conversations"]

#: Characters in a line of a message: three conversations fit side by side, and one fits a telephone.
LINE = 28
BLANK = "\N{NO-BREAK SPACE}"  # keeps the height of a line
MARKS = ("nothing yet", "messages that name Alice", "messages that tell her secret")


def _table(conversation: str, left: list[Message], marked: list[Message]) -> Table:
    """One conversation. A long message takes several rows; a removed one leaves as many."""
    rows, marks = [], []
    for one in CONVERSATIONS:
        if one.conversation != conversation:
            continue
        lines = textwrap.wrap(one.text, LINE)
        author, shown = (one.author, lines) if one in left else ("·", ["(removed)"] + [BLANK] * (len(lines) - 1))
        rows += [(author if i == 0 else "", line) for i, line in enumerate(shown)]
        marks += [one in marked] * len(lines)
    return Table(f"Conversation {conversation}", ("by", "message"), tuple(rows), marks, "→")


@explorer(
    "Whose secret is it?",
    "What must be removed to protect Alice?",
    choice("removal", "remove", list(REMOVALS), REMOVALS[0]),
    choice("mark", "mark", list(MARKS), MARKS[0]),
)
def conversations(removal: str, mark: str) -> Picture:
    """Remove Alice's messages, her conversation, her name: the secret is still told by somebody else."""
    left = [message for message in CONVERSATIONS if not removed(message, removal)]
    named, telling = [one for one in left if one.names], [one for one in left if one.secret]
    chosen = {MARKS[0]: [], MARKS[1]: named, MARKS[2]: telling}[mark]
    where = " and ".join(sorted({one.conversation for one in telling}))
    many = "conversation" if len({one.conversation for one in telling}) == 1 else "conversations"
    tell = "1 message tells it" if len(telling) == 1 else f"{len(telling)} messages tell it"
    verdict = {
        MARKS[0]: "Does what is left still tell her secret? Search before you let it be marked.",
        MARKS[1]: f"Her name stands in {len(named)} of them. Is that all that tells her secret?",
        MARKS[2]: f"Her secret is still told: {tell}, in {many} {where}.",
    }[mark]
    return picture_of(
        f"Removed: {removal}. That leaves {len(left)} of {len(CONVERSATIONS)} messages. {verdict}",
        *tuple(_table(name, left, chosen) for name in sorted({one.conversation for one in CONVERSATIONS})),
    )
