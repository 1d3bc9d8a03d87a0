"""Explorers: one question, one to three controls, one consequence. ``explore.two_worlds()`` in a notebook shows one.

Each is a scene (``dpcourse.scenes``) computed here from the mechanisms, once; the browser follows the sliders itself.
A notebook and its explorers share an address: those of ``lectures/01_pure_dp.ipynb`` stand in ``lecture1``.
"""

from dpcourse.explore.lecture1 import *
from dpcourse.explore.lecture2 import *
from dpcourse.explore.lecture3 import *
from dpcourse.explore.lecture4 import *
from dpcourse.explore.lecture5 import *
from dpcourse.explore.lecture5.live_survey import watch_survey
from dpcourse.scenes.widget import CATALOGUE, Explorer

__all__ = ["CATALOGUE", "Explorer", "watch_survey", *CATALOGUE]
