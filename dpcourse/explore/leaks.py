"""Lecture 3: what delta may do."""

from __future__ import annotations

__all__: list[str] = []
