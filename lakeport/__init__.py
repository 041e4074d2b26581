"""Lakeport: Hive and Hudi tables in Python and Spark by catalog name."""
