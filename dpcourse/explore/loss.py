"""Lecture 3: the privacy loss random variable and its tail."""

from __future__ import annotations

__all__: list[str] = []
