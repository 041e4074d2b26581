"""The text of statements: where they end, what the cursor is in, which names are in scope."""
