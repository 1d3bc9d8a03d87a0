"""Derivations that are graded by machine: formulas, where their symbols may be, steps and their reasons."""
