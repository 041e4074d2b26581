"""From the columns and types of a file to those of a table. Executor side."""
