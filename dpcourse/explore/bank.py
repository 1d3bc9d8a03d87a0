"""Lecture 1: sums and vectors."""

from __future__ import annotations

__all__: list[str] = []
