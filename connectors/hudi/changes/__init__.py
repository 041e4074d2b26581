"""Changes between instants, incremental queries and change feeds."""
