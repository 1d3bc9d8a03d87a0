"""What a run shows while it trains."""

from __future__ import annotations

import time

from dpcourse.sgd.run import Plan, Run


class Progress:
    """One line that is rewritten: how far, how good, how much spent."""

    def __init__(self, plan: Plan, on: bool) -> None:
        self.plan, self.on, self.start, self.width = plan, on, time.monotonic(), 0

    def cost(self, epsilon: float) -> str:
        """What was spent, and what of."""
        return f"ε {epsilon:.2f} of {self.plan.epsilon:g}" if self.plan.private else "not private"

    def show(self, run: Run, words: str = "") -> None:
        if not self.on:
            return
        if not words:
            last, share = run.history[-1], run.step / self.plan.steps
            bar = "█" * int(20 * share) + "·" * (20 - int(20 * share))
            accuracy = "" if last.accuracy is None else f", accuracy {last.accuracy:.1%}"
            words = f"{bar} step {run.step}/{self.plan.steps}, loss {last.training_loss:.3f}{accuracy}"
            words = f"{words}, {self.cost(last.epsilon)}"
        print("\r" + words.ljust(self.width), end="", flush=True)
        self.width = len(words)

    def end(self) -> None:
        if self.on:
            print()
