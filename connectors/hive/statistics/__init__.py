"""Statistics of tables and columns from the metastore. Driver side."""
