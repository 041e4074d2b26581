"""Connections to the addresses of a metastore, and calls on them."""
