"""What is true: the reference mechanisms, one file for each family."""

from dpcourse.mechanisms.base import Mechanism
from dpcourse.mechanisms.discrete_laplace import DiscreteLaplace
from dpcourse.mechanisms.estimate import Estimate
from dpcourse.mechanisms.exponential import Exponential, ReportNoisyMax
from dpcourse.mechanisms.gaussian import Gaussian, classical_limit, classical_sigma
from dpcourse.mechanisms.laplace import Laplace, LocalLaplace
from dpcourse.mechanisms.leaky import LeakRows, LeakTable
from dpcourse.mechanisms.randomized_response import ATTEMPTS, KaryResponse, RandomizedResponse, theta

__all__ = [
    "ATTEMPTS",
    "DiscreteLaplace",
    "Estimate",
    "Exponential",
    "Gaussian",
    "KaryResponse",
    "Laplace",
    "LeakRows",
    "LeakTable",
    "LocalLaplace",
    "Mechanism",
    "RandomizedResponse",
    "ReportNoisyMax",
    "classical_limit",
    "classical_sigma",
    "theta",
]
