"""Columns and format of a table, from its definition in the metastore. Driver side."""
