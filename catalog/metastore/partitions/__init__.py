"""Names of partitions, and filters on them as patterns."""
