"""Log files: framing, which blocks count, and the rows that they hold."""
