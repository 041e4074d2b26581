"""Hudi tables in a metastore: finding them and registering them. Driver side."""
