"""Lines of text files, and texts as values by Hive's rules. Executor side."""
