"""Runs notebooks that nobody trusts, and decides. The command is ``dpcourse``; README.md is the guide for instructors."""
