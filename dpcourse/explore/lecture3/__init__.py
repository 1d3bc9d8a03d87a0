"""The explorers of lecture 3: approximate differential privacy."""

from dpcourse.explore.lecture3.gaussian import *
from dpcourse.explore.lecture3.groups_and_budgets import *
from dpcourse.explore.lecture3.leaks import *
from dpcourse.explore.lecture3.output_functions import *
from dpcourse.explore.lecture3.privacy_loss import *
