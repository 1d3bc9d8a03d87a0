"""The explorers of lecture 4: DP-SGD."""

from dpcourse.explore.lecture4.accounts import *
from dpcourse.explore.lecture4.attack_results import *
from dpcourse.explore.lecture4.descents import *
from dpcourse.explore.lecture4.gradients import *
from dpcourse.explore.lecture4.texts import *
from dpcourse.explore.lecture4.training import *
