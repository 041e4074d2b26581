"""The metadata table of Hudi: which files a table has, and what is known of their columns and keys."""
