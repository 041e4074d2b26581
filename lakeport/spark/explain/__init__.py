"""What ``EXPLAIN`` and ``EXPLAIN ANALYZE`` say."""
