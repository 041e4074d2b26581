"""Transactions of statements: which there are, who reads in them, when they end."""
