"""What students hand in, from wherever it comes, until it is a submission."""
