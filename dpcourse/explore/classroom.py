"""Lecture 2: a class that answers embarrassing questions, and what that costs."""

from __future__ import annotations

__all__: list[str] = []
