"""``python -m autograder`` is ``dpcourse``."""

import sys

from autograder.command import main

sys.exit(main())
