"""One module for each group of figures in the README's table; `make bench` runs them all and prints the table."""
