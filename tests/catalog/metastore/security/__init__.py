"""How connections to a metastore are secured."""
