"""What the definition of a table in the metastore says of its columns and format. Driver side."""
