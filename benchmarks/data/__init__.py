"""Tables that benchmarks read."""
