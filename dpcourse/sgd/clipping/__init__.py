"""Clipping: the sum of clipped per-example gradients, without most of those gradients."""
