"""The AdOBEst-LDP talk's example: the votes of twenty parties, four large ones and sixteen that get ever smaller."""

from __future__ import annotations

import numpy as np

#: Shares of the votes, the largest first.
PARTIES = np.array([0.40, 0.28, 0.17, 0.10, *(0.05 * 0.8 ** np.arange(16) * 0.2 / (1 - 0.8**16))])
PARTIES.setflags(write=False)
