"""Hive itself, which reads, changes and compacts what Lakeport writes."""
