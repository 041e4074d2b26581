"""Statements that are no queries."""
