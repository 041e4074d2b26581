"""Statements that Spark does not know, dialects, and views."""
