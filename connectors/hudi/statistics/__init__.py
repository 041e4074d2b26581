"""Statistics of tables and columns. Driver side."""
