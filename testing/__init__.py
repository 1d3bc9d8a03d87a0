"""What tests, benchmarks and studies share. Nothing here is a test."""
