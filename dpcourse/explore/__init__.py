"""Explorers: one question, one to three controls, one consequence. ``explore.two_worlds()`` in a notebook shows one.

Each is a scene (``dpcourse.scenes``) computed here from the mechanisms, once; the browser follows the sliders itself.
"""

from dpcourse.explore.lecture1.choosing import *
from dpcourse.explore.lecture1.floats import *
from dpcourse.explore.lecture1.one_number import *
from dpcourse.explore.lecture1.sums import *
from dpcourse.explore.lecture2.one_bit import *
from dpcourse.explore.lecture2.whole_class import *
from dpcourse.explore.lecture2.words import *
from dpcourse.explore.lecture3.gaussian import *
from dpcourse.explore.lecture3.leaks import *
from dpcourse.explore.lecture3.privacy_loss import *
from dpcourse.explore.lecture3.properties import *
from dpcourse.explore.lecture4.accounts import *
from dpcourse.explore.lecture4.attack_results import *
from dpcourse.explore.lecture4.descents import *
from dpcourse.explore.lecture4.gradients import *
from dpcourse.explore.lecture4.texts import *
from dpcourse.explore.lecture4.training import *
from dpcourse.explore.lecture5.comparison import *
from dpcourse.explore.lecture5.live_survey import watch_survey
from dpcourse.explore.lecture5.matrices import *
from dpcourse.explore.lecture5.subset_sizes import *
from dpcourse.explore.lecture5.surveys import *
from dpcourse.scenes.widget import CATALOGUE, Explorer

__all__ = ["CATALOGUE", "Explorer", "watch_survey", *CATALOGUE]
