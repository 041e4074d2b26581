"""Statistics of columns that are counted while rows are written, and kept in the metastore with them."""
