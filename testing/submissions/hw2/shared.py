"""What several submissions to homework 2 use."""

import math


def theta_plain(epsilon, attempt):
    if attempt == "first":
        return (epsilon + 1) / (epsilon + 2)
    if attempt == "quadratic":
        odds = 1 + epsilon + epsilon**2 / 2
        return odds / (odds + 1)
    return math.exp(epsilon) / (math.exp(epsilon) + 1)
