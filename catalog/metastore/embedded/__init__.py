"""A metastore in one SQLite file, with no server."""
