"""A secret that three conversations share: whose message is it, and who is protected when it is removed?

Our own words, after the idea of Brown, Lee, Mireshghallah, Shokri & Tramer (2022), "What Does it Mean for a Language
Model to Preserve Privacy?", FAccT: a secret that was told in confidence turns up where its owner never wrote a word.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Message:
    """Who wrote it, in which conversation, and whether it names Alice or tells (or lets one infer) her secret."""

    conversation: str
    author: str
    text: str
    secret: bool = False

    @property
    def names(self) -> bool:
        """Whether a search for her name finds it."""
        return "alice" in self.text.lower()


#: Alice's secret: she and her husband separate, and she moves out in May.
CONVERSATIONS: tuple[Message, ...] = (
    Message("A", "Alice", "Can I tell you something in confidence?"),
    Message("A", "Bob", "Of course."),
    Message("A", "Alice", "Jonas and I are getting a divorce.", True),
    Message("A", "Alice", "I move out in May."),
    Message("A", "Bob", "A divorce is hard. I am so sorry, Alice.", True),
    Message("B", "Bob", "Do you know a good family lawyer?"),
    Message("B", "Carol", "Why, what happened?"),
    Message("B", "Bob", "It is for Alice. She and Jonas split up.", True),
    Message("B", "Carol", "Oh no. I saw them only last week."),
    Message("C", "Carol", "Your sister's flat, is it still free in May?"),
    Message("C", "Dave", "It is. For whom?"),
    Message("C", "Carol", "My neighbour upstairs. Her marriage is over.", True),
)

#: What may be removed, from the smallest unit to the largest, and the messages it takes with it.
REMOVALS: tuple[str, ...] = (
    "nothing",
    "one message of Alice (example level)",
    "all messages by Alice (user level)",
    "conversation A as a whole",
    "every message that names Alice",
    "what Alice wrote and what names her",
)


def removed(message: Message, removal: str) -> bool:
    """Whether a removal takes this message away."""
    by_alice = message.author == "Alice"
    rules = {
        REMOVALS[0]: False,
        REMOVALS[1]: message is CONVERSATIONS[2],
        REMOVALS[2]: by_alice,
        REMOVALS[3]: message.conversation == "A",
        REMOVALS[4]: message.names,
        REMOVALS[5]: by_alice or message.names,
    }
    if removal not in rules:
        raise ValueError(f"removal must be one of {list(REMOVALS)}, got {removal!r}")
    return rules[removal]
