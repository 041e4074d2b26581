"""What Lakeport costs, in figures that one command gives: ``python -m benchmarks``."""
