"""Runs notebooks that nobody trusts, and decides. For now: the guide for instructors, README.md."""
