"""Statements that Spark does not support, dialects, and views."""
