"""Lecture 5, surveys that learn: stored runs on the talk's twenty parties (``python -m tools.adaptive_pictures``)."""

from __future__ import annotations

import numpy as np

#: The talk's example: of twenty parties four have 95% of the votes, the others ever fewer.
PARTIES = np.array([0.40, 0.28, 0.17, 0.10, *(0.05 * 0.8 ** np.arange(16) * 0.2 / (1 - 0.8**16))])
EPSILONS = (0.5, 1.0, 5.0)
#: The arrivals after which a survey is looked at.
CHECKPOINTS = (*(m * d for d in (1, 10, 100) for m in (10, 13, 16, 20, 25, 32, 40, 50, 63, 80)), 10_000)
LANGEVIN_EPSILON = 1.0
SAMPLERS = ("ours", "the talk's step 0.5/n", "noise γW, as on the slide")
UPDATES = (100, 300, 1_000, 3_000, 10_000, 30_000)
NARROWING_EPSILON = 1.0
MOMENTS = (100, 200, 500, 1_000, 2_000, 5_000, 10_000)
#: The parties whose posteriors are shown, and the edges of their histograms.
FOLLOWED, BINS = (0, 1, 3), np.linspace(0, 0.8, 81)
