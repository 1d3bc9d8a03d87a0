"""Lecture 2: the explorers of local differential privacy."""

from __future__ import annotations

__all__: list[str] = []
