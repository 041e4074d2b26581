"""Analysis of SQL text: where statements end, what the cursor is in, which names are in scope."""
