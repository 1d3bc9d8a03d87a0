"""Lecture 3: what every private algorithm has in common."""

from __future__ import annotations

__all__: list[str] = []
