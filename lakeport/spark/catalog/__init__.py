"""Catalogs, tables, views, definitions and procedures as Spark sees them."""
