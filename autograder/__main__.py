"""``python -m autograder`` is ``dpcourse``."""

import sys

from autograder.cli import main

sys.exit(main())
