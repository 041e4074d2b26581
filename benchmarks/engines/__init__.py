"""What queries, tasks and sessions cost, of all kinds of tables."""
