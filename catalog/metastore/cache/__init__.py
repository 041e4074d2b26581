"""What a catalog keeps of its metastore: how long, for whom, and when it is forgotten."""
