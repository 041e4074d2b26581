"""Catalogs by name, and the metastore that the Hive-style connectors share."""
