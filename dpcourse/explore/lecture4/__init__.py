"""The explorers of lecture 4: DP-SGD."""

from dpcourse.explore.lecture4.attack_results import *
from dpcourse.explore.lecture4.descents import *
from dpcourse.explore.lecture4.gradient_clipping import *
from dpcourse.explore.lecture4.privacy_accounts import *
from dpcourse.explore.lecture4.private_text import *
from dpcourse.explore.lecture4.training_results import *
