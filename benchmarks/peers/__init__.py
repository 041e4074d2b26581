"""What benchmarks run of others, each in a process of its own."""
