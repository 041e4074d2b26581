"""Columns as files and partitions declare them, and the rules of char and varchar. Both sides."""
