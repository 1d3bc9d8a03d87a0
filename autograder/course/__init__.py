"""Where the things of a course are, who its students are, what a homework consists of."""
