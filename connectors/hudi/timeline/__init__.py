"""The timeline of a table: which writes are complete."""
