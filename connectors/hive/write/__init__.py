"""Rows into tables: sinks in tasks, and what makes their files visible on the driver."""
