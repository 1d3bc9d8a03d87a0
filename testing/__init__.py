"""What tests, benchmarks and studies share: submissions, attacks, a class that hands in. Nothing here is a test."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
