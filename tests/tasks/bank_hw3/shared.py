"""What several submissions to homework 3 use."""

import math
from statistics import NormalDist

import numpy as np

PHI = NormalDist().cdf


def delta_normaldist(epsilon, sigma, sensitivity):
    mu = sensitivity / sigma
    return PHI(mu / 2 - epsilon / mu) - math.exp(epsilon) * PHI(-mu / 2 - epsilon / mu)


def delta_scipy(epsilon, sigma, sensitivity):
    from scipy.stats import norm

    a, b = sensitivity / (2 * sigma), epsilon * sigma / sensitivity
    return norm.cdf(a - b) - np.exp(epsilon) * norm.cdf(-a - b)


def delta_erfc(epsilon, sigma, sensitivity):
    mu = sensitivity / sigma
    tail = [math.erfc(x / math.sqrt(2)) / 2 for x in (epsilon / mu - mu / 2, epsilon / mu + mu / 2)]
    return np.array([tail[0] - math.exp(epsilon) * tail[1]])
