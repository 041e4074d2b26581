"""``EXPLAIN`` of queries through Spark: what was planned, and what was counted."""
