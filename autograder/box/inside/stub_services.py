"""``dpcourse.accounting`` and ``dpcourse.data`` while a notebook is graded: the trusted side is asked for the result.

Only what a homework tells students to use is answered (``autograder.box.services``).
"""

from __future__ import annotations

from typing import Any


def _ask(room: str, name: str, *arguments: Any, **named: Any) -> Any:
    from autograder.box.inside import child

    if child.channel is None:
        raise RuntimeError("there is nobody to ask")
    child.channel.send({"number": -1, "service": f"{room}.{name}", "arguments": list(arguments), "named": named})
    reply = child.channel.receive()
    if "error" in reply:
        raise ValueError(reply["error"])
    result = reply["result"]
    if isinstance(result, dict):  # a table by its columns
        import pandas

        return pandas.DataFrame(result)
    return result


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    room = __name__.rpartition(".")[2]
    return lambda *arguments, **named: _ask(room, name, *arguments, **named)
