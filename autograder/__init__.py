"""Runs notebooks that nobody trusts, and decides. The command is ``dpcourse``; the guide is README.md."""
