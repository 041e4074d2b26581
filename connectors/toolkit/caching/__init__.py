"""What a process keeps between queries, and what it says of that."""
