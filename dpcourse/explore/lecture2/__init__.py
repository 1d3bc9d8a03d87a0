"""The explorers of lecture 2: local differential privacy."""

from dpcourse.explore.lecture2.one_bit import *
from dpcourse.explore.lecture2.private_sentence import *
from dpcourse.explore.lecture2.whole_class import *
