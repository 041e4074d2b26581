"""What all benchmarks share: the command line, timing, the machine, figures."""
