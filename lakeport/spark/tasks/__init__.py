"""What runs in the Python of Spark tasks. Executor side: no Spark session, no metastore."""
