"""``hive.security=sql-standard``: grants of a metastore, checked and made as Trino's Hive connector does."""
