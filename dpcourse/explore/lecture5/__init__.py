"""The explorers of lecture 5: adaptive local differential privacy."""

from dpcourse.explore.lecture5.comparison import *
from dpcourse.explore.lecture5.live_survey import *
from dpcourse.explore.lecture5.matrices import *
from dpcourse.explore.lecture5.subset_sizes import *
from dpcourse.explore.lecture5.surveys import *
