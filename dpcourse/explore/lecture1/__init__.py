"""The explorers of lecture 1: pure differential privacy."""

from dpcourse.explore.lecture1.choosing import *
from dpcourse.explore.lecture1.floats import *
from dpcourse.explore.lecture1.one_number import *
from dpcourse.explore.lecture1.sums import *
