"""Lakeport's catalogs as Spark catalogs, through py4j, without a jar."""
