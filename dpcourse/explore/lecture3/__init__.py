"""The explorers of lecture 3: approximate differential privacy."""

from dpcourse.explore.lecture3.gaussian import *
from dpcourse.explore.lecture3.leaks import *
from dpcourse.explore.lecture3.privacy_loss import *
from dpcourse.explore.lecture3.properties import *
