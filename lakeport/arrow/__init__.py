"""Reads tables as Arrow record batches with no Spark."""
