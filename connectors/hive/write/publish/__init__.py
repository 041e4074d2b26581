"""Makes files visible: moves them to where readers look, and says so in the metastore. Driver side."""
