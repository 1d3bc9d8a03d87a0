"""Lecture 4, very tricky: what is private in text? After the slides' example of three conversations."""

from __future__ import annotations

from dpcourse.data.conversations import CONVERSATIONS, REMOVALS, removed
from dpcourse.explore.widget import explorer
from dpcourse.plots import Picture, Scene, Table, choice

__all__ = ["conversations"]

MARKS = ("nothing yet", "messages that name Alice", "messages that tell her secret")


@explorer
def conversations() -> Scene:
    """Remove Alice's messages, her conversation, her name: the secret is still told by somebody else."""

    def draw(removal: str, mark: str) -> Picture:
        left = [message for message in CONVERSATIONS if not removed(message, removal)]
        rows = tuple(
            (one.conversation, one.author, one.text) if one in left else (one.conversation, "·", "(removed)")
            for one in CONVERSATIONS
        )
        named, told = [one for one in left if one.names], [one for one in left if one.secret]
        chosen = {MARKS[0]: [], MARKS[1]: named, MARKS[2]: told}[mark]
        where = " and ".join(sorted({one.conversation for one in told}))
        verdict = {
            MARKS[0]: "Does what is left still tell her secret? Search before you let it be marked.",
            MARKS[1]: f"Her name stands in {len(named)} of what is left. Is that all that tells her secret?",
            MARKS[2]: f"Her secret is still told: {len(told)} of them tell it, in conversation {where}.",
        }[mark]
        return Picture(
            (
                Table(
                    "Conversations A, B and C, to train a language model on",
                    ("in", "by", "message"),
                    rows,
                    [one in chosen for one in CONVERSATIONS],
                    "marked",
                ),
            ),
            f"Removed: {removal}. That leaves {len(left)} of {len(CONVERSATIONS)} messages. {verdict}",
        )

    controls = (
        choice("removal", "remove", list(REMOVALS), REMOVALS[0]),
        choice("mark", "mark", list(MARKS), MARKS[0]),
    )
    return Scene("Whose secret is it?", "What must be removed to protect Alice?", controls, draw)
