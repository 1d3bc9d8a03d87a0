"""Lecture 1: picking a winner, and the trouble with floats."""

from __future__ import annotations

__all__: list[str] = []
