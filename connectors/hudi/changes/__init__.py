"""Changes between instants, incremental queries and change feeds: their handles and plans. Driver side."""
