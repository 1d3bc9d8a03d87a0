"""The explorers of lecture 1: pure differential privacy."""

from dpcourse.explore.lecture1.exponential import *
from dpcourse.explore.lecture1.floats import *
from dpcourse.explore.lecture1.laplace import *
from dpcourse.explore.lecture1.sums_and_vectors import *
