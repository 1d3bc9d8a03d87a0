"""Lecture 3: the Gaussian mechanism."""

from __future__ import annotations

__all__: list[str] = []
