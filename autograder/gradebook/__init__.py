"""nbgrader's gradebook, its graded notebooks, and its own ``autograde`` on our path."""
