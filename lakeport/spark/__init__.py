"""Lakeport's catalogs shown to Spark as Spark catalogs, through py4j, with no jar."""
