"""The explorers of lecture 2: local differential privacy."""

from dpcourse.explore.lecture2.class_surveys import *
from dpcourse.explore.lecture2.private_sentence import *
from dpcourse.explore.lecture2.randomized_response import *
