"""Explorers: one question, one to three controls, one consequence. ``explore.two_worlds()`` in a notebook shows one.

Each is a scene (``dpcourse.plots``) computed here from the mechanisms, once; the browser follows the sliders itself.
"""

from dpcourse.explore.accounts import *
from dpcourse.explore.adaptive import *
from dpcourse.explore.attacked import *
from dpcourse.explore.bank import *
from dpcourse.explore.choosing import *
from dpcourse.explore.classroom import *
from dpcourse.explore.contest import *
from dpcourse.explore.descents import *
from dpcourse.explore.floats import *
from dpcourse.explore.gaussian import *
from dpcourse.explore.gradients import *
from dpcourse.explore.leaks import *
from dpcourse.explore.live import watch_survey
from dpcourse.explore.local import *
from dpcourse.explore.loss import *
from dpcourse.explore.properties import *
from dpcourse.explore.pure import *
from dpcourse.explore.subset_sizes import *
from dpcourse.explore.surveys import *
from dpcourse.explore.texts import *
from dpcourse.explore.training import *
from dpcourse.explore.widget import CATALOGUE, Explorer
from dpcourse.explore.words import *

__all__ = ["CATALOGUE", "Explorer", "watch_survey", *CATALOGUE]
